"""Malformed models written byte by byte, and the findings of a rule on them."""

import struct
import tempfile
from pathlib import Path

from onnx_autodoc.card import Finding
from onnx_autodoc.ir import Model
from onnx_autodoc.readers import read_model
from tests._wire import chunk, integer, model, node, value, varint
from tests.lint._check import check_rule

X, Y = value(11, "x", (2, 3)), value(12, "y", (2, 3))
FLAG = value(11, "flag", (), 9)


def read_bytes(content: bytes, external: bytes | None = None) -> Model:
    """Read a model from bytes; `external` is the content of a file w.bin in the same folder."""
    with tempfile.TemporaryDirectory() as folder:
        if external is not None:
            (Path(folder) / "w.bin").write_bytes(external)
        path = Path(folder) / "model.onnx"
        path.write_bytes(content)
        return read_model(path)


def check_bytes(rule: str, content: bytes, external: bytes | None = None) -> list[Finding]:
    return check_rule(rule, read_bytes(content, external))


def single_node_model(op: str, *attributes: bytes, inputs: str = "x") -> bytes:
    """Return a model of one node."""
    return model(X + node(op, inputs, "y", *attributes) + Y)


def int_attribute(name: str, number: int) -> bytes:
    return chunk(1, name) + integer(3, number) + integer(20, 2)


def float_attribute(name: str, number: float) -> bytes:
    return chunk(1, name) + varint(2 << 3 | 5) + struct.pack("<f", number) + integer(20, 1)


def string_attribute(name: str, value: str) -> bytes:
    return chunk(1, name) + chunk(4, value) + integer(20, 3)


def ints_attribute(name: str, *numbers: int) -> bytes:
    return chunk(1, name) + b"".join(integer(8, number) for number in numbers) + integer(20, 7)


def graph_attribute(name: str, graph: bytes) -> bytes:
    return chunk(1, name) + chunk(6, graph) + integer(20, 5)


def tensor(name: str, dims: tuple[int, ...], raw: bytes | None = None, extra: bytes = b"", dtype: int = 1) -> bytes:
    content = b"" if raw is None else chunk(9, raw)
    return b"".join(integer(1, dim) for dim in dims) + integer(2, dtype) + chunk(8, name) + content + extra


def initializer(
    name: str, dims: tuple[int, ...], raw: bytes | None = None, extra: bytes = b"", dtype: int = 1
) -> bytes:
    return chunk(5, tensor(name, dims, raw, extra, dtype))


def function(name: str, nodes: bytes, opsets: bytes = chunk(9, integer(2, 17))) -> bytes:
    """A function of the domain f, from x to y; `nodes` come from `step`."""
    domain = chunk(9, chunk(1, "f") + integer(2, 1))
    return chunk(25, chunk(1, name) + chunk(4, "x") + chunk(5, "y") + nodes + opsets + domain + chunk(10, "f"))


def step(op: str, inputs: str, outputs: str, domain: str = "") -> bytes:
    """A node of a function."""
    return chunk(7, _node_fields(op, inputs, outputs, domain))


def call(op: str, inputs: str, outputs: str) -> bytes:
    """A node that calls a function of the domain f."""
    return chunk(1, _node_fields(op, inputs, outputs, "f"))


def _node_fields(op: str, inputs: str, outputs: str, domain: str) -> bytes:
    names = b"".join(chunk(1, name) for name in inputs.split()) + b"".join(chunk(2, name) for name in outputs.split())
    return names + chunk(4, op) + chunk(7, domain)


def function_model(nodes: bytes, *functions: bytes) -> bytes:
    return model(X + nodes + Y, extra=chunk(8, chunk(1, "f") + integer(2, 1)) + b"".join(functions))


def branch_model(then: bytes, otherwise: bytes, outputs: str = "y") -> bytes:
    """If of two graphs."""
    branches = graph_attribute("then_branch", then), graph_attribute("else_branch", otherwise)
    return model(X + FLAG + node("If", "flag", outputs, *branches) + Y)


RELU = node("Relu", "x", "t") + value(12, "t", (2, 3))
NEG = node("Neg", "x", "t") + value(12, "t", (2, 3))
