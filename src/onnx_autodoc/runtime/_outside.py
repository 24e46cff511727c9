"""Weights beside the model, looked at before anything native sees the file."""

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Model
from onnx_autodoc.text import clean, count


def check_external(model: Model) -> None:
    """Every file is there, long enough, and one that reading would take; else one line says which is not.

    Which files are taken is decided where the model is read: below its folder, and behind links only if the user
    allows it (the layout of a download cache).
    """
    for file in model.external:
        name = clean(file.path, 120) or "without a name"
        if file.reason:
            raise BadInput(f"{model.path}: its weights: the file {name} {file.reason}")
        if file.nbytes is None:
            raise BadInput(f"{model.path}: its weights in {name} are not there; put the file beside the model")
        if file.nbytes < file.needed:
            held = f"{count(file.nbytes)} of {count(file.needed)} bytes (truncated download?)"
            raise BadInput(f"{model.path}: its weights in {name} are not whole: {held}")
