"""Operators that work element by element: the outputs have the broadcast shape of the inputs."""

from collections.abc import Callable

import numpy as np

from onnx_autodoc.ir import is_float
from onnx_autodoc.ops._call import Call, axis_of, broadcast, size
from onnx_autodoc.ops._cost import NOTHING, Cost, Price, each, free
from onnx_autodoc.ops._elements import counted, within
from onnx_autodoc.ops._known import Array, Contradiction, Known, NotKnown, Shape, tensor
from onnx_autodoc.ops._operator import Evaluate, Operator, Rule, constants, weights
from onnx_autodoc.ops._ranks import deep

_MOD_OF_ANY = 28  # the version since which a Mod takes real numbers as it takes whole ones


def _common_shape(call: Call) -> Shape:
    if call.attr_int("broadcast", 0) or "axis" in call.node.attributes:
        return call.shape(0)  # before opset 7 the second operand was stretched to the first
    return broadcast(*(call.shape(at) for at in range(len(call.inputs)) if call.has(at)))


def same(call: Call) -> list[Known]:
    """One output like the first input."""
    return [tensor(call.dtype(0), call.shape(0))]


def _matrices(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), deep(call, 0, 2))]


def _accumulated(call: Call) -> list[Known]:
    """Along the axis that is the only element of the second input."""
    axis = call.value(1)
    if axis is not None and axis.size == 1 and axis.dtype != object:
        axis_of(int(axis.reshape(-1)[0]), call.rank(0))
    return same(call)


def _modulo(call: Call) -> list[Known]:
    """Of real numbers there was C's fmod alone."""
    old = call.version is not None and call.version < _MOD_OF_ANY
    if old and is_float(call.dtype(0)) and call.attr_int("fmod", 0) != 1:
        raise Contradiction(f"Mod of {call.dtype(0)} without fmod")
    return broadcast_same(call)


def broadcast_same(call: Call) -> list[Known]:
    """All inputs broadcast together, the element type of the first."""
    return [tensor(call.dtype(0), _common_shape(call))]


def broadcast_bool(call: Call) -> list[Known]:
    return [tensor("bool", _common_shape(call))]


def _unary_bool(call: Call) -> list[Known]:
    return [tensor("bool", call.shape(0))]


def _where(call: Call) -> list[Known]:
    return [tensor(call.dtype(1) or call.dtype(2), broadcast(call.shape(0), call.shape(1), call.shape(2)))]


def _dropout(call: Call) -> list[Known]:
    mask = None if call.version is None else "bool" if call.version >= 10 else call.dtype(0)
    return [tensor(call.dtype(0), call.shape(0)), tensor(mask, call.shape(0))]


def _aligned(call: Call, arrays: list[Array]) -> list[Array]:
    """The inputs as numpy stretches them; before opset 7 the second began at an axis of the first."""
    if "axis" in call.node.attributes and len(arrays) == 2:
        first, second = arrays
        after = first.ndim - axis_of(call.attr_int("axis", 0), max(first.ndim, 1)) - second.ndim
        arrays = [first, second.reshape(*second.shape, *(1,) * after)]
    within(*(array.shape for array in arrays))
    return arrays


def _by(function: Callable[..., Array]) -> Evaluate:
    """Elements by one numpy function over all inputs, in the type of the first where numpy would widen it."""

    def value(call: Call, arrays: list[Array]) -> list[Array]:
        return [counted(np.asarray(function(*_aligned(call, arrays))))]

    return value


def _fold(function: Callable[[Array, Array], Array]) -> Evaluate:
    """Elements by folding any number of inputs: Max, Min, Sum."""

    def value(call: Call, arrays: list[Array]) -> list[Array]:
        total, *others = _aligned(call, arrays)
        for array in others:
            total = np.asarray(function(total, array))
        return [counted(total)]

    return value


def _div(call: Call, arrays: list[Array]) -> list[Array]:
    over, under = _aligned(call, arrays)
    if is_float(call.dtype(0)):
        return [np.asarray(over / under)]
    if over.dtype == object or under.dtype == object:
        return [counted(np.asarray(over // under))]  # sizes are not negative: rounding down is truncation
    _check_not_zero(under)
    down = np.asarray(over // under)
    return [down + ((down * under != over) & ((over < 0) != (under < 0)))]


def _check_not_zero(under: Array) -> None:
    """numpy says 0 of a whole number by 0; the processor stops there."""
    if not under.all():
        raise NotKnown("a whole number is divided by 0")


def _mod(call: Call, arrays: list[Array]) -> list[Array]:
    over, under = _aligned(call, arrays)
    if not is_float(call.dtype(0)):
        _check_not_zero(under)
    return [np.asarray(np.fmod(over, under) if call.attr_int("fmod", 0) else np.mod(over, under))]


def _mean(call: Call, arrays: list[Array]) -> list[Array]:
    arrays = _aligned(call, arrays)
    return [np.asarray(sum(arrays[1:], arrays[0]) / len(arrays))]


def _clip(call: Call, arrays: list[Array]) -> list[Array]:
    low = arrays[1] if call.has(1) else np.array(call.attr_float("min", -np.inf))
    high = arrays[-1] if call.has(2) else np.array(call.attr_float("max", np.inf))
    if low.size != 1 or high.size != 1:
        raise Contradiction("Clip takes one number for each bound")
    clipped = arrays[0] if low == -np.inf else np.maximum(arrays[0], low.reshape(()))
    return [np.asarray(clipped if high == np.inf else np.minimum(clipped, high.reshape(()))).astype(arrays[0].dtype)]


def _round(x: Array) -> Array:
    return np.asarray(np.rint(x))


def _relu(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0))


# prices: to choose one of two numbers by a comparison is one operation, as it is in Relu
_one = each(1, "the operation itself")


def _variadic_cost(call: Call) -> Cost:
    """1 per element of the output for each input after the first"""
    return Cost(other=(len(call.inputs) - 1) * size(call.output()))


def _mean_cost(call: Call) -> Cost:
    """1 per element of the output for each input: sums, quotient"""
    return Cost(other=len(call.inputs) * size(call.output()))


def _clip_cost(call: Call) -> Cost:
    """1 per element of the output for each bound that is given"""
    bounds = [call.has(at) or name in call.node.attributes for at, name in ((1, "min"), (2, "max"))]
    return Cost(other=sum(bounds) * size(call.output()))


def _dropout_cost(call: Call) -> Cost:
    """none: data are moved; in training, 3 per element of the output: number drawn, comparison, scale"""
    if not call.has(2):
        return NOTHING
    training = call.value(2)
    if training is None or training.dtype == object:
        raise NotKnown("Dropout: whether it trains is only known when the model runs")
    return Cost(other=3 * size(call.output())) if training.any() else NOTHING


def _with_alpha(count: int, more: int, parts: str) -> Price:
    """So many operations for each element of the output, and more where alpha is not 1."""

    def price(call: Call) -> Cost:
        scaled = call.attr_float("alpha", 1.0) != 1
        return Cost(other=(count + more * scaled) * size(call.output()))

    price.__doc__ = f"{count} per element of the output: {parts}; {more} more where alpha is not 1"
    return price


def _gelu_cost(call: Call) -> Cost:
    """5 per element of the output: quotient, erf, sum, two products; 8 where tanh stands for erf: power, five products
    and sums before and after, tanh"""
    return Cost(other=(8 if call.attr_text("approximate", "none") == "tanh" else 5) * size(call.output()))


_swish = _with_alpha(2, 1, "sigmoid, product")


def _table(rule: Rule, cost: Price, names: str) -> dict[str, Operator]:
    return {name: Operator(rule, cost=cost) for name in names.split()}


_FUNCTIONS = (
    "Acos Acosh Asin Asinh Atan Atanh BitwiseNot Cos Cosh Erf Exp Log Reciprocal Sigmoid Sin Sinh Tan "
    "Tanh ThresholdedRelu"
)

OPERATORS: dict[str, Operator] = {
    **_table(same, _one, _FUNCTIONS),
    **_table(_accumulated, _one, "CumProd CumSum"),
    **_table(same, free, "ReverseSequence"),
    "Trilu": Operator(_matrices, cost=free),
    **_table(broadcast_same, _one, "BitShift BitwiseAnd BitwiseOr BitwiseXor"),
    **_table(_unary_bool, _one, "IsInf IsNaN"),
    "Abs": Operator(same, _by(np.abs), cost=_one),
    "Ceil": Operator(same, _by(np.ceil), cost=_one),
    "Floor": Operator(same, _by(np.floor), cost=_one),
    "Neg": Operator(same, _by(np.negative), partial=True, cost=_one),
    "Not": Operator(_unary_bool, _by(np.logical_not), cost=_one),
    "Round": Operator(same, _by(_round), cost=_one),
    "Relu": Operator(same, _by(_relu), cost=_one),
    "Sign": Operator(same, _by(np.sign), cost=_one),
    "Sqrt": Operator(same, _by(np.sqrt), cost=_one),
    "Add": Operator(broadcast_same, _by(np.add), partial=True, cost=_one),
    "Sub": Operator(broadcast_same, _by(np.subtract), partial=True, cost=_one),
    "Mul": Operator(broadcast_same, _by(np.multiply), partial=True, cost=_one),
    "Div": Operator(broadcast_same, _div, partial=True, cost=_one),
    "Mod": Operator(_modulo, _mod, cost=_one),
    "Pow": Operator(broadcast_same, _by(np.power), cost=_one),
    "Max": Operator(broadcast_same, _fold(np.maximum), cost=_variadic_cost),
    "Min": Operator(broadcast_same, _fold(np.minimum), cost=_variadic_cost),
    "Sum": Operator(broadcast_same, _fold(np.add), partial=True, cost=_variadic_cost),
    "Mean": Operator(broadcast_same, _mean, cost=_mean_cost),
    "And": Operator(broadcast_bool, _by(np.logical_and), cost=_one),
    "Or": Operator(broadcast_bool, _by(np.logical_or), cost=_one),
    "Xor": Operator(broadcast_bool, _by(np.logical_xor), cost=_one),
    "Equal": Operator(broadcast_bool, _by(np.equal), cost=_one),
    "Greater": Operator(broadcast_bool, _by(np.greater), cost=_one),
    "GreaterOrEqual": Operator(broadcast_bool, _by(np.greater_equal), cost=_one),
    "Less": Operator(broadcast_bool, _by(np.less), cost=_one),
    "LessOrEqual": Operator(broadcast_bool, _by(np.less_equal), cost=_one),
    "Where": Operator(_where, _by(np.where), partial=True, cost=_one),
    "Clip": Operator(same, _clip, cost=_clip_cost, parts=constants(1, 2)),
    "Dropout": Operator(_dropout, cost=_dropout_cost, parts=constants(1)),
    # activations
    "Celu": Operator(same, cost=_with_alpha(3, 2, "exponential, difference, choice")),
    "Elu": Operator(same, cost=_with_alpha(3, 1, "exponential, difference, choice")),
    "Gelu": Operator(same, cost=_gelu_cost),
    "HardSigmoid": Operator(same, cost=each(4, "scale, shift, two bounds")),
    "HardSwish": Operator(same, cost=each(5, "scale, shift, two bounds, product")),
    "LeakyRelu": Operator(same, cost=each(2, "slope, choice")),
    "Mish": Operator(same, cost=each(5, "exponential, sum, logarithm, tanh, product")),
    # the slope is stretched to x, never x to the slope
    "PRelu": Operator(same, cost=each(2, "slope, choice"), parts=weights(1)),
    "Selu": Operator(same, cost=each(5, "exponential, difference, alpha, choice, gamma")),
    "Shrink": Operator(same, cost=each(3, "two comparisons, shift")),
    "Softplus": Operator(same, cost=each(3, "exponential, sum, logarithm")),
    "Softsign": Operator(same, cost=each(3, "absolute, sum, quotient")),
    "SwiGLU": Operator(broadcast_same, cost=_with_alpha(3, 1, "sigmoid, two products")),
    "Swish": Operator(same, cost=_swish),
    # removed from ONNX long ago, still found in files of 2017
    "Affine": Operator(same, cost=each(2, "scale, shift")),
    "ImageScaler": Operator(same, cost=each(2, "scale, shift")),
    "ParametricSoftplus": Operator(same, cost=each(5, "two products, exponential, sum, logarithm")),
    "Scale": Operator(same, cost=_one),
    "ScaledTanh": Operator(same, cost=each(3, "two products, tanh")),
}
