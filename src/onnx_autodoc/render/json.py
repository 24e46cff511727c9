"""JSON: the card itself, by the published schema."""

import msgspec

from onnx_autodoc.render._report import Report


def render_json(report: Report) -> str:
    return msgspec.json.format(msgspec.json.encode(report.card), indent=2).decode() + "\n"
