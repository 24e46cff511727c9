"""The node table as CSV for spreadsheets: the columns of `nodes`, one line per node."""

import csv
import io
import re
from typing import Final

from onnx_autodoc.card import NodeRow, OutputCell
from onnx_autodoc.render.content import Report
from onnx_autodoc.text import sanitize

# A formula at the start of a cell, which a semicolon may end too, in characters of either width; `::` starts a
# workflow command in a CI log.
_FORMULA: Final = re.compile(r"(^|;)(?=\s*(?:[=+\-@＝＋－＠]|::))")
_COLUMNS: Final = NodeRow.__struct_fields__
_MAX_NAME_LENGTH: Final = 1_000
_MAX_CELL_LENGTH: Final = 30_000  # spreadsheets take 32,767 characters


def render_csv(report: Report) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in report.nodes():
        writer.writerow([_write_cell(getattr(row, column)) for column in _COLUMNS])
    return text.getvalue()


def _write_cell(item: object) -> str:
    """Return a cell, with an apostrophe before what a spreadsheet would run as a formula."""
    if isinstance(item, tuple):
        outputs = "; ".join(_write_output(cell) for cell in item if isinstance(cell, OutputCell))
        return _FORMULA.sub(r"\1'", sanitize(outputs, _MAX_CELL_LENGTH))
    if isinstance(item, str):
        return _FORMULA.sub(r"\1'", sanitize(item, _MAX_NAME_LENGTH))
    return "" if item is None else str(item)


def _write_output(cell: OutputCell) -> str:
    shape = "?" if cell.shape is None else "x".join(map(str, cell.shape)) or "scalar"
    return _FORMULA.sub(r"\1'", f"{sanitize(cell.name, _MAX_NAME_LENGTH)} {sanitize(cell.dtype or '?')} {shape}")
