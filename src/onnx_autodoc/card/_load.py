"""A card from its JSON, as the tool itself wrote it."""

import msgspec

from onnx_autodoc.card._types import SCHEMA_VERSION, Card
from onnx_autodoc.errors import BadInput
from onnx_autodoc.limits import limits, reached
from onnx_autodoc.text import clean

_WHOLE = 1.001  # what is rounded may come to a little more


class _Version(msgspec.Struct):
    schema_version: str


def load(data: bytes, path: str) -> Card:
    """The card in some bytes. `path` is what messages call it. What a later minor version added is left out."""
    try:
        version = msgspec.json.decode(data, type=_Version).schema_version
        if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
            raise BadInput(
                f"{path}: a card of schema {clean(version, 40)}, this tool reads {SCHEMA_VERSION}; write it anew"
            )
        card = msgspec.json.decode(data, type=Card)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path}: not a JSON card: {clean(str(error), 300)} (write one with -o card.json)") from None
    _check_depth(card, path)
    _check_shares(card, path)
    return card


def _check_shares(card: Card, path: str) -> None:
    """Parts of a whole, which are shown in percent."""
    precision = card.model.precision
    shares = (*precision.weights.values(), *(group.share for group in precision.story))
    wrong = next((share for share in shares if not 0 <= share <= _WHOLE), None)
    if wrong is not None:
        raise BadInput(f"{path}: not a JSON card: {wrong:g} is no share of a model's weights")


def _check_depth(card: Card, path: str) -> None:
    """Boxes in boxes, which renderers and comparisons go down into: the tool itself draws a few levels."""
    level = card.structure.tree.children if card.structure.tree is not None else ()
    most = limits().depth
    for _ in range(most):
        level = tuple(inner for box in level for inner in box.children)
    if level:
        raise reached("depth", f"{path}: its drawing has boxes in boxes more than {most:,} levels deep")
