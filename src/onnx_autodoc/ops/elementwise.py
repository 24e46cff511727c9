"""Operators that work element by element: the outputs have the broadcast shape of the inputs."""

from collections.abc import Callable

import numpy as np

from onnx_autodoc.graph import is_float
from onnx_autodoc.ops._call import Call, broadcast
from onnx_autodoc.ops._known import Array, Known, Shape, tensor
from onnx_autodoc.ops._operator import Evaluate, Operator, Rule


def _common_shape(call: Call) -> Shape:
    if call.attr_int("broadcast", 0) or "axis" in call.node.attributes:
        return call.shape(0)  # before opset 7 the second operand was stretched to the first
    return broadcast(*(call.shape(at) for at in range(len(call.inputs)) if call.has(at)))


def same(call: Call) -> list[Known]:
    """One output like the first input."""
    return [tensor(call.dtype(0), call.shape(0))]


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


def _by(function: Callable[..., Array]) -> Evaluate:
    """Elements by one numpy function over all inputs, in the type of the first where numpy would widen it."""

    def value(call: Call, arrays: list[Array]) -> list[Array]:
        return [np.asarray(function(*arrays))]

    return value


def _fold(function: Callable[[Array, Array], Array]) -> Evaluate:
    """Elements by folding any number of inputs: Max, Min, Sum."""

    def value(call: Call, arrays: list[Array]) -> list[Array]:
        total = arrays[0]
        for array in arrays[1:]:
            total = np.asarray(function(total, array))
        return [total]

    return value


def _div(call: Call, arrays: list[Array]) -> list[Array]:
    over, under = arrays
    if is_float(call.dtype(0)):
        return [np.asarray(over / under)]
    if over.dtype == object or under.dtype == object:
        return [np.asarray(over // under)]  # sizes are not negative: rounding down is truncation
    return [np.asarray(np.trunc(over / under)).astype(over.dtype) if _negative(over, under) else over // under]


def _negative(over: Array, under: Array) -> bool:
    return bool((over < 0).any() or (under < 0).any())


def _mod(call: Call, arrays: list[Array]) -> list[Array]:
    return [np.asarray(np.fmod(*arrays) if call.attr_int("fmod", 0) else np.mod(*arrays))]


def _mean(call: Call, arrays: list[Array]) -> list[Array]:
    return [np.asarray(sum(arrays[1:], arrays[0]) / len(arrays))]


def _clip(call: Call, arrays: list[Array]) -> list[Array]:
    low = arrays[1] if call.has(1) else call.attr_float("min", -np.inf)
    high = arrays[-1] if call.has(2) else call.attr_float("max", np.inf)
    return [np.asarray(np.clip(arrays[0], low, high)).astype(arrays[0].dtype)]


def _round(x: Array) -> Array:
    return np.asarray(np.rint(x))


def _relu(x: Array) -> Array:
    return np.asarray(np.maximum(x, 0))


def _table(rule: Rule, names: str) -> dict[str, Operator]:
    return {name: Operator(rule) for name in names.split()}


_SAME_SHAPE = (
    "Acos Acosh Asin Asinh Atan Atanh BitwiseNot Celu Cos Cosh CumProd CumSum Elu Erf Exp Gelu HardSigmoid HardSwish "
    "Hardmax LeakyRelu Log LogSoftmax LpNormalization LRN MeanVarianceNormalization Mish Reciprocal ReverseSequence "
    "Selu Shrink Sigmoid Sin Sinh Softmax Softplus Softsign Swish Tan Tanh ThresholdedRelu Trilu "
    # removed from ONNX long ago, still found in files of 2017
    "Affine ImageScaler ParametricSoftplus Scale ScaledTanh"
)

OPERATORS: dict[str, Operator] = {
    **_table(same, _SAME_SHAPE),
    **_table(broadcast_same, "BitShift BitwiseAnd BitwiseOr BitwiseXor"),
    **_table(_unary_bool, "IsInf IsNaN"),
    "Abs": Operator(same, _by(np.abs)),
    "Ceil": Operator(same, _by(np.ceil)),
    "Floor": Operator(same, _by(np.floor)),
    "Neg": Operator(same, _by(np.negative), partial=True),
    "Not": Operator(_unary_bool, _by(np.logical_not)),
    "Round": Operator(same, _by(_round)),
    "Relu": Operator(same, _by(_relu)),
    "Sign": Operator(same, _by(np.sign)),
    "Sqrt": Operator(same, _by(np.sqrt)),
    "Add": Operator(broadcast_same, _by(np.add), partial=True),
    "Sub": Operator(broadcast_same, _by(np.subtract), partial=True),
    "Mul": Operator(broadcast_same, _by(np.multiply), partial=True),
    "Div": Operator(broadcast_same, _div, partial=True),
    "Mod": Operator(broadcast_same, _mod),
    "Pow": Operator(broadcast_same, _by(np.power)),
    "Max": Operator(broadcast_same, _fold(np.maximum)),
    "Min": Operator(broadcast_same, _fold(np.minimum)),
    "Sum": Operator(broadcast_same, _fold(np.add), partial=True),
    "Mean": Operator(broadcast_same, _mean),
    "And": Operator(broadcast_bool, _by(np.logical_and)),
    "Or": Operator(broadcast_bool, _by(np.logical_or)),
    "Xor": Operator(broadcast_bool, _by(np.logical_xor)),
    "Equal": Operator(broadcast_bool, _by(np.equal)),
    "Greater": Operator(broadcast_bool, _by(np.greater)),
    "GreaterOrEqual": Operator(broadcast_bool, _by(np.greater_equal)),
    "Less": Operator(broadcast_bool, _by(np.less)),
    "LessOrEqual": Operator(broadcast_bool, _by(np.less_equal)),
    "Where": Operator(_where, _by(np.where), partial=True),
    "Clip": Operator(same, _clip),
    "PRelu": Operator(same),  # the slope is stretched to x, never x to the slope
    "Dropout": Operator(_dropout),
    "SwiGLU": Operator(broadcast_same),
}
