"""Renderers: each turns a `Report` into one text. None of them can reach the graph.

A format is a file here with one function, and a line in `FORMATS`.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from onnx_autodoc.render._report import Report
from onnx_autodoc.render.csv import render_csv
from onnx_autodoc.render.json import render_json
from onnx_autodoc.render.mermaid import render_mermaid
from onnx_autodoc.render.nodes import render_nodes

__all__ = ["FORMATS", "Format", "Report", "render_terminal"]


def render_terminal(report: Report, color: bool = False) -> str:
    """The terminal card. Its library is loaded only when it is drawn."""
    from onnx_autodoc.render import terminal

    return terminal.render_terminal(report, color)


class Format(Struct, frozen=True):
    render: Callable[[Report], str]
    suffix: str  # of the file that `-o` recognises and a folder gets
    file: str  # the file's name in a folder


FORMATS: Final[dict[str, Format]] = {
    "terminal": Format(render_terminal, ".txt", "card.txt"),
    "json": Format(render_json, ".json", "card.json"),
    "nodes": Format(render_nodes, ".jsonl", "nodes.jsonl"),
    "csv": Format(render_csv, ".csv", "nodes.csv"),
    "mermaid": Format(render_mermaid, ".mmd", "diagram.mmd"),
}
