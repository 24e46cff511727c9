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

SECONDS = 20  # far above the time of each file


def graph_attribute(name: str, graph: bytes) -> bytes:
    return chunk(1, name) + chunk(6, graph) + integer(20, 5)


def int64_tensor(field: int, name: str, numbers: list[int]) -> bytes:
    """Return an int64 initializer as a field of a graph."""
    data = b"".join(number.to_bytes(8, "little", signed=True) for number in numbers)
    return chunk(field, integer(1, len(numbers)) + integer(2, 7) + chunk(8, name) + chunk(9, data))


def build_nested_ifs(levels: int) -> bytes:
    body = node("Relu", "x", "y") + value(12, "y", (1,))
    for _ in range(levels):
        inner = graph_attribute("then_branch", body), graph_attribute("else_branch", body if len(body) < 300 else b"")
        body = node("If", "c", "y", *inner) + value(12, "y", (1,))
    return model(value(11, "x", (1,)) + value(11, "c", (), 9) + body)


def build_nested_loops(levels: int) -> bytes:
    inputs = value(11, "i", (), 7) + value(11, "on", (), 9) + value(11, "h", (1,))
    body = inputs + node("Concat", "h h", "g", chunk(1, "axis") + integer(3, 0) + integer(20, 2))
    body += value(12, "on", (), 9) + value(12, "g", (1,))
    for _ in range(levels):
        loop = node("Loop", "n c h", "g", graph_attribute("body", body))
        body = inputs + loop + value(12, "on", (), 9) + value(12, "g", (1,))
    outside = value(11, "h", (1,)) + value(11, "c", (), 9) + value(11, "n", (), 7)
    return model(outside + node("Loop", "n c h", "g", graph_attribute("body", body)) + value(12, "g", (1,)))


def function(name: str, nodes: bytes) -> bytes:
    opsets = chunk(9, integer(2, 17)) + chunk(9, chunk(1, "f") + integer(2, 1))
    return chunk(25, chunk(1, name) + chunk(4, "x") + chunk(5, "y") + nodes + opsets + chunk(10, "f"))


def call_node(name: str, inputs: str, outputs: str) -> bytes:
    return chunk(7, chunk(1, inputs) + chunk(2, outputs) + chunk(4, name) + chunk(7, "f"))


def build_doubling_functions(levels: int) -> bytes:
    """Each function calls the next one twice: 2^levels calls if they were inlined."""
    bodies = b"".join(
        function(f"f{at}", call_node(f"f{at + 1}", "x", "a") + call_node(f"f{at + 1}", "a", "y"))
        for at in range(levels)
    )
    last = function(f"f{levels}", chunk(7, chunk(1, "x") + chunk(2, "y") + chunk(4, "Relu")))
    start = chunk(1, chunk(1, "x") + chunk(2, "y") + chunk(4, "f0") + chunk(7, "f"))
    return model(value(11, "x", (3,)) + start + value(12, "y", (3,)), extra=bodies + last)


def build_chained_functions(levels: int) -> bytes:
    bodies = b"".join(function(f"f{at}", call_node(f"f{at + 1}", "x", "y")) for at in range(levels))
    start = chunk(1, chunk(1, "x") + chunk(2, "y") + chunk(4, "f0") + chunk(7, "f"))
    return model(value(11, "x", (3,)) + start + value(12, "y", (3,)), extra=bodies)


def build_doubling_values(op: str, times: int) -> bytes:
    """Return a model with a value that doubles with each node."""
    start = int64_tensor(5, "v0", list(range(8)))
    axis = chunk(1, "axis") + integer(3, 0) + integer(20, 2)
    nodes = b"".join(node(op, f"v{at} v{at}", f"v{at + 1}", axis) for at in range(times))
    return model(start + nodes + value(12, f"v{times}", ("n",), 7))


def build_huge_value(op: str, *tensors: bytes, inputs: str) -> bytes:
    return model(b"".join(tensors) + node(op, inputs, "y") + node("NonZero", "y", "z") + value(12, "z", ("n",), 7))


def build_wrapped_values(op: str, times: int) -> bytes:
    """Return a model with nested values in branches that are compared with each other."""
    last = f"v{times}"
    nodes = b"".join(node(op, f"v{at}" if at else "x", f"v{at + 1}") for at in range(times))
    branches = [node("Identity", last, name) + value(12, name, (1,)) for name in ("a", "b")]
    inner = graph_attribute("then_branch", branches[0]), graph_attribute("else_branch", branches[1])
    return model(
        value(11, "x", (1,)) + value(11, "c", (), 9) + nodes + node("If", "c", "y", *inner) + value(12, "y", (1,))
    )


def build_function_of_ifs(levels: int) -> bytes:
    body = node("Relu", "x", "y") + value(12, "y", (1,))
    for _ in range(levels):
        body = node(
            "If", "x", "y", graph_attribute("then_branch", body), graph_attribute("else_branch", body[:0])
        ) + value(12, "y", (1,))
    called_once = chunk(1, chunk(1, "x") + chunk(2, "y") + chunk(4, "f0") + chunk(7, "f"))
    inside = body[: len(body) - len(value(12, "y", (1,)))]
    first = function("f0", chunk(7, inside[len(inside) - _read_length(inside) :]))
    return model(value(11, "x", (1,), 9) + called_once + value(12, "y", (1,)), extra=first)


def _read_length(field: bytes) -> int:
    """Return the length of the message in a field."""
    at, length, shift = 1, 0, 0
    while True:
        length |= (field[at] & 0x7F) << shift
        if field[at] < 0x80:
            return length
        at, shift = at + 1, shift + 7


def build_shared_value(count: int) -> bytes:
    """Return a model in which many nodes read one value, and one node reads all of them."""
    nodes = b"".join(node("Relu", "x", f"y{at}") for at in range(count))
    return model(
        value(11, "x", (1,))
        + nodes
        + node("Sum", " ".join(f"y{at}" for at in range(count)), "z")
        + value(12, "z", (1,))
    )


def build_many_inputs(count: int) -> bytes:
    names = [f"x{at}" for at in range(count)]
    return model(
        b"".join(value(11, name, (1,)) for name in names) + node("Sum", " ".join(names), "z") + value(12, "z", (1,))
    )


def build_many_dynamic_inputs(count: int) -> bytes:
    """Return a model in which every dimension has a different name."""
    inputs = b"".join(value(11, f"x{at}", (f"d{at}",)) for at in range(count))
    return model(inputs + b"".join(node("Relu", f"x{at}", f"y{at}") for at in range(count)) + value(12, "y0", ("d",)))


def build_calls_with_long_values(count: int) -> bytes:
    start = int64_tensor(5, "v", list(range(65_536)))
    calls = b"".join(
        chunk(1, chunk(1, "v") + chunk(2, f"y{at}") + chunk(4, "f0") + chunk(7, "f")) for at in range(count)
    )
    body = function("f0", chunk(7, chunk(1, "x") + chunk(2, "y") + chunk(4, "Neg")))
    return model(start + calls + value(12, "y0", ("n",), 7), extra=body)


def build_many_folded_values(count: int) -> bytes:
    shape = int64_tensor(5, "s", [65_536])
    nodes = node("ConstantOfShape", "s", "f") + node("Cast", "f", "v0", chunk(1, "to") + integer(3, 7) + integer(20, 2))
    nodes += b"".join(node("Neg", f"v{at}", f"v{at + 1}") for at in range(count))
    return model(shape + nodes + value(12, f"v{count}", ("n",), 7))


FILES = {
    "ifs in ifs": build_nested_ifs(150),
    "loops in loops": build_nested_loops(40),
    "functions that double": build_doubling_functions(300),
    "functions in a chain": build_chained_functions(3_000),
    "concats that double": build_doubling_values("Concat", 200),
    "a huge Range": build_huge_value(
        "Range",
        int64_tensor(5, "a", [0]),
        int64_tensor(5, "b", [1 << 62]),
        int64_tensor(5, "c", [1]),
        inputs="a b c",
    ),
    "a huge ConstantOfShape": build_huge_value("ConstantOfShape", int64_tensor(5, "s", [1 << 40, 1 << 40]), inputs="s"),
    "a huge Tile": build_huge_value(
        "Tile", int64_tensor(5, "v", [1, 2]), int64_tensor(5, "n", [1 << 62]), inputs="v n"
    ),
    "many folded values": build_many_folded_values(3_000),
    "optionals in optionals": build_wrapped_values("Optional", 5_000),
    "sequences in sequences": build_wrapped_values("SequenceConstruct", 5_000),
    "a function of ifs in ifs": build_function_of_ifs(30),
    "one value read by all": build_shared_value(6_000),
    "many inputs": build_many_inputs(10_000),
    "many dynamic dimensions": build_many_dynamic_inputs(4_000),
    "calls with long values": build_calls_with_long_values(2_000),
    "a long name": model(value(11, "x" * 1_000_000, (1,)) + node("Relu", "x" * 1_000_000, "y") + value(12, "y", (1,))),
}


@pytest.mark.parametrize("name", FILES)
def test_work_is_bounded_by_file_size(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(FILES[name])
    start = time.process_time()
    try:
        report = make_card(path, Request())
        text = FORMATS["terminal"].render(report)
        assert max(map(len, text.splitlines())) <= 80
        assert len(text.splitlines()) <= 40
        for entry in (entry for name, entry in FORMATS.items() if name != "pdf"):  # its layout is slow
            assert entry.render(report)
    except AutodocError as error:
        assert "\n" not in str(error)
    assert time.process_time() - start < SECONDS


@pytest.mark.parametrize(
    "content",
    [
        build_nested_ifs(30),
        build_nested_loops(12),
        build_chained_functions(100),
        build_wrapped_values("Optional", 2_000),
        build_function_of_ifs(30),
    ],
    ids=["ifs", "loops", "functions", "optionals", "ifs in a function"],
)
def test_deep_nesting_does_not_overflow_the_stack(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    FORMATS["html"].render(make_card(path, Request()))  # loads lazy imports
    documents: list[str | bytes] = []
    before, limit = threading.stack_size(256 << 10), sys.getrecursionlimit()
    try:
        thread = threading.Thread(target=lambda: documents.extend(_render_with_few_frames(path)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert len(documents) == 3
    assert sys.getrecursionlimit() == limit


def _render_with_few_frames(path: Path) -> list[str | bytes]:
    """Return documents of the card, rendered with a third of the default recursion limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        report = make_card(path, Request())
    finally:
        sys.setrecursionlimit(limit)
    return [FORMATS[name].render(report) for name in ("json", "terminal", "html")]
