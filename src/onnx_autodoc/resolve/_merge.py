"""What holds for several runs of a graph at once: both branches of an If, all passes of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from onnx_autodoc.graph import Graph
from onnx_autodoc.ops import Contradiction, Dim, Known, NotKnown, Unknown, merge_dims, nothing
from onnx_autodoc.resolve._scope import Scope
from onnx_autodoc.resolve._shapes import Step

if TYPE_CHECKING:
    from onnx_autodoc.resolve._walk import Walk

_MOST_PASSES: Final = 8
VARIES: Final = "it changes from one pass of the loop to the next"


def merged_known(one: Known, other: Known, why: str) -> Known:
    """What holds for both. Where one of the two is not known, its own reason stays."""
    dtype = one.dtype if one.dtype == other.dtype else None
    if one.kind != other.kind or one.shape is None or other.shape is None:
        return one if one.kind != "tensor" and one.kind == other.kind else nothing(one.why or other.why or why)
    if len(one.shape) != len(other.shape):
        return Known(dtype, why=why)
    shape = tuple(_merged_dim(left, right, why) for left, right in zip(one.shape, other.shape, strict=True))
    return Known(dtype, shape, one.value if _same_value(one, other) else None)


def _merged_dim(one: Dim, other: Dim, why: str) -> Dim:
    if isinstance(one, Unknown):
        return one
    return other if isinstance(other, Unknown) else merge_dims(one, other, why)


def _same_value(one: Known, other: Known) -> bool:
    if one.value is None or other.value is None or one.shape != other.shape:
        return False
    return bool(one.value is other.value or np.array_equal(one.value, other.value))


def _same(one: Known, other: Known) -> bool:
    same_value = _same_value(one, other) or (one.value is None and other.value is None)
    return one.dtype == other.dtype and one.shape == other.shape and same_value and one.kind == other.kind


def settled(
    walk: Walk, graph: Graph, scope: Scope, fixed: dict[str, Known], names: list[str], start: list[Known], first: int
) -> tuple[tuple[Step, ...], list[Known], list[Known]]:
    """Run a loop's body until what it carries no longer changes: what differs between passes becomes unknown."""
    carried = start
    for _ in range(_MOST_PASSES):
        inner = Scope(scope.opsets, scope)
        steps, outputs = walk.graph(graph, inner, {**fixed, **dict(zip(names, carried))})
        after = outputs[first : first + len(names)]
        if len(after) != len(carried):
            raise Contradiction("a loop's body hands on another number of values than it takes")
        merged = [merged_known(old, new, VARIES) for old, new in zip(carried, after, strict=True)]
        if all(map(_same, merged, carried)):
            return steps, carried, outputs
        carried = merged
    raise NotKnown("the sizes inside the loop never settle")
