"""Horizontal bars, the form that names and numbers read best in: each has its name before it and its number behind."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.render.charts._chart import MARGIN, WIDTH
from onnx_autodoc.render.charts._svg import box, line, words
from onnx_autodoc.render.charts._text import BOLD, fit, width

ROW: Final = 20.0
HEAD: Final = 26.0
BAR: Final = 12.0
BETWEEN: Final = 18.0
GAP: Final = 6.0
_MOST_NAME: Final = 300.0  # of the width, for names
_MOST_SHARED: Final = 270.0  # where several columns follow
_LEAST_BAR: Final = 1.0  # what is not nothing is seen


class Bar(Struct, frozen=True):
    """`value` decides the length; None is said by `shown`. `exact` is for the pointer."""

    name: str
    value: int | None
    shown: str
    exact: str
    kind: str = "bar"
    detail: str = ""
    first: int = 0  # so much of the value comes first, in the solid colour


class Panel(Struct, frozen=True):
    """Bars with one scale. `head` says what they are, `note` how they are to be read."""

    head: str
    note: str
    bars: tuple[Bar, ...]


def name_room(panels: Sequence[Panel], most: float = _MOST_NAME) -> float:
    """Of the names of all panels, so that all bars of a picture start at one line."""
    names = [width(" ".join(filter(None, (bar.name, bar.detail)))) for panel in panels for bar in panel.bars]
    return min(most, max(names, default=0.0)) + MARGIN


def height_of(panels: Sequence[Panel]) -> float:
    return sum(HEAD + ROW * len(panel.bars) for panel in panels) + MARGIN * (len(panels) - 1)


def drawn(panels: Sequence[Panel]) -> list[str]:
    """Panels one below the other, as high as `height_of` says."""
    left, top = name_room(panels) + GAP, 0.0
    pieces: list[str] = []
    for panel in panels:
        pieces += panel_at(panel, left, top, WIDTH)
        top += HEAD + ROW * len(panel.bars) + MARGIN
    return pieces


def columns(panels: Sequence[Panel]) -> list[str]:
    """Panels side by side whose rows have the same names, which stand there once."""
    left = name_room(panels[:1], _MOST_SHARED) + GAP
    wide = (WIDTH - left - BETWEEN * (len(panels) - 1)) / len(panels)
    pieces = [name_at(bar, left - GAP, HEAD + ROW * row) for row, bar in enumerate(panels[0].bars)]
    for at, panel in enumerate(panels):
        x = left + (wide + BETWEEN) * at
        pieces += panel_at(panel, x, 0, x + wide, names=False)
    return pieces


def panel_at(panel: Panel, left: float, top: float, right: float, names: bool = True) -> list[str]:
    """Bars from `left` on; their names, if they stand here, before it."""
    start = 0.0 if names else left
    note = fit(panel.note, right - start - width(panel.head) * BOLD - MARGIN, end=True)
    pieces = [words(start, top + 14, panel.head, "head", soft=note)]
    numbers = max((width(bar.shown) for bar in panel.bars), default=0.0) + GAP + 2
    longest = max((bar.value or 0 for bar in panel.bars), default=0)
    for row, bar in enumerate(panel.bars):
        y = top + HEAD + ROW * row
        if names:
            pieces.append(name_at(bar, left - GAP, y))
        pieces += bar_at(bar, left, y, (right - left - numbers) * _part(bar.value, longest))
    pieces.append(line(left, top + HEAD - 3, left, top + HEAD + ROW * len(panel.bars) - 3, "axis"))
    return pieces


def name_at(bar: Bar, right: float, y: float) -> str:
    """The name ends where the bar starts; its detail has what room is left."""
    name = fit(bar.name, right)
    room = right - width(name + " ")
    detail = fit(bar.detail, room, end=True) if room > 3 * ROW else ""
    return words(right, y + 10, name, anchor="end", soft=detail)


def bar_at(bar: Bar, x: float, y: float, long: float) -> list[str]:
    if bar.value is None:
        return [words(x + GAP, y + 10, bar.shown, "soft")]
    end = max(long, _LEAST_BAR) if bar.value else 0.0
    pieces = [box(x, y, end, BAR, bar.kind, bar.exact)] if end else []
    if end and bar.first:
        pieces.append(box(x, y, end * _part(min(bar.first, bar.value), bar.value), BAR, "bar", bar.exact))
    return [*pieces, words(x + end + GAP, y + 10, bar.shown)]


def _part(value: int | None, longest: int) -> float:
    return value / longest if value and longest else 0.0
