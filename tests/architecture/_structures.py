"""The architecture of models in the notation of ONNX."""

from onnx_autodoc.api import measure_model
from onnx_autodoc.architecture import Structure, describe
from onnx_autodoc.card import Box
from onnx_autodoc.shapes import Request
from tests._text import model


def describe_text(text: str, opset: int = 18, functions: str = "") -> Structure:
    return describe(measure_model(model(text, opset, functions), Request()))


def draw_text(text: str, opset: int = 18) -> Box:
    tree = describe_text(text, opset).tree
    assert tree is not None
    return tree


def write_chain(lines: list[str], last: str) -> str:
    """Return a graph of an input x whose output is the value `last`."""
    return f"g (float[1,8,16] x) => (float y)\n{{ {' '.join(lines)} y = Identity({last}) }}"
