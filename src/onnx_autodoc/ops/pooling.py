"""Pools: one number from each window, from each channel, or from each region of interest."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, Price, free, untold
from onnx_autodoc.ops._known import Contradiction, Dim, Known, NotKnown, Shape, Unknown, merge_dims, tensor
from onnx_autodoc.ops._operator import Operator, constants
from onnx_autodoc.ops._prices import between, folded
from onnx_autodoc.ops._ranks import sized
from onnx_autodoc.ops._sizes import sizes
from onnx_autodoc.ops._window import Window, auto_pad, ceil_div, spatial, windows

_DILATED_SAME = "SAME padding of a dilated pool: the specification and onnxruntime disagree"
_NO_WINDOW = "a pool whose window is larger than its input: the specification and onnxruntime disagree"


def pool_shape(call: Call, x: Shape) -> Shape:
    """[N, C, *spatial] is [N, C, *spatial'], one element for each place of the window."""
    inner, kernel = spatial(call, x), call.attr_ints("kernel_shape") or ()
    if len(kernel) != len(inner):
        raise Contradiction(f"{call.node.op} of {len(inner)} spatial dimensions with a kernel of {len(kernel)}")
    places = _places_same if auto_pad(call).startswith("SAME") else _places_up if _rounds_up(call) else _places
    return (*x[:2], *(places(size, at) for size, at in zip(inner, windows(call, kernel), strict=True)))


def _rounds_up(call: Call) -> bool:
    return call.attr_int("ceil_mode", 0) == 1


def _places(size: Dim, at: Window) -> Dim:
    room = size + at.head + at.tail - at.span
    if isinstance(room, Unknown) or room >= 0:
        return room // at.stride + 1
    # The specification rounds a negative number down, onnxruntime towards zero.
    return merge_dims(room // at.stride + 1, _not_negative(ceil_div(room, at.stride) + 1, size, at), _NO_WINDOW)


def _places_up(size: Dim, at: Window) -> Dim:
    # A last window that sees less than it could counts, unless it would start in the padding at the end.
    places = ceil_div(size + at.head + at.tail - at.span, at.stride) + 1
    if isinstance(places, Unknown):
        return places
    return _not_negative(places - 1 if (places - 1) * at.stride >= size + at.head else places, size, at)


def _not_negative(places: Dim, size: Dim, at: Window) -> Dim:
    if places < 0:
        raise Contradiction(f"a window of {at.span} elements over {size + at.head + at.tail}")
    return places


def _places_same(size: Dim, at: Window) -> Dim:
    # onnxruntime pads for the kernel as if it were not dilated, so a dilated one has fewer places.
    places = ceil_div(size, at.stride)
    padded = (places - 1) * at.stride + at.kernel - at.span
    return places if at.span == at.kernel else merge_dims(places, padded // at.stride + 1, _DILATED_SAME)


def _pool(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), pool_shape(call, call.shape(0)))]


def _max_pool(call: Call) -> list[Known]:
    shape = pool_shape(call, call.shape(0))
    return [tensor(call.dtype(0), shape), tensor("int64", shape)]


def _global_pool(call: Call) -> list[Known]:
    x = call.shape(0)
    return [tensor(call.dtype(0), (*x[:2], *(1 for _ in spatial(call, x))))]


def _max_roi_pool(call: Call) -> list[Known]:
    # X [N, C, H, W], rois [R, 5]: a pooled image for each region.
    x, rois, pooled = call.shape(0), call.shape(1), call.attr_ints("pooled_shape") or ()
    return [tensor(call.dtype(0), _pooled_regions(call, x, rois, pooled))]


def _roi_align(call: Call) -> list[Known]:
    # X [N, C, H, W], rois [R, 4], batch_indices [R].
    pooled = (call.attr_int("output_height", 1), call.attr_int("output_width", 1))
    regions = call.shape(1)
    if len(regions) == 2:
        sized(call, 1, regions[0], 4)
        sized(call, 2, regions[0])
    return [tensor(call.dtype(0), _pooled_regions(call, call.shape(0), call.shape(1), pooled))]


def _pooled_regions(call: Call, x: Shape, rois: Shape, pooled: tuple[int, ...]) -> Shape:
    if len(x) != 4 or len(rois) != 2 or len(pooled) != 2 or min(pooled) < 1:
        raise Contradiction(f"{call.node.op} of {len(x)} dimensions, regions of {len(rois)}, to {pooled}")
    return (rois[0], x[1], *pooled)


def _max_unpool(call: Call) -> list[Known]:
    x, kernel = call.shape(0), call.attr_ints("kernel_shape") or ()
    inner = spatial(call, x)
    if len(kernel) != len(inner):
        raise Contradiction(f"MaxUnpool of {len(inner)} spatial dimensions with a kernel of {len(kernel)}")
    if call.has(2):
        return [tensor(call.dtype(0), _asked(call, len(x)))]
    along = zip(inner, windows(call, kernel), strict=True)
    grown = [(size - 1) * at.stride + at.kernel - at.head - at.tail for size, at in along]
    if any(type(size) is int and size < 1 for size in grown):
        raise Contradiction(f"MaxUnpool pads away all of {inner}")
    return [tensor(call.dtype(0), (*x[:2], *grown))]


def _asked(call: Call, rank: int) -> Shape:
    asked = sizes(call, 2)
    if len(asked) != rank:
        raise Contradiction(f"MaxUnpool of {rank} dimensions to {len(asked)}")
    return asked


# prices: as in a reduction, n numbers are n sums or comparisons, padding among them
def _windowed(every: int, once: int, parts: str) -> Price:
    """For each element of the output so many operations for each place of the kernel, and so many after that."""

    def price(call: Call) -> Cost:
        kernel = size(call.attr_ints("kernel_shape") or ())
        return Cost(other=(every * kernel + once) * size(call.output()))

    places = f"{every} · kernel" if every > 1 else "kernel"
    price.__doc__ = f"{places}{f' + {once}' if once else ''} per element of the output: {parts}"
    return price


def _roi_align_cost(call: Call) -> Cost:
    """8 per sample, sampling_ratio² samples per element of the output: place between four others, sum; 1 for the mean.
    Not counted where sampling_ratio is 0: the sizes of the regions decide"""
    ratio = call.attr_int("sampling_ratio", 0)
    if ratio < 1:
        raise NotKnown("RoiAlign: how often a region is sampled, its size decides")
    mean = call.attr_text("mode", "avg") == "avg"
    return Cost(other=(ratio**2 * (between(4) + 1) + mean) * size(call.output()))


OPERATORS: dict[str, Operator] = {
    "MaxPool": Operator(_max_pool, cost=_windowed(1, 0, "comparisons")),
    "AveragePool": Operator(_pool, cost=_windowed(1, 1, "sums, division")),
    "LpPool": Operator(_pool, cost=_windowed(2, 1, "powers, sums, root")),
    "GlobalAveragePool": Operator(_global_pool, cost=folded(1, 1, "sum, division")),
    "GlobalMaxPool": Operator(_global_pool, cost=folded(1, 0, "comparison")),
    "GlobalLpPool": Operator(_global_pool, cost=folded(2, 1, "power, sum, root")),
    "MaxRoiPool": Operator(_max_roi_pool, cost=untold("how large each region is, the data decide"), parts=constants(1)),
    "RoiAlign": Operator(_roi_align, cost=_roi_align_cost, parts=constants(1)),
    "MaxUnpool": Operator(_max_unpool, cost=free),
}
