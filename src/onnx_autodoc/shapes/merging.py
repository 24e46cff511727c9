"""Merge the values of several runs of one graph: both branches of an If, all iterations of a loop."""

from collections.abc import Sequence
from functools import reduce

import numpy as np
from msgspec.structs import replace

from onnx_autodoc.ops import Dim, Unknown, ValueInfo, merge_dims, unknown_value
from onnx_autodoc.shapes.results import Step, find_gap


def merge_values(one: ValueInfo, other: ValueInfo, why: str) -> ValueInfo:
    """Return what holds for both values. An unknown part keeps its own reason; a part that differs gets `why`."""
    dtype = one.dtype if one.dtype == other.dtype else None
    if one.kind == other.kind != "tensor":
        return _merge_containers(one, other, why)
    if one.kind != other.kind:
        return unknown_value(why)  # an optional and its element: not even the kind holds for both
    if one.shape is None or other.shape is None:
        return ValueInfo(dtype, why=one.why or other.why or why)
    if len(one.shape) != len(other.shape):
        return ValueInfo(dtype, why=why)
    shape = tuple(_merge_dims(left, right, why) for left, right in zip(one.shape, other.shape, strict=True))
    return ValueInfo(dtype, shape, one.value if _has_same_elements(one, other) else None)


def _merge_containers(one: ValueInfo, other: ValueInfo, why: str) -> ValueInfo:
    """Merge two sequences or optionals: item by item if they are as long, else only the common type of the items."""
    items = None
    if one.items is not None and other.items is not None and len(one.items) == len(other.items):
        items = tuple(merge_values(*pair, why) for pair in zip(one.items, other.items, strict=True))
    elements = [known.element for known in (one, other) if known.items != () and known.element is not None]
    element = merge_values(elements[0], elements[-1], why) if elements else one.element
    return replace(one, dtype=one.dtype or other.dtype, element=element, items=items)


def _merge_dims(one: Dim, other: Dim, why: str) -> Dim:
    unknown = one if isinstance(one, Unknown) else other
    return merge_dims(one, other, unknown.why if isinstance(unknown, Unknown) else why)


def _has_same_elements(one: ValueInfo, other: ValueInfo) -> bool:
    if one.value is None or other.value is None or one.shape != other.shape:
        return False
    return bool(one.value is other.value or np.array_equal(one.value, other.value))


def is_same(one: ValueInfo | None, other: ValueInfo | None) -> bool:
    """Whether the same is known of both values."""
    if one is None or other is None:
        return one is other
    if one.kind == other.kind != "tensor":
        if one.items is None or other.items is None:
            return one.items is other.items and is_same(one.element, other.element)
        same_items = len(one.items) == len(other.items) and all(map(is_same, one.items, other.items))
        return same_items and is_same(one.element, other.element)
    same_elements = _has_same_elements(one, other) or (one.value is None and other.value is None)
    return one.dtype == other.dtype and one.shape == other.shape and same_elements and one.kind == other.kind


def reuse_unknown_dims(old: ValueInfo, new: ValueInfo, unknown: set[Dim]) -> ValueInfo:
    """Return `new` with each size that was unknown in an earlier pass as the same object; `unknown` holds them."""
    if new.kind != "tensor" and old.kind == new.kind:
        element = new.element and old.element and reuse_unknown_dims(old.element, new.element, unknown)
        pairs = zip(old.items, new.items) if old.items is not None and new.items is not None else None
        items = None if pairs is None else tuple(reuse_unknown_dims(*pair, unknown) for pair in pairs)
        return replace(new, element=element, items=items)
    if old.shape is None or new.shape is None:
        return new
    shape = tuple(before if before in unknown else dim for before, dim in zip(old.shape, new.shape))
    unknown.update(dim for before, dim in zip(old.shape, shape) if isinstance(dim, Unknown) and dim is not before)
    return ValueInfo(new.dtype, shape, new.value)


def merge_passes(steps: Sequence[Step], passes: Sequence[Sequence[Step]], why: str) -> tuple[Step, ...]:
    """Return the steps of a body with the outputs that hold in all its passes."""
    merged = []
    for step, column in zip(steps, zip(*passes)):
        rows = (same_step.outputs for same_step in column)
        outputs = reduce(lambda old, new: tuple(merge_values(*pair, why) for pair in zip(old, new)), rows)
        merged.append(replace(step, outputs=outputs, gap=find_gap(outputs)))
    return tuple(merged)
