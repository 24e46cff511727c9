"""Where what the metadata says cannot be true of the shapes: names of 80 classes, and no output with room for them.

Said only where it is sure: the layout of the outputs follows from the exporter's own word for the task, every output's
shape is known, and none of the sizes that the layout could have is there.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.architecture.metadata._labels import plain
from onnx_autodoc.architecture.metadata.dataset import Dataset

Dims = tuple[int | None, ...] | None  # None: not known, or open
Outputs = Mapping[str, tuple[int, ...] | None]

_CLASSIFIERS: Final = frozenset(
    ("classify", "classification", "image-classification", "text-classification", "audio-classification")
) | {"sequence-classification", "token-classification", "multiclass-classification", "semantic-segmentation"}
_BOXES: Final = frozenset(("detect", "segment", "pose", "obb"))  # Ultralytics' words; those of others tell no layout
_MASKS: Final = 32
_BINS: Final = 64  # of a raw YOLOv8 head: 16 for each side of a box
_SPECIAL: Final = 5  # blank, space, start, end, padding: what a recognizer has beside its characters, at most
_SHOWN: Final = 3


def contradictions(
    dataset: Dataset, output_shapes: Outputs, input_shapes: Mapping[str, Dims] | None = None
) -> tuple[str, ...]:
    """One sentence each. `input_shapes` are those that the file fixes; open dims are None."""
    known = {name: dims for name, dims in output_shapes.items() if dims is not None}
    found = list(dataset.problems)
    if known and len(known) == len(output_shapes):
        found += _classes(dataset, known)
        found += _characters(dataset, known)
    found += _inputs(dataset, input_shapes or {})
    return tuple(found)


def _classes(dataset: Dataset, outputs: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    count = dataset.classes
    if count is None:
        return
    sizes: set[int] = set()
    for number in {count, dataset.numbered or count}:
        sizes |= _sizes(dataset, number, outputs)
    rank = 3 if _is_boxes(dataset) else 2
    shapes = [dims for dims in outputs.values() if len(dims) >= rank]
    if sizes and shapes and all(sizes.isdisjoint(dims) for dims in shapes):
        source = dataset.sources.get("classes", "the metadata")
        yield f"{source} says {count:,} classes, but no output has room for them: {_shown(outputs)}"


def _is_boxes(dataset: Dataset) -> bool:
    """YOLOv5 names no task; it leaves the names of classes and the stride of its boxes."""
    return dataset.task in _BOXES or (dataset.task is None and dataset.stride is not None)


def _sizes(dataset: Dataset, count: int, outputs: Mapping[str, tuple[int, ...]]) -> set[int]:
    """The sizes that an axis with room for so many classes may have; none where that is not sure."""
    if (dataset.task or "").lower() in _CLASSIFIERS:
        return {count - 1, count, count + 1} if count > 2 else set()  # a background may be counted, or not
    beside = _beside(dataset, outputs)
    if not _is_boxes(dataset) or beside is None:
        return set()
    rows = {4 + count + beside, 5 + count + beside}
    heads = {3 * (5 + count + beside), _BINS + count, count, count + 1}
    chosen = set() if dataset.end_to_end is False else {6 + beside, 7 + beside}
    return rows | heads | chosen


def _beside(dataset: Dataset, outputs: Mapping[str, tuple[int, ...]]) -> int | None:
    """Numbers of a box beside its sides and classes: of its mask, its points, its angle."""
    if dataset.task == "segment":
        return next((dims[1] for dims in outputs.values() if len(dims) == 4), _MASKS)
    if dataset.task == "pose":
        return math.prod(dataset.keypoints) if dataset.keypoints else None
    return 1 if dataset.task == "obb" else 0


def _characters(dataset: Dataset, outputs: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    """A recognizer gives a score to every character at every place: [batch, places, characters and a few more]."""
    count = dataset.characters
    scores = [dims[-1] for dims in outputs.values() if len(dims) == 3]
    if count and scores and not any(count - 1 <= size <= count + _SPECIAL for size in scores):
        source = dataset.sources.get("characters", "the metadata")
        yield f"{source} lists {count:,} characters, but no output has room for them: {_shown(outputs)}"


def _inputs(dataset: Dataset, shapes: Mapping[str, Dims]) -> Iterator[str]:
    images = {name: dims for name, dims in shapes.items() if dims is not None and len(dims) == 4}
    if len(images) == 1:
        yield from _image(dataset, *next(iter(images.items())))
    if len(shapes) == 1 and dataset.features:
        name, dims = next(iter(shapes.items()))
        columns = dims[1] if dims is not None and len(dims) == 2 else None
        if columns is not None and columns != dataset.features:
            source = dataset.sources.get("features", "the metadata")
            yield f"{source} says {dataset.features:,} features, but the input {plain(name)!r} has {columns:,} columns"


def _image(dataset: Dataset, name: str, dims: tuple[int | None, ...]) -> Iterator[str]:
    """[batch, channels, height, width], or channels last: whichever has as many channels as images have."""
    last = dims[1] not in (1, 3, 4) and dims[3] in (1, 3, 4)
    channels, height, width = (dims[3], dims[1], dims[2]) if last else (dims[1], dims[2], dims[3])
    size = dataset.image_size
    if size and height and width and sorted((height, width)) != sorted(size):
        source = dataset.sources.get("image_size", "the metadata")
        yield f"{source} says {size[0]} × {size[1]}, but the input {plain(name)!r} takes {height} × {width}"
    if size and channels in (1, 3, 4) and dataset.channels and channels != dataset.channels:
        source = dataset.sources.get("channels", "the metadata")
        yield f"{source} says {dataset.channels} channels, but the input {plain(name)!r} takes {channels}"


def _shown(outputs: Mapping[str, tuple[int, ...]]) -> str:
    shown = [f"{plain(name)!r} is {list(dims)}" for name, dims in list(outputs.items())[:_SHOWN]]
    more = len(outputs) - len(shown)
    return ", ".join(shown) + (f", and {more:,} more" if more else "")
