"""Weights beside the model, looked at before anything native sees the file."""

from pathlib import Path

from onnx_autodoc.errors import BadInput
from onnx_autodoc.graph import Model
from onnx_autodoc.say import clean, count


def check_external(model: Model) -> None:
    """Every file is there, long enough and below the model's folder, links followed; else one line says which is not.

    A link at the model itself is the user's own, and the folder that it leads to may hold the weights: the layout of a
    download cache.
    """
    for file in model.external:
        name = f"{model.path}: its weights in {clean(file.path, 120) or 'a file without a name'}"
        if _leads_out(model.path, file.path):
            raise BadInput(f"{name} are outside of its folder; such a path is never followed")
        if file.nbytes is None:
            raise BadInput(f"{name} are not there; put the file beside the model")
        if file.nbytes < file.needed:
            held = f"{count(file.nbytes)} of {count(file.needed)} bytes (truncated download?)"
            raise BadInput(f"{name} are not whole: {held}")


def _leads_out(model: str, path: str) -> bool:
    folder = Path(model).parent
    if not path or "\0" in path or Path(path).is_absolute() or ".." in Path(path).parts:
        return True
    real, roots = (folder / path).resolve(), (folder.resolve(), Path(model).resolve().parent)
    return not any(real.is_relative_to(root) for root in roots)
