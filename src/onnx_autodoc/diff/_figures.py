"""Accuracy, latency and the like, which only a user knows: read from a JSON or CSV file, and set against each other."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

import msgspec

from onnx_autodoc.diff._numbers import difference
from onnx_autodoc.diff._types import FigureChange
from onnx_autodoc.errors import BadInput
from onnx_autodoc.say import clean

Figures = dict[str, dict[str, int | float]]
_MODEL: Final = "model"
_HOW: Final = 'expected {"model": {"figure": number}}'


def read_figures(text: str, path: str) -> Figures:
    """By model, as the file calls it. `path` is what messages call the file; what begins like JSON is JSON."""
    return _from_json(text, path) if text.lstrip().startswith(("{", "[")) else _from_csv(text, path)


def _from_json(text: str, path: str) -> Figures:
    try:
        data = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"{path}: not JSON: {error}") from None
    if not isinstance(data, dict) or not all(isinstance(row, dict) for row in data.values()):
        raise BadInput(f"{path}: {_HOW}")
    return {
        name: {key: _number(value, f"{path}: {clean(name, 80)}: {clean(key, 80)}") for key, value in row.items()}
        for name, row in data.items()
    }


def _from_csv(text: str, path: str) -> Figures:
    """One row for each model. An empty cell is a figure that is not known."""
    try:
        rows = list(csv.DictReader(io.StringIO(text), restkey="", strict=True))
    except csv.Error as error:
        raise BadInput(f"{path}: not CSV: {error}") from None
    found: Figures = {}
    for line, row in enumerate(rows, 2):
        name = row.pop(_MODEL, None)
        if not name or "" in row or None in row.values():
            raise BadInput(f"{path}, line {line}: expected a column {_MODEL!r} and a cell for each other column")
        if name in found:
            raise BadInput(f"{path}, line {line}: {clean(name, 80)} comes twice")
        cells = {key: cell.strip() for key, cell in row.items() if cell.strip()}
        found[name] = {key: _parsed(cell, f"{path}, line {line}: {clean(key, 80)}") for key, cell in cells.items()}
    if not found:
        raise BadInput(f"{path}: no figures; {_HOW}, or CSV with a column {_MODEL!r}")
    return found


def _parsed(cell: str, where: str) -> int | float:
    try:
        return int(cell) if cell.lstrip("+-").isdigit() else _number(float(cell), where)
    except ValueError:
        raise BadInput(f"{where}: {clean(cell, 60)!r} is no number") from None


def _number(value: Any, where: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadInput(f"{where}: {clean(str(value), 60)!r} is no number")
    return value


def assigned(figures: Mapping[str, Mapping[str, int | float]], names: Sequence[str]) -> Figures:
    """To the models as they are named here: by the path given, else the file's name, else its stem."""
    found: Figures = {}
    for name, row in figures.items():
        homes = next((homes for way in _WAYS if (homes := [each for each in names if way(each) == name])), [])
        if not homes:
            known = ", ".join(clean(each, 80) for each in names)
            raise BadInput(f"figures: no model is called {clean(name, 80)!r}; there are {known}")
        for home in homes:
            found[home] = {**found.get(home, {}), **row}
    return found


_WAYS: Final = (lambda name: name, lambda name: PurePath(name).name, lambda name: PurePath(name).stem)


def figure_changes(figures: Figures, was: str, now: str) -> tuple[FigureChange, ...]:
    old, new = figures.get(was, {}), figures.get(now, {})
    rows = ((name, old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new)))
    return tuple(_change(name, one, two) for name, one, two in rows)


def _change(name: str, was: int | float | None, now: int | float | None) -> FigureChange:
    change, percent = difference(was, now)
    return FigureChange(name=name, was=was, now=now, change=change, percent=percent)
