"""Reductions: some axes become 1, or go."""

from collections.abc import Callable

import numpy as np

from onnx_autodoc.ops.call import Call, normalize_axis
from onnx_autodoc.ops.cost import NO_COST, Cost, CostRule, reduction_cost
from onnx_autodoc.ops.input_constraints import distinct_axes
from onnx_autodoc.ops.operator import Operator, ValueRule, WorkClass, of_class
from onnx_autodoc.ops.values import Array, Dim, InferenceError, Shape, ValueInfo, limit_to_int64, with_shape

_MAX_UNKNOWN_ELEMENTS = 1024  # Python's integers grow with every factor


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
    gone = set(range(len(source))) if axes is None else {normalize_axis(axis, len(source)) for axis in axes}
    if keeps_dims(call):
        return tuple(1 if at in gone else dim for at, dim in enumerate(source))
    return tuple(dim for at, dim in enumerate(source) if at not in gone)


def _reduce(call: Call) -> list[ValueInfo]:
    return [with_shape(call.known(0), reduced_shape(call, call.shape(0), _axes(call)))]


def _by(function: Callable[..., Array]) -> ValueRule:
    def value(call: Call, arrays: list[Array]) -> list[Array]:
        axes = _axes(call)
        if axes is None and _is_noop(call):
            return [arrays[0]]
        if arrays[0].dtype == object and arrays[0].size > _MAX_UNKNOWN_ELEMENTS:
            raise InferenceError("so many sizes are not followed one by one")
        along = None if axes is None else tuple(normalize_axis(axis, arrays[0].ndim) for axis in axes)
        return [limit_to_int64(np.asarray(function(arrays[0], axis=along)))]  # the walk gives it the output's shape

    return value


def _mean(array: Array, axis: tuple[int, ...] | None) -> Array:
    if not array.size:
        raise ValueError("of no elements there is no mean")
    return np.asarray(array.mean(axis=axis))


def _costs(every: int, once: int, parts: str) -> CostRule:
    """As `folded`; nothing where no axis is named and that shall mean none."""
    whole = reduction_cost(every, once, parts)

    def rule(call: Call) -> Cost:
        return NO_COST if _is_noop(call) and not call.axes() else whole(call)

    rule.__doc__ = whole.__doc__
    return rule


_AXES = {1: distinct_axes}
OPERATORS: dict[str, Operator] = of_class(
    WorkClass.REDUCTION,
    {
        "ReduceL1": Operator(_reduce, cost=_costs(2, 0, "absolute, sum"), constraints=_AXES),
        "ReduceL2": Operator(_reduce, cost=_costs(2, 1, "square, sum, root"), constraints=_AXES),
        "ReduceLogSum": Operator(_reduce, cost=_costs(1, 1, "sum, logarithm"), constraints=_AXES),
        "ReduceLogSumExp": Operator(_reduce, cost=_costs(2, 1, "exponential, sum, logarithm"), constraints=_AXES),
        "ReduceMax": Operator(_reduce, _by(np.max), cost=_costs(1, 0, "comparison"), constraints=_AXES),
        "ReduceMean": Operator(_reduce, _by(_mean), cost=_costs(1, 1, "sum, division"), constraints=_AXES),
        "ReduceMin": Operator(_reduce, _by(np.min), cost=_costs(1, 0, "comparison"), constraints=_AXES),
        "ReduceProd": Operator(_reduce, _by(np.prod), partial=True, cost=_costs(1, 0, "product"), constraints=_AXES),
        "ReduceSum": Operator(_reduce, _by(np.sum), partial=True, cost=_costs(1, 0, "sum"), constraints=_AXES),
        "ReduceSumSquare": Operator(_reduce, cost=_costs(2, 0, "square, sum"), constraints=_AXES),
    },
)
