"""Fused convolutions and pools of onnxruntime, and those of its domains for other layouts.

NHWC has the channels last. NCHWC has them in blocks of 8 or 16, padded to whole blocks: only ReorderOutput declares
how many are real.
"""

from collections.abc import Callable

from msgspec.structs import replace

from onnx_autodoc.ops.call import Call, ceil_div, shape_of_min_rank, size
from onnx_autodoc.ops.convolution import OPERATORS as CONVOLUTION
from onnx_autodoc.ops.convolution import (
    auto_pad,
    axis_attribute,
    conv_cost,
    conv_shape,
    conv_transpose_cost,
    spatial_dims,
)
from onnx_autodoc.ops.cost import Cost, CostRule, free
from onnx_autodoc.ops.fused_costs import add_activation, cost_as, known_output, sum_costs
from onnx_autodoc.ops.image import OPERATORS as IMAGE
from onnx_autodoc.ops.input_constraints import ONE
from onnx_autodoc.ops.matmul import requantized
from onnx_autodoc.ops.normalization import OPERATORS as NORMALIZATION
from onnx_autodoc.ops.operator import Operator, QuantizedInput, Trait, WorkClass, of_class, scales, weights
from onnx_autodoc.ops.pooling import OPERATORS as POOLING
from onnx_autodoc.ops.pooling import pool_shape
from onnx_autodoc.ops.shape_rules import one_output
from onnx_autodoc.ops.values import (
    Contradiction,
    Dim,
    InferenceError,
    Shape,
    Unknown,
    ValueInfo,
    merge_dims,
    tensor,
    unknown_value,
    with_shape,
)

_BLOCK = "channels are padded to the vectors of the machine that the file was made for: 8 or 16"

_UNKNOWN_LAYOUT = "whether the weight has its channels second or last is only known by their number"


def channels_first(shape: Shape) -> Shape:
    if len(shape) < 2:
        raise Contradiction(f"channels-last data of {len(shape)} dimensions")
    return (shape[0], shape[-1], *shape[1:-1])


def channels_last(shape: Shape) -> Shape:
    return (shape[0], *shape[2:], shape[1])


def _is_last(call: Call) -> bool:
    return call.attr_int("channels_last", 0) != 0


def _apply_in_layout(call: Call, rule: Callable[[Shape], Shape], last: bool) -> Shape:
    """Apply a rule for [N, C, ...] to the first input in either layout."""
    return channels_last(rule(channels_first(call.shape(0)))) if last else rule(call.shape(0))


def _nhwc_conv(call: Call) -> list[ValueInfo]:
    return [tensor(call.dtype(0), _apply_in_layout(call, lambda x: conv_shape(call, x, _nhwc_weight(call)), last=True))]


def _nhwc_weight(call: Call) -> Shape:
    """Return the weight with its channels second; onnxruntime's tools write them last, against its documentation."""
    weight, kernel = call.shape(1), call.attr_ints("kernel_shape")
    if len(weight) != call.rank(0) or weight[1:-1] == weight[2:]:
        return weight
    if kernel is not None and len(kernel) == len(weight) - 2:
        return (weight[0], Unknown(_UNKNOWN_LAYOUT), *kernel)
    own, channels = weight[-1] * call.attr_int("group", 1), call.shape(0)[-1]
    if isinstance(own, Unknown) or isinstance(channels, Unknown):
        raise InferenceError(_UNKNOWN_LAYOUT)
    return channels_first(weight) if own == channels else weight


def _nhwc_pool(call: Call) -> list[ValueInfo]:
    return [tensor(call.dtype(0), _apply_in_layout(call, lambda x: pool_shape(call, x), last=True))]


def _global_pool_shape(call: Call, x: Shape) -> Shape:
    return (*x[:2], *(1 for _ in spatial_dims(call, x)))


def _pool(call: Call) -> list[ValueInfo]:
    return [tensor(call.dtype(0), pool_shape(call, call.shape(0)))]


def _transposed_conv(call: Call) -> list[ValueInfo]:
    """ConvTranspose whose pads are an input: the rule of ConvTranspose, with them where the attribute would be."""
    inputs = [call.known(0), call.known(1)]
    if auto_pad(call) != "NOTSET" or not call.has(2):
        return list(CONVOLUTION["ConvTranspose"].infer(Call(call.node, inputs, call.version)))
    whole, pads = CONVOLUTION["ConvTranspose"].infer(Call(call.node, inputs, call.version))[0].shape or (), call.ints(2)
    rank = len(whole) - 2
    if len(pads) != 2 * rank:
        raise Contradiction(f"ConvTransposeWithDynamicPads has {len(pads)} pads for {rank} dimensions")
    cut = (dim - head - tail for dim, head, tail in zip(whole[2:], pads[:rank], pads[rank:], strict=True))
    return [tensor(call.dtype(0), (*whole[:2], *cut))]


# The layout changes no cost.
@add_activation
def _fused_cost(call: Call) -> Cost:
    """input channels of a group · kernel multiply-adds for each element of the output; 1 per element for a bias, 1 for
    an input that is added"""
    return sum_costs(conv_cost(call), Cost(other=size(call.output()) if call.has(3) else 0))


def _dynamic_pads_cost(call: Call) -> Cost:
    """as ConvTranspose"""
    inputs = [call.known(0), call.known(1), call.inputs[3] if call.has(3) else None]
    return conv_transpose_cost(Call(call.node, inputs, call.version, call.outputs))


def _masked_pool_cost(call: Call) -> Cost:
    """as MaxPool; 1 for each place of the kernel: its mask"""
    masks = Cost(other=size(call.output()) * size(call.attr_ints("kernel_shape") or ()))
    return sum_costs(cost_as(POOLING, "MaxPool")(call), masks)


def _requantized_pool(op: str) -> CostRule:
    return requantized(cost_as(POOLING, op))


_ONE = scales(1, 2, 3, 4)  # the input's scale and zero point, and the output's

OPERATORS: dict[str, Operator] = of_class(
    WorkClass.CONVOLUTION,
    {
        "ConvTransposeWithDynamicPads": Operator(_transposed_conv, cost=_dynamic_pads_cost, roles=weights(1, 3)),
        "FusedConv": Operator(
            CONVOLUTION["Conv"].infer, cost=_fused_cost, roles=weights(1, 2), traits={Trait.MULTIPLIES}
        ),
        "NhwcConv": Operator(_nhwc_conv, cost=conv_cost, roles=weights(1, 2), traits={Trait.MULTIPLIES}),
        "NhwcFusedConv": Operator(_nhwc_conv, cost=_fused_cost, roles=weights(1, 2)),
        "QLinearConv": Operator(
            one_output(
                lambda call: _apply_in_layout(call, lambda x: conv_shape(call, x, call.shape(3)), _is_last(call)), 7
            ),
            cost=CONVOLUTION["QLinearConv"].cost,
            roles=CONVOLUTION["QLinearConv"].roles,
            traits={Trait.INT8_OPERATOR, Trait.MULTIPLIES, Trait.QOPERATOR},
            operands=(0, 3),
            quantized=(QuantizedInput(3, 4, 5),),
        ),
    },
) | of_class(
    WorkClass.POOLING,
    {
        "MaxpoolWithMask": Operator(_pool, cost=_masked_pool_cost),
        "NhwcMaxPool": Operator(_nhwc_pool, cost=cost_as(POOLING, "MaxPool")),
        "QLinearAveragePool": Operator(
            one_output(lambda call: _apply_in_layout(call, lambda x: pool_shape(call, x), _is_last(call))),
            cost=_requantized_pool("AveragePool"),
            roles=_ONE,
            traits={Trait.QOPERATOR},
            kernel="integer pointwise",
        ),
        "QLinearGlobalAveragePool": Operator(
            one_output(lambda call: _apply_in_layout(call, lambda x: _global_pool_shape(call, x), _is_last(call))),
            cost=_requantized_pool("GlobalAveragePool"),
            roles=_ONE,
            traits={Trait.QOPERATOR},
            kernel="integer pointwise",
        ),
    },
)


# com.microsoft.nchwc
def _blocked(channels: Dim) -> Dim:
    return merge_dims(ceil_div(channels, 8) * 8, ceil_div(channels, 16) * 16, _BLOCK)


def _reorder_input(call: Call) -> list[ValueInfo]:
    x = channels_first(call.shape(0)) if _is_last(call) else shape_of_min_rank(call, 0, 2)
    return [tensor(call.dtype(0), (x[0], _blocked(x[1]), *x[2:]))]


def _reorder_output(call: Call) -> list[ValueInfo]:
    x = shape_of_min_rank(call, 0, 2)
    real = (x[0], call.attr_required("channels"), *x[2:])
    return [tensor(call.dtype(0), channels_last(real) if _is_last(call) else real)]


def _upsample(call: Call) -> list[ValueInfo]:
    x = call.shape(0)
    scales = axis_attribute(call, "scales", len(x), 1)
    return [tensor(call.dtype(0), tuple(dim * scale for dim, scale in zip(x, scales, strict=True)))]


def _blocked_conv(call: Call) -> list[ValueInfo]:
    # The padding of the channels is in x as it is in the weight, but for images of fewer channels than a block.
    x, w, group = shape_of_min_rank(call, 0, 3), shape_of_min_rank(call, 1, 3), call.attr_int("group", 1)
    return [tensor(call.dtype(0), conv_shape(call, (x[0], w[1] * group, *x[2:]), w))]


NCHWC: dict[str, Operator] = {
    "AveragePool": Operator(
        _pool, cost=POOLING["AveragePool"].cost, traits={Trait.CROSSES_QUANTIZATION}, work=WorkClass.POOLING
    ),
    "Conv": Operator(
        _blocked_conv,
        cost=_fused_cost,
        roles=weights(1, 2),
        traits={
            Trait.FOLDS_BATCH_NORM,
            Trait.INT8_CONSTANTS,
            Trait.INT8_KERNEL,
            Trait.INT8_NEEDS_OUTPUT,
            Trait.MULTIPLIES,
        },
        work=WorkClass.CONVOLUTION,
    ),
    "GlobalAveragePool": POOLING["GlobalAveragePool"],
    "GlobalMaxPool": POOLING["GlobalMaxPool"],
    "MaxPool": Operator(
        _pool, cost=POOLING["MaxPool"].cost, traits={Trait.CROSSES_QUANTIZATION}, work=WorkClass.POOLING
    ),
    "ReorderInput": Operator(_reorder_input, cost=free, traits={Trait.FORWARDS}, work=WorkClass.MOVE),
    "ReorderOutput": Operator(_reorder_output, cost=free, traits={Trait.FORWARDS}, work=WorkClass.MOVE),
    "Upsample": Operator(
        _upsample,
        cost=IMAGE["Upsample"].cost,
        traits={Trait.CROSSES_QUANTIZATION},
        size_inputs=(1,),
        work=WorkClass.MOVE,
        kernel="resize",
        constraints={1: ONE},
    ),
}


# com.ms.internal.nhwc: the operators of ONNX with the channels of the first input and of the first result last
_OTHER_RESULT = "which layout its other results have is not documented"


def _nhwc(operator: Operator, fused: bool = False) -> Operator:
    def infer(call: Call) -> list[ValueInfo]:
        turned = with_shape(call.known(0), channels_first(call.shape(0)))
        first, *others = operator.infer(Call(call.node, [turned, *call.inputs[1:]], call.version))
        vectors = [each if len(each.shape or ()) == 1 else unknown_value(_OTHER_RESULT) for each in others]
        return [with_shape(first, channels_last(first.shape or ())), *vectors]

    price = operator.cost and _with_channels_first(operator.cost)
    return replace(operator, infer=infer, value=None, cost=add_activation(price) if price and fused else price)


def _with_channels_first(price: CostRule) -> CostRule:
    def turned(call: Call) -> Cost:
        x = with_shape(call.known(0), channels_first(call.shape(0)))
        y = with_shape(known_output(call), channels_first(call.output()))
        return price(Call(call.node, [x, *call.inputs[1:]], call.version, [y, *call.outputs[1:]]))

    turned.__doc__ = price.__doc__
    return turned


def _nhwc_qlinear_transpose(call: Call) -> list[ValueInfo]:
    inputs = [call.known(0), call.known(3)]
    (grown,) = _nhwc(CONVOLUTION["ConvTranspose"]).infer(Call(call.node, inputs, call.version))
    return [tensor(call.dtype(7), grown.shape or ())]


@requantized
def _qlinear_transpose_cost(call: Call) -> Cost:
    """as ConvTranspose"""
    inputs = [call.known(0), call.known(3), call.inputs[8] if call.has(8) else None]
    return conv_transpose_cost(Call(call.node, inputs, call.version, call.outputs))


def _nhwc_qlinear_pool(call: Call) -> list[ValueInfo]:
    if _is_last(call):
        raise InferenceError(f"{call.node.op} of channels-last data says once more that its channels are last")
    return (
        _nhwc_pool(call)
        if call.node.op == "QLinearAveragePool"
        else [tensor(call.dtype(0), _apply_in_layout(call, lambda x: _global_pool_shape(call, x), last=True))]
    )


def _nhwc_resize(call: Call) -> list[ValueInfo]:
    # Scales and sizes are in the order of the data.
    if call.attr_ints("axes") is not None:
        raise InferenceError("Resize with the channels last: to which layout its axes refer is not documented")
    return list(IMAGE["Resize"].infer(call))


_CHANNELS_FIRST = {
    **{name: CONVOLUTION[name] for name in ("Conv", "ConvTranspose", "QLinearConv")},
    **{name: POOLING[name] for name in ("AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")},
    **{name: POOLING[name] for name in ("LpPool", "MaxPool")},
    **{name: IMAGE[name] for name in ("DepthToSpace", "GridSample", "SpaceToDepth")},
    **{name: NORMALIZATION[name] for name in ("BatchNormalization", "InstanceNormalization", "LRN")},
}
# this domain adds an attribute to them
_WITH_ACTIVATION = ("AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "InstanceNormalization", "MaxPool")

NHWC: dict[str, Operator] = {
    **{name: _nhwc(operator, name in _WITH_ACTIVATION) for name, operator in _CHANNELS_FIRST.items()},
    "QLinearAveragePool": Operator(
        _nhwc_qlinear_pool,
        cost=_requantized_pool("AveragePool"),
        roles=_ONE,
        work=WorkClass.POOLING,
        traits={Trait.QOPERATOR},
        kernel="integer pointwise",
    ),
    "QLinearConvTranspose": Operator(
        _nhwc_qlinear_transpose,
        cost=_qlinear_transpose_cost,
        roles=CONVOLUTION["QLinearConv"].roles,
        quantized=(QuantizedInput(3, 4, 5),),
        work=WorkClass.CONVOLUTION,
        traits={Trait.QOPERATOR},
    ),
    "QLinearGlobalAveragePool": Operator(
        _nhwc_qlinear_pool,
        cost=_requantized_pool("GlobalAveragePool"),
        roles=_ONE,
        work=WorkClass.POOLING,
        traits={Trait.QOPERATOR},
        kernel="integer pointwise",
    ),
    "Resize": Operator(
        _nhwc_resize,
        cost=IMAGE["Resize"].cost,
        roles=IMAGE["Resize"].roles,
        traits={Trait.CROSSES_QUANTIZATION},
        size_inputs=(2, 3),
        work=WorkClass.MOVE,
        kernel="resize",
        constraints={2: ONE, 3: ONE},
    ),
}
