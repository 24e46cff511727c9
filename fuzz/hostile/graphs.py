"""Invalid graphs: cycles, values produced twice or never, names that are empty, shadowed or a megabyte long."""

from collections.abc import Callable
from typing import Final

from fuzz.wire import attr, call, chunk, floats, function, graph_of, integer, ints, model, node, one, opset, raw, value

_X: Final = value(11, "x", (2, 3))
_Y: Final = value(12, "y", (2, 3))
_LONG: Final = "n" * 1_000_000


def _chain(count: int, op: str = "Relu") -> bytes:
    nodes = b"".join(node(op, f"v{at}", f"v{at + 1}") for at in range(count))
    return model(value(11, "v0", (2,)) + nodes + value(12, f"v{count}", (2,)))


def _reversed(count: int) -> bytes:
    nodes = b"".join(node("Relu", f"v{at}", f"v{at + 1}") for at in reversed(range(count)))
    return model(value(11, "v0", (2,)) + nodes + value(12, f"v{count}", (2,)))


def _if(then: bytes, otherwise: bytes, outputs: str = "y") -> bytes:
    return node("If", "c", outputs, graph_of("then_branch", then), graph_of("else_branch", otherwise))


def _branch(name: str, op: str = "Relu", source: str = "x") -> bytes:
    return node(op, source, name) + value(12, name, (2, 3))


_C: Final = value(11, "c", (), 9)
_ONE_ATTRIBUTE_MANY_TIMES: Final = tuple(attr("axis", at) for at in range(1_000))

FILES: Final[dict[str, Callable[[], bytes]]] = {
    "a cycle of two": lambda: model(_X + node("Relu", "b", "a") + node("Relu", "a", "b") + value(12, "b", (2,))),
    "a cycle of a thousand": lambda: model(
        b"".join(node("Relu", f"v{at}", f"v{(at + 1) % 1000}") for at in range(1000)) + value(12, "v0", (2,))
    ),
    "a self loop": lambda: model(node("Add", "y y", "y") + _Y),
    "a cycle through a branch": lambda: model(_C + _if(_branch("a", source="y"), _branch("b", source="y")) + _Y),
    "nodes in the wrong order": lambda: _reversed(2_000),
    "a value made twice": lambda: model(_X + node("Relu", "x", "y") + node("Neg", "x", "y") + _Y),
    "a value made twice by one node": lambda: model(_X + node("Split", "x", "y y") + _Y),
    "an input made by a node": lambda: model(_X + node("Relu", "x", "x") + node("Relu", "x", "y") + _Y),
    "a weight made by a node": lambda: model(
        _X + floats("w", [1.0]) + node("Relu", "x", "w") + node("Relu", "w", "y") + _Y
    ),
    "two inputs of one name": lambda: model(_X + value(11, "x", (5,), 7) + node("Relu", "x", "y") + _Y),
    "two outputs of one name": lambda: model(_X + node("Relu", "x", "y") + _Y + value(12, "y", (7,), 7)),
    "two weights of one name": lambda: model(
        _X + floats("w", [1.0]) + ints("w", [1, 2]) + node("Add", "x w", "y") + _Y
    ),
    "dangling inputs": lambda: model(_X + node("Add", "x nowhere", "y") + node("Relu", "gone", "z") + _Y),
    "no outputs": lambda: model(_X + node("Relu", "x", "y")),
    "no inputs and no weights": lambda: model(node("Relu", "x", "y") + _Y),
    "an output that nobody makes": lambda: model(_X + node("Relu", "x", "y") + value(12, "z", (2,))),
    "an output that is an input": lambda: model(_X + value(12, "x", (2, 3))),
    "an output that is a weight": lambda: model(floats("w", [1.0]) + value(12, "w", (1,))),
    "weight, input and output in one": lambda: model(value(11, "w", (1,)) + floats("w", [1.0]) + value(12, "w", (1,))),
    "a weight that contradicts its input": lambda: model(
        value(11, "w", (7, 7), 7) + floats("w", [1.0]) + value(12, "w", (3,))
    ),
    "outputs without names": lambda: model(
        _X + chunk(1, chunk(1, "x") + chunk(2, "") + chunk(4, "Relu")) + value(12, "", (2,))
    ),
    "every name empty": lambda: model(
        value(11, "", (2,)) + chunk(1, chunk(1, "") + chunk(2, "") + chunk(4, "")) + value(12, "", (2,))
    ),
    "a weight without a name": lambda: model(_X + raw("", [1], 1, bytes(4)) + node("Relu", "x", "y") + _Y),
    "nodes without operator": lambda: model(_X + chunk(1, chunk(1, "x") + chunk(2, "y")) + _Y),
    "a node without inputs and outputs": lambda: model(_X + chunk(1, chunk(4, "Relu")) + node("Relu", "x", "y") + _Y),
    "nodes that make nothing": lambda: model(_X + node("Relu", "x", "") * 500 + node("Relu", "x", "y") + _Y),
    "names of a megabyte": lambda: model(
        value(11, _LONG, (2,)) + node("Relu", _LONG, _LONG + "y") + value(12, _LONG + "y", (2,))
    ),
    "an operator's name of a megabyte": lambda: model(_X + node(_LONG, "x", "y") + _Y),
    "a domain's name of a megabyte": lambda: model(_X + call("Relu", "x", "y", _LONG, 1) + _Y, extra=opset(1, _LONG)),
    "an attribute's name of a megabyte": lambda: model(_X + node("Relu", "x", "y", attr(_LONG, 1)) + _Y),
    "a dimension's name of a megabyte": lambda: model(
        value(11, "x", (_LONG, "b")) + node("Relu", "x", "y") + value(12, "y", (_LONG,))
    ),
    "a graph's name of a megabyte": lambda: model(chunk(2, _LONG) + _X + node("Relu", "x", "y") + _Y),
    "a thousand names of 10 kB": lambda: model(
        value(11, "x", (2,)) + b"".join(node("Relu", "x", f"{at}" + "n" * 10_000) for at in range(1_000))
    ),
    "a thousand attributes of one name": lambda: model(_X + node("Softmax", "x", "y", *_ONE_ATTRIBUTE_MANY_TIMES) + _Y),
    "10,000 different attributes": lambda: model(
        _X + node("Relu", "x", "y", *(attr(f"a{at}", at) for at in range(10_000))) + _Y
    ),
    "10,000 inputs of one node": lambda: model(
        _X + node("Concat", "x " * 10_000, "y", attr("axis", 0)) + value(12, "y", ("n", 3))
    ),
    "10,000 outputs of one node": lambda: model(
        _X + node("Split", "x", " ".join(f"y{at}" for at in range(10_000)), attr("axis", 0)) + value(12, "y0", (2,))
    ),
    "a graph with 5,000 inputs": lambda: model(
        b"".join(value(11, f"x{at}", (f"d{at}", "n")) for at in range(5_000)) + node("Relu", "x0", "y") + _Y
    ),
    "a graph with 5,000 outputs": lambda: model(
        _X + b"".join(node("Relu", "x", f"y{at}") + value(12, f"y{at}", (2, 3)) for at in range(5_000))
    ),
    "20,000 readers of one value": lambda: model(
        _X + b"".join(node("Relu", "x", f"v{at}") for at in range(20_000)) + _Y
    ),
    "a ladder of two ways": lambda: model(
        value(11, "v0", (2,))
        + b"".join(node("Add", f"v{at} v{at}", f"v{at + 1}") for at in range(3_000))
        + value(12, "v3000", (2,))
    ),
    "all pairs of 200 values": lambda: model(
        _X
        + b"".join(node("Relu", "x", f"v{at}") for at in range(200))
        + b"".join(node("Add", f"v{at} v{to}", f"p{at}_{to}") for at in range(0, 200, 3) for to in range(200))
        + value(12, "p0_1", (2, 3))
    ),
    "Fibonacci of skips": lambda: model(
        value(11, "v0", (2,))
        + value(11, "v1", (2,))
        + b"".join(node("Add", f"v{at} v{at + 1}", f"v{at + 2}") for at in range(2_000))
        + value(12, "v2001", (2,))
    ),
    "20,000 nodes in a chain": lambda: _chain(20_000),
    "20,000 unknown operators": lambda: _chain(20_000, "NoSuchOperator"),
    "5,000 kinds of operators": lambda: model(
        _X + b"".join(node(f"Op{at}", "x", f"v{at}") for at in range(5_000)) + _Y
    ),
    "a branch that shadows": lambda: model(_X + _C + _if(_X + _branch("x", source="x"), _branch("c", source="x")) + _Y),
    "a branch that reads a later value": lambda: model(
        _X + _C + _if(_branch("a", source="z"), _branch("b")) + node("Relu", "y", "z") + _Y
    ),
    "branches that disagree": lambda: model(
        _X
        + _C
        + _if(
            node("Cast", "x", "a", attr("to", 7)) + value(12, "a", (2,), 7),
            node("Shape", "x", "b") + value(12, "b", (9,), 8),
        )
        + _Y
    ),
    "branches of different counts": lambda: model(_X + _C + _if(_branch("a"), b"", "y z w") + _Y),
    "an If without branches": lambda: model(_X + _C + node("If", "c", "y") + _Y),
    "an If whose branch is a number": lambda: model(
        _X + _C + node("If", "c", "y", attr("then_branch", 1), attr("else_branch", "x")) + _Y
    ),
    "an If on a tensor": lambda: model(_X + _if(_branch("a"), _branch("b")).replace(b"\x0a\x01c", b"\x0a\x01x") + _Y),
    "an If with inputs in its branch": lambda: model(_X + _C + _if(_X + _branch("a"), _X + _branch("b")) + _Y),
    "a Loop without a body": lambda: model(_X + one("n", 3) + node("Loop", "n  x", "y") + _Y),
    "a Loop whose body is empty": lambda: model(
        _X + one("n", 3) + node("Loop", "n x", "y", graph_of("body", b"")) + _Y
    ),
    "a Scan without a count": lambda: model(_X + node("Scan", "x", "y", graph_of("body", _X + _branch("y"))) + _Y),
    "a Scan with a count of 2^62": lambda: model(
        _X + node("Scan", "x", "y", graph_of("body", _X + _branch("y")), attr("num_scan_inputs", 1 << 62)) + _Y
    ),
    "a Scan with axes of -2^63": lambda: model(
        _X
        + node(
            "Scan",
            "x",
            "y",
            graph_of("body", _X + _branch("y")),
            attr("num_scan_inputs", 1),
            attr("scan_input_axes", [-(1 << 63)]),
            attr("scan_output_axes", [1 << 62]),
        )
        + _Y
    ),
    "a subgraph in an operator that has none": lambda: model(
        _X + node("Relu", "x", "y", graph_of("body", _branch("q"))) + _Y
    ),
    "a subgraph with weights of the outside": lambda: model(
        _X
        + _C
        + floats("w", [1.0])
        + _if(floats("w", [1.0, 2.0, 3.0]) + _branch("a", source="w"), _branch("b", source="w"))
        + _Y
    ),
    "a list of graphs": lambda: model(
        _X + node("Foo", "x", "y", chunk(1, "all") + chunk(11, _branch("q")) * 300 + integer(20, 10)) + _Y
    ),
    "values declared that nobody has": lambda: model(
        _X + node("Relu", "x", "y") + value(13, "ghost", (1 << 62,)) * 50 + _Y
    ),
    "a declared size that contradicts": lambda: model(
        _X + node("Relu", "x", "h") + value(13, "h", (9, 9, 9), 7) + node("Relu", "h", "y") + _Y
    ),
    "an output's size that contradicts": lambda: model(_X + node("Relu", "x", "y") + value(12, "y", (5, 7, 9, 11), 8)),
    "an input of 64 dimensions": lambda: model(value(11, "x", (2,) * 64) + node("Relu", "x", "y") + _Y),
    "an input of 5,000 dimensions": lambda: model(value(11, "x", (1,) * 5_000) + node("Transpose", "x", "y") + _Y),
    "an input of 2^62 by 2^62": lambda: model(value(11, "x", (1 << 62, 1 << 62)) + node("MatMul", "x x", "y") + _Y),
    "an input of -1 and 0": lambda: model(value(11, "x", (-1, 0, -(1 << 63))) + node("Relu", "x", "y") + _Y),
    "an input of an unknown type": lambda: model(
        value(11, "x", (2,), 4_000) + node("Relu", "x", "y") + value(12, "y", (2,), -1)
    ),
    "an input without a type": lambda: model(
        chunk(11, chunk(1, "x")) + node("Conv", "x x", "y") + chunk(12, chunk(1, "y"))
    ),
    "an input that is a map": lambda: model(
        chunk(11, chunk(1, "x") + chunk(2, chunk(5, integer(1, 8) + chunk(2, chunk(1, integer(1, 1))))))
        + node("Relu", "x", "y")
        + _Y
    ),
    "a dimension named like a number": lambda: model(
        value(11, "x", ("3", "-1", "1e9", " ", "None")) + node("Relu", "x", "y") + _Y
    ),
    "a function without a body": lambda: model(_X + call("g", "x", "y", field=1) + _Y, extra=function("g", b"")),
    "a function of an operator's name": lambda: model(
        _X + node("Relu", "x", "y") + _Y,
        extra=chunk(25, chunk(1, "Relu") + chunk(4, "a") + chunk(5, "a") + chunk(9, integer(2, 17))),
    ),
    "two functions of one name": lambda: model(
        _X + call("g", "x", "y", field=1) + _Y,
        extra=function("g", call("Relu", "x", "y", "")) + function("g", call("g", "x", "y")),
    ),
    "a function called with too much": lambda: model(
        _X + call("g", "x x x x", "y a b", field=1) + _Y, extra=function("g", call("Relu", "x", "y", ""))
    ),
    "a function that lacks its attribute": lambda: model(
        _X + call("g", "x", "y", field=1) + _Y,
        extra=function(
            "g",
            chunk(
                7,
                chunk(1, "x")
                + chunk(2, "y")
                + chunk(4, "Softmax")
                + chunk(5, chunk(1, "axis") + chunk(21, "nowhere") + integer(20, 2)),
            ),
        ),
    ),
    "a training graph that is a cycle": lambda: model(
        _X + node("Relu", "x", "y") + _Y, extra=chunk(20, chunk(2, node("Add", "a b", "a")))
    ),
}
