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
from onnx_autodoc.ops.matmul import requantized
from onnx_autodoc.ops.normalization import OPERATORS as NORMALIZATION
from onnx_autodoc.ops.operator import (
    Operator,
    QuantizedInput,
    ShapeRule,
    Trait,
    WorkClass,
    of_class,
    scales,
    weights,
)
from onnx_autodoc.ops.pooling import OPERATORS as POOLING
from onnx_autodoc.ops.pooling import pool_shape
from onnx_autodoc.ops.shape_rules import one_output
from onnx_autodoc.ops.values import (
    Contradiction,
    InferenceError,
    Shape,
    Unknown,
    ValueInfo,
    merge_dims,
    tensor,
    unknown_value,
    with_shape,
)

_BLOCK = "channels are padded to the vector width of the target machine: 8 or 16"
_UNKNOWN_LAYOUT = "the weight layout (channels second or last) is known only from the number of channels"
_OTHER_OUTPUT = "the layout of its other outputs is undocumented"


def channels_first(shape: Shape) -> Shape:
    if len(shape) < 2:
        raise Contradiction(f"channels-last data requires rank 2 or more, got rank {len(shape)}")
    return (shape[0], shape[-1], *shape[1:-1])


def channels_last(shape: Shape) -> Shape:
    return (shape[0], *shape[2:], shape[1])


def _declares_channels_last(call: Call) -> bool:
    return call.attr_int("channels_last", 0) != 0


def _is_nhwc(call: Call) -> bool:
    """Return True: the operator or its domain has the channels last; raise if an attribute declares it again."""
    if _declares_channels_last(call):
        raise InferenceError(f"{call.node.op} of a channels-last domain also declares channels_last")
    return True


def _in_layout(is_last: Callable[[Call], bool], output: Callable[[Call, Shape], Shape], dtype_at: int = 0) -> ShapeRule:
    """Return the rule of one output in either layout; `output` is its rule for the first input as [N, C, ...]."""

    def shape(call: Call) -> Shape:
        if is_last(call):
            return channels_last(output(call, channels_first(call.shape(0))))
        return output(call, call.shape(0))

    return one_output(shape, dtype_at)


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


def _global_pool_shape(call: Call, x: Shape) -> Shape:
    return (*x[:2], *(1 for _ in spatial_dims(call, x)))


def _transposed_conv(call: Call) -> list[ValueInfo]:
    """ConvTranspose whose pads are an input: the rule of ConvTranspose, with them where the attribute would be."""
    inputs = [call.input_info(0), call.input_info(1)]
    inferred = CONVOLUTION["ConvTranspose"].infer(Call(call.node, inputs, call.version))
    if auto_pad(call) != "NOTSET" or not call.has(2):
        return list(inferred)
    whole, pads = inferred[0].shape or (), call.ints(2)
    rank = len(whole) - 2
    if len(pads) != 2 * rank:
        raise Contradiction(f"pads of ConvTransposeWithDynamicPads have length {len(pads)}, not {2 * rank}")
    cropped = (dim - head - tail for dim, head, tail in zip(whole[2:], pads[:rank], pads[rank:], strict=True))
    return [tensor(call.dtype(0), (*whole[:2], *cropped))]


# The layout changes no cost.
@add_activation
def _fused_cost(call: Call) -> Cost:
    """input channels per group · kernel size MACs per output element; 1 FLOP per output element for a bias, 1 for an
    added input"""
    return sum_costs(conv_cost(call), Cost(other=size(call.output()) if call.has(3) else 0))


def _transposed_conv_cost(weight_at: int, bias_at: int) -> CostRule:
    def rule(call: Call) -> Cost:
        """as ConvTranspose"""
        inputs = [call.input_info(0), call.input_info(weight_at), call.inputs[bias_at] if call.has(bias_at) else None]
        return conv_transpose_cost(Call(call.node, inputs, call.version, call.outputs))

    return rule


def _masked_pool_cost(call: Call) -> Cost:
    """as MaxPool; 1 FLOP per output and kernel element for the mask"""
    masks = Cost(other=size(call.output()) * size(call.attr_ints("kernel_shape") or ()))
    return sum_costs(cost_as(POOLING, "MaxPool")(call), masks)


def _qlinear_pools(is_last: Callable[[Call], bool]) -> dict[str, Operator]:
    """Return the rows of quantized pools, for data whose channels are last if `is_last`."""
    return {
        f"QLinear{op}": Operator(
            _in_layout(is_last, output),
            cost=requantized(cost_as(POOLING, op)),
            roles=scales(1, 2, 3, 4),  # the input's scale and zero point, and the output's
            traits={Trait.QOPERATOR},
            work=WorkClass.POOLING,
            kernel="integer pointwise",
        )
        for op, output in (("AveragePool", pool_shape), ("GlobalAveragePool", _global_pool_shape))
    }


_pool = one_output(lambda call: pool_shape(call, call.shape(0)))
_nhwc_conv = _in_layout(lambda _: True, lambda call, x: conv_shape(call, x, _nhwc_weight(call)))

OPERATORS: dict[str, Operator] = of_class(
    WorkClass.CONVOLUTION,
    {
        "ConvTransposeWithDynamicPads": Operator(
            _transposed_conv, cost=_transposed_conv_cost(1, 3), roles=weights(1, 3)
        ),
        "FusedConv": Operator(
            CONVOLUTION["Conv"].infer, cost=_fused_cost, roles=weights(1, 2), traits={Trait.MULTIPLIES}
        ),
        "NhwcConv": Operator(_nhwc_conv, cost=conv_cost, roles=weights(1, 2), traits={Trait.MULTIPLIES}),
        "NhwcFusedConv": Operator(_nhwc_conv, cost=_fused_cost, roles=weights(1, 2)),
        "QLinearConv": replace(
            CONVOLUTION["QLinearConv"],
            infer=_in_layout(_declares_channels_last, lambda call, x: conv_shape(call, x, call.shape(3)), 7),
            traits=CONVOLUTION["QLinearConv"].traits - {Trait.NO_NEGATIVE_PADS},
        ),
    },
) | of_class(
    WorkClass.POOLING,
    {
        "MaxpoolWithMask": Operator(_pool, cost=_masked_pool_cost),
        "NhwcMaxPool": Operator(_in_layout(lambda _: True, pool_shape), cost=cost_as(POOLING, "MaxPool")),
        **_qlinear_pools(_declares_channels_last),
    },
)


# com.microsoft.nchwc
def _reorder_input(call: Call) -> list[ValueInfo]:
    first = _declares_channels_last(call)
    n, channels, *spatial = channels_first(call.shape(0)) if first else shape_of_min_rank(call, 0, 2)
    blocked = merge_dims(ceil_div(channels, 8) * 8, ceil_div(channels, 16) * 16, _BLOCK)
    return [tensor(call.dtype(0), (n, blocked, *spatial))]


def _reorder_output(call: Call) -> list[ValueInfo]:
    x = shape_of_min_rank(call, 0, 2)
    real = (x[0], call.attr_required("channels"), *x[2:])
    return [tensor(call.dtype(0), channels_last(real) if _declares_channels_last(call) else real)]


def _upsample(call: Call) -> list[ValueInfo]:
    x = call.shape(0)
    factors = axis_attribute(call, "scales", len(x), 1)
    return [tensor(call.dtype(0), tuple(dim * factor for dim, factor in zip(x, factors, strict=True)))]


def _blocked_conv(call: Call) -> list[ValueInfo]:
    # The padding of the channels is in x as it is in the weight, but for images of fewer channels than a block.
    x, w, group = shape_of_min_rank(call, 0, 3), shape_of_min_rank(call, 1, 3), call.attr_int("group", 1)
    return [tensor(call.dtype(0), conv_shape(call, (x[0], w[1] * group, *x[2:]), w))]


NCHWC: dict[str, Operator] = {
    **{
        name: replace(POOLING[name], infer=_pool, traits={Trait.CROSSES_QUANTIZATION})
        for name in ("AveragePool", "MaxPool")
    },
    "Conv": replace(
        CONVOLUTION["Conv"],
        infer=_blocked_conv,
        cost=_fused_cost,
        traits=CONVOLUTION["Conv"].traits - {Trait.NO_NEGATIVE_PADS},
    ),
    "GlobalAveragePool": POOLING["GlobalAveragePool"],
    "GlobalMaxPool": POOLING["GlobalMaxPool"],
    "ReorderInput": Operator(_reorder_input, cost=free, traits={Trait.FORWARDS}, work=WorkClass.MOVE),
    "ReorderOutput": Operator(_reorder_output, cost=free, traits={Trait.FORWARDS}, work=WorkClass.MOVE),
    "Upsample": replace(IMAGE["Upsample"], infer=_upsample, roles={}, choices={}, deprecated=None),
}


# com.ms.internal.nhwc: the operators of ONNX with the channels of the first input and of the first output last
def _nhwc(operator: Operator, has_activation: bool = False) -> Operator:
    def infer(call: Call) -> list[ValueInfo]:
        x = with_shape(call.input_info(0), channels_first(call.shape(0)))
        first, *others = operator.infer(Call(call.node, [x, *call.inputs[1:]], call.version))
        vectors = [known if len(known.shape or ()) == 1 else unknown_value(_OTHER_OUTPUT) for known in others]
        return [with_shape(first, channels_last(first.shape or ())), *vectors]

    def price(call: Call) -> Cost:
        assert operator.cost is not None
        x = with_shape(call.input_info(0), channels_first(call.shape(0)))
        y = with_shape(known_output(call), channels_first(call.output()))
        return operator.cost(Call(call.node, [x, *call.inputs[1:]], call.version, [y, *call.outputs[1:]]))

    price.__doc__ = operator.cost.__doc__
    return replace(operator, infer=infer, value=None, cost=add_activation(price) if has_activation else price)


def _nhwc_qlinear_transpose(call: Call) -> list[ValueInfo]:
    inputs = [call.input_info(0), call.input_info(3)]
    (y,) = _nhwc(CONVOLUTION["ConvTranspose"]).infer(Call(call.node, inputs, call.version))
    return [tensor(call.dtype(7), y.shape or ())]


def _nhwc_resize(call: Call) -> list[ValueInfo]:
    # Scales and sizes are in the order of the data.
    if call.attr_ints("axes") is not None:
        raise InferenceError("channels-last Resize: the layout that its axes refer to is undocumented")
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
    **_qlinear_pools(_is_nhwc),
    "QLinearConvTranspose": Operator(
        _nhwc_qlinear_transpose,
        cost=requantized(_transposed_conv_cost(3, 8)),
        roles=CONVOLUTION["QLinearConv"].roles,
        quantized=(QuantizedInput(3, 4, 5),),
        work=WorkClass.CONVOLUTION,
        traits={Trait.QOPERATOR},
    ),
    "Resize": replace(IMAGE["Resize"], infer=_nhwc_resize, choices={}),
}
