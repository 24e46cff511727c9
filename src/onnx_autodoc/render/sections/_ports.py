"""Inputs, outputs and shapes in words."""

from onnx_autodoc.card import Port
from onnx_autodoc.render._blocks import Name, Text
from onnx_autodoc.text import clean

_MOST_DIMS = 12


def shape_of(shape: tuple[int | str | None, ...] | None) -> Text:
    """As the file declares it: open sizes by their names."""
    if shape is None:
        return ("not declared",)
    if not shape:
        return ("scalar",)
    shown = ["?" if dim is None else clean(str(dim), 40) for dim in shape[:_MOST_DIMS]]
    return (Name("[" + ", ".join([*shown, *(["…"] if len(shape) > _MOST_DIMS else [])]) + "]"),)


def bound_of(port: Port) -> str:
    if port.bound is None:
        return "not known"
    return " × ".join(f"{size:,}" for size in port.bound[:_MOST_DIMS]) or "scalar"


def type_of(port: Port) -> str:
    dtype = port.dtype or "not known"
    return dtype if port.kind == "tensor" else f"{port.kind} of {dtype}"
