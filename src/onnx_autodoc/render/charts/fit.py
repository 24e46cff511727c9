"""How much of each device's memory a run takes.

No chart of one device, or where none is known to have a memory of its own.
"""

from typing import Final

from onnx_autodoc.card import Card, DeviceRow
from onnx_autodoc.render._hardware_words import listed, needed, short_name
from onnx_autodoc.render.charts._bars import Bar, Panel, drawn, height_of
from onnx_autodoc.render.charts._chart import Chart, framed
from onnx_autodoc.text import count

_LEAST: Final = 2
_MOST: Final = 12


def fit(card: Card) -> Chart | None:
    rows = [row for row in card.hardware.devices if row.memory_bytes] if card.hardware is not None else []
    if sum(row.capacity_bytes is not None for row in rows) < _LEAST:
        return None
    panels = (Panel("Memory", "that a run takes (solid) of what there is", tuple(map(_bar, rows[:_MOST]))),)
    return framed("fit", "Memory on each device", _alt(rows[:_MOST]), height_of(panels), drawn(panels))


def _alt(rows: list[DeviceRow]) -> str:
    """Who has the room; how much of it stands in the table."""
    words = {True: "It fits on", False: "does not fit on", None: "is not known to fit on"}
    named = {fits: [short_name(row.name) for row in rows if row.fits is fits] for fits in words}
    said = "; ".join(f"{word} {listed(named[fits])}" for fits, word in words.items() if named[fits])
    return f"{said[0].upper()}{said[1:]}."


def _said(row: DeviceRow) -> str:
    unknown = ", of what is not known" if row.capacity_bytes is None else ""
    return needed(row.memory_bytes, row.capacity_bytes, row.fits) + unknown


def _bar(row: DeviceRow) -> Bar:
    """Solid is what is needed; what does not fit is an outline."""
    need, there = row.memory_bytes or 0, row.capacity_bytes
    name, exact = short_name(row.name), f"{short_name(row.name)}: {count(need)} bytes needed"
    if there is None:
        return Bar(name, need, _said(row), exact)
    exact += f" of {count(there)}"
    if row.fits is False:
        return Bar(name, need, _said(row), exact, "rest")
    return Bar(name, there, _said(row), exact, "pale", first=need)
