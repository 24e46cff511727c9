"""What holds for several runs of a graph at once: both branches of an If, all passes of a loop."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from onnx_autodoc.ir import Deep, Graph
from onnx_autodoc.ops import Contradiction, Dim, InferenceError, Unknown, ValueInfo, merge_dims, unknown_value
from onnx_autodoc.shapes.results import Step
from onnx_autodoc.shapes.scope import Scope

if TYPE_CHECKING:
    from onnx_autodoc.shapes.walk import Walk

_MOST_PASSES: Final = 8
VARIES: Final = "it changes from one pass of the loop to the next"


def merged_known(one: ValueInfo, other: ValueInfo, why: str) -> ValueInfo:
    """What holds for both. Where one of the two is not known, its own reason stays."""
    dtype = one.dtype if one.dtype == other.dtype else None
    if one.kind == other.kind != "tensor":
        return _merged_holder(one, other, why)
    if one.kind != other.kind:
        return unknown_value(why)  # an optional that is given a value: not even what it is holds for both
    if one.shape is None or other.shape is None:
        return ValueInfo(dtype, why=one.why or other.why or why)
    if len(one.shape) != len(other.shape):
        return ValueInfo(dtype, why=why)
    shape = tuple(_merged_dim(left, right, why) for left, right in zip(one.shape, other.shape, strict=True))
    return ValueInfo(dtype, shape, one.value if _same_value(one, other) else None)


def _merged_holder(one: ValueInfo, other: ValueInfo, why: str) -> ValueInfo:
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


def _same_value(one: ValueInfo, other: ValueInfo) -> bool:
    if one.value is None or other.value is None or one.shape != other.shape:
        return False
    return bool(one.value is other.value or np.array_equal(one.value, other.value))


def _same(one: ValueInfo, other: ValueInfo) -> bool:
    if one.kind == other.kind != "tensor":
        return _same_items(one.items, other.items) and _same_items(_only(one.element), _only(other.element))
    same_value = _same_value(one, other) or (one.value is None and other.value is None)
    return one.dtype == other.dtype and one.shape == other.shape and same_value and one.kind == other.kind


def _only(known: ValueInfo | None) -> tuple[ValueInfo, ...] | None:
    return None if known is None else (known,)


def _same_items(one: tuple[ValueInfo, ...] | None, other: tuple[ValueInfo, ...] | None) -> bool:
    if one is None or other is None:
        return one is other
    return len(one) == len(other) and all(map(_same, one, other))


def _steady(old: ValueInfo, new: ValueInfo, made: set[Dim]) -> ValueInfo:
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
    return ValueInfo(new.dtype, shape, new.value)


def settled(
    walk: Walk,
    graph: Graph,
    scope: Scope,
    fixed: dict[str, ValueInfo],
    names: list[str],
    start: list[ValueInfo],
    first: int,
) -> Deep[tuple[tuple[Step, ...], list[ValueInfo], list[ValueInfo]]]:
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
    raise InferenceError("the sizes inside the loop never settle")


def pass_number(at: int | None) -> ValueInfo:
    return ValueInfo("int64", (), None if at is None else np.array(at, np.int64), "the number of the pass changes")


def truth() -> ValueInfo:
    return ValueInfo("bool", (), np.array(True))  # a body only runs while its condition holds


def is_open(steps: tuple[Step, ...], carried: list[ValueInfo]) -> bool:
    """Does a body leave a size unknown, in a step or in what it hands on?"""
    return any(step.gap for step in steps) or any(map(_is_open, carried))


def _is_open(known: ValueInfo) -> bool:
    return bool(known.reason) if known.kind == "tensor" else known.items is None


def replay(
    walk: Walk, body: Graph, scope: Scope, start: list[ValueInfo], times: int
) -> Deep[tuple[tuple[tuple[Step, ...], ...], list[ValueInfo], list[ValueInfo]]]:
    """The steps of each pass, what the last one hands on, and what all of them add to the stacked outputs."""
    names = [value.name for value in body.inputs]
    carried, stacked = start, list[ValueInfo]()
    passes: list[tuple[Step, ...]] = []
    for at in range(times):
        given = dict(zip(names, [pass_number(at), truth(), *carried]))
        ran, outputs = yield from walk.graph(body, Scope(scope.opsets, scope), given)
        carried, added = outputs[1 : 1 + len(start)], outputs[1 + len(start) :]
        stacked = [merged_known(old, new, VARIES) for old, new in zip(stacked, added)] if stacked else added
        passes.append(ran)
    return tuple(passes), carried, stacked


def in_all(steps: tuple[Step, ...], passes: tuple[tuple[Step, ...], ...]) -> tuple[Step, ...]:
    """The body's steps with what holds in every pass."""
    found = [reduce(_common, (step.outputs for step in column)) for column in zip(*passes)]
    return tuple(msgspec.structs.replace(step, outputs=known, gap=_gap(known)) for step, known in zip(steps, found))


def _common(old: tuple[ValueInfo, ...], new: tuple[ValueInfo, ...]) -> tuple[ValueInfo, ...]:
    return tuple(merged_known(one, other, VARIES) for one, other in zip(old, new))


def _gap(outputs: tuple[ValueInfo, ...]) -> str:
    return next((known.reason for known in outputs if known.kind == "tensor" and known.reason), "")
