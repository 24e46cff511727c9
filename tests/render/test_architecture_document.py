"""The architecture document: the headings that such documents have always had, with true content below them."""

import re

from onnx_autodoc.render.architecture import render_architecture
from tests._corpus import load_report

HEADINGS = [
    "# Architecture: e5-small-v2-dynquant-int8 (int8-dynamic)",
    "## Model Overview",
    "## Architecture Diagram",
    "### Operator Flow",
    "### Metadata",
    "### File Information",
    "## Input/Output Specification",
    "### Inputs",
    "### Outputs",
    "## Graph Structure",
    "## Operators",
    "### Operator Frequency",
    "## Parameters",
]


def render_document(name: str) -> str:
    return render_architecture(load_report(name))


def test_headings_are_those_of_the_original_tool() -> None:
    assert re.findall(r"^#+ .*", render_document("e5-small-v2-dynquant-int8"), re.M) == HEADINGS


def test_errors_of_the_original_tool_are_fixed() -> None:
    text = render_document("e5-small-v2-dynquant-int8")
    assert "pixel_values" not in text and "QDQ" not in text
    assert "<b>input_ids</b>" in text and "12 × Encoder layer" in text
    deep, shallow = (re.findall(r"Graph Depth:\*\* (\S+)", render_document(name))[0] for name in (E5, MINILM))
    assert int(deep.replace(",", "")) > 1.7 * int(shallow.replace(",", ""))
    assert "| `input_ids` | int64 | `[batch_size, sequence_length]` |" in text


E5, MINILM = "e5-small-v2-dynquant-int8", "all-minilm-l6-v2-dynquant-int8"


def test_operator_flow_lists_graph_connections() -> None:
    """A convolution is read by its activation: 97 SiLUs read one twice each."""
    text = render_document("yolov8l-nc1")
    assert "| `Conv` | `Mul` | 97 |" in text and "| `Conv` | `Sigmoid` | 97 |" in text
    assert "| `Constant` |" not in text.split("### Metadata")[0]
