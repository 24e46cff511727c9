"""The comparison as JSON, by its published schema."""

import msgspec

from onnx_autodoc.diff import Comparison


def render_json(comparison: Comparison) -> str:
    return msgspec.json.format(msgspec.json.encode(comparison), indent=2).decode() + "\n"
