"""Element-wise operators."""

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from onnx_autodoc.ir import is_float
from onnx_autodoc.ops.call import Call, broadcast, normalize_axis, shape_of_min_rank, size
from onnx_autodoc.ops.cost import NO_COST, Cost, CostRule, documented, free, per_output_element
from onnx_autodoc.ops.input_constraints import ZERO, axis_size
from onnx_autodoc.ops.operator import (
    FLAG,
    Arithmetic,
    Identity,
    Neutral,
    Operator,
    Trait,
    ValueRule,
    WorkClass,
    constants,
    of_class,
    weights,
    with_traits,
    words,
)
from onnx_autodoc.ops.shape_rules import one_output, same, shape_of
from onnx_autodoc.ops.values import (
    Array,
    Contradiction,
    InferenceError,
    Shape,
    ValueInfo,
    check_broadcast_size,
    limit_to_int64,
    tensor,
)

_MOD_OF_FLOATS = 28  # the version since which Mod takes floats without fmod
_ZERO_DIVISION = "integer division by zero"  # numpy returns 0, a processor traps


def _common_shape(call: Call) -> Shape:
    if call.attr_int("broadcast", 0) or "axis" in call.node.attributes:
        return call.shape(0)  # before opset 7 the second operand was broadcast to the first
    return broadcast(*(call.shape(at) for at in range(len(call.inputs)) if call.has(at)))


def _accumulated(call: Call) -> list[ValueInfo]:
    """Infer CumSum and CumProd; the axis is the only element of the second input."""
    axis = call.value(1)
    if axis is not None and axis.size == 1 and axis.dtype != object:
        normalize_axis(int(axis.reshape(-1)[0]), call.rank(0))
    return same(call)


def _modulo(call: Call) -> list[ValueInfo]:
    """Infer Mod; old versions compute floats by fmod."""
    old = call.version is not None and call.version < _MOD_OF_FLOATS
    if old and is_float(call.dtype(0)) and call.attr_int("fmod", 0) != 1:
        raise Contradiction(f"Mod of {call.dtype(0)} requires fmod=1")
    return [tensor(call.dtype(0), _common_shape(call))]


broadcast_same = one_output(_common_shape)
_broadcast_bool = one_output(_common_shape, "bool")
_unary_bool = shape_of(0, "bool")


def _dropout(call: Call) -> list[ValueInfo]:
    mask = None if call.version is None else "bool" if call.version >= 10 else call.dtype(0)
    return [tensor(call.dtype(0), call.shape(0)), tensor(mask, call.shape(0))]


def _aligned(call: Call, arrays: list[Array]) -> list[Array]:
    """Align inputs for numpy; before opset 7 the second began at an axis of the first."""
    if "axis" in call.node.attributes and len(arrays) == 2:
        first, second = arrays
        trailing = first.ndim - normalize_axis(call.attr_int("axis", 0), max(first.ndim, 1)) - second.ndim
        arrays = [first, second.reshape(*second.shape, *(1,) * trailing)]
    check_broadcast_size(*(array.shape for array in arrays))
    return arrays


def _by(function: Callable[..., Array]) -> ValueRule:
    """Return a value rule that applies a numpy function to all inputs."""

    def value(call: Call, arrays: list[Array]) -> list[Array]:
        return [limit_to_int64(np.asarray(function(*_aligned(call, arrays))))]

    return value


def _fold(function: Callable[[Array, Array], Array]) -> ValueRule:
    """Return a value rule that folds any number of inputs."""

    def value(call: Call, arrays: list[Array]) -> list[Array]:
        return [limit_to_int64(reduce(lambda total, array: np.asarray(function(total, array)), _aligned(call, arrays)))]

    return value


def _div(call: Call, arrays: list[Array]) -> list[Array]:
    a, b = _aligned(call, arrays)
    if is_float(call.dtype(0)):
        return [np.asarray(a / b)]
    if a.dtype == object or b.dtype == object:
        return [limit_to_int64(np.asarray(a // b))]  # sizes are not negative: rounding down is truncation
    if not b.all():
        raise InferenceError(_ZERO_DIVISION)
    floor = np.asarray(a // b)
    return [floor + ((floor * b != a) & ((a < 0) != (b < 0)))]


def _mod(call: Call, arrays: list[Array]) -> list[Array]:
    a, b = _aligned(call, arrays)
    if not is_float(call.dtype(0)) and not b.all():
        raise InferenceError(_ZERO_DIVISION)
    return [np.asarray(np.fmod(a, b) if call.attr_int("fmod", 0) else np.mod(a, b))]


def _mean(call: Call, arrays: list[Array]) -> list[Array]:
    arrays = _aligned(call, arrays)
    return [np.asarray(sum(arrays[1:], arrays[0]) / len(arrays))]


def _clip(call: Call, arrays: list[Array]) -> list[Array]:
    low = arrays[1] if call.has(1) else np.array(call.attr_float("min", -np.inf))
    high = arrays[-1] if call.has(2) else np.array(call.attr_float("max", np.inf))
    if low.size != 1 or high.size != 1:
        raise Contradiction("Clip requires one number for each bound")
    clipped = arrays[0] if low == -np.inf else np.maximum(arrays[0], low.reshape(()))
    return [np.asarray(clipped if high == np.inf else np.minimum(clipped, high.reshape(()))).astype(arrays[0].dtype)]


# Selecting one of two numbers by a comparison, as in Relu, is one operation.
_one = per_output_element(1, "the operation")


def _variadic_cost(call: Call) -> Cost:
    """1 FLOP per output element for each input after the first"""
    return Cost(other=(len(call.inputs) - 1) * size(call.output()))


def _mean_cost(call: Call) -> Cost:
    """1 FLOP per output element for each input: adds, divide"""
    return Cost(other=len(call.inputs) * size(call.output()))


def _clip_cost(call: Call) -> Cost:
    """1 FLOP per output element for each bound present"""
    bounds = [call.has(at) or name in call.node.attributes for at, name in ((1, "min"), (2, "max"))]
    return Cost(other=sum(bounds) * size(call.output()))


def _dropout_cost(call: Call) -> Cost:
    """none: data movement; in training, 3 FLOPs per output element: random draw, comparison, scale"""
    if not call.has(2):
        return NO_COST
    training = call.value(2)
    if training is None or training.dtype == object:
        raise InferenceError("Dropout: its training mode is known only at run time")
    return Cost(other=3 * size(call.output())) if training.any() else NO_COST


def _with_alpha(count: int, more: int, parts: str) -> CostRule:
    """Return a rule with `count` operations per output element, and `more` if alpha is not 1."""

    def rule(call: Call) -> Cost:
        is_scaled = call.attr_float("alpha", 1.0) != 1
        return Cost(other=(count + more * is_scaled) * size(call.output()))

    return documented(f"{count} FLOPs per output element: {parts}; {more} more if alpha is not 1", rule)


def _gelu_cost(call: Call) -> Cost:
    """5 FLOPs per output element: divide, erf, add, two multiplies; 8 with the tanh approximation: power, multiplies,
    adds, tanh"""
    return Cost(other=(8 if call.attr_text("approximate", "none") == "tanh" else 5) * size(call.output()))


def _arithmetic(value: ValueRule, **fields: Any) -> Operator:
    traits = {Trait.FOLLOWS_SCORES, Trait.PRECEDES_SCORES, Trait.PROPAGATES_NAN, Trait.UNARY_WITH_SCALARS}
    return Operator(broadcast_same, value, partial=True, cost=_one, traits=traits, **fields)


def _extreme(function: Callable[..., Array], **fields: Any) -> Operator:
    traits = {Trait.TESTS_NUMBERS, Trait.UNARY_WITH_SCALARS}
    return Operator(
        broadcast_same, _fold(function), cost=_variadic_cost, traits=traits, identity=Identity.ONE_INPUT, **fields
    )


def _comparison(function: Callable[..., Array], *traits: Trait) -> Operator:
    return Operator(_broadcast_bool, _by(function), cost=_one, traits={Trait.TESTS_NUMBERS, Trait.COMPARES, *traits})


def _unary(cost: CostRule = _one, value: ValueRule | None = None, **fields: Any) -> Operator:
    return Operator(same, value, cost=cost, **fields)


_UNARY = with_traits(  # they commute with Transpose
    {Trait.UNARY},
    {
        "Abs": _unary(value=_by(np.abs), number_inputs=(0,)),
        "Ceil": _unary(value=_by(np.ceil), number_inputs=(0,), kernel="function round"),
        "Cos": _unary(kernel="function sine"),
        "Elu": _unary(_with_alpha(3, 1, "exp, subtract, select"), kernel="function exp"),
        "Erf": _unary(kernel="function erf"),
        "Exp": _unary(kernel="function exp"),
        "Floor": _unary(value=_by(np.floor), number_inputs=(0,), kernel="function round"),
        "Gelu": _unary(
            _gelu_cost, fused_block="gelu", choices={"approximate": words("none tanh")}, kernel="function gelu"
        ),
        "HardSigmoid": _unary(per_output_element(4, "scale, shift, two bounds")),
        "HardSwish": _unary(per_output_element(5, "scale, shift, two bounds, multiply")),
        "LeakyRelu": _unary(per_output_element(2, "slope, select"), traits={Trait.CROSSES_QUANTIZATION}),
        "Log": _unary(kernel="function log"),
        "Mish": _unary(per_output_element(5, "exp, add, log, tanh, multiply"), kernel="function tanh"),
        "Neg": _unary(value=_by(np.negative), partial=True, traits={Trait.PRECEDES_SCORES}),
        "Not": Operator(_unary_bool, _by(np.logical_not), cost=_one),
        "Reciprocal": _unary(kernel="function root"),
        "Relu": _unary(
            value=_by(lambda x: np.asarray(np.maximum(x, 0))), number_inputs=(0,), traits={Trait.CROSSES_QUANTIZATION}
        ),
        "Round": _unary(value=_by(lambda x: np.asarray(np.rint(x))), number_inputs=(0,), kernel="function round"),
        "Selu": _unary(per_output_element(5, "exp, subtract, alpha, select, gamma"), kernel="function exp"),
        "Sigmoid": _unary(kernel="function sigmoid"),
        "Sign": _unary(value=_by(np.sign)),
        "Sin": _unary(kernel="function sine"),
        "Softplus": _unary(per_output_element(3, "exp, add, log"), kernel="function tanh"),
        "Softsign": Operator(same, cost=per_output_element(3, "abs, add, divide")),
        "Sqrt": _unary(value=_by(np.sqrt), kernel="function root"),
        "Swish": _unary(_with_alpha(2, 1, "sigmoid, multiply"), kernel="function silu"),
        "Tanh": _unary(kernel="function tanh"),
        "ThresholdedRelu": _unary(),
    },
)
_REMOVED = with_traits(  # removed from ONNX, used in files of 2017
    {Trait.EXPERIMENTAL},
    {
        "Affine": _unary(per_output_element(2, "scale, shift")),
        "ImageScaler": _unary(per_output_element(2, "scale, shift")),
        "ParametricSoftplus": _unary(per_output_element(5, "two multiplies, exp, add, log")),
        "Scale": _unary(),
        "ScaledTanh": _unary(per_output_element(3, "two multiplies, tanh")),
    },
)

OPERATORS: dict[str, Operator] = of_class(
    WorkClass.POINTWISE,
    {
        **_UNARY,
        **_REMOVED,
        **dict.fromkeys(("Acosh", "Asinh", "Atanh", "BitwiseNot", "Cosh", "Sinh"), _unary()),
        **dict.fromkeys(("Acos", "Asin", "Atan", "Tan"), _unary(kernel="function sine")),
        **dict.fromkeys(("BitwiseAnd", "BitwiseOr", "BitwiseXor"), Operator(broadcast_same, cost=_one)),
        "CumProd": Operator(_accumulated, cost=_one, work=WorkClass.REDUCTION),
        "CumSum": Operator(
            _accumulated, cost=_one, work=WorkClass.REDUCTION, constraints={1: ZERO}, traits={Trait.SUMS}
        ),
        "ReverseSequence": Operator(
            same, cost=free, work=WorkClass.MOVE, number_inputs=(0,), constraints={1: axis_size}
        ),
        "Trilu": Operator(one_output(lambda call: shape_of_min_rank(call, 0, 2)), cost=free, number_inputs=(0,)),
        "BitShift": Operator(broadcast_same, cost=_one, choices={"direction": words("LEFT RIGHT")}),
        "IsInf": Operator(_unary_bool, cost=_one, traits={Trait.TESTS_NUMBERS}),
        "IsNaN": Operator(_unary_bool, cost=_one, traits={Trait.FOLLOWS_SCORES, Trait.TESTS_NUMBERS}),
        "Add": _arithmetic(_by(np.add), position_shift=1, arithmetic=Arithmetic.SUM, neutral=Neutral(0, (0, 1))),
        "Sub": _arithmetic(
            _by(np.subtract), position_shift=-1, arithmetic=Arithmetic.DIFFERENCE, neutral=Neutral(0, (1,))
        ),
        "Mul": _arithmetic(
            _by(np.multiply),
            position_shift=0,
            arithmetic=Arithmetic.PRODUCT,
            neutral=Neutral(1, (0, 1)),
            identity=Identity.NEUTRAL_OPERAND,
        ),
        "Div": _arithmetic(
            _div,
            arithmetic=Arithmetic.QUOTIENT,
            neutral=Neutral(1, (1,)),
            identity=Identity.NEUTRAL_OPERAND,
            kernel="function divide",
        ),
        "Mod": Operator(_modulo, _mod, cost=_one, choices={"fmod": FLAG}, kernel="function round"),
        "Pow": Operator(
            broadcast_same,
            _by(np.power),
            cost=_one,
            traits={Trait.UNARY_WITH_SCALARS},
            neutral=Neutral(1, (1,)),
            kernel="function pow",
        ),
        "Max": _extreme(np.maximum, number_inputs=None),
        "Min": _extreme(np.minimum),
        "Sum": Operator(broadcast_same, _fold(np.add), partial=True, cost=_variadic_cost, identity=Identity.ONE_INPUT),
        "Mean": Operator(broadcast_same, _mean, cost=_mean_cost, identity=Identity.ONE_INPUT),
        "And": Operator(_broadcast_bool, _by(np.logical_and), cost=_one),
        "Or": Operator(_broadcast_bool, _by(np.logical_or), cost=_one),
        "Xor": Operator(_broadcast_bool, _by(np.logical_xor), cost=_one),
        "Equal": _comparison(np.equal),
        "Greater": _comparison(np.greater, Trait.COMPARES_ORDER),
        "GreaterOrEqual": _comparison(np.greater_equal, Trait.COMPARES_ORDER),
        "Less": _comparison(np.less, Trait.COMPARES_ORDER),
        "LessOrEqual": _comparison(np.less_equal, Trait.COMPARES_ORDER),
        "Where": Operator(
            lambda call: [tensor(call.dtype(1) or call.dtype(2), broadcast(*map(call.shape, range(3))))],
            _by(np.where),
            partial=True,
            cost=_one,
            traits={Trait.FOLLOWS_SCORES, Trait.PRECEDES_SCORES, Trait.TESTS_NUMBERS},
            position_shift=0,
            overwrites=(1, 2),
            number_inputs=(1, 2),
            kernel="function select",
        ),
        "Clip": Operator(
            same,
            _clip,
            cost=_clip_cost,
            roles=constants(1, 2),
            traits={Trait.CLIPS, Trait.CROSSES_QUANTIZATION, Trait.TESTS_NUMBERS, Trait.UNARY_WITH_SCALARS},
            number_inputs=(0,),
        ),
        "Dropout": Operator(
            _dropout,
            cost=_dropout_cost,
            roles=constants(1),
            traits={Trait.CROSSES_QUANTIZATION, Trait.DROPPED_BY_ORT, Trait.FORWARDS},
            identity=Identity.INFERENCE,
            constraints={1: ZERO},
        ),
        "Celu": _unary(_with_alpha(3, 2, "exp, subtract, select"), kernel="function exp"),
        # the slope is broadcast to x, never x to the slope
        "PRelu": _unary(per_output_element(2, "slope, select"), roles=weights(1), traits={Trait.PROPAGATES_NAN}),
        "Shrink": _unary(per_output_element(3, "two comparisons, shift")),
        "SwiGLU": Operator(broadcast_same, cost=_with_alpha(3, 1, "sigmoid, two multiplies")),
    },
)
