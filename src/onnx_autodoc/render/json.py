"""JSON: the card itself, by the published schema."""

import msgspec

from onnx_autodoc.render._report import Report
from onnx_autodoc.render._within import whole


def render_json(report: Report) -> str:
    return msgspec.json.format(whole(report.card), indent=2).decode() + "\n"
