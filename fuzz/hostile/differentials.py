"""Encodings that parsers may read as different models, at the places that a gate relies on.

`tests/readers/test_differentials.py` states what the reader and protobuf's parsers do with each.
"""

import struct
from collections.abc import Callable
from typing import Final

from fuzz.wire import (
    attr,
    call,
    chunk,
    function,
    group,
    integer,
    model,
    node,
    opset,
    overlong,
    pair,
    tensor,
    value,
    varint,
)

_BODY: Final = value(11, "x", (2, 3)) + node("Relu", "x", "y") + value(12, "y", (2, 3))
_END: Final = chunk(8, integer(2, 17))
_BEYOND: Final = 1 << 32
_LONG: Final = 70_000  # bytes of a payload that is not kept
_OVERLONG_PATH: Final = b"..\xc0\xafw.bin"  # a slash in two bytes
_ONE: Final = struct.pack("<f", 1)
_PAST_THE_END: Final = b"\x80" * 10 + b"\1"  # a varint of eleven bytes


def _graph(*extra: bytes) -> bytes:
    return model(_BODY + b"".join(extra))


def _weight(*fields: bytes, dtype: int = 1) -> bytes:
    """Encode a model with an initializer of one element."""
    return _graph(chunk(5, tensor("w", [1], dtype, *fields)))


def _node(*fields: bytes) -> bytes:
    """Encode a model with a second node, without an operator."""
    return _graph(chunk(1, chunk(1, "y") + chunk(2, "z") + b"".join(fields)))


def _attribute(*fields: bytes) -> bytes:
    return _node(chunk(4, "Elu"), chunk(5, chunk(1, "alpha") + b"".join(fields)))


def _value(*types: bytes) -> bytes:
    """Encode a model with a declared value of these types."""
    return _graph(chunk(13, chunk(1, "y") + b"".join(chunk(2, each) for each in types)))


def _dim(*fields: bytes) -> bytes:
    return _value(chunk(1, integer(1, 1) + chunk(2, chunk(1, b"".join(fields)))))


def _located(location: str | bytes, *fields: bytes) -> bytes:
    """Encode a model with an external weight."""
    return _weight(pair(13, "location", location), *fields)


def _sharding(fields: bytes) -> bytes:
    """Encode a model with a sharding specification of a node."""
    return _node(chunk(4, "Relu"), chunk(10, chunk(2, fields)))


def _nested_graphs(levels: int, innermost: bytes) -> bytes:
    """Encode graphs in attributes; the innermost one is 3 * levels + 1 messages deep."""
    body = innermost
    for _ in range(levels):
        body = chunk(1, chunk(4, "If") + chunk(5, chunk(1, "g") + chunk(6, body) + integer(20, 5)))
    return model(_BODY + body)


def _nested_types(levels: int) -> bytes:
    """Encode sequence types; the innermost one is 2 * levels + 3 messages deep."""
    inner = b""
    for _ in range(levels):
        inner = chunk(4, chunk(1, inner))
    return _value(inner)


_TENSOR_TYPE: Final = chunk(1, integer(1, 1))
_SEQUENCE_TYPE: Final = chunk(4, chunk(1, b""))

FILES: Final[dict[str, Callable[[], bytes]]] = {
    # integers beyond their type
    "data location 2^32 + 1": lambda: _located("w.bin", integer(14, _BEYOND + 1)),
    "data location -1": lambda: _weight(chunk(9, _ONE), integer(14, -1)),
    "data location 5 after 1": lambda: _located("w.bin", integer(14, 1), integer(14, 5)),
    "element type 2^32 + 1": lambda: _weight(integer(2, _BEYOND + 1), chunk(9, _ONE)),
    "element type 99": lambda: _weight(chunk(9, _ONE), dtype=99),
    "element type of an input 2^32 + 1": lambda: _value(chunk(1, integer(1, _BEYOND + 1))),
    "key type of a map 2^32 + 7": lambda: _value(chunk(5, integer(1, _BEYOND + 7) + chunk(2, _TENSOR_TYPE))),
    "attribute type 2^32 + 2": lambda: _attribute(integer(3, 1), integer(20, _BEYOND + 2)),
    "attribute type 99": lambda: _attribute(integer(3, 1), integer(20, 99)),
    "attribute type 99 after INT": lambda: _attribute(integer(3, 1), integer(20, 2), integer(20, 99)),
    "int32 element 2^32 + 1": lambda: _weight(chunk(5, varint(_BEYOND + 1)), dtype=6),
    "single int32 element 2^32 + 1": lambda: _weight(integer(5, _BEYOND + 1), dtype=6),
    "int32 element 2^32 + 1 in a long list": lambda: _weight(chunk(5, bytes(_LONG) + varint(_BEYOND + 1)), dtype=6),
    "int32 element -1": lambda: _weight(chunk(5, varint(-1)), dtype=6),
    "dimension 2^64 + 1": lambda: _dim(b"\x08" + overlong((1 << 64) + 1, 0)),
    "dimension -1": lambda: _dim(integer(1, -1)),
    # varints, lengths and tags that are too long
    "opset version in ten bytes": lambda: integer(1, 8) + chunk(7, _BODY) + chunk(8, b"\x10" + overlong(17, 9)),
    "opset version in eleven bytes": lambda: integer(1, 8) + chunk(7, _BODY) + chunk(8, b"\x10" + overlong(17, 10)),
    "int64 element in eleven bytes": lambda: _weight(chunk(7, _PAST_THE_END), dtype=7),
    "int64 element in eleven bytes in a long list": lambda: _weight(chunk(7, bytes(_LONG) + _PAST_THE_END), dtype=7),
    "integer attribute in eleven bytes": lambda: _attribute(chunk(8, _PAST_THE_END), integer(20, 7)),
    "device number in eleven bytes": lambda: _sharding(chunk(2, _PAST_THE_END)),
    "device group that ends in a varint": lambda: _sharding(chunk(3, integer(1, 0) + chunk(2, b"\x80"))),
    "graph with a length of five bytes": lambda: integer(1, 8) + b"\x3a" + overlong(len(_BODY), 4) + _BODY + _END,
    "graph with a length of six bytes": lambda: integer(1, 8) + b"\x3a" + overlong(len(_BODY), 5) + _BODY + _END,
    "operator with a length of ten bytes": lambda: _node(b"\x22" + overlong(4, 9) + b"Conv"),
    "operator with a tag of two bytes": lambda: _node(chunk(4, "Relu"), b"\xa2\0" + b"\4Conv"),
    "operator with a tag of six bytes": lambda: _node(chunk(4, "Relu"), overlong(0x22, 5) + b"\4Conv"),
    "data location with a tag of two bytes": lambda: _located("w.bin", overlong(14 << 3, 1) + b"\1"),
    "operator with a tag of 33 bits": lambda: _node(chunk(4, "Relu"), overlong(0x22 | _BEYOND, 0) + b"\4Conv"),
    "metadata key with a tag of two bytes": lambda: _graph(chunk(16, b"\x8a\0\1k" + chunk(2, "v"))),
    "field number 0 in a node": lambda: _node(chunk(4, "Relu"), b"\2\4Conv"),
    "zero byte before the opset": lambda: integer(1, 8) + chunk(7, _BODY) + b"\0" + _END,
    # wrong wire types: an unknown field for protobuf
    "opset version as text": lambda: integer(1, 8) + chunk(7, _BODY) + chunk(8, chunk(2, "17")),
    "operator as a number": lambda: _node(chunk(4, "Relu"), integer(4, 7)),
    "data location as fixed32": lambda: _located("w.bin", varint(14 << 3 | 5) + b"\1\0\0\0"),
    "raw data as a number": lambda: _weight(chunk(9, _ONE), integer(9, 7)),
    "dims as fixed32": lambda: _graph(chunk(5, varint(1 << 3 | 5) + struct.pack("<i", 4) + tensor("w", [], 1))),
    "float attribute as fixed64": lambda: _attribute(varint(2 << 3 | 1) + bytes(8), integer(20, 1)),
    # packed and single
    "dims packed": lambda: _graph(chunk(5, chunk(1, b"\2\3") + tensor("w", [], 1, chunk(9, bytes(24))))),
    "dims packed and single": lambda: _graph(chunk(5, chunk(1, b"\2") + tensor("w", [3], 1, chunk(9, bytes(24))))),
    "float data single": lambda: _weight(varint(4 << 3 | 5) + _ONE),
    "float data of seven bytes": lambda: _weight(chunk(4, bytes(7))),
    "no float data beside a location": lambda: _located("w.bin", chunk(4, b"")),
    "no float data before int32 data": lambda: _weight(chunk(4, b""), chunk(5, b"\1"), dtype=6),
    "no integers in an attribute without a type": lambda: _attribute(chunk(8, b""), chunk(9, "a")),
    # groups
    "group for the initializer": lambda: _graph(group(5, tensor("w", [1], 1, chunk(9, _ONE)))),
    "group for a node": lambda: _graph(group(1, chunk(1, "y") + chunk(4, "Conv"))),
    "unknown group in a tensor": lambda: _weight(chunk(9, _ONE), group(99, integer(14, 1))),
    "group for the doc string of a node": lambda: _node(chunk(4, "Relu"), group(6, chunk(4, "Conv"))),
    "group in a metadata entry": lambda: _graph(chunk(16, chunk(1, "k") + group(3, b""))),
    "group in an annotation": lambda: _graph(chunk(14, chunk(1, "x") + group(9, b""))),
    "group in a group": lambda: _graph(group(99, group(98, b""))),
    "group that does not end": lambda: _node(chunk(4, "Relu"), varint(99 << 3 | 3)),
    "end of another group": lambda: _graph(varint(99 << 3 | 3) + varint(98 << 3 | 4)),
    "end of a group before the opset": lambda: integer(1, 8) + chunk(7, _BODY) + varint(99 << 3 | 4) + _END,
    # messages and oneofs that are set again: protobuf merges
    "second graph": lambda: integer(1, 8) + chunk(7, _BODY) + chunk(7, node("Relu", "y", "z")) + _END,
    "second type of a value": lambda: _value(_TENSOR_TYPE, chunk(1, chunk(2, chunk(1, integer(1, 4))))),
    "second tensor type": lambda: _value(_TENSOR_TYPE + chunk(1, integer(1, 7))),
    "second shape": lambda: _value(chunk(1, chunk(2, chunk(1, integer(1, 1))) + chunk(2, chunk(1, integer(1, 2))))),
    "second tensor of an attribute": lambda: _attribute(chunk(5, tensor("", [1], 1)) * 2, integer(20, 4)),
    "second graph of an attribute": lambda: _attribute(chunk(6, node("Relu", "x", "a")) * 2, integer(20, 5)),
    "second values of a sparse tensor": lambda: _graph(
        chunk(15, (chunk(1, tensor("w", [1], 1, chunk(9, _ONE)))) * 2 + integer(3, 4))
    ),
    "second segment of a tensor": lambda: _weight(chunk(9, _ONE), chunk(3, integer(1, 0)) * 2),
    "tensor type and sequence type": lambda: _value(_TENSOR_TYPE + _SEQUENCE_TYPE),
    "sequence type in a second type": lambda: _value(_TENSOR_TYPE, _SEQUENCE_TYPE),
    "dimension with size, then name": lambda: _dim(integer(1, 4), chunk(2, "n")),
    "dimension with name, then size": lambda: _dim(chunk(2, "n"), integer(1, 4)),
    # values that are set again: the last one holds
    "operator again": lambda: _node(chunk(4, "Conv"), chunk(4, "Relu")),
    "domain of a node again": lambda: _node(chunk(4, "Relu"), chunk(7, "evil"), chunk(7, "")),
    "data location EXTERNAL, then DEFAULT": lambda: _located("w.bin", chunk(9, _ONE), integer(14, 1), integer(14, 0)),
    "data location DEFAULT, then EXTERNAL": lambda: _located("w.bin", integer(14, 0), integer(14, 1)),
    "external path again in its entry": lambda: _weight(
        chunk(13, chunk(1, "location") + chunk(2, "a.bin") + chunk(2, "../b.bin")), integer(14, 1)
    ),
    "external key again in its entry": lambda: _weight(
        chunk(13, chunk(1, "offset") + chunk(1, "location") + chunk(2, "a.bin")), integer(14, 1)
    ),
    "external path in two entries": lambda: _located("a.bin", pair(13, "location", "../b.bin"), integer(14, 1)),
    "element type again": lambda: _weight(chunk(9, _ONE), integer(2, 6)),
    "element type of a value again": lambda: _value(chunk(1, integer(1, 1) + integer(1, 7))),
    "raw data again": lambda: _weight(chunk(9, _ONE), chunk(9, bytes(4))),
    "name of an initializer again": lambda: _weight(chunk(9, _ONE), chunk(8, "v")),
    "attribute type again": lambda: _attribute(integer(3, 1), integer(20, 1), integer(20, 2)),
    "attribute value again": lambda: _attribute(integer(3, 1), integer(3, 2), integer(20, 2)),
    "float attribute again, from -0.0 to 0.0": lambda: _attribute(
        varint(2 << 3 | 5) + struct.pack("<f", -0.0), varint(2 << 3 | 5) + bytes(4), integer(20, 1)
    ),
    "attribute again": lambda: _node(chunk(4, "Elu"), chunk(5, attr("a", 1)), chunk(5, attr("a", 2))),
    "reference of an attribute again": lambda: _attribute(chunk(21, "a"), chunk(21, "b"), integer(20, 2)),
    "dimension again": lambda: _dim(integer(1, 4), integer(1, 1 << 40)),
    "opset version again": lambda: integer(1, 8) + chunk(7, _BODY) + chunk(8, integer(2, 17) + integer(2, 13)),
    "opset again": lambda: model(_BODY, extra=opset(13)),
    "format version again": lambda: model(_BODY, extra=integer(1, 3)),
    "metadata key again": lambda: model(_BODY, extra=pair(14, "license", "MIT") + pair(14, "license", "none")),
    "name of a function again": lambda: model(
        _BODY + call("g", "y", "z", field=1),
        extra=function("f", call("Relu", "x", "y", "")) + chunk(25, chunk(1, "f") + chunk(1, "g") + chunk(10, "f")),
    ),
    # texts
    "external path that is not UTF-8": lambda: _located(b"w\xff.bin", integer(14, 1)),
    "external path with an overlong slash": lambda: _located(_OVERLONG_PATH, integer(14, 1)),
    "external path with NUL": lambda: _located(b"w.bin\0/../x", integer(14, 1)),
    "operator that is not UTF-8": lambda: _node(chunk(4, b"Relu\xff")),
    "operator with a surrogate": lambda: _node(chunk(4, b"Relu\xed\xa0\x80")),
    "domain that is not UTF-8": lambda: _node(chunk(4, "Relu"), chunk(7, b"ai.onnx\xc0\x80")),
    "name of an input that is not UTF-8": lambda: _graph(chunk(11, chunk(1, b"\xf4\x90\x80\x80"))),
    "opset domain that is not UTF-8": lambda: model(_BODY, extra=chunk(8, chunk(1, b"\xff") + integer(2, 1))),
    "operator with NUL": lambda: _node(chunk(4, b"Relu\0Conv")),
    "doc string that is not UTF-8": lambda: model(_BODY, extra=chunk(6, b"\xff\xfe")),
    "metadata that are not UTF-8": lambda: model(_BODY, extra=pair(14, "k", b"\xff")),
    "metadata of a node that are not UTF-8": lambda: _node(chunk(4, "Relu"), pair(9, "k", b"\xff")),
    "text attribute that is not UTF-8": lambda: _attribute(chunk(4, b"\xff"), integer(20, 3)),
    # unknown, empty, truncated, nested
    "unknown fields of every wire type": lambda: _weight(
        chunk(9, _ONE), chunk(99, "x"), integer(98, 1), varint(97 << 3 | 1) + bytes(8), varint(96 << 3 | 5) + bytes(4)
    ),
    "unknown field as an unterminated group in text": lambda: _weight(chunk(9, _ONE), chunk(99, b"\x0b")),
    "empty messages": lambda: _graph(*(chunk(field, b"") for field in (1, 5, 11, 12, 13, 14, 15, 16))),
    "graph after its opset": lambda: _END + chunk(7, _BODY) + integer(1, 8),
    "operator longer than its node": lambda: _graph(chunk(1, chunk(1, "y") + b"\x22\x20Conv") + chunk(2, "n" * 40)),
    "metadata key longer than its entry": lambda: _graph(chunk(16, b"\x0a\x09k") + chunk(2, "n" * 40)),
    "varint that ends behind its message": lambda: _graph(chunk(5, chunk(8, "w") + b"\x10\x80") + b"\1"),
    "types at the limit of nesting": lambda: _nested_types(47),
    "types beyond the limit of nesting": lambda: _nested_types(49),
    "metadata beyond the limit of nesting": lambda: _nested_graphs(33, pair(16, "k", "v")),
    "graphs below the limit of nesting": lambda: _nested_graphs(32, node("Relu", "x", "y")),
}
