"""Convolutions and pools of onnxruntime: fused ones, and those in the layouts of its own domains.

NHWC has the channels last. NCHWC has them in blocks of 8 or 16, whatever the machine's vectors hold: they are padded
to whole blocks, and only ReorderOutput says how many are real.
"""

from collections.abc import Callable

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, Price, free
from onnx_autodoc.ops._fusion import activated, as_plain, result, total
from onnx_autodoc.ops._known import (
    Contradiction,
    Dim,
    Known,
    NotKnown,
    Shape,
    Unknown,
    like,
    merge_dims,
    nothing,
    tensor,
)
from onnx_autodoc.ops._operator import Operator, scales, weights
from onnx_autodoc.ops._ranks import deep
from onnx_autodoc.ops._window import auto_pad, ceil_div, per_axis, spatial
from onnx_autodoc.ops.convolution import OPERATORS as CONVOLUTION
from onnx_autodoc.ops.convolution import conv_cost, conv_shape, conv_transpose_cost
from onnx_autodoc.ops.image import OPERATORS as IMAGE
from onnx_autodoc.ops.matmul import requantized
from onnx_autodoc.ops.normalization import OPERATORS as NORMALIZATION
from onnx_autodoc.ops.pooling import OPERATORS as POOLING
from onnx_autodoc.ops.pooling import pool_shape

_BLOCK = "channels are padded to the vectors of the machine that the file was made for: 8 or 16"

_EITHER = "whether the weight has its channels second or last is only known by their number"


def channels_first(shape: Shape) -> Shape:
    if len(shape) < 2:
        raise Contradiction(f"channels-last data of {len(shape)} dimensions")
    return (shape[0], shape[-1], *shape[1:-1])


def channels_last(shape: Shape) -> Shape:
    return (shape[0], *shape[2:], shape[1])


def _is_last(call: Call) -> bool:
    return call.attr_int("channels_last", 0) != 0


def _laid_out(call: Call, rule: Callable[[Shape], Shape], last: bool) -> Shape:
    """A rule for [N, C, ...] on the first input, whichever its layout."""
    return channels_last(rule(channels_first(call.shape(0)))) if last else rule(call.shape(0))


def _qlinear_conv(call: Call) -> list[Known]:
    return [tensor(call.dtype(7), _laid_out(call, lambda x: conv_shape(call, x, call.shape(3)), _is_last(call)))]


def _nhwc_conv(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), _laid_out(call, lambda x: conv_shape(call, x, _nhwc_weight(call)), last=True))]


def _nhwc_weight(call: Call) -> Shape:
    """The weight with its channels second. onnxruntime's tools write them last, its documentation has them second."""
    weight, kernel = call.shape(1), call.attr_ints("kernel_shape")
    if len(weight) != call.rank(0) or weight[1:-1] == weight[2:]:
        return weight
    if kernel is not None and len(kernel) == len(weight) - 2:
        return (weight[0], Unknown(_EITHER), *kernel)
    own, channels = weight[-1] * call.attr_int("group", 1), call.shape(0)[-1]
    if isinstance(own, Unknown) or isinstance(channels, Unknown):
        raise NotKnown(_EITHER)
    return channels_first(weight) if own == channels else weight


def _nhwc_pool(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), _laid_out(call, lambda x: pool_shape(call, x), last=True))]


def _qlinear_pool(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), _laid_out(call, lambda x: pool_shape(call, x), _is_last(call)))]


def _ones(call: Call, x: Shape) -> Shape:
    return (*x[:2], *(1 for _ in spatial(call, x)))


def _qlinear_global(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), _laid_out(call, lambda x: _ones(call, x), _is_last(call)))]


def _pool(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), pool_shape(call, call.shape(0)))]


def _transposed_conv(call: Call) -> list[Known]:
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


# prices: the layout of the data changes none
@activated
def _fused_cost(call: Call) -> Cost:
    """input channels of a group · kernel multiply-adds for each element of the output; 1 per element for a bias, 1 for
    an input that is added"""
    return total(conv_cost(call), Cost(other=size(call.output()) if call.has(3) else 0))


def _dynamic_pads_cost(call: Call) -> Cost:
    """as ConvTranspose"""
    inputs = [call.known(0), call.known(1), call.inputs[3] if call.has(3) else None]
    return conv_transpose_cost(Call(call.node, inputs, call.version, call.outputs))


def _masked_pool_cost(call: Call) -> Cost:
    """as MaxPool; 1 for each place of the kernel: its mask"""
    masks = Cost(other=size(call.output()) * size(call.attr_ints("kernel_shape") or ()))
    return total(as_plain(POOLING, "MaxPool")(call), masks)


def _small(op: str) -> Price:
    return requantized(as_plain(POOLING, op))


_ONE = scales(1, 2, 3, 4)  # the input's scale and zero point, and the output's

OPERATORS: dict[str, Operator] = {
    "ConvTransposeWithDynamicPads": Operator(_transposed_conv, cost=_dynamic_pads_cost, parts=weights(1, 3)),
    "FusedConv": Operator(CONVOLUTION["Conv"].infer, cost=_fused_cost, parts=weights(1, 2)),
    "MaxpoolWithMask": Operator(_pool, cost=_masked_pool_cost),
    "NhwcConv": Operator(_nhwc_conv, cost=conv_cost, parts=weights(1, 2)),
    "NhwcFusedConv": Operator(_nhwc_conv, cost=_fused_cost, parts=weights(1, 2)),
    "NhwcMaxPool": Operator(_nhwc_pool, cost=as_plain(POOLING, "MaxPool")),
    "QLinearAveragePool": Operator(_qlinear_pool, cost=_small("AveragePool"), parts=_ONE),
    "QLinearConv": Operator(
        _qlinear_conv, cost=CONVOLUTION["QLinearConv"].cost, parts=CONVOLUTION["QLinearConv"].parts
    ),
    "QLinearGlobalAveragePool": Operator(_qlinear_global, cost=_small("GlobalAveragePool"), parts=_ONE),
}


# com.microsoft.nchwc
def _blocked(channels: Dim) -> Dim:
    return merge_dims(ceil_div(channels, 8) * 8, ceil_div(channels, 16) * 16, _BLOCK)


def _reorder_input(call: Call) -> list[Known]:
    x = channels_first(call.shape(0)) if _is_last(call) else deep(call, 0, 2)
    return [tensor(call.dtype(0), (x[0], _blocked(x[1]), *x[2:]))]


def _reorder_output(call: Call) -> list[Known]:
    x = deep(call, 0, 2)
    real = (x[0], call.attr_required("channels"), *x[2:])
    return [tensor(call.dtype(0), channels_last(real) if _is_last(call) else real)]


def _upsample(call: Call) -> list[Known]:
    x = call.shape(0)
    scales = per_axis(call, "scales", len(x), 1)
    return [tensor(call.dtype(0), tuple(dim * scale for dim, scale in zip(x, scales, strict=True)))]


def _blocked_conv(call: Call) -> list[Known]:
    # The padding of the channels is in x as it is in the weight, but for images of fewer channels than a block.
    x, w, group = deep(call, 0, 3), deep(call, 1, 3), call.attr_int("group", 1)
    return [tensor(call.dtype(0), conv_shape(call, (x[0], w[1] * group, *x[2:]), w))]


NCHWC: dict[str, Operator] = {
    "AveragePool": Operator(_pool, cost=POOLING["AveragePool"].cost),
    "Conv": Operator(_blocked_conv, cost=_fused_cost, parts=weights(1, 2)),
    "GlobalAveragePool": POOLING["GlobalAveragePool"],
    "GlobalMaxPool": POOLING["GlobalMaxPool"],
    "MaxPool": Operator(_pool, cost=POOLING["MaxPool"].cost),
    "ReorderInput": Operator(_reorder_input, cost=free),
    "ReorderOutput": Operator(_reorder_output, cost=free),
    "Upsample": Operator(_upsample, cost=IMAGE["Upsample"].cost),
}


# com.ms.internal.nhwc: the operators of ONNX with the channels of the first input and of the first result last
_OTHER_RESULT = "which layout its other results have is not documented"


def _nhwc(operator: Operator, fused: bool = False) -> Operator:
    def infer(call: Call) -> list[Known]:
        turned = like(call.known(0), channels_first(call.shape(0)))
        first, *others = operator.infer(Call(call.node, [turned, *call.inputs[1:]], call.version))
        vectors = [each if len(each.shape or ()) == 1 else nothing(_OTHER_RESULT) for each in others]
        return [like(first, channels_last(first.shape or ())), *vectors]

    price = operator.cost and _turned(operator.cost)
    return Operator(infer, cost=activated(price) if price and fused else price, parts=operator.parts)


def _turned(price: Price) -> Price:
    def turned(call: Call) -> Cost:
        x = like(call.known(0), channels_first(call.shape(0)))
        y = like(result(call), channels_first(call.output()))
        return price(Call(call.node, [x, *call.inputs[1:]], call.version, [y, *call.outputs[1:]]))

    turned.__doc__ = price.__doc__
    return turned


def _nhwc_qlinear_transpose(call: Call) -> list[Known]:
    inputs = [call.known(0), call.known(3)]
    (grown,) = _nhwc(CONVOLUTION["ConvTranspose"]).infer(Call(call.node, inputs, call.version))
    return [tensor(call.dtype(7), grown.shape or ())]


@requantized
def _qlinear_transpose_cost(call: Call) -> Cost:
    """as ConvTranspose"""
    inputs = [call.known(0), call.known(3), call.inputs[8] if call.has(8) else None]
    return conv_transpose_cost(Call(call.node, inputs, call.version, call.outputs))


def _nhwc_qlinear_pool(call: Call) -> list[Known]:
    if _is_last(call):
        raise NotKnown(f"{call.node.op} of channels-last data says once more that its channels are last")
    return _nhwc_pool(call) if call.node.op == "QLinearAveragePool" else _nhwc_global(call)


def _nhwc_global(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), _laid_out(call, lambda x: _ones(call, x), last=True))]


def _nhwc_resize(call: Call) -> list[Known]:
    # Scales and sizes are in the order of the data.
    if call.attr_ints("axes") is not None:
        raise NotKnown("Resize with the channels last: to which layout its axes refer is not documented")
    return list(IMAGE["Resize"].infer(call))


_TURNED = {
    **{name: CONVOLUTION[name] for name in ("Conv", "ConvTranspose", "QLinearConv")},
    **{name: POOLING[name] for name in ("AveragePool", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")},
    **{name: POOLING[name] for name in ("LpPool", "MaxPool")},
    **{name: IMAGE[name] for name in ("DepthToSpace", "GridSample", "SpaceToDepth")},
    **{name: NORMALIZATION[name] for name in ("BatchNormalization", "InstanceNormalization", "LRN")},
}
# this domain adds an attribute to them
_ACTIVATED = ("AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "InstanceNormalization", "MaxPool")

NHWC: dict[str, Operator] = {
    **{name: _nhwc(operator, name in _ACTIVATED) for name, operator in _TURNED.items()},
    "QLinearAveragePool": Operator(_nhwc_qlinear_pool, cost=_small("AveragePool"), parts=_ONE),
    "QLinearConvTranspose": Operator(
        _nhwc_qlinear_transpose, cost=_qlinear_transpose_cost, parts=CONVOLUTION["QLinearConv"].parts
    ),
    "QLinearGlobalAveragePool": Operator(_nhwc_qlinear_pool, cost=_small("GlobalAveragePool"), parts=_ONE),
    "Resize": Operator(_nhwc_resize, cost=IMAGE["Resize"].cost, parts=IMAGE["Resize"].parts),
}
