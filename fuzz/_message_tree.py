"""A model as a tree of protobuf fields: split into pieces, edited, and joined again."""

from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Final

from fuzz.wire import varint

Piece = tuple[int, bytes]  # a tag, and its content without the length
Edit = Callable[[str, list[Piece], Random], list[Piece]]

# kind of message -> the fields that are messages, and their kinds
KINDS: Final[dict[str, dict[int, str]]] = {
    "model": {7: "graph", 8: "opset", 14: "pair", 25: "function"},
    "graph": {1: "node", 5: "tensor", 11: "value", 12: "value", 13: "value", 15: "sparse"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 22: "sparse"},
    "value": {2: "type"},
    "type": {1: "tensor type", 4: "wrapped", 9: "wrapped"},
    "wrapped": {1: "type"},
    "tensor type": {2: "shape"},
    "shape": {1: "dim"},
    "tensor": {13: "pair"},
    "sparse": {1: "tensor", 2: "tensor"},
    "function": {7: "node", 9: "opset", 11: "attribute", 12: "value"},
}
_DESCENT_PROBABILITY: Final = {
    "model": 0.95,
    "graph": 0.8,
    "node": 0.5,
}  # probability that an edit applies to an inner message


def split(data: bytes) -> list[Piece]:
    """Return the fields of a message; of a malformed one, those before the error."""
    return list(_split_cached(data)) if len(data) > 4096 else _read_fields(data)


@lru_cache(maxsize=64)
def _split_cached(data: bytes) -> tuple[Piece, ...]:
    return tuple(_read_fields(data))


def _read_fields(data: bytes) -> list[Piece]:
    fields, at = [], 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        wire = tag & 7
        if wire == 0:
            _, end = _read_varint(data, at)
        elif wire == 2:
            length, at = _read_varint(data, at)
            end = at + length
        else:
            end = at + {1: 8, 5: 4}.get(wire, 1 << 62)
        if end > len(data):
            break
        fields.append((tag, data[at:end]))
        at = end
    return fields


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        result |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
    return result, at


def join(pieces: list[Piece]) -> bytes:
    return b"".join(varint(tag) + (varint(len(content)) if tag & 7 == 2 else b"") + content for tag, content in pieces)


def edit_message(data: bytes, edit: Edit, random: Random, kind: str = "model", depth: int = 0) -> bytes:
    """Return the message with one of its inner messages edited."""
    pieces, message_fields = split(data), KINDS.get(kind, {})
    fields = sorted({tag >> 3 for tag, _ in pieces if tag & 7 == 2} & set(message_fields))
    if fields and depth < 40 and random.random() < _DESCENT_PROBABILITY.get(kind, 0.7):
        field = random.choice(fields)
        index = random.choice([at for at, (tag, _) in enumerate(pieces) if tag == field << 3 | 2])
        tag, content = pieces[index]
        pieces[index] = tag, edit_message(content, edit, random, message_fields[field], depth + 1)
        return join(pieces)
    return join(edit(kind, pieces, random))
