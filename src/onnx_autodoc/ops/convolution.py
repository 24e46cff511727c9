"""Convolutions, Col2Im, and sliding windows of convolutions and pools."""

from msgspec import Struct

from onnx_autodoc.ops.call import (
    Call,
    ceil_div,
    check_divisible,
    check_shape,
    shape_of_min_rank,
    size,
    sizes,
    sizes_differ,
)
from onnx_autodoc.ops.cost import Cost, documented, per_input_element
from onnx_autodoc.ops.matmul import requantized
from onnx_autodoc.ops.operator import Operator, QuantizedInput, Trait, WorkClass, of_class, scales, weights
from onnx_autodoc.ops.shape_rules import one_output
from onnx_autodoc.ops.values import Contradiction, Dim, Shape, Unknown, ValueInfo, format_dims, merge_dims, tensor


class Window(Struct, frozen=True):
    """The kernel along one spatial axis, and how it moves."""

    kernel: Dim
    stride: int
    dilation: int
    head: int  # padding before the first element
    tail: int  # padding after the last one

    @property
    def span(self) -> Dim:
        """The number of elements from the first that the kernel covers to the last."""
        return (self.kernel - 1) * self.dilation + 1


def auto_pad(call: Call) -> str:
    mode = call.attr_text("auto_pad", "NOTSET") or "NOTSET"
    if mode not in ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"):
        raise Contradiction(f"{call.node.op} has an unknown auto_pad: {mode}")
    return mode


def windows(call: Call, kernel: Shape) -> list[Window]:
    """Return one window per spatial axis; `pads` counts only where `auto_pad` does not decide."""
    rank = len(kernel)
    if any(type(size) is int and size < 1 for size in kernel):
        raise Contradiction(f"{call.node.op} has an empty kernel")
    strides, dilations = axis_attribute(call, "strides", rank, 1), axis_attribute(call, "dilations", rank, 1)
    if min(strides + dilations, default=1) < 1:
        raise Contradiction(f"{call.node.op} has a stride or dilation below 1")
    pads = axis_attribute(call, "pads", 2 * rank, 0) if auto_pad(call) == "NOTSET" else (0,) * (2 * rank)
    return list(map(Window, kernel, strides, dilations, pads[:rank], pads[rank:]))


def axis_attribute(call: Call, name: str, count: int, default: int) -> tuple[int, ...]:
    """Return a list attribute with one number per axis (two for pads); an absent or empty one is all `default`."""
    items = call.attr_ints(name) or (default,) * count
    if len(items) != count:
        raise Contradiction(f"{name} of {call.node.op} has length {len(items)}, not {count}")
    return items


def _kernel_dims(call: Call, x: Shape, w: Shape) -> Shape:
    """Return the kernel's dims of a weight, by the attribute where those are unknown; both must agree."""
    if len(w) != len(x):
        raise Contradiction(f"{call.node.op} has an input of rank {len(x)} and a weight of rank {len(w)}")
    weight, declared = w[2:], call.attr_ints("kernel_shape") or None
    if declared is None:
        return weight
    if len(declared) != len(weight) or any(map(sizes_differ, declared, weight)):
        raise Contradiction(f"kernel_shape of {call.node.op} differs from the kernel of its weight")
    return declared


def _window_count(size: Dim, at: Window, same: bool) -> Dim:
    """Return how often the kernel fits along one axis."""
    if same:
        return ceil_div(size, at.stride)
    slack = size + at.head + at.tail - at.span
    if type(slack) is int and slack < 0:
        raise Contradiction(f"the kernel extent ({at.span}) exceeds the padded input ({size + at.head + at.tail})")
    return slack // at.stride + 1


def spatial_dims(call: Call, x: Shape) -> Shape:
    """Return the dims after batch and channels."""
    if len(x) < 3:
        raise Contradiction(f"{call.node.op} requires rank 3 or more, got rank {len(x)}")
    return x[2:]


def conv_shape(call: Call, x: Shape, w: Shape) -> Shape:
    """[N, C, *spatial] under [M, C/group, *kernel] is [N, M, *spatial']."""
    inner, kernel = spatial_dims(call, x), _kernel_dims(call, x, w)
    group = call.attr_int("group", 1)
    if sizes_differ(x[1], w[1] * group):
        raise Contradiction(
            f"input channels of {call.node.op} ({x[1]}) differ from weight channels ({w[1]}) times groups ({group})"
        )
    if group < 1 or (type(w[0]) is int and w[0] % group):
        raise Contradiction(f"output channels of {call.node.op} ({w[0]}) are not divisible by its groups ({group})")
    same = auto_pad(call).startswith("SAME")
    along = zip(inner, windows(call, kernel), strict=True)
    return (x[0], w[0], *(_window_count(size, at, same) for size, at in along))


def _conv(call: Call, weight_at: int = 1, bias_at: int = 2, dtype_at: int = 0) -> list[ValueInfo]:
    check_shape(call, bias_at, shape_of_min_rank(call, weight_at)[0])
    return [tensor(call.dtype(dtype_at), conv_shape(call, call.shape(0), call.shape(weight_at)))]


def conv_cost(call: Call, weight_at: int = 1, bias_at: int = 2) -> Cost:
    """input channels per group · kernel size MACs per output element; 1 FLOP per output element for a bias"""
    elements = size(call.output())
    return Cost(elements * size(call.shape(weight_at)[1:]), elements if call.has(bias_at) else 0)


_integer_cost = documented(conv_cost.__doc__ or "", lambda call: conv_cost(call, bias_at=4))
_qlinear_cost = documented(conv_cost.__doc__ or "", lambda call: conv_cost(call, 3, 8))


def conv_transpose_cost(call: Call) -> Cost:
    """output channels per group · kernel size MACs per input element; 1 FLOP per output element for a bias"""
    macs = size(call.shape(0)) * size(call.shape(1)[1:])
    return Cost(macs, size(call.output()) if call.has(2) else 0)


def _deform_cost(call: Call) -> Cost:
    """as Conv; 7 FLOPs per sampled element for bilinear interpolation, 1 more for a mask"""
    conv, (batch, channels, *_) = conv_cost(call, bias_at=3), call.shape(0)
    samples = batch * channels * size(call.output()[2:]) * size(call.shape(1)[2:])
    return Cost(conv.macs, conv.other + samples * (8 if call.has(4) else 7))


def _causal_cost(call: Call) -> Cost:
    """kernel size MACs per output element; 1 FLOP per output element for a bias, 2 for an activation"""
    conv = conv_cost(call)
    active = call.attr_text("activation", "none") not in ("", "none")
    return Cost(conv.macs, conv.other + (2 * size(call.output()) if active else 0))


def _conv_transpose(call: Call) -> list[ValueInfo]:
    """[N, C, *spatial] under [C, M/group, *kernel] is [N, M, *spatial']."""
    x, w = call.shape(0), call.shape(1)
    inner, kernel = spatial_dims(call, x), _kernel_dims(call, x, w)
    group = call.attr_int("group", 1)
    if sizes_differ(x[1], w[0]) or group < 1:
        raise Contradiction(
            f"ConvTranspose has incompatible input channels ({x[1]}), weight channels ({w[0]}) and groups ({group})"
        )
    check_divisible(call, x[1], group, "channels")
    check_shape(call, 2, w[1] * group)
    return [tensor(call.dtype(0), (x[0], w[1] * group, *_transposed_dims(call, inner, kernel)))]


def _transposed_dims(call: Call, inner: Shape, kernel: Shape) -> Shape:
    rank, along = len(inner), windows(call, kernel)
    declared = call.attr_ints("output_shape")
    if declared:
        # Old exporters also wrote batch and channels into output_shape; onnxruntime accepts both.
        if len(declared) not in (rank, rank + 2) or min(declared[-rank:]) < 1:
            raise Contradiction(f"output_shape {declared} of ConvTranspose is invalid for spatial rank {rank}")
        return declared[-rank:]
    extra = axis_attribute(call, "output_padding", rank, 0)
    same = auto_pad(call).startswith("SAME")
    return tuple(_transposed_dim(*axis, same) for axis in zip(inner, along, extra, strict=True))


_KERNEL_BELOW_STRIDE = "SAME padding with a kernel smaller than its stride: the specification and onnxruntime disagree"


def _transposed_dim(size: Dim, at: Window, extra: int, same: bool) -> Dim:
    grown = (size - 1) * at.stride + at.span + extra - at.head - at.tail
    if same:
        # Padding removes what exceeds size * stride; onnxruntime adds nothing to what is below it.
        short = at.stride - at.span - extra
        if isinstance(short, Unknown):
            return short
        return size * at.stride if short <= 0 else merge_dims(size * at.stride, grown, _KERNEL_BELOW_STRIDE)
    if type(grown) is int and grown < 1:
        raise Contradiction(
            f"pads of ConvTranspose ({at.head + at.tail}) leave nothing of its output ({grown + at.head + at.tail})"
        )
    return grown


def _causal_conv(call: Call) -> list[ValueInfo]:
    # The state has the positions that the next step reads again: kernel - 1.
    x, w = call.shape(0), call.shape(1)
    if len(x) != 3 or len(w) != 3 or sizes_differ(x[1], w[0]) or w[2] == 0:
        raise Contradiction(
            f"CausalConvWithState has an incompatible input {format_dims(x)} and weight {format_dims(w)}"
        )
    return [tensor(call.dtype(0), x), tensor(call.dtype(0), (x[0], x[1], w[2] - 1))]


def _col2im(call: Call) -> list[ValueInfo]:
    """[N, C * block, L] is [N, C, *image]."""
    x, block = call.shape(0), size(sizes(call, 2))
    if len(x) != 3 or (type(x[1]) is int and type(block) is int and (block < 1 or x[1] % block)):
        raise Contradiction(f"Col2Im has an incompatible input {format_dims(x)} and block size {block}")
    return [tensor(call.dtype(0), (x[0], x[1] // block, *sizes(call, 1)))]


OPERATORS: dict[str, Operator] = of_class(
    WorkClass.CONVOLUTION,
    {
        "Conv": Operator(
            _conv,
            cost=conv_cost,
            roles=weights(1, 2),
            traits={
                Trait.NO_NEGATIVE_PADS,
                Trait.FOLDS_BATCH_NORM,
                Trait.INT8_CONSTANTS,
                Trait.INT8_KERNEL,
                Trait.INT8_NEEDS_OUTPUT,
                Trait.MULTIPLIES,
            },
        ),
        "ConvInteger": Operator(
            one_output(lambda call: conv_shape(call, call.shape(0), call.shape(1)), "int32"),
            cost=_integer_cost,
            roles=scales(2, 3),
            traits={Trait.NO_NEGATIVE_PADS, Trait.DYNAMIC_QUANTIZATION, Trait.MULTIPLIES},
            quantized=(QuantizedInput(1, -1, 3),),
        ),
        "QLinearConv": Operator(
            lambda call: _conv(call, 3, 8, 7),
            cost=requantized(_qlinear_cost),
            roles=scales(1, 2, 4, 5, 6, 7) | weights(3, 8),
            traits={Trait.NO_NEGATIVE_PADS, Trait.INT8_OPERATOR, Trait.MULTIPLIES, Trait.QOPERATOR},
            operands=(0, 3),
            quantized=(QuantizedInput(3, 4, 5),),
        ),
        "ConvTranspose": Operator(
            _conv_transpose,
            cost=conv_transpose_cost,
            roles=weights(1, 2),
            traits={Trait.NO_NEGATIVE_PADS, Trait.FOLDS_BATCH_NORM, Trait.MULTIPLIES},
        ),
        "DeformConv": Operator(
            lambda call: _conv(call, bias_at=3), cost=_deform_cost, roles=weights(1, 3), traits={Trait.MULTIPLIES}
        ),
        "CausalConvWithState": Operator(_causal_conv, cost=_causal_cost, roles=weights(1, 2)),
        "Col2Im": Operator(_col2im, cost=per_input_element(1, "accumulation"), work=WorkClass.MOVE),
    },
)
