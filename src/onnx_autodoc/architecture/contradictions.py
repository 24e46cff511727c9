"""Contradictions between metadata and shapes, such as 80 class names and no output with 80 values.

They are reported only where certain: the declared task determines the layout of the outputs, every output shape is
known, and no axis has a size that the layout allows.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.architecture.metadata_fields import clean_text
from onnx_autodoc.card import Dataset
from onnx_autodoc.text import pluralize

InputDims = tuple[int | None, ...] | None  # None: unknown or dynamic
OutputShapes = Mapping[str, tuple[int, ...] | None]

_CLASSIFICATION_TASKS: Final = frozenset(
    ("classify", "classification", "image-classification", "text-classification", "audio-classification")
) | {"sequence-classification", "token-classification", "multiclass-classification", "semantic-segmentation"}
_BOX_TASKS: Final = frozenset(("detect", "segment", "pose", "obb"))  # of Ultralytics
_DEFAULT_MASKS: Final = 32
_DFL_BINS: Final = 64  # of a raw YOLOv8 head: 16 per side of a box
_MAX_SPECIAL_TOKENS: Final = 5  # blank, space, start, end, padding
_MAX_SHAPES_SHOWN: Final = 3


def find_contradictions(
    dataset: Dataset, output_shapes: OutputShapes, input_shapes: Mapping[str, InputDims] | None = None
) -> tuple[str, ...]:
    """Return one sentence per contradiction. `input_shapes` are declared ones, with None for dynamic dimensions."""
    known = {name: dims for name, dims in output_shapes.items() if dims is not None}
    contradictions = list(dataset.problems)
    if known and len(known) == len(output_shapes):
        contradictions += _class_contradictions(dataset, known)
        contradictions += _character_contradictions(dataset, known)
    contradictions += _input_contradictions(dataset, input_shapes or {})
    return tuple(contradictions)


def _class_contradictions(dataset: Dataset, outputs: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    count = dataset.classes
    if count is None:
        return
    sizes: set[int] = set()
    for number in {count, dataset.numbered or count}:
        sizes |= _class_axis_sizes(dataset, number, outputs)
    rank = 3 if _is_detector(dataset) else 2
    shapes = [dims for dims in outputs.values() if len(dims) >= rank]
    if sizes and shapes and all(sizes.isdisjoint(dims) for dims in shapes):
        source = dataset.sources.get("classes", "the metadata")
        claim = f"{source} declares {pluralize(count, 'class', 'classes')}"
        yield f"{claim}, but no output shape matches: {_quote_shapes(outputs)}"


def _is_detector(dataset: Dataset) -> bool:
    """YOLOv5 declares no task, but class names and the stride of its boxes."""
    return dataset.task in _BOX_TASKS or (dataset.task is None and dataset.stride is not None)


def _class_axis_sizes(dataset: Dataset, count: int, outputs: Mapping[str, tuple[int, ...]]) -> set[int]:
    """Return the sizes that an axis with `count` classes may have; empty where the layout is uncertain."""
    if (dataset.task or "").lower() in _CLASSIFICATION_TASKS:
        return {count - 1, count, count + 1} if count > 2 else set()  # a background class may be counted
    extra = _extra_box_values(dataset, outputs)
    if not _is_detector(dataset) or extra is None:
        return set()
    rows = {4 + count + extra, 5 + count + extra}
    heads = {3 * (5 + count + extra), _DFL_BINS + count, count, count + 1}
    selected = set() if dataset.end_to_end is False else {6 + extra, 7 + extra}
    return rows | heads | selected


def _extra_box_values(dataset: Dataset, outputs: Mapping[str, tuple[int, ...]]) -> int | None:
    """Return the values of a box after its sides and classes: mask coefficients, keypoints or an angle."""
    if dataset.task == "segment":
        return next((dims[1] for dims in outputs.values() if len(dims) == 4), _DEFAULT_MASKS)
    if dataset.task == "pose":
        return math.prod(dataset.keypoints) if dataset.keypoints else None
    return 1 if dataset.task == "obb" else 0


def _character_contradictions(dataset: Dataset, outputs: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """A recognizer outputs a score per character and position: [batch, positions, characters and special tokens]."""
    count = dataset.characters
    scores = [dims[-1] for dims in outputs.values() if len(dims) == 3]
    if count and scores and not any(count - 1 <= size <= count + _MAX_SPECIAL_TOKENS for size in scores):
        source = dataset.sources.get("characters", "the metadata")
        yield f"{source} lists {pluralize(count, 'character')}, but no output shape matches: {_quote_shapes(outputs)}"


def _input_contradictions(dataset: Dataset, shapes: Mapping[str, InputDims]) -> Iterator[str]:
    images = {name: dims for name, dims in shapes.items() if dims is not None and len(dims) == 4}
    if len(images) == 1:
        yield from _image_contradictions(dataset, *next(iter(images.items())))
    if len(shapes) == 1 and dataset.features:
        name, dims = next(iter(shapes.items()))
        columns = dims[1] if dims is not None and len(dims) == 2 else None
        if columns is not None and columns != dataset.features:
            source = dataset.sources.get("features", "the metadata")
            claim = f"{source} declares {pluralize(dataset.features, 'feature')}"
            yield f"{claim}, but input {clean_text(name)!r} has {pluralize(columns, 'column')}"


def _image_contradictions(dataset: Dataset, name: str, dims: tuple[int | None, ...]) -> Iterator[str]:
    """Compare an image input, [batch, channels, height, width] or channels last by where the channel count is."""
    last = dims[1] not in (1, 3, 4) and dims[3] in (1, 3, 4)
    channels, height, width = (dims[3], dims[1], dims[2]) if last else (dims[1], dims[2], dims[3])
    size = dataset.image_size
    if size and height and width and sorted((height, width)) != sorted(size):
        source = dataset.sources.get("image_size", "the metadata")
        yield f"{source} declares images of {size[0]} × {size[1]}, but input {clean_text(name)!r} is {height} × {width}"
    if size and channels in (1, 3, 4) and dataset.channels and channels != dataset.channels:
        source = dataset.sources.get("channels", "the metadata")
        claim = f"{source} declares {pluralize(dataset.channels, 'channel')}"
        yield f"{claim}, but input {clean_text(name)!r} has {channels}"


def _quote_shapes(outputs: Mapping[str, tuple[int, ...]]) -> str:
    shown = [f"{clean_text(name)!r} is {list(dims)}" for name, dims in list(outputs.items())[:_MAX_SHAPES_SHOWN]]
    more = len(outputs) - len(shown)
    return ", ".join(shown) + (f", and {more:,} more" if more else "")
