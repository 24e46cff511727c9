"""Pooling: over windows, over whole channels, and over regions of interest."""

from onnx_autodoc.ops.call import Call, ceil_div, check_shape, size, sizes
from onnx_autodoc.ops.convolution import Window, auto_pad, spatial_dims, windows
from onnx_autodoc.ops.cost import (
    Cost,
    CostRule,
    documented,
    free,
    interpolation_ops,
    per_input_element,
    unknown_arithmetic,
)
from onnx_autodoc.ops.input_constraints import index_into
from onnx_autodoc.ops.operator import Operator, Trait, WorkClass, constants, of_class, words
from onnx_autodoc.ops.shape_rules import one_output
from onnx_autodoc.ops.values import (
    Contradiction,
    Dim,
    InferenceError,
    Shape,
    Unknown,
    ValueInfo,
    format_dims,
    merge_dims,
    tensor,
)

_DILATED_SAME = "SAME padding of dilated pooling: the specification and onnxruntime disagree"
_NO_WINDOW = "a pooling window larger than its input: the specification and onnxruntime disagree"


def pool_shape(call: Call, x: Shape) -> Shape:
    """[N, C, *spatial] is [N, C, *spatial'], one element for each place of the window."""
    inner, kernel = spatial_dims(call, x), call.attr_ints("kernel_shape") or ()
    if len(kernel) != len(inner):
        raise Contradiction(f"{call.node.op} has spatial rank {len(inner)} and a kernel of rank {len(kernel)}")
    same, rounds_up = auto_pad(call).startswith("SAME"), call.attr_int("ceil_mode", 0) == 1
    along = zip(inner, windows(call, kernel), strict=True)
    return (*x[:2], *(_same_places(size, at) if same else _places(size, at, rounds_up) for size, at in along))


def _places(size: Dim, at: Window, rounds_up: bool) -> Dim:
    """Return the number of places of a window along one axis with explicit pads."""
    padded = size + at.head + at.tail
    slack = padded - at.span
    if isinstance(slack, Unknown) or (slack >= 0 and not rounds_up):
        return ceil_div(slack, at.stride) + 1 if rounds_up else slack // at.stride + 1
    places = -(-slack // at.stride) + 1
    # A last window that covers less than a whole one counts, unless it starts in the padding at the end.
    if rounds_up and (places - 1) * at.stride >= size + at.head:
        places -= 1
    if places < 0:
        raise Contradiction(f"the window extent ({at.span}) exceeds the padded input ({padded})")
    # The specification rounds a negative number down, onnxruntime towards zero.
    return places if rounds_up else merge_dims(slack // at.stride + 1, places, _NO_WINDOW)


def _same_places(size: Dim, at: Window) -> Dim:
    # onnxruntime pads for the kernel as if it were not dilated, so a dilated one has fewer places.
    places = ceil_div(size, at.stride)
    padded = (places - 1) * at.stride + at.kernel - at.span
    return places if at.span == at.kernel else merge_dims(places, padded // at.stride + 1, _DILATED_SAME)


_pool = one_output(lambda call: pool_shape(call, call.shape(0)))


def _max_pool(call: Call) -> list[ValueInfo]:
    shape = pool_shape(call, call.shape(0))
    return [tensor(call.dtype(0), shape), tensor("int64", shape)]


_global_pool = one_output(lambda call: (*call.shape(0)[:2], *(1 for _ in spatial_dims(call, call.shape(0)))))


def _roi_align(call: Call) -> list[ValueInfo]:
    """X [N, C, H, W], rois [R, 4], batch_indices [R]."""
    pooled, regions = (call.attr_int("output_height", 1), call.attr_int("output_width", 1)), call.shape(1)
    if len(regions) == 2:
        check_shape(call, 1, regions[0], 4)
        check_shape(call, 2, regions[0])
    return [tensor(call.dtype(0), _pooled_regions(call, pooled))]


def _pooled_regions(call: Call, pooled: tuple[int, ...]) -> Shape:
    """Return the shape of a pooled image for each region."""
    x, rois = call.shape(0), call.shape(1)
    if len(x) != 4 or len(rois) != 2 or len(pooled) != 2 or min(pooled) < 1:
        raise Contradiction(
            f"{call.node.op} requires rank 4, regions of rank 2 and two positive sizes, "
            f"got {len(x)}, {len(rois)} and {pooled}"
        )
    return (rois[0], x[1], *pooled)


def _max_unpool(call: Call) -> list[ValueInfo]:
    x, kernel = call.shape(0), call.attr_ints("kernel_shape") or ()
    inner = spatial_dims(call, x)
    if len(kernel) != len(inner):
        raise Contradiction(f"MaxUnpool has spatial rank {len(inner)} and a kernel of rank {len(kernel)}")
    if call.has(2):
        target = sizes(call, 2)
        if len(target) != len(x):
            raise Contradiction(f"MaxUnpool has an input of rank {len(x)} and an output_shape of rank {len(target)}")
        return [tensor(call.dtype(0), target)]
    along = zip(inner, windows(call, kernel), strict=True)
    grown = [(size - 1) * at.stride + at.kernel - at.head - at.tail for size, at in along]
    if any(type(size) is int and size < 1 for size in grown):
        raise Contradiction(f"pads of MaxUnpool leave nothing of {format_dims(inner)}")
    return [tensor(call.dtype(0), (*x[:2], *grown))]


def _windowed(every: int, once: int, parts: str) -> CostRule:
    """Return a rule with `every` operations per output and kernel element, and `once` per output element.

    As in a reduction, n numbers are n sums or comparisons; padding counts.
    """

    def rule(call: Call) -> Cost:
        kernel = size(call.attr_ints("kernel_shape") or ())
        return Cost(other=(every * kernel + once) * size(call.output()))

    count = f"{every} · kernel size" if every > 1 else "kernel size"
    return documented(f"{count}{f' + {once}' if once else ''} FLOPs per output element: {parts}", rule)


def _roi_align_cost(call: Call) -> Cost:
    """8 FLOPs per sample, sampling_ratio² samples per output element: bilinear interpolation, add; 1 for the mean.
    Unknown if sampling_ratio is 0: the region sizes determine the number of samples"""
    ratio = call.attr_int("sampling_ratio", 0)
    if ratio < 1:
        raise InferenceError("RoiAlign: the number of samples per region depends on its size")
    mean = call.attr_text("mode", "avg") == "avg"
    return Cost(other=(ratio**2 * (interpolation_ops(4) + 1) + mean) * size(call.output()))


_WINDOW_TRAITS = {Trait.PADS_BELOW_KERNEL, Trait.NO_NEGATIVE_PADS}
OPERATORS: dict[str, Operator] = of_class(
    WorkClass.POOLING,
    {
        "MaxPool": Operator(
            _max_pool,
            cost=_windowed(1, 0, "comparisons"),
            number_inputs=(0,),
            traits=_WINDOW_TRAITS | {Trait.CROSSES_QUANTIZATION},
        ),
        "AveragePool": Operator(
            _pool, cost=_windowed(1, 1, "adds, divide"), traits=_WINDOW_TRAITS | {Trait.CROSSES_QUANTIZATION}
        ),
        "LpPool": Operator(_pool, cost=_windowed(2, 1, "powers, adds, root"), traits=_WINDOW_TRAITS),
        "GlobalAveragePool": Operator(
            _global_pool, cost=per_input_element(1, "add, divide", 1), traits={Trait.CROSSES_QUANTIZATION}
        ),
        "GlobalMaxPool": Operator(_global_pool, cost=per_input_element(1, "comparison")),
        "GlobalLpPool": Operator(_global_pool, cost=per_input_element(2, "power, add, root", 1)),
        "MaxRoiPool": Operator(
            one_output(lambda call: _pooled_regions(call, call.attr_ints("pooled_shape") or ())),
            cost=unknown_arithmetic("the size of each region is data-dependent"),
            roles=constants(1),
        ),
        "RoiAlign": Operator(
            _roi_align,
            cost=_roi_align_cost,
            roles=constants(1),
            choices={"mode": words("avg max")},
            traits={Trait.IGNORES_CASE},
            constraints={2: index_into(0)},
        ),
        "MaxUnpool": Operator(_max_unpool, cost=free),
    },
)
