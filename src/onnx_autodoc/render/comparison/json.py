"""The comparison as JSON, by its published schema."""

from onnx_autodoc.compare import Comparison
from onnx_autodoc.render._within import pretty


def render_json(comparison: Comparison) -> str:
    return pretty(comparison)
