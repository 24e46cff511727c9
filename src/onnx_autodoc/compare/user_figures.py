"""Figures that the user supplies (accuracy, measured latency …), read from a JSON or CSV file and compared."""

import csv
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from onnx_autodoc.card import MAX_FIGURE
from onnx_autodoc.compare.figures import difference
from onnx_autodoc.compare.types import FigureChange
from onnx_autodoc.errors import BadInput
from onnx_autodoc.text import sanitize

Figures = dict[str, dict[str, int | float]]
_MODEL_COLUMN: Final = "model"
_MAX_INTEGER: Final = MAX_FIGURE // 2  # the difference of two has 64 bits
_EXPECTED: Final = 'expected {"model": {"figure": number}}'


def read_figures(text: str, path: str) -> Figures:
    """Parse figures by model. `path` names the file in messages; text that begins like JSON is parsed as JSON."""
    figures = _parse_json(text, path) if text.lstrip().startswith(("{", "[")) else _parse_csv(text, path)
    if not any(figures.values()):
        raise BadInput(f"{path}: no figures; {_EXPECTED}, or CSV with a column {_MODEL_COLUMN!r}")
    if any(not name.strip() for row in figures.values() for name in row):
        raise BadInput(f"{path}: a figure has no name")
    return figures


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Reject a key that occurs twice: JSON parsers would keep the last."""
    row: dict[str, Any] = {}
    for name, value in pairs:
        if name in row:
            raise BadInput(f"duplicate key {sanitize(name, 80)}")
        row[name] = value
    return row


def _parse_json(text: str, path: str) -> Figures:
    try:
        data = json.loads(text, object_pairs_hook=_reject_duplicates)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not JSON: {sanitize(str(error))}") from None
    if not isinstance(data, dict) or not all(isinstance(row, dict) for row in data.values()):
        raise BadInput(f"{path}: {_EXPECTED}")
    return {
        name: {
            key: _check_number(value, f"{path}: {sanitize(name, 80)}: {sanitize(key, 80)}")
            for key, value in row.items()
        }
        for name, row in data.items()
    }


def _parse_csv(text: str, path: str) -> Figures:
    """Parse one row per model. An empty cell is an unknown figure."""
    try:
        reader = csv.DictReader(io.StringIO(text.lstrip()), restkey="", strict=True, skipinitialspace=True)
        rows, titles = list(reader), list(reader.fieldnames or ())
    except csv.Error as error:
        raise BadInput(f"{path}: not CSV: {error}") from None
    if len({*titles}) < len(titles):
        raise BadInput(f"{path}, line 1: duplicate column")
    figures: Figures = {}
    for line, row in enumerate(rows, 2):
        name = (row.pop(_MODEL_COLUMN, None) or "").strip()
        if not name or "" in row or None in row.values():
            raise BadInput(f"{path}, line {line}: expected a column {_MODEL_COLUMN!r} and a cell for each other column")
        if name in figures:
            raise BadInput(f"{path}, line {line}: duplicate model {sanitize(name, 80)}")
        cells = {key: cell.strip() for key, cell in row.items() if cell.strip()}
        figures[name] = {
            key: _parse_cell(cell, f"{path}, line {line}: {sanitize(key, 80)}") for key, cell in cells.items()
        }
    return figures


def _parse_cell(cell: str, where: str) -> int | float:
    try:
        return _check_number(int(cell), where) if cell.lstrip("+-").isdigit() else _check_number(float(cell), where)
    except ValueError:
        raise BadInput(f"{where}: {sanitize(cell, 60)!r} is not a number") from None


def _check_number(value: Any, where: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise BadInput(f"{where}: {sanitize(str(value), 60)!r} is not a number")
    return value if abs(value) <= _MAX_INTEGER else float(value)


def assign_figures(figures: Mapping[str, Mapping[str, int | float]], names: Sequence[str]) -> Figures:
    """Assign figures to the compared models by path, else by file name, else by stem."""
    assigned: Figures = {}
    for name, row in figures.items():
        by_path, by_file, by_stem = (
            [model for model, label in zip(names, labels) if label == name]
            for labels in (names, [PurePath(model).name for model in names], [PurePath(model).stem for model in names])
        )
        models = by_path or by_file or by_stem
        if not models:
            known = ", ".join(sanitize(model, 80) for model in names)
            raise BadInput(f"figures: no model is named {sanitize(name, 80)!r}; models: {known}")
        for model in models:
            values = assigned.setdefault(model, {})
            conflict = next((key for key in row if values.get(key, row[key]) != row[key]), None)
            if conflict is not None:
                figure, owner = sanitize(conflict, 80), sanitize(model, 80)
                raise BadInput(f"figures: conflicting values for {figure!r} of {owner}")
            values.update(row)
    return assigned


def figure_changes(figures: Figures, first: str, second: str) -> Iterator[FigureChange]:
    """Yield every figure of either model, changed or not."""
    old, new = figures.get(first, {}), figures.get(second, {})
    for name in old | new:
        was, now = old.get(name), new.get(name)
        yield FigureChange(name, was, now, *difference(was, now))
