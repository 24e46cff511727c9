"""Malformed protobuf: varints without end, wrong lengths, fields of the wrong type."""

import struct
from collections.abc import Callable
from typing import Final

from fuzz.wire import attr, chunk, group, integer, model, node, tensor, value, varint
from tests._wire import relu

_BODY: Final = value(11, "x", (2, 3)) + node("Relu", "x", "y") + value(12, "y", (2, 3))
_END: Final = chunk(8, integer(2, 17))


def _deep(field: int, times: int, inside: bytes = b"") -> bytes:
    for _ in range(times):
        inside = chunk(field, inside)
    return inside


def _deep_types(field: int, times: int) -> bytes:
    """Encode nested sequences (4), maps (5) or optionals (9)."""
    inner = chunk(1, integer(1, 1))
    for _ in range(times):
        inner = chunk(field, chunk(2 if field == 5 else 1, inner))
    return model(chunk(11, chunk(1, "x") + chunk(2, inner)) + node("Identity", "x", "y") + chunk(12, chunk(1, "y")))


def _claim(field: int, length: int) -> bytes:
    return integer(1, 8) + varint(field << 3 | 2) + varint(length)


def _with_field(piece: bytes) -> bytes:
    """Encode a valid model with an odd field in its graph."""
    return model(_BODY + piece)


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "empty": lambda: b"",
    "one zero byte": lambda: b"\0",
    "a megabyte of zeros": lambda: bytes(1 << 20),
    "a megabyte of 0xff": lambda: b"\xff" * (1 << 20),
    "a varint that never ends": lambda: b"\x08" + b"\x80" * 64,
    "a varint cut off": lambda: relu() + b"\x38\x80",
    "a varint of ten bytes with high bits": lambda: b"\x08" + b"\xff" * 9 + b"\x7f" + chunk(7, _BODY) + _END,
    "overlong varints everywhere": lambda: b"\x88\x80\x00\x88\x80\x80\x00" + chunk(7, _BODY) + _END,
    "overlong length": lambda: b"\x08\x08\x3a" + bytes((len(_BODY) | 0x80, 0x80, 0x80, 0)) + _BODY + _END,
    "overlong tag of a node": lambda: _with_field(b"\x8a\x80\x80\x00\x00"),
    "a graph of 2^64 - 1 bytes": lambda: _claim(7, (1 << 64) - 1),
    "a graph of 2^63 bytes": lambda: _claim(7, 1 << 63) + _BODY,
    "a graph of 2^32 bytes": lambda: _claim(7, 1 << 32) + _BODY,
    "a graph one byte longer than the file": lambda: _claim(7, len(_BODY) + 1) + _BODY,
    "an unknown field of 2^64 - 1 bytes": lambda: _claim(99, (1 << 64) - 1) + relu(),
    "a name of 2^62 bytes": lambda: integer(1, 8) + chunk(7, varint(2 << 3 | 2) + varint(1 << 62)),
    "a node longer than its graph": lambda: (
        integer(1, 8) + chunk(7, varint(1 << 3 | 2) + varint(400) + b"x") + _BODY * 9
    ),
    "a field that ends behind its message": lambda: model(_BODY + varint(99 << 3 | 1) + b"\0\0\0"),
    "fixed64 over the end of the file": lambda: relu() + varint(98 << 3 | 1) + b"\0\0",
    "fixed32 over the end of the file": lambda: relu() + varint(98 << 3 | 5) + b"\0",
    "field number 0": lambda: relu() + b"\x00\x01",
    "field number 2^29": lambda: relu() + varint((1 << 29) << 3) + b"\1",
    "field number 2^60": lambda: relu() + varint((1 << 60) << 3 | 2) + b"\1x",
    "wire type 6": lambda: relu() + b"\x3e\x01",
    "wire type 7 in a node": lambda: _with_field(chunk(1, b"\x0f\x01")),
    "a group around the graph": lambda: integer(1, 8) + group(7, _BODY) + _END,
    "an unknown group": lambda: group(99, b"\x08\x01") + relu(),
    "the end of a group that never began": lambda: b"\x3c" + relu(),
    "10,000 groups begun": lambda: varint(99 << 3 | 3) * 10_000,
    "a graph that is a number": lambda: integer(1, 8) + integer(7, 5) + _END,
    "a version that is text": lambda: chunk(1, "eight") + chunk(7, _BODY) + _END,
    "a version that is a float": lambda: b"\x0d\0\0\x80\x3f" + chunk(7, _BODY) + _END,
    "a node that is a fixed64": lambda: _with_field(b"\x09" + b"\1" * 8),
    "an operator that is a number": lambda: _with_field(chunk(1, integer(4, 7) + chunk(2, "z"))),
    "dims that are texts": lambda: _with_field(chunk(5, chunk(1, "ab\xff") + integer(2, 1) + chunk(8, "w"))),
    "dims as fixed64": lambda: _with_field(chunk(5, b"\x09" + struct.pack("<q", 4) + integer(2, 1) + chunk(8, "w"))),
    "dims packed and single mixed": lambda: _with_field(chunk(5, chunk(1, b"\x02\x03") + tensor("w", [4], 1))),
    "packed dims cut in a varint": lambda: _with_field(chunk(5, chunk(1, b"\x02\x83") + tensor("w", [], 1))),
    "packed floats of 7 bytes": lambda: _with_field(node("Foo", "x", "z", chunk(1, "a") + chunk(7, b"1234567"))),
    "a float attribute of 8 bytes": lambda: _with_field(node("Elu", "x", "z", chunk(1, "alpha") + b"\x11" + b"\1" * 8)),
    "an attribute with every field set": lambda: _with_field(
        node("Elu", "x", "z", b"".join((attr("alpha", 1), attr("alpha", 1.0), attr("alpha", "s"), attr("alpha", [1]))))
    ),
    "an attribute that lies about its type": lambda: _with_field(
        node("Elu", "x", "z", chunk(1, "alpha") + integer(3, 1) + integer(20, 6))
    ),
    "an attribute of type 2^62": lambda: _with_field(node("Elu", "x", "z", chunk(1, "alpha") + integer(20, 1 << 62))),
    "two graphs": lambda: integer(1, 8) + chunk(7, _BODY) + chunk(7, _BODY) + _END,
    "two versions": lambda: integer(1, 8) + integer(1, 3) + chunk(7, _BODY) + _END,
    "two operators in one node": lambda: model(
        value(11, "x", (2,)) + chunk(1, chunk(1, "x") + chunk(2, "y") + chunk(4, "Relu") + chunk(4, "Conv"))
    ),
    "two types of one value": lambda: _with_field(
        chunk(13, chunk(1, "y") + chunk(2, chunk(1, integer(1, 1))) + chunk(2, chunk(4, chunk(1, chunk(1, b"")))))
    ),
    "a type that is tensor and sequence": lambda: _with_field(
        chunk(13, chunk(1, "y") + chunk(2, chunk(1, integer(1, 1)) + chunk(4, chunk(1, chunk(1, b"")))))
    ),
    "a dimension with size and name": lambda: _with_field(
        chunk(11, chunk(1, "q") + chunk(2, chunk(1, integer(1, 1) + chunk(2, chunk(1, integer(1, 4) + chunk(2, "n"))))))
    ),
    "a graph and nothing else": lambda: chunk(7, _BODY),
    "no graph": lambda: integer(1, 8) + _END,
    "an empty graph": lambda: model(b""),
    "names that are no UTF-8": lambda: model(
        chunk(11, chunk(1, b"\xff\xfe"))
        + chunk(1, chunk(1, b"\xff\xfe") + chunk(2, b"\xc0\x80") + chunk(4, b"\xed\xa0\x80"))
    ),
    "two names that differ in bad bytes only": lambda: model(
        chunk(11, chunk(1, b"\xff"))
        + chunk(11, chunk(1, b"\\xff"))
        + chunk(1, chunk(1, b"\xff") + chunk(2, "y") + chunk(4, "Relu"))
    ),
    "names with NUL": lambda: model(value(11, "x\0", (2,)) + node("Relu", "x\0", "y\0z") + value(12, "y\0z", (2,))),
    "20,000 messages deep": lambda: _deep(7, 20_000),
    "graphs in nodes, 5,000 deep": lambda: chunk(7, _deep_graphs(5_000)),
    "sequence types 10,000 deep": lambda: _deep_types(4, 10_000),
    "optional types 150 deep": lambda: _deep_types(9, 150),
    "map types 10,000 deep": lambda: _deep_types(5, 10_000),
    "an unknown message 50,000 deep": lambda: relu() + _deep(99, 50_000),
    "200,000 empty fields": lambda: relu() + chunk(99, b"") * 200_000,
    "100,000 empty nodes": lambda: model(chunk(1, b"") * 100_000),
    "100,001 nodes": lambda: model(value(11, "x", (1,)) + node("Relu", "x", "y") * 100_001),
    "300,000 empty inputs": lambda: model(chunk(11, b"") * 300_000),
    "a text of 17 MiB": lambda: model(_BODY) + chunk(6, b"a" * (17 << 20)),
    "a text of 15 MiB": lambda: model(_BODY) + chunk(6, b"a" * (15 << 20)),
}


def _deep_graphs(times: int) -> bytes:
    inner = b""
    for _ in range(times):
        inner = chunk(1, chunk(5, chunk(6, inner)))
    return inner


_PREFIXES: Final = (1, 2, 3, 5, 8, 13, 21, 34, 55)
FILES.update({f"the first {at} bytes of a model": lambda at=at: relu()[:at] for at in _PREFIXES})  # type: ignore[misc]
