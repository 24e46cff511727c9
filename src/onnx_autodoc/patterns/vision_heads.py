"""Heads of vision models: boxes of detectors, and images, masks or classes per pixel.

joined     Concat over grids of [box, score …]           YOLO: one output, 4 + classes (or 5 + classes) per cell
separate   boxes [cells, 4] and scores [cells, classes]   SSD; with queries instead of cells DETR
selected   NonMaxSuppression or TopK selects boxes
"""

import math
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import is_integer
from onnx_autodoc.patterns.block_kinds import CONV_BLOCKS
from onnx_autodoc.patterns.head import Head, OutputTrace, feature_width, final_activation, softmax_size
from onnx_autodoc.patterns.net import Net, Op
from onnx_autodoc.text import pluralize

BOX_WIDTH: Final = 4
_RESIZES: Final = frozenset(("Resize", "Upsample", "GridSample"))
_MOVES: Final = frozenset(("Transpose", "Reshape", "Concat", "Slice", "Gather", "Flatten"))


# Boxes


class DetectionGrid(Struct, frozen=True):
    """A list of `boxes` with `width` numbers each, decoded from grids of several scales.

    `parts` are the widths of the concatenated values of each box, `is_score` whether a sigmoid computed the part.
    """

    boxes: int
    width: int
    scales: int
    parts: tuple[int, ...] = ()
    is_score: tuple[bool, ...] = ()

    @property
    def classes(self) -> int | None:
        """The numbers of a box after its coordinates and after its objectness score."""
        if self.parts[:1] == (BOX_WIDTH,) and len(self.parts) > 1:
            has_objectness = len(self.parts) == 3 and self.parts[1] == 1 and self.is_score[2]
            return self.parts[2] if has_objectness else self.parts[1]
        return self.width - BOX_WIDTH - 1 if self.width > BOX_WIDTH + 1 else None

    @property
    def kind(self) -> str:
        """Boxes may also have keypoints of three numbers each, or an angle."""
        extra = self.parts[2] if len(self.parts) == 3 and not self.is_score[2] else 0
        return "pose" if extra > 3 and extra % 3 == 0 else "oriented" if extra == 1 else "detection"


def find_box_selection(trace: OutputTrace) -> Op | None:
    """Return the op that selects boxes: non-maximum suppression, or TopK over several grids."""
    suppression = next((op for op in trace.ops if "NonMaxSuppression" in op.kind or "NMS" in op.kind), None)
    if suppression is not None or len(_cell_counts(trace)) < 2:
        return suppression
    return next((op for op in trace.ops if op.kind == "TopK"), None)


def selected_content(trace: OutputTrace, selection: Op) -> str | None:
    """Return the kind of values of selected boxes in an output: indices, coordinates, labels or scores."""
    info = trace.net.value_info[trace.value]
    if trace.value in selection.outputs:
        return "selected"
    if info.shape and info.shape[-1] == BOX_WIDTH:
        return "boxes"
    if is_integer(info.dtype):
        return "argmax"
    return "scores" if info.shape is None or len(info.shape) < 3 else None


def find_grid(trace: OutputTrace) -> DetectionGrid | None:
    """Return the list of boxes that convolutions over grids of several scales compute."""
    cells, dims = _cell_counts(trace), trace.dims
    if len(cells) < 2 or not dims or "Concat" not in trace.kinds or trace.kinds & _RESIZES:
        return None
    boxes = next((dim for dim in dims if dim and dim % sum(cells) == 0), None)
    if boxes is None:
        return None
    width = math.prod(dims) // (boxes * trace.net.batch_size) or 1
    return DetectionGrid(boxes, width, len(cells), *_joined_parts(trace, width))


def _cell_counts(trace: OutputTrace) -> set[int]:
    """Return the numbers of cells of the grids that an output is computed from."""
    net = trace.net
    shapes = [net.shape(value) or () for value in trace.ends if net.producer(value, *CONV_BLOCKS) is not None]
    return {math.prod(dims[2:]) for dims in shapes if len(dims) == 4} - {0}


def _joined_parts(trace: OutputTrace, width: int) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Return the operand widths of the Concat nearest to the output that add up to `width`.

    The first operand of a Concat is replaced by its own operands if it joins a box with more.
    """
    net = trace.net
    for op in trace.ops:
        if op.kind not in _MOVES:
            break
        axis = op.node_attribute("axis")
        if op.kind != "Concat" or not isinstance(axis, int):
            continue
        values, inner = op.inputs, net.producer(op.inputs[0], "Concat")
        if (
            inner is not None
            and inner.node_attribute("axis") == axis
            and _share_of_axis(net, inner.inputs[0], inner.outputs[0], axis) == BOX_WIDTH
        ):
            values = (*inner.inputs, *op.inputs[1:])
        sizes = tuple(_share_of_axis(net, value, op.outputs[0], axis) for value in values)
        if sum(sizes) == width:
            return sizes, tuple(net.producer(value, "Sigmoid") is not None for value in values)
    return (), ()


def _share_of_axis(net: Net, value: int, whole: int, axis: int) -> int:
    """Return the size of an operand along `axis`, from element counts: axes of 1 may have been dropped."""
    dims, whole_dims = net.shape(value), net.shape(whole)
    if not dims or not whole_dims or not -len(whole_dims) <= axis < len(whole_dims) or not math.prod(whole_dims):
        return -1
    return math.prod(dims) * whole_dims[axis] // math.prod(whole_dims)


def find_raw_detections(traces: list[OutputTrace]) -> list[OutputTrace]:
    """Return the outputs if all are plain convolutions over three or more grids, of one width unusual for features."""
    sources = [source for trace in traces if (source := trace.source) is not None and source.kind == "conv"]
    if len(sources) != len(traces) or len(sources) < 3:
        return []
    shapes = [trace.net.shape(trace.ends[0]) or () for trace in traces]
    sizes = {dims[2:] for dims in shapes if len(dims) == 4}
    width, *others = {feature_width(source) for source in sources}
    if others or len(sizes) != len(traces) or width is None or width % 3 or width % 16 == 0:
        return []
    return traces if width // 3 > BOX_WIDTH else []


# Pixels

_COLOURS: Final = 3
_MAX_STRIDE: Final = 8  # pixels of the image per pixel of a class map
_MIN_PIXELS: Final = 8  # on a side


def find_pixel_head(trace: OutputTrace) -> Head | None:
    """Return the head of an output that convolutions compute for each pixel or cell."""
    dims, channels = trace.dims, _channel_count(trace)
    if dims is None or channels is None or len(dims) < 3 or not trace.sources or "Concat" in trace.kinds:
        return None
    if "ArgMax" in trace.kinds or len(dims) == 3:
        height, width = (0, 0, *(dim for dim in dims if dim != 1))[-2:]
    else:
        height, width = dims[1:3] if dims[-1] == channels != dims[1] else dims[2:4]
    if min(height, width) < 2 or not all(op.kind in CONV_BLOCKS or op.residual is not None for op in trace.sources):
        return None
    evidence = f"has {pluralize(channels, 'value')} for each of {height} × {width} positions"
    kind = "features" if min(height, width) < _MIN_PIXELS else _pixel_kind(trace, channels, height)
    if kind == "text-map":
        evidence += ", upsampled by two transposed convolutions of stride 2"
    classes = None if kind in ("text-map", "map", "image") else channels
    activation = final_activation(trace)
    return trace.head(kind, evidence, classes=classes, activation=activation, positions=height * width)


def _channel_count(trace: OutputTrace) -> int | None:
    """Return the numbers per pixel: the channels before an ArgMax over them, else those of the output."""
    argmax = next((op for op in trace.ops if op.kind == "ArgMax"), None)
    if argmax is not None:
        return softmax_size(trace.net, argmax)
    dims, source = trace.dims or (), trace.source
    width = feature_width(source) if source is not None else None
    if len(dims) == 4:
        return dims[-1] if dims[-1] == width != dims[1] else dims[1]
    is_single = source is not None and source.kind in CONV_BLOCKS and width == 1
    return 1 if len(dims) == 3 and is_single else None


def _pixel_kind(trace: OutputTrace, channels: int, height: int) -> str:
    image_height, source = _input_image_height(trace.net), trace.source
    if image_height is not None and height * _MAX_STRIDE <= image_height:
        return "features"
    if "ArgMax" in trace.kinds or ("softmax" in trace.kinds and channels > 1):
        return "segmentation"
    if channels == 1:
        is_text = source is not None and _is_upsampled_twice(trace.net, source) and "Sigmoid" in trace.kinds
        return "text-map" if is_text else "map"
    if channels == _COLOURS:
        return "image"
    is_plain = source is not None and (source.conv.norm is None or source.conv.activation is None)
    is_conv = source is not None and source.kind in CONV_BLOCKS and (is_plain or channels <= _COLOURS)
    return "segmentation" if is_conv and image_height is not None else "features"


def _is_upsampled_twice(net: Net, source: Op) -> bool:
    """Whether two transposed convolutions double the size: the head of DBNet, which detects text."""
    before = net.producer(source.inputs[0], *CONV_BLOCKS)
    return all(
        op is not None and op.conv.transposed and op.conv.kernel == op.conv.strides == (2, 2) for op in (source, before)
    )


def _input_image_height(net: Net) -> int | None:
    """Return the height of the first input that can be an image, if its size is known."""
    for value in net.inputs.values():
        if net.rank(value) == 4:
            is_channels_last = net.dim(value, 3) in (1, 3, 4) and net.dim(value, 1) not in (1, 3, 4, None)
            height_axis = 1 if is_channels_last else 2
            return (net.dim(value, height_axis) or None) if net.dim(value, height_axis + 1) else None
    return None
