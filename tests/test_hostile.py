"""Small files that ask for endless work: each gives its card in bounded time, or one line."""

import time
from pathlib import Path

import pytest

from onnx_autodoc.api import report
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.render import FORMATS
from onnx_autodoc.resolve import Request
from tests._wire import chunk, integer, model, node, value

SECONDS = 20  # the promise is a bound, far above what any of these takes


def attribute(name: str, graph: bytes) -> bytes:
    return chunk(1, name) + chunk(6, graph) + integer(20, 5)


def ints(field: int, name: str, numbers: list[int]) -> bytes:
    """An int64 initializer."""
    data = b"".join(number.to_bytes(8, "little", signed=True) for number in numbers)
    return chunk(field, integer(1, len(numbers)) + integer(2, 7) + chunk(8, name) + chunk(9, data))


def nested_ifs(levels: int) -> bytes:
    body = node("Relu", "x", "y") + value(12, "y", (1,))
    for _ in range(levels):
        inner = attribute("then_branch", body), attribute("else_branch", body if len(body) < 300 else b"")
        body = node("If", "c", "y", *inner) + value(12, "y", (1,))
    return model(value(11, "x", (1,)) + value(11, "c", (), 9) + body)


def nested_loops(levels: int) -> bytes:
    inputs = value(11, "i", (), 7) + value(11, "on", (), 9) + value(11, "h", (1,))
    body = inputs + node("Concat", "h h", "g", chunk(1, "axis") + integer(3, 0) + integer(20, 2))
    body += value(12, "on", (), 9) + value(12, "g", (1,))
    for _ in range(levels):
        loop = node("Loop", "n c h", "g", attribute("body", body))
        body = inputs + loop + value(12, "on", (), 9) + value(12, "g", (1,))
    outside = value(11, "h", (1,)) + value(11, "c", (), 9) + value(11, "n", (), 7)
    return model(outside + node("Loop", "n c h", "g", attribute("body", body)) + value(12, "g", (1,)))


def function(name: str, nodes: bytes) -> bytes:
    opsets = chunk(9, integer(2, 17)) + chunk(9, chunk(1, "f") + integer(2, 1))
    return chunk(25, chunk(1, name) + chunk(4, "x") + chunk(5, "y") + nodes + opsets + chunk(10, "f"))


def called(name: str, inputs: str, outputs: str) -> bytes:
    return chunk(7, chunk(1, inputs) + chunk(2, outputs) + chunk(4, name) + chunk(7, "f"))


def doubling_functions(levels: int) -> bytes:
    """Each function calls the next one twice: 2^levels calls if they were inlined."""
    bodies = b"".join(
        function(f"f{at}", called(f"f{at + 1}", "x", "a") + called(f"f{at + 1}", "a", "y")) for at in range(levels)
    )
    last = function(f"f{levels}", chunk(7, chunk(1, "x") + chunk(2, "y") + chunk(4, "Relu")))
    start = chunk(1, chunk(1, "x") + chunk(2, "y") + chunk(4, "f0") + chunk(7, "f"))
    return model(value(11, "x", (3,)) + start + value(12, "y", (3,)), extra=bodies + last)


def chained_functions(levels: int) -> bytes:
    bodies = b"".join(function(f"f{at}", called(f"f{at + 1}", "x", "y")) for at in range(levels))
    start = chunk(1, chunk(1, "x") + chunk(2, "y") + chunk(4, "f0") + chunk(7, "f"))
    return model(value(11, "x", (3,)) + start + value(12, "y", (3,)), extra=bodies)


def doubled(op: str, times: int) -> bytes:
    """A value that doubles with each node."""
    start = ints(5, "v0", list(range(8)))
    axis = chunk(1, "axis") + integer(3, 0) + integer(20, 2)
    nodes = b"".join(node(op, f"v{at} v{at}", f"v{at + 1}", axis) for at in range(times))
    return model(start + nodes + value(12, f"v{times}", ("n",), 7))


def huge(op: str, *tensors: bytes, inputs: str) -> bytes:
    return model(b"".join(tensors) + node(op, inputs, "y") + node("NonZero", "y", "z") + value(12, "z", ("n",), 7))


def many_kept_values(count: int) -> bytes:
    shape = ints(5, "s", [65_536])
    nodes = node("ConstantOfShape", "s", "f") + node("Cast", "f", "v0", chunk(1, "to") + integer(3, 7) + integer(20, 2))
    nodes += b"".join(node("Neg", f"v{at}", f"v{at + 1}") for at in range(count))
    return model(shape + nodes + value(12, f"v{count}", ("n",), 7))


FILES = {
    "ifs in ifs": nested_ifs(150),
    "loops in loops": nested_loops(40),
    "functions that double": doubling_functions(300),
    "functions in a chain": chained_functions(3_000),
    "concats that double": doubled("Concat", 200),
    "a huge Range": huge("Range", ints(5, "a", [0]), ints(5, "b", [1 << 62]), ints(5, "c", [1]), inputs="a b c"),
    "a huge ConstantOfShape": huge("ConstantOfShape", ints(5, "s", [1 << 40, 1 << 40]), inputs="s"),
    "a huge Tile": huge("Tile", ints(5, "v", [1, 2]), ints(5, "n", [1 << 62]), inputs="v n"),
    "many kept values": many_kept_values(3_000),
    "a long name": model(value(11, "x" * 1_000_000, (1,)) + node("Relu", "x" * 1_000_000, "y") + value(12, "y", (1,))),
}


@pytest.mark.parametrize("name", FILES)
def test_work_is_bounded_by_the_file_not_by_what_it_asks(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(FILES[name])
    start = time.process_time()
    try:
        made = report(path, Request())
        text = FORMATS["terminal"].render(made)
        assert max(map(len, text.splitlines())) <= 80
        assert len(text.splitlines()) <= 40
        for entry in (entry for name, entry in FORMATS.items() if name != "pdf"):  # a library lays it out, slowly
            assert entry.render(made)
    except AutodocError as error:
        assert "\n" not in str(error)
    assert time.process_time() - start < SECONDS
