"""Normalizations: outputs like the input, some with statistics."""

from onnx_autodoc.ir import dtype_name
from onnx_autodoc.ops.call import (
    Call,
    check_broadcast,
    check_divisible,
    check_shape,
    normalize_axis,
    shape_of_min_rank,
    size,
)
from onnx_autodoc.ops.cost import Cost, per_output_element, standardization_cost
from onnx_autodoc.ops.operator import ConstantRole, Deprecation, Operator, Trait, WorkClass, of_class, with_traits
from onnx_autodoc.ops.shape_rules import same
from onnx_autodoc.ops.values import Contradiction, Dim, ValueInfo, tensor

_TRAINING_MODE = 14  # the version that added the attribute to BatchNormalization


def _batch_normalization(call: Call) -> list[ValueInfo]:
    # Until opset 13 up to four statistics follow: mean, var, and both as saved for the gradient; since 14 only two.
    # All have the dims of the input mean: [C], or [C, *spatial] where `spatial` was 0 (until opset 8).
    x = call.shape(0)
    if len(x) > 1 and call.attr_int("spatial", 1):
        for at in range(1, 5):
            check_shape(call, at, x[1])
    if call.version is not None and call.version >= _TRAINING_MODE:
        training = call.attr_int("training_mode", 0)
        if not training and any(call.node.outputs[1:]):
            raise Contradiction("BatchNormalization outputs statistics but is not in training mode")
        if training and len(call.node.outputs) < 3:
            raise Contradiction("BatchNormalization is in training mode but outputs no statistics")
    mean, var = (
        ValueInfo(known.dtype, known.shape, why=known.why) for known in (call.input_info(3), call.input_info(4))
    )
    return [tensor(call.dtype(0), call.shape(0)), mean, var, mean, var]


def _instance_normalization(call: Call) -> list[ValueInfo]:
    # x [N, C, *spatial], scale and bias [C]
    for at in (1, 2) if call.rank(0) > 1 else ():
        check_shape(call, at, call.shape(0)[1])
    return same(call)


def _group_normalization(call: Call) -> list[ValueInfo]:
    x = call.shape(0)
    if len(x) > 1:
        check_divisible(call, x[1], call.attr_required("num_groups"), "channels")
    return same(call)


def _layer_normalization(call: Call) -> list[ValueInfo]:
    # Mean and inverse deviation have the dims before the axis; the averaged ones are 1.
    x, axis = call.shape(0), call.axis(-1)
    for at in (1, 2):
        check_broadcast(call, at, x)
    statistic = tensor(dtype_name(call.attr_int("stash_type", 1)), x[:axis] + (1,) * (len(x) - axis))
    return [tensor(call.dtype(0), x), statistic, statistic]


def _rms_normalization(call: Call) -> list[ValueInfo]:
    check_broadcast(call, 1, call.shape(0))
    return [tensor(call.dtype(1), call.shape(0))]  # the scale's element type decides, not x's


# A norm costs the same as its parts: ReduceMean, Sub, Pow, ReduceMean, Add, Sqrt, Div, Mul, Add.
def _batch_cost(call: Call) -> Cost:
    """2 FLOPs per element: scale, shift (the statistics fold into them); in training, 7 per element as
    InstanceNormalization and 10 per channel: two divides, epsilon, sqrt, two running averages"""
    elements = size(call.output())
    if not (any(call.node.outputs[1:]) or call.attr_int("training_mode", 0)):
        return Cost(other=2 * elements)
    channels = size(call.shape(3))
    return Cost(other=standardization_cost(elements, channels, 2).other + 6 * channels)


def _instance_cost(call: Call) -> Cost:
    """7 FLOPs per element: mean, subtract, square, mean, divide, scale, bias; 4 per channel of each image: two divides,
    epsilon, sqrt"""
    return standardization_cost(size(call.output()), size(call.shape(0)[:2]), 2)


def _group_cost(call: Call) -> Cost:
    """7 FLOPs per element: mean, subtract, square, mean, divide, scale, bias; 4 per group: two divides, epsilon,
    sqrt"""
    groups = shape_of_min_rank(call, 0)[0] * call.attr_required("num_groups")
    return standardization_cost(size(call.output()), groups, 2)


def _layer_cost(call: Call) -> Cost:
    """6 FLOPs per element: mean, subtract, square, mean, divide, scale; 1 more for a bias; 4 per row: two divides,
    epsilon, sqrt"""
    return standardization_cost(size(call.output()), _leading_rows(call, -1), 2 if call.has(2) else 1)


def _rms_cost(call: Call) -> Cost:
    """4 FLOPs per element: square, mean, divide, scale; 3 per row: divide, epsilon, sqrt"""
    return Cost(other=4 * size(call.output()) + 3 * _leading_rows(call, -1))


def _leading_rows(call: Call, default_axis: int) -> Dim:
    """Return the number of rows if one row has all elements from the axis on."""
    return size(call.shape(0)[: call.axis(default_axis)])


def _mean_variance_cost(call: Call) -> Cost:
    """5 FLOPs per element: mean, subtract, square, mean, divide; 4 per row: two divides, epsilon, sqrt"""
    x, declared = call.shape(0), call.attr_ints("axes")
    axes = {normalize_axis(axis, len(x)) for axis in (declared if declared is not None else (0, 2, 3))}
    return standardization_cost(size(x), size(tuple(dim for at, dim in enumerate(x) if at not in axes)))


def _log_softmax_cost(call: Call) -> Cost:
    """5 FLOPs per element: max, subtract, exp, add, subtract; 1 per row: log"""
    if call.opset >= 13:
        return Cost(other=5 * size(call.output()) + _rows(call))
    return Cost(other=5 * size(call.shape(0)) + _leading_rows(call, 1))


def _lp_cost(call: Call) -> Cost:
    """3 FLOPs per element: square, add, divide; 1 per row: sqrt. If p is 1: abs, add, divide, and no sqrt"""
    return Cost(other=3 * size(call.output()) + (_rows(call) if call.attr_int("p", 2) != 1 else 0))


def _rows(call: Call) -> Dim:
    """Return the number of rows along the axis."""
    x, axis = call.shape(0), call.axis(-1)
    return size(x[:axis] + x[axis + 1 :])


def _lrn_cost(call: Call) -> Cost:
    """size + 4 FLOPs per element: square, sum of size squares, scale, bias, power, divide"""
    return Cost(other=(call.attr_required("size") + 4) * size(call.output()))


_NORMS = with_traits(
    {Trait.PROPAGATES_NAN},
    {
        "BatchNormalization": Operator(
            _batch_normalization,
            cost=_batch_cost,
            roles={3: ConstantRole.STATISTIC, 4: ConstantRole.STATISTIC},
            traits={Trait.CROSSES_QUANTIZATION},
            kernel="plain",
        ),
        # Exporters write ones and zeros where a norm has no scale or bias: such constants are not weights.
        "InstanceNormalization": Operator(_instance_normalization, cost=_instance_cost),
        "GroupNormalization": Operator(
            _group_normalization,
            cost=_group_cost,
            deprecated=Deprecation(18, 20, "GroupNormalization of opset 21, which has a scale per channel"),
        ),
        "LayerNormalization": Operator(_layer_normalization, cost=_layer_cost, fused_block="layer-norm"),
        "RMSNormalization": Operator(_rms_normalization, cost=_rms_cost),
    },
)
_SOFTMAXES = with_traits(
    {Trait.AXIS_ATTRIBUTE},
    {
        "Softmax": Operator(same, cost=per_output_element(5, "max, subtract, exp, add, divide")),
        "LogSoftmax": Operator(same, cost=_log_softmax_cost),
        "Hardmax": Operator(same, cost=per_output_element(1, "max")),
    },
)
OPERATORS: dict[str, Operator] = {
    **of_class(WorkClass.SOFTMAX, _SOFTMAXES),
    **of_class(
        WorkClass.NORMALIZATION,
        {
            **_NORMS,
            "MeanVarianceNormalization": Operator(same, cost=_mean_variance_cost),
            "LpNormalization": Operator(
                same, cost=_lp_cost, choices={"p": frozenset((1, 2))}, traits={Trait.AXIS_ATTRIBUTE}
            ),
            "LRN": Operator(same, cost=_lrn_cost),
        },
    ),
}
