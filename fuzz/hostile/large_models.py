"""Models in which one thing occurs very often: inputs, outputs, operands, declarations, imports, functions."""

from collections.abc import Callable
from functools import partial
from typing import Final

from fuzz.wire import (
    attr,
    call,
    chunk,
    external,
    function,
    graph_of,
    integer,
    model,
    node,
    opset,
    pair,
    raw,
    tensor,
    value,
    wrapped,
)

_COUNT: Final = 2_000  # of the hostile files; tests build larger ones
_CUSTOM: Final = opset(1, "custom")
_RELU: Final = value(11, "x", (2, 3)) + node("Relu", "x", "y") + value(12, "y", (2, 3))


def _names(prefix: str, count: int) -> str:
    return " ".join(f"{prefix}{at}" for at in range(count))


def _values(field: int, prefix: str, count: int, dim: int | str = 1) -> bytes:
    """Encode values; `{}` in the name of a dimension is their number."""
    dims = ((dim.format(at) if isinstance(dim, str) else dim, 3) for at in range(count))
    return b"".join(value(field, f"{prefix}{at}", shape) for at, shape in enumerate(dims))


def _chains(count: int) -> bytes:
    nodes = b"".join(node("Relu", f"x{at}", f"y{at}") for at in range(count))
    return model(_values(11, "x", count) + nodes + _values(12, "y", count))


def _forwarded(count: int, dim: str) -> bytes:
    return model(_values(11, "x", count, dim) + _values(12, "x", count, dim) + node("Relu", "x0", "y"))


def _without_shapes(count: int) -> bytes:
    shapeless = b"".join(chunk(11, chunk(1, f"s{at}") + chunk(2, chunk(1, integer(1, 1)))) for at in range(count))
    return model(_values(11, "x", count, "d{}") + shapeless + node("Relu", "x0", "y") + value(12, "y", ("d0", 3)))


def _wide_node(count: int) -> bytes:
    wide = call("Wide", _names("x", count), _names("y", count), "custom", 1)
    return model(_values(11, "x", count) + wide + _values(12, "y", count), extra=_CUSTOM)


def _joined_and_split(count: int) -> bytes:
    join = node("Concat", _names("x", count), "c", attr("axis", 0))
    split = node("Split", "c", _names("y", count), attr("axis", 0), attr("num_outputs", count))
    return model(_values(11, "x", count) + join + split + _values(12, "y", count))


def _branch_outputs(count: int) -> bytes:
    branch = b"".join(node("Relu", "x", f"b{at}") for at in range(count)) + _values(12, "b", count)
    either = node("If", "c", _names("y", count), graph_of("then_branch", branch), graph_of("else_branch", branch))
    return model(value(11, "x", (1, 3)) + value(11, "c", (), 9) + either + _values(12, "y", count))


def _function_ports(count: int) -> bytes:
    body = b"".join(call("Relu", f"a{at}", f"b{at}", "") for at in range(count))
    inside = function("g", body, _names("a", count), _names("b", count))
    called = call("g", _names("x", count), _names("y", count), field=1)
    return model(_values(11, "x", count) + called + _values(12, "y", count), extra=inside)


def _operators(count: int) -> bytes:
    nodes = b"".join(call(f"Op{at}", "x", f"y{at}", "custom", 1) for at in range(count))
    return model(value(11, "x", (2, 3)) + nodes + value(12, "y0", (2, 3)), extra=_CUSTOM)


def _attributes(count: int) -> bytes:
    return wrapped("Relu", *(attr(f"a{at}", at) for at in range(count)))


def _per_item(encode: Callable[[int], bytes], in_graph: bool, count: int) -> bytes:
    items = b"".join(map(encode, range(count)))
    return model(_RELU + items) if in_graph else model(_RELU, extra=items)


KINDS: Final[dict[str, Callable[[int], bytes]]] = {
    "inputs and outputs": _chains,
    "dynamic inputs with one name": partial(_forwarded, dim="batch"),
    "dynamic inputs with different names": partial(_forwarded, dim="d{}"),
    "unnamed dynamic inputs": partial(_forwarded, dim="?"),
    "inputs without a shape": _without_shapes,
    "ports of one node": _wide_node,
    "joined and split inputs": _joined_and_split,
    "outputs of a branch": _branch_outputs,
    "ports of a function": _function_ports,
    "operators": _operators,
    "attributes": _attributes,
    "declared values": partial(_per_item, lambda at: value(13, f"v{at}", (f"d{at}", 3)), True),
    "initializers": partial(_per_item, lambda at: raw(f"w{at}", [2], 1, bytes(8)), True),
    "external files": partial(_per_item, lambda at: external(f"w{at}", [2], 1, location=f"{at}.bin"), True),
    "folders of external files": partial(_per_item, lambda at: external(f"w{at}", [2], 1, location=f"{at}/w"), True),
    "metadata": partial(_per_item, lambda at: pair(14, f"key{at}", f"value{at}"), False),
    "opsets": partial(_per_item, lambda at: opset(1, f"domain{at}"), False),
    "functions": partial(_per_item, lambda at: function(f"f{at}", call("Relu", "x", "y", "")), False),
    "sparse initializers": partial(
        _per_item,
        lambda at: chunk(
            15,
            chunk(1, tensor(f"w{at}", [1], 1, chunk(9, bytes(4))))
            + chunk(2, tensor("", [1], 7, chunk(9, bytes(8))))
            + integer(3, 9),
        ),
        True,
    ),
}

FILES: Final[dict[str, Callable[[], bytes]]] = {f"many {name}": partial(make, _COUNT) for name, make in KINDS.items()}
