"""A model as a tree of protobuf fields that can be edited: split on the way down, joined on the way up."""

from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Final

from fuzz.wire import varint

Piece = tuple[int, bytes]  # a tag, and its content as it stands behind it (without a length)
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
_DEEPER: Final = {"model": 0.95, "graph": 0.8, "node": 0.5}  # how often an edit goes on downwards


def split(data: bytes) -> list[Piece]:
    """The fields of a message; where it is broken, what came before."""
    return list(_split(data)) if len(data) > 4096 else _fields(data)


@lru_cache(maxsize=64)
def _split(data: bytes) -> tuple[Piece, ...]:
    return tuple(_fields(data))


def _fields(data: bytes) -> list[Piece]:
    found, at = [], 0
    while at < len(data):
        tag, at = _number(data, at)
        wire = tag & 7
        if wire == 0:
            _, end = _number(data, at)
        elif wire == 2:
            length, at = _number(data, at)
            end = at + length
        else:
            end = at + {1: 8, 5: 4}.get(wire, 1 << 62)
        if end > len(data):
            break
        found.append((tag, data[at:end]))
        at = end
    return found


def _number(data: bytes, at: int) -> tuple[int, int]:
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


def edited(data: bytes, edit: Edit, random: Random, kind: str = "model", depth: int = 0) -> bytes:
    """The same with one message, somewhere in it, edited."""
    pieces, inside = split(data), KINDS.get(kind, {})
    fields = sorted({tag >> 3 for tag, _ in pieces if tag & 7 == 2} & set(inside))
    if fields and depth < 40 and random.random() < _DEEPER.get(kind, 0.7):
        field = random.choice(fields)
        place = random.choice([at for at, (tag, _) in enumerate(pieces) if tag == field << 3 | 2])
        tag, content = pieces[place]
        pieces[place] = tag, edited(content, edit, random, inside[field], depth + 1)
        return join(pieces)
    return join(edit(kind, pieces, random))
