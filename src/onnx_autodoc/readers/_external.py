"""The files beside a model that hold weights: looked at, never opened."""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from onnx_autodoc.ir import External, Model, Tensor
from onnx_autodoc.readers._external_paths import Refused
from onnx_autodoc.readers._safe_open import Absent, Beneath, held_bytes


def external_files(path: str, tensors: Iterable[Tensor]) -> tuple[External, ...]:
    """Each external file that a model names, with its size where it is there, in order of first use.

    Of all tensors in the file, wherever they stand: a runtime loads those that no graph of ours has (the indices of a
    sparse one, what a function's attribute is by default), and so can be led elsewhere by them.
    """
    needed = _needed(tensors)
    if not needed:
        return ()
    with Beneath(str(Path(path).parent)) as folder:  # those of one folder together: it is entered once
        found = {path: _looked_at(folder, path, needed[path]) for path in sorted(needed, key=_parent)}
    return tuple(found[path] for path in needed)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _needed(tensors: Iterable[Tensor]) -> dict[str, int]:
    """How far tensors reach into each file."""
    needed: dict[str, int] = {}
    for tensor in tensors:
        if tensor.place is not None and tensor.place.path is not None:
            length = tensor.place.length if tensor.place.length is not None else tensor.nbytes or 0
            needed[tensor.place.path] = max(needed.get(tensor.place.path, 0), tensor.place.offset + length)
    return needed


def held(model: Model) -> int:
    """Bytes that the model's file and those beside it have on the disk: what reading all of them is worth in time."""
    total = 0
    with suppress(OSError):
        total = held_bytes(Path(model.path).stat())
    with Beneath(str(Path(model.path).parent)) as folder:
        for file in model.external:
            with suppress(Refused):
                total += folder.held(file.path)
    return total


def _looked_at(folder: Beneath, path: str, end: int) -> External:
    try:
        return External(path, folder.size(path), end)
    except Absent:
        return External(path, None, end)
    except Refused as refused:
        return External(path, None, end, str(refused))
