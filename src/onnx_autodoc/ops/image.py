"""Images: resizing, sampling, cropping, and moving pixels between space and depth."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from onnx_autodoc.ops.call import Call, check_shape, normalize_axis, shape_of_rank, size, sizes
from onnx_autodoc.ops.cost import NO_COST, Cost, free, interpolation_ops, reads_picked_elements, unknown_arithmetic
from onnx_autodoc.ops.input_constraints import ONE, always
from onnx_autodoc.ops.operator import FLAG, Deprecation, Operator, Trait, WorkClass, constants, of_class, words
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
from onnx_autodoc.text import quote_name

_CROPPED = "tf_crop_and_resize with scales: the specification crops the size, onnxruntime does not"
_ROUNDED = "the aspect ratio gives a size ending in .5: runtimes round it differently"
_NEGATIVE_AXES = "keep_aspect_ratio_policy with negative axes: onnxruntime leaves the size unchanged"
_TOO_LARGE = "the scaled size exceeds the range that runtimes compute exactly"
_SELECTED = "the number of selected boxes is data-dependent"
_DECODED = "the size of the decoded image is known only at run time"


def _resize(call: Call) -> list[ValueInfo]:
    x = call.shape(0)
    axes = _axes(call, len(x))
    shapes = [call.input_info(at).shape if call.has(at) else None for at in (2, 3)]
    if all(any(type(dim) is int and dim > 0 for dim in shape or ()) for shape in shapes):
        raise Contradiction("Resize has both scales and sizes")
    if call.has(3) and call.input_info(3).shape != (0,):
        out = _resize_to(call, [x[axis] for axis in axes])
    else:
        # Opset 10 had x and scales; since 11 a region comes between them.
        out = _resize_by(call, [x[axis] for axis in axes], scales_at=1 if len(call.inputs) == 2 else 2)
    return [tensor(call.dtype(0), _replace_dims(call, axes, out))]


def _axes(call: Call, rank: int) -> list[int]:
    declared = call.attr_ints("axes")
    return list(range(rank)) if declared is None else [normalize_axis(axis, rank) for axis in declared]


def _replace_dims(call: Call, axes: Sequence[int], sizes: Sequence[Dim]) -> Shape:
    """Return the dims of the first input with `sizes` along `axes`."""
    if len(sizes) != len(axes):
        raise Contradiction(f"sizes of {call.node.op} have length {len(sizes)}, not {len(axes)}")
    new = dict(zip(axes, sizes, strict=True))
    return tuple(new.get(axis, dim) for axis, dim in enumerate(call.shape(0)))


def _resize_by(call: Call, dims: list[Dim], scales_at: int) -> list[Dim]:
    scales: Sequence[float | Unknown] = call.ints(scales_at)
    scaled = _scaled(call, dims, scales)
    if call.attr_text("coordinate_transformation_mode", "") != "tf_crop_and_resize":
        return scaled
    # The specification: floor(size * (end - start) * scale).
    region: Sequence[float | Unknown] = call.ints(1)
    count = len(dims)
    if len(region) != 2 * count:
        raise Contradiction(f"roi of Resize has length {len(region)}, not {2 * count}")
    spans = [(region[at + count] - region[at]) * scales[at] for at in range(count)]
    return [merge_dims(*pair, _CROPPED) for pair in zip(scaled, _scaled(call, dims, spans), strict=True)]


def _scaled(call: Call, dims: Sequence[Dim], scales: Sequence[float | Unknown]) -> list[Dim]:
    if len(scales) != len(dims):
        raise Contradiction(f"scales of {call.node.op} have length {len(scales)}, not {len(dims)}")
    return list(map(_scale, dims, scales))


def _scale(dim: Dim, scale: float | Unknown) -> Dim:
    """Return floor(size * scale), in single precision as runtimes compute it: 10 * 0.7 is 7."""
    if isinstance(scale, Unknown):
        return Unknown(scale.why)
    if not 0 < scale < float("inf"):
        raise Contradiction(f"scale {scale} is not a positive finite number")
    if scale == 1 or isinstance(dim, Unknown):
        return dim if scale == 1 else Unknown(dim.why)  # type: ignore[union-attr]
    exact = dim < 2**24 and dim * scale < 2**24
    return int(np.float32(dim) * np.float32(scale)) if exact else Unknown(_TOO_LARGE)


def _resize_to(call: Call, dims: list[Dim]) -> list[Dim]:
    out, policy = list(sizes(call, 3)), call.attr_text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch" or not out or len(out) != len(dims):
        return out
    if any(axis < 0 for axis in call.attr_ints("axes") or ()):
        return [Unknown(_NEGATIVE_AXES) for _ in dims]
    unknown = next((dim for dim in (*dims, *out) if isinstance(dim, Unknown)), None)
    if unknown is not None:
        return [Unknown(unknown.why) for _ in dims]
    if policy not in ("not_larger", "not_smaller") or 0 in dims:
        raise Contradiction(f"Resize cannot scale {dims} with keep_aspect_ratio_policy {policy}")
    return _keep_aspect_ratio([int(dim) for dim in dims], [int(dim) for dim in out], policy == "not_larger")


def _keep_aspect_ratio(dims: list[int], out: list[int], not_larger: bool) -> list[Dim]:
    """Scale all dims by the one ratio that fits, to the nearest integer.

    Single precision may round one half differently.
    """
    pairs, pick = list(zip(out, dims, strict=True)), min if not_larger else max
    exact = pick(Fraction(to, dim) for to, dim in pairs)
    single = pick(np.float32(to) / np.float32(dim) for to, dim in pairs)
    return [
        merge_dims(int(exact * dim + Fraction(1, 2)), int(np.floor(single * np.float32(dim) + 0.5)), _ROUNDED)
        for dim in dims
    ]


def _upsample(call: Call) -> list[ValueInfo]:
    # Scales are an input since opset 9, an attribute since 7; before that, one of the height and one of the width.
    x = call.shape(0)
    declared = call.attribute("scales")
    scales: Sequence[float | Unknown]
    if call.has(1):
        scales = call.ints(1)
    elif isinstance(declared, tuple):
        scales = [item for item in declared if isinstance(item, (int, float))]
    else:
        scales = (1, 1, call.attr_float("height_scale", 0), call.attr_float("width_scale", 0))
    return [tensor(call.dtype(0), tuple(_scaled(call, x, scales)))]


def _grid_sample(call: Call) -> list[ValueInfo]:
    # X [N, C, *spatial], grid [N, *spatial', rank]: one sample for each place of the grid.
    x, grid = call.shape(0), call.shape(1)
    if len(x) != len(grid) or len(x) < 3:
        raise Contradiction(
            f"GridSample requires input and grid of equal rank, at least 3, got {len(x)} and {len(grid)}"
        )
    check_shape(call, 1, x[0], *grid[1:-1], len(x) - 2)
    return [tensor(call.dtype(0), (*x[:2], *grid[1:-1]))]


def _affine_grid(call: Call) -> list[ValueInfo]:
    # size is [N, C, *spatial]; the grid [N, *spatial, rank].
    image = sizes(call, 1)
    if len(image) not in (4, 5):
        raise Contradiction(f"AffineGrid requires 4 or 5 sizes, got {len(image)}")
    return [tensor(call.dtype(0), (image[0], *image[2:], len(image) - 2))]


def _move_blocks(call: Call) -> Shape:
    """Infer DepthToSpace and SpaceToDepth."""
    block = call.attr_required("blocksize")
    if block < 1 or call.rank(0) != 4:
        raise Contradiction(
            f"{call.node.op} requires rank 4 and a positive blocksize, got rank {call.rank(0)} and {block}"
        )
    batch, depth, height, width = call.shape(0)
    to_space = call.node.op == "DepthToSpace"
    for dim, parts in ((depth, block**2),) if to_space else ((height, block), (width, block)):
        if type(dim) is int and dim % parts:
            raise Contradiction(f"size {dim} of {call.node.op} is not divisible by {parts}")
    if to_space:
        return batch, depth // block**2, height * block, width * block
    return batch, depth * block**2, height // block, width // block


def _crop(call: Call) -> list[ValueInfo]:
    # border is left, top, right, bottom; a scale is the height and width that are left instead.
    x, border, scale = call.shape(0), call.attr_ints("border") or (), call.attr_ints("scale")
    if len(x) != 4 or len(border) != 4:
        raise Contradiction(f"Crop requires rank 4 and 4 borders, got rank {len(x)} and {len(border)}")
    left, top, right, bottom = border
    inner: Shape = scale or (x[2] - top - bottom, x[3] - left - right)
    if len(inner) != 2 or any(type(dim) is int and dim < 0 for dim in inner):
        raise Contradiction(f"Crop cannot reduce {format_dims(x)} to {format_dims(inner)}")
    return [tensor(call.dtype(0), (*x[:2], *inner))]


def _image_decoder(call: Call) -> list[ValueInfo]:
    channels = 1 if call.attr_text("pixel_format", "RGB") == "Grayscale" else 3
    return [tensor("uint8", (Unknown(_DECODED), Unknown(_DECODED), channels))]


def _non_max_suppression(call: Call) -> list[ValueInfo]:
    # boxes [N, B, 4], scores [N, classes, B]
    boxes, scores = (call.input_info(at).shape for at in (0, 1))
    if boxes is not None:
        batch, count, _ = shape_of_rank(call, 0, 3)
        check_shape(call, 0, batch, count, 4)
        if scores is not None:
            check_shape(call, 1, batch, shape_of_rank(call, 1, 3)[1], count)
    return [tensor("int64", (Unknown(_SELECTED), 3))]  # batch, class, box


# mode -> elements that are interpolated along one axis
_TAPS = {"nearest": 1, "linear": 2, "bilinear": 2, "cubic": 4, "bicubic": 4}


def _mode_taps(call: Call, default: str) -> int:
    mode = call.attr_text("mode", default)
    if mode not in _TAPS:
        raise InferenceError(f"{call.node.op} has an unknown mode: {quote_name(mode, 40)}")
    return _TAPS[mode]


def _resize_cost(call: Call) -> Cost:
    """2 · taps - 1 FLOPs per output element; taps: product over all resized axes of 2 (linear) or 4 (cubic), or more
    where antialias widens the filter; none for nearest"""
    taps = _mode_taps(call, "nearest")
    if taps == 1:
        return NO_COST
    total = 1
    for before, after in zip(call.shape(0), call.output(), strict=False):
        if before is after:
            continue
        old, new = int(before), int(after)  # an unknown size raises its reason
        if old != new and new >= 1:
            total *= max(taps, -(-taps * old // new)) if call.attr_int("antialias", 0) else taps
    return Cost(other=interpolation_ops(total) * size(call.output()))


def _grid_sample_cost(call: Call) -> Cost:
    """2 · taps - 1 FLOPs per output element; taps: product over all spatial axes of 2 (linear) or 4 (cubic); none for
    nearest. Computing the coordinates is not counted"""
    return Cost(other=interpolation_ops(_mode_taps(call, "linear") ** (call.rank(0) - 2)) * size(call.output()))


def _affine_grid_cost(call: Call) -> Cost:
    """spatial axes + 1 MACs per output element: a matrix times each coordinate vector"""
    grid = call.output()
    return Cost(macs=size(grid) * (len(grid) - 1))


_COORDINATE_MODES = words(
    "align_corners asymmetric half_pixel half_pixel_symmetric pytorch_half_pixel tf_crop_and_resize"
    " tf_half_pixel_for_nn"
)
_NEAREST_MODES = frozenset(("", "ceil", "floor", "round_prefer_ceil", "round_prefer_floor"))

OPERATORS: dict[str, Operator] = of_class(
    WorkClass.MOVE,
    {
        "Resize": Operator(
            _resize,
            cost=_resize_cost,
            roles=constants(1, 2),
            traits={Trait.CROSSES_QUANTIZATION},
            size_inputs=(2, 3),
            choices={
                "mode": words("cubic linear nearest"),
                "coordinate_transformation_mode": _COORDINATE_MODES,
                "nearest_mode": _NEAREST_MODES,
            },
            kernel="resize",
        ),
        "Upsample": Operator(
            _upsample,
            cost=_resize_cost,
            roles=constants(1),
            traits={Trait.CROSSES_QUANTIZATION},
            size_inputs=(1,),
            choices={"mode": words("bilinear cubic linear nearest")},
            deprecated=Deprecation(10, None, "Resize"),
            kernel="resize",
        ),
        "GridSample": Operator(
            _grid_sample,
            cost=_grid_sample_cost,
            roles=constants(1),
            choices={"mode": words("cubic linear nearest"), "padding_mode": words("border reflection zeros")},
            old_choices=(20, {"mode": words("bicubic bilinear nearest")}),
        ),
        "DepthToSpace": Operator(
            one_output(_move_blocks),
            cost=free,
            number_inputs=(0,),
            traits={Trait.CROSSES_QUANTIZATION},
            choices={"mode": words("CRD DCR")},
        ),
        "SpaceToDepth": Operator(
            one_output(_move_blocks), cost=free, number_inputs=(0,), traits={Trait.CROSSES_QUANTIZATION}
        ),
        "CenterCropPad": Operator(
            one_output(lambda call: _replace_dims(call, _axes(call, call.rank(0)), sizes(call, 1))),
            cost=free,
            number_inputs=(0,),
            size_inputs=(1,),
        ),
        "Crop": Operator(_crop, cost=reads_picked_elements, traits={Trait.EXPERIMENTAL}),
    },
) | {
    "AffineGrid": Operator(_affine_grid, cost=_affine_grid_cost),
    "ImageDecoder": Operator(_image_decoder, cost=unknown_arithmetic("the decoding work is data-dependent")),
    "NonMaxSuppression": Operator(
        _non_max_suppression,
        cost=unknown_arithmetic("the number of boxes compared is data-dependent"),
        roles=constants(3, 4),
        traits={Trait.DATA_SIZED},
        position_output=0,
        choices={"center_point_box": FLAG},
        constraints={2: ONE, 3: always(0.5), 4: always(0.1)},
    ),
}
