"""Normalizations: the shape stays, statistics may come beside it."""

from onnx_autodoc.graph import dtype_name
from onnx_autodoc.ops._call import Call, axis_of
from onnx_autodoc.ops._known import Contradiction, Known, tensor
from onnx_autodoc.ops._operator import Operator
from onnx_autodoc.ops.elementwise import same


def _batch_normalization(call: Call) -> list[Known]:
    # Until opset 13 up to four statistics follow: mean, var, and both as saved for the gradient; since 14 only two.
    # All have the dims of the mean that comes in: [C], or [C, *spatial] where `spatial` was 0 (until opset 8).
    mean, var = (_without_value(call.known(at)) for at in (3, 4))
    return [tensor(call.dtype(0), call.shape(0)), mean, var, mean, var]


def _without_value(known: Known) -> Known:
    return Known(known.dtype, known.shape, why=known.why)


def _instance_normalization(call: Call) -> list[Known]:
    # x [N, C, *spatial], scale and bias [C]
    x, scale = call.shape(0), call.shape(1)
    if len(x) > 1 and len(scale) == 1 and type(x[1]) is type(scale[0]) is int and x[1] != scale[0]:
        raise Contradiction(f"InstanceNormalization of {x[1]} channels by {scale[0]} scales")
    return same(call)


def _layer_normalization(call: Call) -> list[Known]:
    # Mean and inverse deviation keep the dims before the axis; those that are averaged over are 1.
    x = call.shape(0)
    axis = axis_of(call.attr_int("axis", -1), len(x))
    statistic = tensor(dtype_name(call.attr_int("stash_type", 1)), x[:axis] + (1,) * (len(x) - axis))
    return [tensor(call.dtype(0), x), statistic, statistic]


def _rms_normalization(call: Call) -> list[Known]:
    return [tensor(call.dtype(1), call.shape(0))]  # the scale's element type decides, not x's


OPERATORS: dict[str, Operator] = {
    "BatchNormalization": Operator(_batch_normalization),
    "InstanceNormalization": Operator(_instance_normalization),
    "GroupNormalization": Operator(same),
    "LayerNormalization": Operator(_layer_normalization),
    "RMSNormalization": Operator(_rms_normalization),
}
