"""Accuracy, latency and the like, which only a user knows: read from a JSON or CSV file, and set against each other."""

import csv
import io
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from onnx_autodoc.compare._numbers import difference
from onnx_autodoc.compare._types import FigureChange
from onnx_autodoc.errors import BadInput
from onnx_autodoc.text import clean

Figures = dict[str, dict[str, int | float]]
_MODEL: Final = "model"
_HOW: Final = 'expected {"model": {"figure": number}}'


def read_figures(text: str, path: str) -> Figures:
    """By model, as the file calls it. `path` is what messages call the file; what begins like JSON is JSON."""
    found = _from_json(text, path) if text.lstrip().startswith(("{", "[")) else _from_csv(text, path)
    if not any(found.values()):
        raise BadInput(f"{path}: no figures; {_HOW}, or CSV with a column {_MODEL!r}")
    if any(not name.strip() for row in found.values() for name in row):
        raise BadInput(f"{path}: a figure without a name")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON lets a name come twice, and readers keep the last: which one is meant is not ours to guess."""
    twice = next((name for name, times in Counter(name for name, _ in pairs).items() if times > 1), None)
    if twice is not None:
        raise BadInput(f"{clean(twice, 80)} comes twice")
    return dict(pairs)


def _from_json(text: str, path: str) -> Figures:
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not JSON: {clean(str(error))}") from None
    if not isinstance(data, dict) or not all(isinstance(row, dict) for row in data.values()):
        raise BadInput(f"{path}: {_HOW}")
    return {
        name: {key: _number(value, f"{path}: {clean(name, 80)}: {clean(key, 80)}") for key, value in row.items()}
        for name, row in data.items()
    }


def _from_csv(text: str, path: str) -> Figures:
    """One row for each model. An empty cell is a figure that is not known."""
    try:
        reader = csv.DictReader(io.StringIO(text.lstrip()), restkey="", strict=True, skipinitialspace=True)
        rows, titles = list(reader), list(reader.fieldnames or ())
    except csv.Error as error:
        raise BadInput(f"{path}: not CSV: {error}") from None
    if len({*titles}) < len(titles):
        raise BadInput(f"{path}, line 1: a column comes twice")
    found: Figures = {}
    for line, row in enumerate(rows, 2):
        name = (row.pop(_MODEL, None) or "").strip()
        if not name or "" in row or None in row.values():
            raise BadInput(f"{path}, line {line}: expected a column {_MODEL!r} and a cell for each other column")
        if name in found:
            raise BadInput(f"{path}, line {line}: {clean(name, 80)} comes twice")
        cells = {key: cell.strip() for key, cell in row.items() if cell.strip()}
        found[name] = {key: _parsed(cell, f"{path}, line {line}: {clean(key, 80)}") for key, cell in cells.items()}
    return found


def _parsed(cell: str, where: str) -> int | float:
    try:
        return _number(int(cell), where) if cell.lstrip("+-").isdigit() else _number(float(cell), where)
    except ValueError:
        raise BadInput(f"{where}: {clean(cell, 60)!r} is no number") from None


def _number(value: Any, where: str) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
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
            told = found.setdefault(home, {})
            twice = next((key for key in row if told.get(key, row[key]) != row[key]), None)
            if twice is not None:
                raise BadInput(f"figures: {clean(twice, 80)!r} of {clean(home, 80)} comes twice, with other numbers")
            told.update(row)
    return found


_WAYS: Final = (lambda name: name, lambda name: PurePath(name).name, lambda name: PurePath(name).stem)


def figure_changes(figures: Figures, was: str, now: str) -> tuple[FigureChange, ...]:
    old, new = figures.get(was, {}), figures.get(now, {})
    rows = ((name, old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new)))
    return tuple(_change(name, one, two) for name, one, two in rows)


def _change(name: str, was: int | float | None, now: int | float | None) -> FigureChange:
    change, percent = difference(was, now)
    return FigureChange(name=name, was=was, now=now, change=change, percent=percent)
