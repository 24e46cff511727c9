"""Encoding of ONNX messages that no library would write, on top of the wire helpers of the tests."""

import struct
from collections.abc import Sequence

from msgspec import Struct

from tests._wire import chunk, integer, model, node, value, varint

__all__ = ["Case", "attr", "call", "chunk", "external", "floats", "function", "graph_of", "group", "integer", "ints"]
__all__ += ["model", "node", "one", "opset", "overlong", "pair", "raw", "tensor", "value", "varint", "wrapped"]

Attr = int | float | str | bytes | Sequence[int] | Sequence[float] | Sequence[str]


class Case(Struct, frozen=True):
    """A model's bytes, with its sibling files by name and its links by name and target."""

    data: bytes
    siblings: dict[str, bytes] = {}
    links: dict[str, str] = {}


def attr(name: str, value: "Attr") -> bytes:
    """Encode an attribute by the type of its value; `bytes` is a tensor."""
    return chunk(1, name) + _encode_attribute(value)


def _encode_attribute(value: "Attr") -> bytes:
    if isinstance(value, bytes):
        return chunk(5, value) + integer(20, 4)
    if isinstance(value, str):
        return chunk(4, value) + integer(20, 3)
    if isinstance(value, int):
        return integer(3, value) + integer(20, 2)
    if isinstance(value, float):
        return varint(2 << 3 | 5) + struct.pack("<f", _single(value)) + integer(20, 1)
    return _encode_list(list(value))


def _encode_list(items: list[int] | list[float] | list[str]) -> bytes:
    if items and isinstance(items[0], str):
        return b"".join(chunk(9, str(item)) for item in items) + integer(20, 8)
    if items and isinstance(items[0], float):
        return chunk(7, struct.pack(f"<{len(items)}f", *map(_single, map(float, items)))) + integer(20, 6)
    return b"".join(integer(8, int(item)) for item in items) + integer(20, 7)


def _single(number: float) -> float:
    """Clamp a number to the range of a 32-bit float; larger ones become infinite."""
    return number if abs(number) < 3e38 or number != number else float("inf")


def graph_of(name: str, body: bytes) -> bytes:
    """Encode an attribute with a graph."""
    return chunk(1, name) + chunk(6, body) + integer(20, 5)


def tensor(name: str, dims: Sequence[int], dtype: int, *payload: bytes) -> bytes:
    """Encode a TensorProto, without the tag of its field."""
    return b"".join(integer(1, dim) for dim in dims) + integer(2, dtype) + chunk(8, name) + b"".join(payload)


def raw(name: str, dims: Sequence[int], dtype: int, data: bytes) -> bytes:
    return chunk(5, tensor(name, dims, dtype, chunk(9, data)))


def ints(name: str, numbers: Sequence[int], dims: Sequence[int] | None = None) -> bytes:
    """Encode an int64 initializer."""
    data = b"".join(number.to_bytes(8, "little", signed=True) for number in numbers)
    return raw(name, [len(numbers)] if dims is None else dims, 7, data)


def one(name: str, number: int) -> bytes:
    return ints(name, [number], [])


def floats(name: str, numbers: Sequence[float], dims: Sequence[int] | None = None) -> bytes:
    """Encode a float32 initializer."""
    data = struct.pack(f"<{len(numbers)}f", *numbers)
    return raw(name, [len(numbers)] if dims is None else dims, 1, data)


def pair(field: int, key: str, text: str | bytes) -> bytes:
    return chunk(field, chunk(1, key) + chunk(2, text))


def external(name: str, dims: Sequence[int], dtype: int, **entries: str) -> bytes:
    """Encode an initializer with external data."""
    entries_bytes = b"".join(pair(13, key, text) for key, text in entries.items())
    return chunk(5, tensor(name, dims, dtype, entries_bytes, integer(14, 1)))


def opset(version: int, domain: str = "") -> bytes:
    return chunk(8, (chunk(1, domain) if domain else b"") + integer(2, version))


def wrapped(
    op: str, *attributes: bytes, dims: tuple[int | str, ...] = (2, 3), extra: bytes = b"", more: str = ""
) -> bytes:
    """Encode a model of one node on an input `x`, with initializers `extra` as further inputs `more`."""
    body = value(11, "x", dims) + extra + node(op, f"x {more}", "y", *attributes) + value(12, "y", ("n",))
    return model(body, opset=21)


def function(name: str, nodes: bytes, inputs: str = "x", outputs: str = "y") -> bytes:
    """Encode a local function of the domain `f`; `nodes` are from `call`."""
    ports = b"".join(chunk(4, port) for port in inputs.split()) + b"".join(chunk(5, port) for port in outputs.split())
    opsets = chunk(9, integer(2, 17)) + chunk(9, chunk(1, "f") + integer(2, 1))
    return chunk(25, chunk(1, name) + ports + nodes + opsets + chunk(10, "f"))


def call(
    op: str, inputs: str, outputs: str, domain: str = "f", field: int = 7, attributes: Sequence[bytes] = ()
) -> bytes:
    """Encode a node of any domain, in a function's body (field 7) or in a graph (field 1)."""
    names = b"".join(chunk(1, port) for port in inputs.split()) + b"".join(chunk(2, port) for port in outputs.split())
    encoded = b"".join(chunk(5, attribute) for attribute in attributes)
    return chunk(field, names + chunk(4, op) + encoded + (chunk(7, domain) if domain else b""))


def overlong(number: int, extra: int) -> bytes:
    """Encode an unsigned number of any size with `extra` more bytes than it requires."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number | (0x80 if extra else 0))
    return bytes(out + b"\x80" * (extra - 1) + b"\0" * bool(extra))


def group(field: int, inside: bytes) -> bytes:
    """Encode a group, protobuf's old form of a nested message."""
    return varint(field << 3 | 3) + inside + varint(field << 3 | 4)
