"""Reductions: some axes become 1, or go."""

from collections.abc import Callable

import numpy as np

from onnx_autodoc.ops._call import Call, axis_of
from onnx_autodoc.ops._cost import NOTHING, Cost, Price
from onnx_autodoc.ops._elements import counted
from onnx_autodoc.ops._known import Array, Dim, Known, NotKnown, Shape, like
from onnx_autodoc.ops._operator import Evaluate, Operator
from onnx_autodoc.ops._prices import folded

_MOST_SIZES = 1024  # Python's integers grow with every factor


def _axes(call: Call) -> list[Dim] | None:
    """The axes; None for all of them, which is what none at all means too."""
    return call.axes() or None


def keeps_dims(call: Call) -> bool:
    """Whether what is reduced stays as a dimension of 1: for 1 alone, whatever else a file may say."""
    return call.attr_int("keepdims", 1) == 1


def _is_noop(call: Call) -> bool:
    return call.attr_int("noop_with_empty_axes", 0) == 1


def reduced_shape(call: Call, source: Shape, axes: list[Dim] | None) -> Shape:
    if axes is None and _is_noop(call):
        return source
    gone = set(range(len(source))) if axes is None else {axis_of(axis, len(source)) for axis in axes}
    if keeps_dims(call):
        return tuple(1 if at in gone else dim for at, dim in enumerate(source))
    return tuple(dim for at, dim in enumerate(source) if at not in gone)


def _reduce(call: Call) -> list[Known]:
    return [like(call.known(0), reduced_shape(call, call.shape(0), _axes(call)))]


def _by(function: Callable[..., Array]) -> Evaluate:
    def value(call: Call, arrays: list[Array]) -> list[Array]:
        axes = _axes(call)
        if axes is None and _is_noop(call):
            return [arrays[0]]
        if arrays[0].dtype == object and arrays[0].size > _MOST_SIZES:
            raise NotKnown("so many sizes are not followed one by one")
        along = None if axes is None else tuple(axis_of(axis, arrays[0].ndim) for axis in axes)
        return [counted(np.asarray(function(arrays[0], axis=along)))]  # the walk gives it the output's shape

    return value


def _mean(array: Array, axis: tuple[int, ...] | None) -> Array:
    if not array.size:
        raise ValueError("of no elements there is no mean")
    return np.asarray(array.mean(axis=axis))


def _costs(every: int, once: int, parts: str) -> Price:
    """As `folded`; nothing where no axis is named and that shall mean none."""
    whole = folded(every, once, parts)

    def price(call: Call) -> Cost:
        return NOTHING if _is_noop(call) and not call.axes() else whole(call)

    price.__doc__ = whole.__doc__
    return price


OPERATORS: dict[str, Operator] = {
    "ReduceL1": Operator(_reduce, cost=_costs(2, 0, "absolute, sum")),
    "ReduceL2": Operator(_reduce, cost=_costs(2, 1, "square, sum, root")),
    "ReduceLogSum": Operator(_reduce, cost=_costs(1, 1, "sum, logarithm")),
    "ReduceLogSumExp": Operator(_reduce, cost=_costs(2, 1, "exponential, sum, logarithm")),
    "ReduceMax": Operator(_reduce, _by(np.max), cost=_costs(1, 0, "comparison")),
    "ReduceMean": Operator(_reduce, _by(_mean), cost=_costs(1, 1, "sum, division")),
    "ReduceMin": Operator(_reduce, _by(np.min), cost=_costs(1, 0, "comparison")),
    "ReduceProd": Operator(_reduce, _by(np.prod), partial=True, cost=_costs(1, 0, "product")),
    "ReduceSum": Operator(_reduce, _by(np.sum), partial=True, cost=_costs(1, 0, "sum")),
    "ReduceSumSquare": Operator(_reduce, cost=_costs(2, 0, "square, sum")),
}
