"""One JSON object per line and node, in file order."""

import msgspec

from onnx_autodoc.render._report import Report


def render_nodes(report: Report) -> str:
    encode = msgspec.json.Encoder().encode_lines
    return encode(list(report.nodes())).decode()
