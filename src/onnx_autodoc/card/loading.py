"""Load a card from its JSON, which may be untrusted."""

from typing import Final

import msgspec

from onnx_autodoc.card.types import SCHEMA_VERSION, Card
from onnx_autodoc.card.uncertainty import cap_figures, with_uncertainty
from onnx_autodoc.decoding import decode_json
from onnx_autodoc.errors import BadInput
from onnx_autodoc.limits import current_limits, limit_error
from onnx_autodoc.text import sanitize

_MAX_SHARE: Final = 1.001  # sums of rounded shares may exceed 1 a little


class _Header(msgspec.Struct):
    schema_version: str
    uncertain: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


def load(data: bytes, path: str) -> Card:
    """Return the card in `data`. `path` names it in messages. Keys of a later minor version are ignored."""
    try:
        header = decode_json(data, _Header)
        version = header.schema_version
        if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
            raise BadInput(
                f"{path}: unsupported card schema {sanitize(version, 40)}, not {SCHEMA_VERSION}; build the card again"
            )
        card = decode_json(data, Card)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path}: not a JSON card: {sanitize(str(error), 300)} (write one with -o card.json)") from None
    _check_depth(card, path)
    _check_shares(card, path)
    if cap_figures(card)[1]:
        raise BadInput(f"{path}: not a JSON card: it has integers beyond 64 bits")
    # Cards of earlier versions lack the key.
    return with_uncertainty(card) if header.uncertain is msgspec.UNSET else card


def _check_shares(card: Card, path: str) -> None:
    """Reject shares of weights outside of 0 to 1, which are shown in percent."""
    precision = card.model.precision
    shares = (*precision.weights.values(), *(group.share for group in precision.story))
    wrong = next((share for share in shares if not 0 <= share <= _MAX_SHARE), None)
    if wrong is not None:
        raise BadInput(f"{path}: not a JSON card: {wrong:g} is not a share between 0 and 1")


def _check_depth(card: Card, path: str) -> None:
    """Reject deeply nested boxes, since renderers and comparisons recurse into them."""
    level = card.structure.tree.children if card.structure.tree is not None else ()
    max_depth = current_limits().depth
    for _ in range(max_depth):
        level = tuple(inner for box in level for inner in box.children)
    if level:
        raise limit_error("depth", f"{path}: its diagram has boxes nested more than {max_depth:,} levels deep")
