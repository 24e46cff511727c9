"""The structure of models written as text."""

from onnx_autodoc.api import measure_model
from onnx_autodoc.architecture import Structure, describe
from onnx_autodoc.card import Box
from onnx_autodoc.shapes import Request
from tests._text import model


def described(text: str, opset: int = 18, functions: str = "") -> Structure:
    return describe(measure_model(model(text, opset, functions), Request()))


def tree_of(text: str, opset: int = 18) -> Box:
    found = described(text, opset).tree
    assert found is not None
    return found


def chain(lines: list[str], last: str) -> str:
    """A graph of x that ends with a value."""
    return f"g (float[1,8,16] x) => (float y)\n{{ {' '.join(lines)} y = Identity({last}) }}"
