"""The files beside a model that hold weights: looked at, never opened."""

from collections.abc import Iterator
from pathlib import Path

from onnx_autodoc.graph import External, Model, Tensor, all_graphs, tensors_of
from onnx_autodoc.read._beneath import Absent, Beneath
from onnx_autodoc.read._names import Refused


def external_files(model: Model) -> tuple[External, ...]:
    """Each external file that the model names, with its size where it is there, in order of first use."""
    needed = _needed(model)
    if not needed:
        return ()
    with Beneath(str(Path(model.path).parent)) as folder:  # those of one folder together: it is entered once
        found = {path: _looked_at(folder, path, needed[path]) for path in sorted(needed, key=_parent)}
    return tuple(found[path] for path in needed)


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _needed(model: Model) -> dict[str, int]:
    """How far tensors reach into each file."""
    needed: dict[str, int] = {}
    for tensor in _tensors(model):
        if tensor.place is not None and tensor.place.path is not None:
            length = tensor.place.length if tensor.place.length is not None else tensor.nbytes or 0
            needed[tensor.place.path] = max(needed.get(tensor.place.path, 0), tensor.place.offset + length)
    return needed


def _looked_at(folder: Beneath, path: str, end: int) -> External:
    try:
        return External(path, folder.size(path), end)
    except Absent:
        return External(path, None, end)
    except Refused as refused:
        return External(path, None, end, str(refused))


def _tensors(model: Model) -> Iterator[Tensor]:
    for graph in (*all_graphs(model), *model.training):
        yield from tensors_of(graph)
