"""Small files that require excessive work or memory: values, loops and functions that multiply."""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from fuzz.wire import attr, call, chunk, floats, function, graph_of, integer, ints, model, node, one, value, wrapped

_BIG: Final = 1 << 62
_X: Final = value(11, "x", (2, 3))
_COUNTER: Final = value(11, "i", (), 7) + value(11, "on", (), 9)


def _shaping(*parts: bytes, inputs: str, op: str, attributes: tuple[bytes, ...] = ()) -> bytes:
    """Encode a node on constants whose result determines a shape, so that constant folding would compute it."""
    last = node("NonZero", "y", "z") + node("Shape", "z", "s") + node("ConstantOfShape", "s", "o")
    return model(b"".join(parts) + node(op, inputs, "y", *attributes) + last + value(12, "o", ("n",)))


def _doubling(op: str, times: int, *attributes: bytes) -> bytes:
    nodes = b"".join(node(op, f"v{at} v{at}", f"v{at + 1}", *attributes) for at in range(times))
    return model(ints("v0", list(range(8))) + nodes + value(12, f"v{times}", ("n",), 7))


def _tiling(times: int) -> bytes:
    nodes = b"".join(node("Tile", f"v{at} n", f"v{at + 1}") for at in range(times))
    return model(ints("v0", [1, 2]) + ints("n", [1_000]) + nodes + value(12, f"v{times}", ("n",), 7))


def _grown_power(times: int) -> bytes:
    """Encode dims that are squared by each node: integers of 2^times digits without a limit."""
    nodes = b"".join(node("Mul", f"v{at} v{at}", f"v{at + 1}") for at in range(times))
    last = node("ConstantOfShape", f"v{times}", "y")
    return model(ints("v0", [1 << 40]) + nodes + last + value(12, "y", ("n",)))


def _grown_rank(times: int) -> bytes:
    nodes = b"".join(node("Concat", f"s{at} s{at}", f"s{at + 1}", attr("axis", 0)) for at in range(times))
    last = node("Expand", f"x s{times}", "y")
    return model(_X + ints("s0", [1, 2]) + nodes + last + value(12, "y", ("n",)))


def _outer(times: int) -> bytes:
    """Encode outer products: each squares the number of elements."""
    nodes = b"".join(
        node("Unsqueeze", f"v{at}", f"u{at}", attr("axes", [0]))
        + node("Unsqueeze", f"v{at}", f"t{at}", attr("axes", [1]))
        + node("MatMul", f"t{at} u{at}", f"m{at}")
        + node("Flatten", f"m{at}", f"f{at}", attr("axis", 0))
        + node("Squeeze", f"f{at}", f"v{at + 1}", attr("axes", [0]))
        for at in range(times)
    )
    return model(value(11, "v0", (1024,)) + nodes + value(12, f"v{times}", ("n",)), opset=11)


def _loop(trips: bytes, body: bytes, op: str = "Loop") -> bytes:
    return model(
        value(11, "h", (1,))
        + trips
        + node(op, "n  h".replace("  ", " c "), "g", graph_of("body", body))
        + value(12, "g", ("n",))
    )


def _step(op: str, *attributes: bytes, inputs: str = "h h") -> bytes:
    return (
        _COUNTER
        + value(11, "h", ("n",))
        + node(op, inputs, "g", *attributes)
        + node("Identity", "on", "o")
        + value(12, "o", (), 9)
        + value(12, "g", ("n",))
    )


def _nested(levels: int, trips: int) -> bytes:
    body = _step("Add")
    for _ in range(levels):
        inner = node("Loop", "n c h", "g", graph_of("body", body)) + node("Identity", "on", "o")
        body = _COUNTER + value(11, "h", (1,)) + inner + value(12, "o", (), 9) + value(12, "g", (1,))
    return _loop(one("n", trips) + value(11, "c", (), 9), body)


def _twice_nested(levels: int) -> bytes:
    """Encode two loops in each loop: 2^levels bodies in all."""
    body = _step("Add")
    for _ in range(levels):
        pair = node("Loop", "n c h", "m", graph_of("body", body)) + node(
            "Loop", "n c m", "g", graph_of("body", _step("Add"))
        )
        body = (
            _COUNTER
            + value(11, "h", (1,))
            + pair
            + node("Identity", "on", "o")
            + value(12, "o", (), 9)
            + value(12, "g", (1,))
        )
    return _loop(one("n", 1_000) + value(11, "c", (), 9), body)


def _ifs(levels: int) -> bytes:
    body = node("Relu", "x", "y") + value(12, "y", (1,))
    for _ in range(levels):
        body = node(
            "If",
            "c",
            "y",
            graph_of("then_branch", body),
            graph_of("else_branch", node("Neg", "x", "y") + value(12, "y", (1,))),
        ) + value(12, "y", (1,))
    return model(value(11, "x", (1,)) + value(11, "c", (), 9) + body)


def _scan(length: int, levels: int = 1) -> bytes:
    """Encode nested Scans over `length`."""
    body = value(11, "e", (2,)) + node("Relu", "e", "f") + value(12, "f", (2,))
    for _ in range(levels - 1):
        inner = value(11, "e", (length, 2)) + node("Scan", "e", "f", graph_of("body", body), attr("num_scan_inputs", 1))
        body = inner + value(12, "f", (length, 2))
    return model(
        value(11, "x", (length, 2))
        + node("Scan", "x", "y", graph_of("body", body), attr("num_scan_inputs", 1))
        + value(12, "y", ("n", 2))
    )


def _calls(levels: int, times: int, last: str = "Relu") -> bytes:
    """Encode functions that each call the next one `times` times."""
    bodies = b""
    for at in range(levels):
        names = ["x", *(f"a{step}" for step in range(times - 1)), "y"]
        bodies += function(f"f{at}", b"".join(call(f"f{at + 1}", source, target) for source, target in pairwise(names)))
    bodies += function(f"f{levels}", call(last, "x", "y", ""))
    return model(value(11, "x", (3,)) + call("f0", "x", "y", field=1) + value(12, "y", (3,)), extra=bodies)


def _recursive(size: int) -> bytes:
    """Encode functions that call each other in a ring."""
    bodies = b"".join(function(f"f{at}", call(f"f{(at + 1) % size}", "x", "y")) for at in range(size))
    return model(value(11, "x", (3,)) + call("f0", "x", "y", field=1) + value(12, "y", (3,)), extra=bodies)


def _growing_call() -> bytes:
    """Encode a function that calls itself with a longer input each time, so that no two calls are equal."""
    body = chunk(7, chunk(1, "x") * 2 + chunk(2, "a") + chunk(4, "Concat") + chunk(5, attr("axis", 0))) + call(
        "g", "a", "y"
    )
    return model(value(11, "x", (3,)) + call("g", "x", "y", field=1) + value(12, "y", (3,)), extra=function("g", body))


def _distinct_calls(count: int) -> bytes:
    """Encode calls of one function, each with another input size."""
    body = call("Relu", "x", "a", "") + call("Neg", "a", "y", "")
    inputs = b"".join(value(11, f"x{at}", (at + 1,)) for at in range(count))
    return model(
        inputs + b"".join(call("g", f"x{at}", f"y{at}", field=1) for at in range(count)) + value(12, "y0", (1,)),
        extra=function("g", body),
    )


def _function_in_loops() -> bytes:
    body = (
        _COUNTER
        + value(11, "h", (1,))
        + call("f0", "h", "g", field=1)
        + node("Identity", "on", "o")
        + value(12, "o", (), 9)
        + value(12, "g", (1,))
    )
    graph = (
        value(11, "h", (1,))
        + one("n", _BIG)
        + node("Loop", "n c h", "g", graph_of("body", body))
        + value(12, "g", (1,))
    )
    return model(graph, extra=function("f0", call("f1", "x", "y")) + function("f1", call("f0", "x", "y")))


def _sequence(times: int) -> bytes:
    nodes = node("SequenceEmpty", "", "s0") + b"".join(
        node("SequenceInsert", f"s{at} x", f"s{at + 1}") for at in range(times)
    )
    return model(_X + nodes + node("ConcatFromSequence", f"s{times}", "y", attr("axis", 0)) + value(12, "y", ("n", 3)))


FILES: Final[dict[str, Callable[[], bytes]]] = {
    "Concat doubles 300 times": lambda: _doubling("Concat", 300, attr("axis", 0)),
    "Add chains on constants": lambda: _doubling("Add", 5_000),
    "Mul chains that overflow": lambda: _grown_power(300),
    "Tile by a thousand, 40 times": lambda: _tiling(40),
    "ranks that double": lambda: _grown_rank(40),
    "outer products of outer products": lambda: _outer(12),
    "Range to 2^62": lambda: _shaping(one("a", 0), one("b", _BIG), one("c", 1), inputs="a b c", op="Range"),
    "Range with step 0": lambda: _shaping(one("a", 0), one("b", 9), one("c", 0), inputs="a b c", op="Range"),
    "Range of floats, tiny steps": lambda: _shaping(
        floats("a", [0.0], []), floats("b", [3e38], []), floats("c", [1e-38], []), inputs="a b c", op="Range"
    ),
    "Range of NaN": lambda: _shaping(
        floats("a", [float("nan")], []),
        floats("b", [float("inf")], []),
        floats("c", [1.0], []),
        inputs="a b c",
        op="Range",
    ),
    "ConstantOfShape 2^40 by 2^40": lambda: _shaping(ints("s0", [1 << 40, 1 << 40]), inputs="s0", op="ConstantOfShape"),
    "ConstantOfShape of negative dims": lambda: _shaping(
        ints("s0", [-1, -(1 << 63)]), inputs="s0", op="ConstantOfShape"
    ),
    "ConstantOfShape of 10,000 dims": lambda: _shaping(ints("s0", [1] * 10_000), inputs="s0", op="ConstantOfShape"),
    "Expand to 2^62": lambda: _shaping(ints("v", [1]), ints("n", [_BIG]), inputs="v n", op="Expand"),
    "Expand to -1": lambda: _shaping(ints("v", [1]), ints("n", [-1, 0, -5]), inputs="v n", op="Expand"),
    "Tile by 2^62": lambda: _shaping(ints("v", [1, 2]), ints("n", [_BIG]), inputs="v n", op="Tile"),
    "Tile by -1": lambda: _shaping(ints("v", [1, 2]), ints("n", [-1]), inputs="v n", op="Tile"),
    "Pad by 2^62": lambda: _shaping(ints("v", [1, 2]), ints("n", [_BIG, _BIG]), inputs="v n", op="Pad"),
    "Pad by -2^62": lambda: _shaping(ints("v", [1, 2]), ints("n", [-_BIG, -_BIG]), inputs="v n", op="Pad"),
    "Pad reflects a hundred times": lambda: _shaping(
        ints("v", [1, 2]), ints("n", [100, 100]), inputs="v n", op="Pad", attributes=(attr("mode", "reflect"),)
    ),
    "Reshape to 2^31 squared": lambda: _shaping(
        ints("v", [1, 2]), ints("n", [1 << 31, 1 << 31]), inputs="v n", op="Reshape"
    ),
    "Reshape with three -1": lambda: _shaping(ints("v", [1, 2]), ints("n", [-1, -1, -1]), inputs="v n", op="Reshape"),
    "Reshape of nothing to -1 and 0": lambda: wrapped("Reshape", extra=ints("n", [-1, 0, 0]), more="n", dims=(0, 4)),
    "Resize by 1e30": lambda: wrapped(
        "Resize", extra=floats("r", [1e30] * 4) + floats("e", []), more="e r", dims=(1, 3, 8, 8)
    ),
    "Resize to 2^62": lambda: wrapped("Resize", extra=ints("z", [1, 3, _BIG, _BIG]), more="n0 n1 z", dims=(1, 3, 8, 8)),
    "Resize by NaN": lambda: wrapped(
        "Resize", extra=floats("r", [float("nan")] * 4) + floats("e", []), more="e r", dims=(1, 3, 8, 8)
    ),
    "Upsample by 1e30": lambda: wrapped("Upsample", attr("scales", [1e30] * 4), dims=(1, 3, 8, 8)),
    "Upsample by -inf": lambda: wrapped(
        "Upsample", attr("scales", [1.0, 1.0, -float("inf"), float("nan")]), dims=(1, 3, 8, 8)
    ),
    "OneHot of depth 2^62": lambda: _shaping(
        ints("v", [1]), one("d", _BIG), ints("w", [0, 1]), inputs="v d w", op="OneHot"
    ),
    "TopK of 2^62": lambda: _shaping(ints("v", [1, 2]), ints("k", [_BIG]), inputs="v k", op="TopK"),
    "Gather with 10^5 indices of constants": lambda: _shaping(
        ints("v", [1, 2]), ints("k", [1] * 100_000), inputs="v k", op="Gather"
    ),
    "Split into 10^6": lambda: wrapped("Split", attr("num_outputs", 1_000_000), dims=(1_000_000,)),
    "Split by 10^5 sizes": lambda: wrapped("Split", extra=ints("n", [1] * 100_000), more="n", dims=(100_000,)),
    "EyeLike of 2^31": lambda: wrapped("EyeLike", dims=(1 << 31, 1 << 31)),
    "NonZero of 2^62": lambda: wrapped("NonZero", dims=(_BIG,)),
    "DepthToSpace by 2^31": lambda: wrapped("DepthToSpace", attr("blocksize", 1 << 31), dims=(1, 4, 2, 2)),
    "SpaceToDepth by 0": lambda: wrapped("SpaceToDepth", attr("blocksize", 0), dims=(1, 4, 2, 2)),
    "MatMul of 2^62": lambda: wrapped("MatMul", extra=value(11, "w", (_BIG, _BIG)), more="w", dims=(_BIG, _BIG)),
    "2,000 sizes of 2^62 multiplied": lambda: model(
        value(11, "x", (_BIG,) * 60)
        + b"".join(node("MatMul", "x x", f"v{at}") for at in range(2_000))
        + value(12, "v0", ("n",))
    ),
    "Loop of 2^62 trips": lambda: _loop(one("n", _BIG), _step("Add")),
    "Loop of 2^62 trips that grows": lambda: _loop(one("n", _BIG), _step("Concat", attr("axis", 0))),
    "Loop of -2^63 trips": lambda: _loop(one("n", -(1 << 63)), _step("Concat", attr("axis", 0))),
    "Loop of 10^6 trips that grows": lambda: _loop(one("n", 1_000_000), _step("Concat", attr("axis", 0))),
    "Loop over floats": lambda: _loop(floats("n", [1e9], []), _step("Add")),
    "Loop without end": lambda: _loop(b"", _step("Add")),
    "loops nested 60 deep": lambda: _nested(60, _BIG),
    "loops nested 20 deep, growing": lambda: _nested(20, 1_000_000),
    "loops nested 150 deep": lambda: _nested(150, 2),
    "two loops in each of 12 loops": lambda: _twice_nested(12),
    "Scan of 2^62": lambda: _scan(_BIG),
    "Scans of 10^6, 30 deep": lambda: _scan(1_000_000, 30),
    "If in If, 60 deep": lambda: _ifs(60),
    "If in If, 500 deep": lambda: _ifs(500),
    "functions double, 300 levels": lambda: _calls(300, 2),
    "functions double, 60 levels": lambda: _calls(60, 2),
    "functions call ten times, 40 levels": lambda: _calls(40, 10),
    "functions in a chain of 3,000": lambda: _calls(3_000, 1),
    "functions double an unknown operator": lambda: _calls(50, 2, "NoSuch"),
    "functions without an end": lambda: _calls(20, 2, "f0"),
    "a function that calls itself": lambda: _recursive(1),
    "two functions that call each other": lambda: _recursive(2),
    "a ring of 2,000 functions": lambda: _recursive(2_000),
    "a function that calls itself with more": _growing_call,
    "one function at 2,000 sizes": lambda: _distinct_calls(2_000),
    "recursive functions in a loop": _function_in_loops,
    "a function that doubles its input, 60 levels": lambda: _calls(60, 1, "NonZero"),
    "a sequence of 2,000": lambda: _sequence(2_000),
    "SplitToSequence of 2^62": lambda: wrapped("SplitToSequence", dims=(_BIG, 3)),
    "SequenceMap without a body": lambda: wrapped("SequenceMap"),
    "5,000 inputs to Max": lambda: model(_X + node("Max", "x " * 5_000, "y") + value(12, "y", (2, 3))),
    "64 axes broadcast": lambda: wrapped(
        "Add", extra=value(11, "w", (7,) + (1,) * 63), more="w", dims=(1,) * 63 + (5,)
    ),
    "3,000 ConstantOfShape of 65,536": lambda: model(
        ints("s", [65_536])
        + b"".join(
            node("ConstantOfShape", "s", f"v{at}") + node("Cast", f"v{at}", f"c{at}", attr("to", 7))
            for at in range(3_000)
        )
        + value(12, "c0", ("n",), 7)
    ),
    "strings multiplied": lambda: model(
        chunk(5, integer(1, 2) + integer(2, 8) + chunk(8, "v0") + chunk(6, "a" * 9_999) * 2)
        + b"".join(node("StringConcat", f"v{at} v{at}", f"v{at + 1}") for at in range(60))
        + value(12, "v60", ("n",), 8)
    ),
}
