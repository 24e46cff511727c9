"""The files that hold a model's external data: their sizes are looked up, they are not opened."""

from collections.abc import Iterable
from contextlib import suppress

from onnx_autodoc.ir import ExternalData, Model, Tensor
from onnx_autodoc.storage import AccessRefused, FileMissing, Storage, open_storage


def external_files(storage: Storage, tensors: Iterable[Tensor]) -> tuple[ExternalData, ...]:
    """Return each external file that a model names, with its size if it exists, in order of first use.

    `tensors` are all tensors in the file: a runtime also loads those that are in no graph (indices of a sparse tensor,
    a function's default attribute), so these may lead out of the folder too.
    """
    ends = _required_bytes(tensors)
    by_folder = sorted(ends, key=lambda path: path.rpartition("/")[0])  # each folder is entered once
    files = {path: _look_up(storage, path, ends[path]) for path in by_folder}
    return tuple(files[path] for path in ends)


def _required_bytes(tensors: Iterable[Tensor]) -> dict[str, int]:
    """Return how many bytes each external file needs for all its tensors."""
    ends: dict[str, int] = {}
    for tensor in tensors:
        if tensor.location is not None and tensor.location.path is not None:
            length = tensor.location.length if tensor.location.length is not None else tensor.nbytes or 0
            ends[tensor.location.path] = max(ends.get(tensor.location.path, 0), tensor.location.offset + length)
    return ends


def _look_up(storage: Storage, path: str, end: int) -> ExternalData:
    try:
        return ExternalData(path, storage.size(path), end)
    except FileMissing:
        return ExternalData(path, None, end)
    except AccessRefused as refused:
        return ExternalData(path, None, end, str(refused))


def stored_bytes(model: Model) -> int:
    """Return the bytes that a model's files occupy on disk, without holes: deadlines grow with these."""
    total = 0
    with open_storage(model.path) as storage:
        with suppress(OSError):
            total = storage.stored_size()
        for file in model.external:
            with suppress(AccessRefused):
                total += storage.stored_size(file.path)
    return total
