"""What holds for several runs of a graph at once: both branches of an If, all passes of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from onnx_autodoc.ir import Deep, Graph
from onnx_autodoc.ops import Contradiction, Dim, Known, NotKnown, Unknown, merge_dims, nothing
from onnx_autodoc.shapes._scope import Scope
from onnx_autodoc.shapes._shapes import Step

if TYPE_CHECKING:
    from onnx_autodoc.shapes._walk import Walk

_MOST_PASSES: Final = 8
VARIES: Final = "it changes from one pass of the loop to the next"


def merged_known(one: Known, other: Known, why: str) -> Known:
    """What holds for both. Where one of the two is not known, its own reason stays."""
    dtype = one.dtype if one.dtype == other.dtype else None
    if one.kind == other.kind != "tensor":
        return _merged_holder(one, other, why)
    if one.kind != other.kind:
        return nothing(why)  # an optional that is given a value: not even what it is holds for both
    if one.shape is None or other.shape is None:
        return Known(dtype, why=one.why or other.why or why)
    if len(one.shape) != len(other.shape):
        return Known(dtype, why=why)
    shape = tuple(_merged_dim(left, right, why) for left, right in zip(one.shape, other.shape, strict=True))
    return Known(dtype, shape, one.value if _same_value(one, other) else None)


def _merged_holder(one: Known, other: Known, why: str) -> Known:
    """Of two sequences or optionals: the tensors one by one where there are as many, else what they have in common."""
    items = None
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        items = tuple(merged_known(*pair, why) for pair in zip(one.items, other.items, strict=True))
    held = [known.element for known in (one, other) if known.items != () and known.element is not None]
    element = merged_known(held[0], held[-1], why) if held else one.element
    return msgspec.structs.replace(one, dtype=one.dtype or other.dtype, element=element, items=items)


def _merged_dim(one: Dim, other: Dim, why: str) -> Dim:
    unknown = one if isinstance(one, Unknown) else other
    return merge_dims(one, other, unknown.why if isinstance(unknown, Unknown) else why)


def _same_value(one: Known, other: Known) -> bool:
    if one.value is None or other.value is None or one.shape != other.shape:
        return False
    return bool(one.value is other.value or np.array_equal(one.value, other.value))


def _same(one: Known, other: Known) -> bool:
    if one.kind == other.kind != "tensor":
        return _same_items(one.items, other.items) and _same_items(_only(one.element), _only(other.element))
    same_value = _same_value(one, other) or (one.value is None and other.value is None)
    return one.dtype == other.dtype and one.shape == other.shape and same_value and one.kind == other.kind


def _only(known: Known | None) -> tuple[Known, ...] | None:
    return None if known is None else (known,)


def _same_items(one: tuple[Known, ...] | None, other: tuple[Known, ...] | None) -> bool:
    if one is None or other is None:
        return one is other
    return len(one) == len(other) and all(map(_same, one, other))


def _steady(old: Known, new: Known, made: set[Dim]) -> Known:
    """A size that became unknown in an earlier pass stays that same unknown one; `made` holds them."""
    if new.kind != "tensor" and old.kind == new.kind:
        element = new.element and old.element and _steady(old.element, new.element, made)
        pairs = zip(old.items, new.items) if old.items is not None and new.items is not None else None
        items = None if pairs is None else tuple(_steady(*pair, made) for pair in pairs)
        return msgspec.structs.replace(new, element=element, items=items)
    if old.shape is None or new.shape is None:
        return new
    shape = tuple(before if before in made else dim for before, dim in zip(old.shape, new.shape))
    made.update(dim for before, dim in zip(old.shape, shape) if isinstance(dim, Unknown) and dim is not before)
    return Known(new.dtype, shape, new.value)


def settled(
    walk: Walk, graph: Graph, scope: Scope, fixed: dict[str, Known], names: list[str], start: list[Known], first: int
) -> Deep[tuple[tuple[Step, ...], list[Known], list[Known]]]:
    """Run a loop's body until what it carries no longer changes: what differs between passes becomes unknown."""
    carried, made = start, set[Dim]()
    for _ in range(_MOST_PASSES):
        inner = Scope(scope.opsets, scope)
        steps, outputs = yield from walk.graph(graph, inner, {**fixed, **dict(zip(names, carried))})
        after = outputs[first : first + len(names)]
        if len(after) != len(carried):
            raise Contradiction("a loop's body hands on another number of values than it takes")
        merged = [_steady(old, merged_known(old, new, VARIES), made) for old, new in zip(carried, after, strict=True)]
        if all(map(_same, merged, carried)):
            return steps, carried, outputs
        carried = merged
    raise NotKnown("the sizes inside the loop never settle")
