"""Reshape, Transpose, Expand and other operators that change the shape or order of elements."""

from collections.abc import Callable
from operator import mul
from typing import Any

import numpy as np
from msgspec.structs import replace

from onnx_autodoc.ops.call import Call, broadcast, normalize_axis, shape_of_rank, size, sizes_differ
from onnx_autodoc.ops.cost import free, view
from onnx_autodoc.ops.input_constraints import distinct_axes, same_shape
from onnx_autodoc.ops.operator import Identity, Operator, ShapeRule, Trait, ValueRule, WorkClass, unchanged, with_traits
from onnx_autodoc.ops.shape_rules import one_output
from onnx_autodoc.ops.values import (
    Array,
    Contradiction,
    Dim,
    InferenceError,
    Shape,
    Unknown,
    ValueInfo,
    format_dims,
    with_shape,
)


def _reshape(call: Call) -> list[ValueInfo]:
    """Infer Reshape: 0 copies the input's size (unless allowzero), -1 is the number of elements that remain."""
    declared = call.attr_ints("shape")
    if declared is None and call.input_info(1).shape is not None:
        shape_of_rank(call, 1, 1)
    target: list[Dim] = list(declared) if declared is not None else call.ints(1)
    source = call.shape(0)
    if not call.attr_int("allowzero", 0):
        for at, dim in enumerate(target):
            if dim == 0 and at >= len(source):
                raise Contradiction(f"Reshape copies dimension {at} of an input of rank {len(source)}")
        target = [source[at] if dim == 0 else dim for at, dim in enumerate(target)]
    return [with_shape(call.input_info(0), _fill_free_axis(source, target))]


def _fill_free_axis(source: Shape, target: list[Dim]) -> Shape:
    """Replace -1 by the number of elements that remain."""
    free_axes = target.count(-1)
    if free_axes > 1:
        raise Contradiction("Reshape has more than one size of -1")
    if not free_axes:
        if sizes_differ(size(source), size(tuple(target))):
            raise Contradiction(f"Reshape cannot change {format_dims(source)} to {format_dims(target)}")
        return tuple(target)
    left, right = _cancel_common(source, [dim for dim in target if dim != -1])
    rest = size(left)
    if type(right) is int and type(rest) is int and (right == 0 or rest % right):
        raise Contradiction(f"Reshape cannot change {format_dims(source)} to {format_dims(target)}")
    rest = rest // right
    return tuple(rest if dim == -1 else dim for dim in target)


def _cancel_common(source: Shape, target: list[Dim]) -> tuple[Shape, Dim]:
    """Return both sides without the sizes, known or unknown, that occur on both; the second as a product."""
    left = list(source)
    right: list[Dim] = []
    for dim in target:
        if dim != 0 and dim in left:  # an unknown size equals itself alone
            left.remove(dim)
        else:
            right.append(dim)
    return tuple(left), size(tuple(right))


def _flatten(call: Call) -> list[ValueInfo]:
    source = call.shape(0)
    axis = call.attr_int("axis", 1)
    at = len(source) if axis == len(source) else normalize_axis(axis, len(source)) if source else 0
    return [with_shape(call.input_info(0), (size(source[:at]), size(source[at:])))]


def _squeeze(call: Call) -> list[ValueInfo]:
    source, axes = call.shape(0), call.axes()
    if axes is None:
        # An unknown size may be 1: comparing it raises its reason.
        return [with_shape(call.input_info(0), tuple(dim for dim in source if dim > 1 or dim < 1))]
    if not axes and any(isinstance(dim, Unknown) or dim == 1 for dim in source):
        raise InferenceError(
            "Squeeze with empty axes: the specification keeps every dimension, onnxruntime removes those of size 1"
        )
    removed = {normalize_axis(axis, len(source)) for axis in axes}
    for at in removed:
        if type(source[at]) is int and source[at] != 1:
            raise Contradiction(f"Squeeze cannot remove a dimension of size {source[at]}")
    return [with_shape(call.input_info(0), tuple(dim for at, dim in enumerate(source) if at not in removed))]


def _unsqueeze(call: Call) -> list[ValueInfo]:
    source, axes = call.shape(0), call.axes()
    if axes is None:
        raise Contradiction("Unsqueeze requires axes, which are missing")
    rank = len(source) + len(axes)
    new = {normalize_axis(axis, rank) for axis in axes}
    if len(new) != len(axes):
        raise Contradiction("Unsqueeze has a duplicate axis")
    rest = iter(source)
    return [with_shape(call.input_info(0), tuple(1 if at in new else next(rest) for at in range(rank)))]


def _order(call: Call, rank: int) -> list[int]:
    order = call.attr_ints("perm")
    if order is None:
        return list(range(rank))[::-1]
    if sorted(order) != list(range(rank)):  # negative axes are not allowed in `perm`
        raise Contradiction(f"perm {list(order)} of Transpose is invalid for rank {rank}")
    return list(order)


def _repeats(call: Call, rank: int) -> list[Dim]:
    repeats = call.ints(1)
    if call.has(2):  # opset 1: tiles along one axis
        axis = normalize_axis(call.one(2), rank)
        return [call.one(1) if at == axis else 1 for at in range(rank)]
    if len(repeats) != rank:
        raise Contradiction(f"repeats of Tile have length {len(repeats)}, not {rank}")
    return repeats


def _tile_value(call: Call, arrays: list[Array]) -> list[Array]:
    repeats = _repeats(call, arrays[0].ndim)
    if 0 in repeats:  # an empty result; numpy would fill the other axes first
        return [np.empty([dim * times for dim, times in zip(arrays[0].shape, repeats, strict=True)], arrays[0].dtype)]
    return [np.tile(arrays[0], [int(times) for times in repeats])]


_VIEW_TRAITS = frozenset((Trait.RESHAPES, Trait.CROSSES_QUANTIZATION, Trait.SHARES_MEMORY))
_AXIS_TRAITS = _VIEW_TRAITS | {Trait.FOLLOWS_SCORES, Trait.MOVES, Trait.SHIFTS_AXES}


def _view(infer: ShapeRule, traits: frozenset[Trait], **fields: Any) -> Operator:
    return Operator(infer, unchanged, partial=True, cost=view, traits=traits, work=WorkClass.VIEW, **fields)


def _move(shape: Callable[[Call], Shape], value: ValueRule, identity: Identity, **fields: Any) -> Operator:
    traits = {Trait.CROSSES_QUANTIZATION, Trait.MOVES}
    row = Operator(one_output(shape), value, partial=True, cost=free, traits=traits, work=WorkClass.MOVE)
    return replace(row, identity=identity, **fields)


OPERATORS: dict[str, Operator] = {
    "Reshape": _view(
        _reshape,
        _AXIS_TRAITS | {Trait.KEEPS_SCALAR},
        position_shift=0,
        size_inputs=(1,),
        identity=Identity.SAME_SHAPE,
        constraints={1: same_shape},
    ),
    "Flatten": _view(_flatten, _VIEW_TRAITS, identity=Identity.MATRIX),
    "Squeeze": _view(
        _squeeze, _AXIS_TRAITS | {Trait.FORWARDS, Trait.KEEPS_SCALAR}, position_shift=0, constraints={1: distinct_axes}
    ),
    "Unsqueeze": _view(_unsqueeze, _AXIS_TRAITS | {Trait.FORWARDS}, position_shift=0, constraints={1: distinct_axes}),
    "Transpose": _move(
        lambda call: tuple(call.shape(0)[at] for at in _order(call, call.rank(0))),
        lambda call, arrays: [arrays[0].transpose(_order(call, arrays[0].ndim))],
        Identity.SAME_ORDER,
        kernel="transpose",
    ),
    **with_traits(
        {Trait.SHIFTS_AXES},
        {
            "Expand": _move(
                lambda call: broadcast(call.shape(0), tuple(call.ints(1))),
                unchanged,
                Identity.REPEATED_ONCE,
                size_inputs=(1,),
            ),
            "Tile": _move(
                lambda call: tuple(map(mul, call.shape(0), _repeats(call, call.rank(0)))),
                _tile_value,
                Identity.REPEATED_ONCE,
                size_inputs=(1,),
            ),
        },
    ),
}
