"""Reductions: some axes become 1, or are removed."""

from collections.abc import Callable
from typing import Any

import numpy as np

from onnx_autodoc.ops.call import Call, normalize_axis
from onnx_autodoc.ops.cost import NO_COST, documented, per_input_element
from onnx_autodoc.ops.input_constraints import distinct_axes
from onnx_autodoc.ops.operator import Operator, Trait, ValueRule, WorkClass
from onnx_autodoc.ops.shape_rules import one_output
from onnx_autodoc.ops.values import Array, Dim, InferenceError, Shape, limit_to_int64

_MAX_UNKNOWN_ELEMENTS = 1024  # Python's integers grow with every factor


def keeps_dims(call: Call) -> bool:
    """Whether reduced axes remain as dimensions of 1; any number but 1 removes them."""
    return call.attr_int("keepdims", 1) == 1


def _is_noop(call: Call) -> bool:
    """Whether a reduction without axes, or with an empty list of them, returns its input."""
    return call.attr_int("noop_with_empty_axes", 0) == 1


def reduced_shape(call: Call, source: Shape, axes: list[Dim] | None) -> Shape:
    """Return the dims of a reduction of `source` along `axes`, or along all if None."""
    if axes is None and _is_noop(call):
        return source
    reduced = set(range(len(source))) if axes is None else {normalize_axis(axis, len(source)) for axis in axes}
    if keeps_dims(call):
        return tuple(1 if at in reduced else dim for at, dim in enumerate(source))
    return tuple(dim for at, dim in enumerate(source) if at not in reduced)


def _by(function: Callable[..., Array]) -> ValueRule:
    """Return a value rule that applies a numpy function along the axes."""

    def value(call: Call, arrays: list[Array]) -> list[Array]:
        axes = call.axes() or None
        if axes is None and _is_noop(call):
            return [arrays[0]]
        if arrays[0].dtype == object and arrays[0].size > _MAX_UNKNOWN_ELEMENTS:
            raise InferenceError("too many unknown sizes to combine")
        axis = None if axes is None else tuple(normalize_axis(axis, arrays[0].ndim) for axis in axes)
        return [limit_to_int64(np.asarray(function(arrays[0], axis=axis)))]  # the caller sets the output's shape

    return value


def _mean(array: Array, axis: tuple[int, ...] | None) -> Array:
    if not array.size:
        raise ValueError("the mean of no elements is undefined")
    return np.asarray(array.mean(axis=axis))


_reduce = one_output(lambda call: reduced_shape(call, call.shape(0), call.axes() or None))


def _row(every: int, once: int, parts: str, function: Callable[..., Array] | None = None, **fields: Any) -> Operator:
    """Return the row of a reduction with `every` operations per element of the input and `once` per output element."""
    cost = per_input_element(every, parts, once)
    return Operator(
        _reduce,
        function and _by(function),
        cost=documented(cost.__doc__ or "", lambda call: NO_COST if _is_noop(call) and not call.axes() else cost(call)),
        work=WorkClass.REDUCTION,
        constraints={1: distinct_axes},
        **fields,
    )


OPERATORS: dict[str, Operator] = {
    "ReduceL1": _row(2, 0, "abs, add"),
    "ReduceL2": _row(2, 1, "square, add, sqrt"),
    "ReduceLogSum": _row(1, 1, "add, log"),
    "ReduceLogSumExp": _row(2, 1, "exp, add, log"),
    "ReduceMax": _row(1, 0, "comparison", np.max, number_inputs=(0,)),
    "ReduceMean": _row(1, 1, "add, divide", _mean),
    "ReduceMin": _row(1, 0, "comparison", np.min, number_inputs=(0,)),
    "ReduceProd": _row(1, 0, "multiply", np.prod, partial=True),
    "ReduceSum": _row(1, 0, "add", np.sum, partial=True, traits={Trait.SUMS}),
    "ReduceSumSquare": _row(2, 0, "square, add"),
}
