"""A card from its JSON, as the tool itself wrote it."""

import msgspec

from onnx_autodoc.document._types import SCHEMA_VERSION, Card
from onnx_autodoc.errors import BadInput


class _Version(msgspec.Struct):
    schema_version: str


def load(data: bytes, path: str) -> Card:
    """The card in some bytes. `path` is what messages call it. What a later minor version added is left out."""
    try:
        version = msgspec.json.decode(data, type=_Version).schema_version
        if version.partition(".")[0] != SCHEMA_VERSION.partition(".")[0]:
            raise BadInput(f"{path}: a card of schema {version}, this tool reads {SCHEMA_VERSION}; write it anew")
        return msgspec.json.decode(data, type=Card)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{path}: not a JSON card: {error} (write one with -o card.json)") from None
