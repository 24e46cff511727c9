"""ONNX's messages by hand: what the tests' wire helpers do not have, for files that no library would write."""

import struct
from collections.abc import Sequence

from msgspec import Struct

from tests._wire import chunk, integer, model, node, value, varint

__all__ = ["Case", "attr", "call", "chunk", "external", "floats", "function", "graph_of", "integer", "ints"]
__all__ += ["model", "node", "one", "opset", "pair", "raw", "tensor", "value", "varint", "wrapped"]

Attr = int | float | str | bytes | Sequence[int] | Sequence[float] | Sequence[str]


class Case(Struct, frozen=True):
    """A model's bytes, and what lies beside it: name to content, or name to where a link leads."""

    data: bytes
    beside: dict[str, bytes] = {}
    links: dict[str, str] = {}


def attr(name: str, given: "Attr") -> bytes:
    """An attribute of the type that its value has; `bytes` is a tensor."""
    return chunk(1, name) + _held(given)


def _held(given: "Attr") -> bytes:
    if isinstance(given, bytes):
        return chunk(5, given) + integer(20, 4)
    if isinstance(given, str):
        return chunk(4, given) + integer(20, 3)
    if isinstance(given, int):
        return integer(3, given) + integer(20, 2)
    if isinstance(given, float):
        return varint(2 << 3 | 5) + struct.pack("<f", _single(given)) + integer(20, 1)
    return _listed(list(given))


def _listed(items: list[int] | list[float] | list[str]) -> bytes:
    if items and isinstance(items[0], str):
        return b"".join(chunk(9, str(item)) for item in items) + integer(20, 8)
    if items and isinstance(items[0], float):
        return chunk(7, struct.pack(f"<{len(items)}f", *map(_single, map(float, items)))) + integer(20, 6)
    return b"".join(integer(8, int(item)) for item in items) + integer(20, 7)


def _single(number: float) -> float:
    """As a 32-bit float holds it: what is too large is infinite."""
    return number if abs(number) < 3e38 or number != number else float("inf")


def graph_of(name: str, body: bytes) -> bytes:
    """An attribute that holds a graph."""
    return chunk(1, name) + chunk(6, body) + integer(20, 5)


def tensor(name: str, dims: Sequence[int], dtype: int, *payload: bytes) -> bytes:
    """A TensorProto, without the tag of the field it stands in."""
    return b"".join(integer(1, dim) for dim in dims) + integer(2, dtype) + chunk(8, name) + b"".join(payload)


def raw(name: str, dims: Sequence[int], dtype: int, data: bytes) -> bytes:
    return chunk(5, tensor(name, dims, dtype, chunk(9, data)))


def ints(name: str, numbers: Sequence[int], dims: Sequence[int] | None = None) -> bytes:
    """An int64 initializer."""
    data = b"".join(number.to_bytes(8, "little", signed=True) for number in numbers)
    return raw(name, [len(numbers)] if dims is None else dims, 7, data)


def one(name: str, number: int) -> bytes:
    return ints(name, [number], [])


def floats(name: str, numbers: Sequence[float], dims: Sequence[int] | None = None) -> bytes:
    """A float32 initializer."""
    data = struct.pack(f"<{len(numbers)}f", *numbers)
    return raw(name, [len(numbers)] if dims is None else dims, 1, data)


def pair(field: int, key: str, text: str | bytes) -> bytes:
    return chunk(field, chunk(1, key) + chunk(2, text))


def external(name: str, dims: Sequence[int], dtype: int, **entries: str) -> bytes:
    """An initializer whose bytes lie in another file."""
    listed = b"".join(pair(13, key, text) for key, text in entries.items())
    return chunk(5, tensor(name, dims, dtype, listed, integer(14, 1)))


def opset(version: int, domain: str = "") -> bytes:
    return chunk(8, (chunk(1, domain) if domain else b"") + integer(2, version))


def wrapped(
    op: str, *attributes: bytes, dims: tuple[int | str, ...] = (2, 3), extra: bytes = b"", more: str = ""
) -> bytes:
    """One node on an input `x`, with initializers `extra` as further inputs `more`."""
    body = value(11, "x", dims) + extra + node(op, f"x {more}", "y", *attributes) + value(12, "y", ("n",))
    return model(body, opset=21)


def function(name: str, nodes: bytes, inputs: str = "x", outputs: str = "y") -> bytes:
    """A local function of the domain `f`; `nodes` are `call`s."""
    ports = b"".join(chunk(4, port) for port in inputs.split()) + b"".join(chunk(5, port) for port in outputs.split())
    opsets = chunk(9, integer(2, 17)) + chunk(9, chunk(1, "f") + integer(2, 1))
    return chunk(25, chunk(1, name) + ports + nodes + opsets + chunk(10, "f"))


def call(
    op: str, inputs: str, outputs: str, domain: str = "f", field: int = 7, attributes: Sequence[bytes] = ()
) -> bytes:
    """A node of any domain, in a function's body (field 7) or in a graph (field 1)."""
    names = b"".join(chunk(1, port) for port in inputs.split()) + b"".join(chunk(2, port) for port in outputs.split())
    held = b"".join(chunk(5, attribute) for attribute in attributes)
    return chunk(field, names + chunk(4, op) + held + (chunk(7, domain) if domain else b""))
