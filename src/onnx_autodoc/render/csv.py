"""The nodes as a table for spreadsheets: the columns of `nodes`, one line per node."""

import csv
import io
import re
from typing import Final

from onnx_autodoc.card import NodeRow, OutputCell
from onnx_autodoc.render._report import Report
from onnx_autodoc.text import clean

# At the beginning of a cell, which a semicolon may end too, in letters of either width; the last one begins a command
# in the log of a job.
_FORMULA: Final = re.compile(r"(^|;)(?=\s*(?:[=+\-@＝＋－＠]|::))")
_COLUMNS: Final = NodeRow.__struct_fields__
_LONGEST: Final = 1_000  # letters of a name
_MOST: Final = 30_000  # letters of a cell: spreadsheets take 32,767


def render_csv(report: Report) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in report.nodes():
        writer.writerow([_cell(getattr(row, column)) for column in _COLUMNS])
    return text.getvalue()


def _cell(item: object) -> str:
    if item is None:
        return ""
    if isinstance(item, tuple):
        return _inert(clean("; ".join(_output(cell) for cell in item if isinstance(cell, OutputCell)), _MOST))
    return _inert(clean(item, _LONGEST)) if isinstance(item, str) else str(item)


def _output(cell: OutputCell) -> str:
    shape = "?" if cell.shape is None else "x".join(map(str, cell.shape)) or "scalar"
    return _inert(f"{clean(cell.name, _LONGEST)} {clean(cell.dtype or '?')} {shape}")


def _inert(text: str) -> str:
    """A spreadsheet runs what begins like a formula, after blanks too: an apostrophe in front keeps it text."""
    return _FORMULA.sub(r"\1'", text)
