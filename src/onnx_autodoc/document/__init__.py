"""The published document and how it comes from what was measured."""

from onnx_autodoc.document._build import build
from onnx_autodoc.document._rows import node_rows
from onnx_autodoc.document._types import SCHEMA_VERSION, Card, Generated, NodeRow, OutputCell, Port
from onnx_autodoc.structure import MOST_ROWS, Box, Edge

__all__ = [
    "MOST_ROWS",
    "SCHEMA_VERSION",
    "Box",
    "Card",
    "Edge",
    "Generated",
    "NodeRow",
    "OutputCell",
    "Port",
    "build",
    "node_rows",
]
