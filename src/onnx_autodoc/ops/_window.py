"""A kernel that slides over the spatial axes: what convolutions and pools share."""

from msgspec import Struct

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Dim, Shape

_AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


class Window(Struct, frozen=True):
    """The kernel along one spatial axis, and how it moves."""

    kernel: Dim
    stride: int
    dilation: int
    head: int  # padding before the first element
    tail: int  # padding after the last one

    @property
    def span(self) -> Dim:
        """Elements from the first that the kernel touches to the last."""
        return (self.kernel - 1) * self.dilation + 1


def auto_pad(call: Call) -> str:
    found = call.attr_text("auto_pad", "NOTSET") or "NOTSET"
    if found not in _AUTO_PADS:
        raise Contradiction(f"{call.node.op}'s auto_pad is {found}")
    return found


def windows(call: Call, kernel: Shape) -> list[Window]:
    """One window per spatial axis; `pads` counts only where `auto_pad` does not decide."""
    rank = len(kernel)
    if any(type(size) is int and size < 1 for size in kernel):
        raise Contradiction(f"{call.node.op} with a kernel of no elements")
    strides, dilations = per_axis(call, "strides", rank, 1), per_axis(call, "dilations", rank, 1)
    if min(strides + dilations, default=1) < 1:
        raise Contradiction(f"{call.node.op} with a stride or dilation below 1")
    pads = per_axis(call, "pads", 2 * rank, 0) if auto_pad(call) == "NOTSET" else (0,) * (2 * rank)
    return [Window(*each) for each in zip(kernel, strides, dilations, pads[:rank], pads[rank:], strict=True)]


def per_axis(call: Call, name: str, count: int, default: int) -> tuple[int, ...]:
    """A list attribute with one number per axis (two for pads); an absent or empty one is all `default`."""
    found = call.attr_ints(name) or (default,) * count
    if len(found) != count:
        raise Contradiction(f"{call.node.op}'s {name} has {len(found)} numbers, not {count}")
    return found


def kernel_of(call: Call, weight: Shape) -> Shape:
    """The kernel by the weight's dims, by the attribute where those are not known; both must agree."""
    named = call.attr_ints("kernel_shape") or None
    if named is None:
        return weight
    if len(named) != len(weight) or any(differ(one, other) for one, other in zip(named, weight, strict=True)):
        raise Contradiction(f"{call.node.op}'s kernel_shape is not that of its weight")
    return named


def slide(call: Call, sizes: Shape, kernel: Shape) -> Shape:
    """How often the kernel fits along each spatial axis."""
    same = auto_pad(call).startswith("SAME")
    return tuple(_fits(size, at, same) for size, at in zip(sizes, windows(call, kernel), strict=True))


def _fits(size: Dim, at: Window, same: bool) -> Dim:
    if same:
        return ceil_div(size, at.stride)
    room = size + at.head + at.tail - at.span
    if type(room) is int and room < 0:
        raise Contradiction(f"a kernel of {at.span} elements over {size + at.head + at.tail}")
    return room // at.stride + 1


def ceil_div(over: Dim, under: int) -> Dim:
    return -(-over // under)


def differ(one: Dim, other: Dim) -> bool:
    """Whether both sizes are known and are not the same."""
    return type(one) is int and type(other) is int and one != other


def spatial(call: Call, x: Shape) -> Shape:
    """The dims after batch and channels."""
    if len(x) < 3:
        raise Contradiction(f"{call.node.op} of {len(x)} dimensions: there are none beside batch and channels")
    return x[2:]
