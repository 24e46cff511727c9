"""JSON: the card itself, by the published schema."""

from onnx_autodoc.render._report import Report
from onnx_autodoc.render._within import pretty


def render_json(report: Report) -> str:
    return pretty(report.card)
