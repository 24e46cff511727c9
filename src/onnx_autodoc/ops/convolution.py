"""Convolutions, and Col2Im, which undoes the gathering of their windows."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, each_input
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, Unknown, merge_dims, tensor
from onnx_autodoc.ops._operator import Operator, scales, weights
from onnx_autodoc.ops._ranks import deep, parted, sized
from onnx_autodoc.ops._sizes import sizes
from onnx_autodoc.ops._window import Window, auto_pad, differ, kernel_of, per_axis, slide, spatial, windows
from onnx_autodoc.ops.matmul import requantized


def conv_shape(call: Call, x: Shape, w: Shape) -> Shape:
    """[N, C, *spatial] under [M, C/group, *kernel] is [N, M, *spatial']."""
    inner, kernel = spatial(call, x), kernel_of(call, _weight(call, x, w))
    group = call.attr_int("group", 1)
    if differ(x[1], w[1] * group):
        raise Contradiction(f"{call.node.op} of {x[1]} channels with a weight for {w[1]} in each of {group} groups")
    if group < 1 or (type(w[0]) is int and w[0] % group):
        raise Contradiction(f"{call.node.op}'s {w[0]} kernels do not split into {group} groups")
    return (x[0], w[0], *slide(call, inner, kernel))


def _weight(call: Call, x: Shape, w: Shape) -> Shape:
    """The kernel's dims of a weight that has as many dimensions as the input."""
    if len(w) != len(x):
        raise Contradiction(f"{call.node.op} of {len(x)} dimensions with a weight of {len(w)}")
    return w[2:]


def _conv(call: Call, bias_at: int = 2) -> list[Known]:
    sized(call, bias_at, deep(call, 1)[0])
    return [tensor(call.dtype(0), conv_shape(call, call.shape(0), call.shape(1)))]


def _deform_conv(call: Call) -> list[Known]:
    return _conv(call, 3)


def _conv_integer(call: Call) -> list[Known]:
    return [tensor("int32", conv_shape(call, call.shape(0), call.shape(1)))]


def _qlinear_conv(call: Call) -> list[Known]:
    sized(call, 8, deep(call, 3)[0])
    return [tensor(call.dtype(7), conv_shape(call, call.shape(0), call.shape(3)))]


def conv_cost(call: Call, weight_at: int = 1, bias_at: int = 2) -> Cost:
    """input channels of a group · kernel multiply-adds for each element of the output; 1 per element for a bias"""
    elements = size(call.output())
    return Cost(elements * size(call.shape(weight_at)[1:]), elements if call.has(bias_at) else 0)


def _integer_cost(call: Call) -> Cost:
    return conv_cost(call, bias_at=4)


def _qlinear_cost(call: Call) -> Cost:
    return conv_cost(call, 3, 8)


_integer_cost.__doc__ = _qlinear_cost.__doc__ = conv_cost.__doc__


def conv_transpose_cost(call: Call) -> Cost:
    """output channels of a group · kernel multiply-adds for each element of the input; 1 per output for a bias"""
    macs = size(call.shape(0)) * size(call.shape(1)[1:])
    return Cost(macs, size(call.output()) if call.has(2) else 0)


def _deform_cost(call: Call) -> Cost:
    """as Conv; 7 per element under a kernel for placing it between four others, 1 more for a mask"""
    conv, (batch, channels, *_) = conv_cost(call, bias_at=3), call.shape(0)
    under = batch * channels * size(call.output()[2:]) * size(call.shape(1)[2:])
    return Cost(conv.macs, conv.other + under * (8 if call.has(4) else 7))


def _causal_cost(call: Call) -> Cost:
    """kernel multiply-adds for each element of the output; 1 for a bias, 2 for an activation"""
    conv = conv_cost(call)
    active = call.attr_text("activation", "none") not in ("", "none")
    return Cost(conv.macs, conv.other + (2 * size(call.output()) if active else 0))


def _conv_transpose(call: Call) -> list[Known]:
    """[N, C, *spatial] under [C, M/group, *kernel] is [N, M, *spatial']."""
    x, w = call.shape(0), call.shape(1)
    inner, kernel = spatial(call, x), kernel_of(call, _weight(call, x, w))
    group = call.attr_int("group", 1)
    if differ(x[1], w[0]) or group < 1:
        raise Contradiction(f"ConvTranspose of {x[1]} channels with a weight for {w[0]} in {group} groups")
    parted(call, x[1], group, "channels")
    sized(call, 2, w[1] * group)
    return [tensor(call.dtype(0), (x[0], w[1] * group, *_grown(call, inner, kernel)))]


def _grown(call: Call, inner: Shape, kernel: Shape) -> Shape:
    rank, along = len(inner), windows(call, kernel)
    asked = call.attr_ints("output_shape")
    if asked:
        # Old exporters also wrote batch and channels into output_shape; onnxruntime takes both.
        if len(asked) not in (rank, rank + 2) or min(asked[-rank:]) < 1:
            raise Contradiction(f"ConvTranspose's output_shape {asked} does not fit {rank} spatial dimensions")
        return asked[-rank:]
    extra = per_axis(call, "output_padding", rank, 0)
    same = auto_pad(call).startswith("SAME")
    return tuple(_grow(size, at, more, same) for size, at, more in zip(inner, along, extra, strict=True))


_KERNEL_BELOW_STRIDE = "SAME padding of a kernel smaller than its stride: the specification and onnxruntime disagree"


def _grow(size: Dim, at: Window, extra: int, same: bool) -> Dim:
    grown = (size - 1) * at.stride + at.span + extra - at.head - at.tail
    if same:
        # Padding takes away what is more than size * stride; what is less, onnxruntime leaves as it is.
        short = at.stride - at.span - extra
        if isinstance(short, Unknown):
            return short
        return size * at.stride if short <= 0 else merge_dims(size * at.stride, grown, _KERNEL_BELOW_STRIDE)
    if type(grown) is int and grown < 1:
        raise Contradiction(f"ConvTranspose cuts {at.head + at.tail} elements off {grown + at.head + at.tail}")
    return grown


def _causal_conv(call: Call) -> list[Known]:
    # The state is what the next step still sees: kernel - 1 positions.
    x, w = call.shape(0), call.shape(1)
    if len(x) != 3 or len(w) != 3 or differ(x[1], w[0]) or w[2] == 0:
        raise Contradiction(f"CausalConvWithState of {x} with a weight of {w}")
    return [tensor(call.dtype(0), x), tensor(call.dtype(0), (x[0], x[1], w[2] - 1))]


def _col2im(call: Call) -> list[Known]:
    """[N, C * block, L] is [N, C, *image]."""
    x, block = call.shape(0), size(sizes(call, 2))
    if len(x) != 3 or (type(x[1]) is int and type(block) is int and (block < 1 or x[1] % block)):
        raise Contradiction(f"Col2Im of {x} with blocks of {block} elements")
    return [tensor(call.dtype(0), (x[0], x[1] // block, *sizes(call, 1)))]


OPERATORS: dict[str, Operator] = {
    "Conv": Operator(_conv, cost=conv_cost, parts=weights(1, 2)),
    "ConvInteger": Operator(_conv_integer, cost=_integer_cost, parts=scales(2, 3)),
    "QLinearConv": Operator(
        _qlinear_conv, cost=requantized(_qlinear_cost), parts=scales(1, 2, 4, 5, 6, 7) | weights(3, 8)
    ),
    "ConvTranspose": Operator(_conv_transpose, cost=conv_transpose_cost, parts=weights(1, 2)),
    "DeformConv": Operator(_deform_conv, cost=_deform_cost, parts=weights(1, 3)),
    "CausalConvWithState": Operator(_causal_conv, cost=_causal_cost, parts=weights(1, 2)),
    "Col2Im": Operator(_col2im, cost=each_input(1, "each is added to its place")),
}
