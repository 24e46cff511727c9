"""The comparison as JSON, by its published schema."""

import msgspec

from onnx_autodoc.diff import Comparison
from onnx_autodoc.render._within import whole


def render_json(comparison: Comparison) -> str:
    return msgspec.json.format(whole(comparison), indent=2).decode() + "\n"
