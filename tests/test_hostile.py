"""Small files that require unbounded work give a card or a one-line error in bounded time."""

import sys
import threading
import time
from pathlib import Path

import pytest

from onnx_autodoc.api import make_card
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.render import FORMATS
from onnx_autodoc.shapes import Request
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


def wrapped(op: str, times: int) -> bytes:
    """A value in a value in a value, in branches that are compared with each other."""
    last = f"v{times}"
    nodes = b"".join(node(op, f"v{at}" if at else "x", f"v{at + 1}") for at in range(times))
    branches = [node("Identity", last, name) + value(12, name, (1,)) for name in ("a", "b")]
    inner = attribute("then_branch", branches[0]), attribute("else_branch", branches[1])
    return model(
        value(11, "x", (1,)) + value(11, "c", (), 9) + nodes + node("If", "c", "y", *inner) + value(12, "y", (1,))
    )


def function_of_ifs(levels: int) -> bytes:
    body = node("Relu", "x", "y") + value(12, "y", (1,))
    for _ in range(levels):
        body = node("If", "x", "y", attribute("then_branch", body), attribute("else_branch", body[:0])) + value(
            12, "y", (1,)
        )
    called_once = chunk(1, chunk(1, "x") + chunk(2, "y") + chunk(4, "f0") + chunk(7, "f"))
    inside = body[: len(body) - len(value(12, "y", (1,)))]
    first = function("f0", chunk(7, inside[len(inside) - _length(inside) :]))
    return model(value(11, "x", (1,), 9) + called_once + value(12, "y", (1,)), extra=first)


def _length(field: bytes) -> int:
    """Of the message that one field holds."""
    at, length, shift = 1, 0, 0
    while True:
        length |= (field[at] & 0x7F) << shift
        if field[at] < 0x80:
            return length
        at, shift = at + 1, shift + 7


def read_by_all(count: int) -> bytes:
    """One value that very many nodes read, which one node reads again."""
    nodes = b"".join(node("Relu", "x", f"y{at}") for at in range(count))
    return model(
        value(11, "x", (1,))
        + nodes
        + node("Sum", " ".join(f"y{at}" for at in range(count)), "z")
        + value(12, "z", (1,))
    )


def many_inputs(count: int) -> bytes:
    names = [f"x{at}" for at in range(count)]
    return model(
        b"".join(value(11, name, (1,)) for name in names) + node("Sum", " ".join(names), "z") + value(12, "z", (1,))
    )


def many_open_inputs(count: int) -> bytes:
    """Every dimension a name of its own."""
    inputs = b"".join(value(11, f"x{at}", (f"d{at}",)) for at in range(count))
    return model(inputs + b"".join(node("Relu", f"x{at}", f"y{at}") for at in range(count)) + value(12, "y0", ("d",)))


def calls_with_long_values(count: int) -> bytes:
    start = ints(5, "v", list(range(65_536)))
    calls = b"".join(
        chunk(1, chunk(1, "v") + chunk(2, f"y{at}") + chunk(4, "f0") + chunk(7, "f")) for at in range(count)
    )
    body = function("f0", chunk(7, chunk(1, "x") + chunk(2, "y") + chunk(4, "Neg")))
    return model(start + calls + value(12, "y0", ("n",), 7), extra=body)


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
    "optionals in optionals": wrapped("Optional", 5_000),
    "sequences in sequences": wrapped("SequenceConstruct", 5_000),
    "a function of ifs in ifs": function_of_ifs(60),
    "one value read by all": read_by_all(6_000),
    "many inputs": many_inputs(10_000),
    "many open dimensions": many_open_inputs(4_000),
    "calls with long values": calls_with_long_values(2_000),
    "a long name": model(value(11, "x" * 1_000_000, (1,)) + node("Relu", "x" * 1_000_000, "y") + value(12, "y", (1,))),
}


@pytest.mark.parametrize("name", FILES)
def test_work_is_bounded_by_file_size(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(FILES[name])
    start = time.process_time()
    try:
        made = make_card(path, Request())
        text = FORMATS["terminal"].render(made)
        assert max(map(len, text.splitlines())) <= 80
        assert len(text.splitlines()) <= 40
        for entry in (entry for name, entry in FORMATS.items() if name != "pdf"):  # a library lays it out, slowly
            assert entry.render(made)
    except AutodocError as error:
        assert "\n" not in str(error)
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    "made",
    [nested_ifs(60), nested_loops(12), chained_functions(100), wrapped("Optional", 2_000), function_of_ifs(60)],
    ids=["ifs", "loops", "functions", "optionals", "ifs in a function"],
)
def test_deep_nesting_does_not_overflow_the_stack(made: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(made)
    FORMATS["html"].render(make_card(path, Request()))  # what is loaded late is loaded before
    found: list[str | bytes] = []
    before, limit = threading.stack_size(256 << 10), sys.getrecursionlimit()
    try:
        thread = threading.Thread(target=lambda: found.extend(_shallow(path)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(found) == 3
    assert sys.getrecursionlimit() == limit


def _shallow(path: Path) -> list[str | bytes]:
    """The card, with a third of the frames that Python allows."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        made = make_card(path, Request())
    finally:
        sys.setrecursionlimit(limit)
    return [FORMATS[name].render(made) for name in ("json", "terminal", "html")]
