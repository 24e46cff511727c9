"""One JSON object per line and node, in file order."""

from onnx_autodoc.render._report import Report
from onnx_autodoc.render._within import encoded, within


def render_nodes(report: Report) -> str:
    """The way to a node stands in each of its rows: what is longer than a name is shortened, or it would multiply."""
    return "".join(f"{encoded(within(row)).decode()}\n" for row in report.nodes())
