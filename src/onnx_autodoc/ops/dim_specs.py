"""Shape rules as text: `rule("0: B S, 2: _ D -> 5: B S D, int32: B")`.

Left of the arrow are inputs with names for their dims; `_` is a dim that is not used, `...` any number of dims before
or after the others. Right of it are the outputs: the element type, as a name or the index of the input that has it, and
the dims: names, numbers, `@` attributes that the node must have, and sums, differences, products and quotients of them,
applied from left to right (`n-1*2` is twice n - 1).
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from onnx_autodoc.ops.call import Call, shape_of_min_rank, shape_of_rank
from onnx_autodoc.ops.operator import ShapeRule
from onnx_autodoc.ops.values import Dim, Shape, ValueInfo, tensor

_TERM: Final = re.compile(r"(\+|-|\*|//)?(@?\w+)")
_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Dim]]] = {
    "": operator.add,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
}


def rule(spec: str) -> ShapeRule:
    """Return the shape rule that `spec` declares; a rank that differs from it is a contradiction."""
    left, right = ([item.strip().split(":") for item in side.split(",")] for side in spec.split("->"))
    inputs = [
        (int(at), rest, before.split(), after.split())
        for at, dims in left
        for before, rest, after in (dims.partition("..."),)
    ]
    outputs = [(dtype, [_TERM.findall(dim) for dim in dims.split()]) for dtype, dims in right]  # "..." has no terms

    def infer(call: Call) -> list[ValueInfo]:
        sizes: dict[str, Dim] = {}
        rest: Shape = ()
        for at, has_rest, first, last in inputs:
            count = len(first) + len(last)
            shape = shape_of_min_rank(call, at, count) if has_rest else shape_of_rank(call, at, count)
            end = len(shape) - len(last)
            rest = shape[len(first) : end] if has_rest else rest
            sizes.update(zip((*first, *last), (*shape[: len(first)], *shape[end:])))
        results = []
        for dtype, dims in outputs:
            shape = tuple(dim for terms in dims for dim in ((_sum(terms, call, sizes),) if terms else rest))
            results.append(tensor(call.dtype(int(dtype)) if dtype.isdigit() else dtype, shape))
        return results

    return infer


def _sum(terms: Sequence[tuple[str, str]], call: Call, sizes: Mapping[str, Dim]) -> Dim:
    result: Dim = 0
    for sign, name in terms:
        term = call.attr_required(name[1:]) if name[0] == "@" else int(name) if name.isdigit() else sizes[name]
        result = _ARITHMETIC[sign](result, term)
    return result
