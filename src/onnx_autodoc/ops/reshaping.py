"""Operators that give the same elements another shape or order."""

import numpy as np

from onnx_autodoc.ops._call import Call, axis_of, broadcast, size
from onnx_autodoc.ops._cost import free, view
from onnx_autodoc.ops._known import Array, Contradiction, Dim, Known, NotKnown, Shape, Unknown, dims_text, like
from onnx_autodoc.ops._operator import Operator, unchanged
from onnx_autodoc.ops._ranks import ranked


def _reshape(call: Call) -> list[Known]:
    """0 keeps the input's size at that place (unless allowzero), -1 takes what is left."""
    given = call.attr_ints("shape")
    if given is None and call.known(1).shape is not None:
        ranked(call, 1, 1)
    target: list[Dim] = list(given) if given is not None else call.ints(1)
    source = call.shape(0)
    if not call.attr_int("allowzero", 0):
        target = [_kept(source, at) if dim == 0 else dim for at, dim in enumerate(target)]
    return [like(call.known(0), _filled(source, target))]


def _kept(source: Shape, at: int) -> Dim:
    if at >= len(source):
        raise Contradiction(f"Reshape keeps dimension {at}, there are only {len(source)}")
    return source[at]


def _filled(source: Shape, target: list[Dim]) -> Shape:
    """Put what is left in place of -1."""
    total, holes = size(source), [at for at, dim in enumerate(target) if dim == -1]
    if len(holes) > 1:
        raise Contradiction("Reshape has two sizes of -1")
    if not holes:
        _check_same_size(total, size(tuple(target)), source, target)
        return tuple(target)
    left, right = _cancelled(source, [dim for dim in target if dim != -1])
    rest = size(left)
    if type(right) is int and type(rest) is int and (right == 0 or rest % right):
        raise Contradiction(f"Reshape of {dims_text(source)} to {dims_text(target)}")
    rest = rest // right
    return tuple(rest if dim == -1 else dim for dim in target)


def _cancelled(source: Shape, target: list[Dim]) -> tuple[Shape, Dim]:
    """What remains of both sides once sizes that stand on both are struck out, known or not."""
    left = list(source)
    right: list[Dim] = []
    for dim in target:
        at = next((at for at, other in enumerate(left) if _equal(other, dim)), None)
        if at is None:
            right.append(dim)
        else:
            del left[at]
    return tuple(left), size(tuple(right))


def _equal(one: Dim, other: Dim) -> bool:
    return one is other if isinstance(one, Unknown) else type(other) is int and one == other != 0


def _check_same_size(one: Dim, other: Dim, source: Shape, target: list[Dim]) -> None:
    if type(one) is int and type(other) is int and one != other:
        raise Contradiction(f"Reshape of {dims_text(source)} to {dims_text(target)}")


def _flatten(call: Call) -> list[Known]:
    source = call.shape(0)
    axis = call.attr_int("axis", 1)
    at = len(source) if axis == len(source) else axis_of(axis, len(source)) if source else 0
    return [like(call.known(0), (size(source[:at]), size(source[at:])))]


def _squeeze(call: Call) -> list[Known]:
    source, axes = call.shape(0), call.axes()
    if axes is None:
        # A size that is not known may be 1: comparing it stops here with its reason.
        return [like(call.known(0), tuple(dim for dim in source if not _is_one(dim)))]
    if not axes and any(isinstance(dim, Unknown) or dim == 1 for dim in source):
        raise NotKnown(
            "Squeeze by no axes at all: the specification keeps every dimension, onnxruntime drops those of 1"
        )
    gone = {axis_of(axis, len(source)) for axis in axes}
    for at in gone:
        if type(source[at]) is int and source[at] != 1:
            raise Contradiction(f"Squeeze of a dimension of size {source[at]}")
    return [like(call.known(0), tuple(dim for at, dim in enumerate(source) if at not in gone))]


def _is_one(dim: Dim) -> bool:
    return not (dim > 1 or dim < 1)


def _unsqueeze(call: Call) -> list[Known]:
    source, axes = call.shape(0), call.axes()
    if axes is None:
        raise Contradiction("Unsqueeze lacks its axes")
    rank = len(source) + len(axes)
    new = {axis_of(axis, rank) for axis in axes}
    if len(new) != len(axes):
        raise Contradiction("Unsqueeze names an axis twice")
    rest = iter(source)
    return [like(call.known(0), tuple(1 if at in new else next(rest) for at in range(rank)))]


def _transpose(call: Call) -> list[Known]:
    source = call.shape(0)
    order = _order(call, len(source))
    return [like(call.known(0), tuple(source[at] for at in order))]


def _order(call: Call, rank: int) -> list[int]:
    given = call.attr_ints("perm")
    if given is None:
        return list(range(rank))[::-1]
    if sorted(given) != list(range(rank)):  # of axes, these alone are not counted from the back
        raise Contradiction(f"Transpose by {list(given)} of {rank} dimensions")
    return list(given)


def _transpose_value(call: Call, arrays: list[Array]) -> list[Array]:
    return [arrays[0].transpose(_order(call, arrays[0].ndim))]


def _expand(call: Call) -> list[Known]:
    return [like(call.known(0), broadcast(call.shape(0), tuple(call.ints(1))))]


def _tile(call: Call) -> list[Known]:
    source = call.shape(0)
    repeats = _repeats(call, len(source))
    return [like(call.known(0), tuple(dim * times for dim, times in zip(source, repeats, strict=True)))]


def _repeats(call: Call, rank: int) -> list[Dim]:
    repeats = call.ints(1)
    if call.has(2):  # opset 1: so many tiles along one axis
        axis = axis_of(call.one(2), rank)
        return [call.one(1) if at == axis else 1 for at in range(rank)]
    if len(repeats) != rank:
        raise Contradiction(f"Tile has {len(repeats)} repeats for {rank} dimensions")
    return repeats


def _tile_value(call: Call, arrays: list[Array]) -> list[Array]:
    repeats = _repeats(call, arrays[0].ndim)
    if 0 in repeats:  # of nothing; numpy would fill the other axes first
        return [np.empty([dim * times for dim, times in zip(arrays[0].shape, repeats, strict=True)], arrays[0].dtype)]
    return [np.tile(arrays[0], [int(times) for times in repeats])]


OPERATORS: dict[str, Operator] = {
    "Reshape": Operator(_reshape, unchanged, partial=True, cost=view),
    "Flatten": Operator(_flatten, unchanged, partial=True, cost=view),
    "Squeeze": Operator(_squeeze, unchanged, partial=True, cost=view),
    "Unsqueeze": Operator(_unsqueeze, unchanged, partial=True, cost=view),
    "Transpose": Operator(_transpose, _transpose_value, partial=True, cost=free),
    "Expand": Operator(_expand, unchanged, partial=True, cost=free),
    "Tile": Operator(_tile, _tile_value, partial=True, cost=free),
}
