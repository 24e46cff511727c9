"""The files beside a model that hold weights: looked at, never opened."""

import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from onnx_autodoc.graph import External, Model, Tensor, all_graphs, tensors_of


def external_files(model: Model) -> tuple[External, ...]:
    """Each external file that the model names, with its size where it is there, in order of first use."""
    needed: dict[str, int] = {}
    for tensor in _tensors(model):
        if tensor.place is not None and tensor.place.path is not None:
            length = tensor.place.length if tensor.place.length is not None else tensor.nbytes or 0
            end = tensor.place.offset + length
            needed[tensor.place.path] = max(needed.get(tensor.place.path, 0), end)
    folder = Path(model.path).parent
    return tuple(External(path, _size(folder, path), end) for path, end in needed.items())


def _size(folder: Path, path: str) -> int | None:
    """The size of a regular file below the model's folder, or None; a path that leads elsewhere is not looked at."""
    relative = PurePosixPath(path)
    if not path or relative.is_absolute() or ".." in relative.parts or "\0" in path:
        return None
    try:
        status = (folder / relative).stat()
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _tensors(model: Model) -> Iterator[Tensor]:
    for graph in (*all_graphs(model), *model.training):
        yield from tensors_of(graph)
