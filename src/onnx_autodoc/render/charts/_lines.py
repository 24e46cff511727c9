"""Lines over a few sizes that double or more from one to the next: both axes go by powers, each line has its own dash.

At most three lines: what tells them apart is the dash, so that a print in black and white can be read.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import BOUND, DeviceRow, ScaleRow, TokenRow
from onnx_autodoc.render._hardware_words import GRADES, grades_of, short_name
from onnx_autodoc.render.charts._axes import Scale, by_powers, plain
from onnx_autodoc.render.charts._chart import MARGIN, WIDTH
from onnx_autodoc.render.charts._plot import rules
from onnx_autodoc.render.charts._svg import dot, line, path, words
from onnx_autodoc.render.charts._text import BOLD, SMALL, fit, width
from onnx_autodoc.text import count, short

MOST: Final = 3
LEGEND: Final = 18.0  # high
_SAMPLE: Final = 26.0  # of a line, before its name
_KINDS: Final = ("", "-2", "-3")
_AIR: Final = 12.0  # beside the first and the last size


class Point(Struct, frozen=True):
    """`size` along the foot; `low` and `high` where there is a range."""

    size: int
    value: float
    exact: str
    grade: str
    low: float | None = None
    high: float | None = None
    marked: bool = False


class Curve(Struct, frozen=True):
    """One line. `at` is its place in the legend, which decides its dash."""

    at: int
    points: tuple[Point, ...]


class Frame(Struct, frozen=True):
    left: float
    right: float
    top: float
    bottom: float


def plotted(frame: Frame, curves: Sequence[Curve], sizes: Sequence[int]) -> list[str]:
    """The axes with their marks, and the lines."""
    ends = [end for curve in curves for point in curve.points for end in (point.low, point.value, point.high) if end]
    up = by_powers(min(ends), max(ends), frame.bottom, frame.top)
    left = frame.left + max(width(_said(mark), SMALL) for mark in up.marks) + MARGIN
    across = Scale(sizes[0], sizes[-1], left + _AIR, frame.right - _AIR, True, tuple(map(float, sizes)))
    pieces = [*rules(up, left, frame.right, _said), *_feet(across, sizes, frame)]
    pieces.append(line(left, frame.bottom, frame.right, frame.bottom, "axis"))
    return pieces + [piece for curve in curves for piece in _drawn(curve, across, up)]


def _said(value: float) -> str:
    return plain(short(round(value))) if value >= 1 else f"{value:.9f}".rstrip("0")


def _feet(across: Scale, sizes: Sequence[int], frame: Frame) -> list[str]:
    """The sizes below the axis, those that have room."""
    pieces, free = [], frame.left
    for size in sizes:
        wide = width(count(size), SMALL)
        x = min(across.at(size), frame.right - wide / 2)
        if x - wide / 2 >= free:
            pieces.append(words(x, frame.bottom + 15, count(size), "small", "middle"))
            free = x + wide / 2 + MARGIN
    return pieces


def _drawn(curve: Curve, across: Scale, up: Scale) -> list[str]:
    kind = _KINDS[curve.at]
    places = [(across.at(point.size), up.at(point.value)) for point in curve.points]
    pieces = [piece for _, alike in groupby(curve.points, _grade) for piece in _stretch(list(alike), kind, across, up)]
    for (x, y), point in zip(places, curve.points):
        pieces.append(dot(x, y, 3, f"spot{kind}", point.exact))
        pieces += [dot(x, y, 6, "ring", point.exact)] if point.marked else []
    return pieces


def _grade(point: Point) -> str:
    return point.grade


def _stretch(points: list[Point], kind: str, across: Scale, up: Scale) -> list[str]:
    """Points of one grade: a line never joins a bound to what was measured."""
    ranged = [point for point in points if point.low and point.high]
    over = [(across.at(point.size), up.at(point.high or point.value)) for point in ranged]
    under = [(across.at(point.size), up.at(point.low or point.value)) for point in ranged]
    band = [path(over + under[::-1], f"band{kind}", closed=True)] if len(ranged) > 1 else []
    band += [path(over + under, f"curve{kind}")] if len(ranged) == 1 else []
    line = [(across.at(point.size), up.at(point.value)) for point in points]
    return [*band, path(line, f"curve{kind}")] if len(line) > 1 else band


def head(text: str, note: str) -> str:
    return words(0, 14, text, "head", soft=fit(note, WIDTH - width(text) * BOLD - MARGIN, end=True))


def legend(names: Sequence[str], y: float) -> list[str]:
    """A sample of each line and its name, side by side."""
    wide = WIDTH / max(1, len(names))
    pieces = []
    for at, name in enumerate(names):
        x = wide * at
        pieces.append(path([(x, y - 4), (x + _SAMPLE, y - 4)], f"curve{_KINDS[at]}"))
        pieces.append(words(x + _SAMPLE + 6, y, fit(name, wide - _SAMPLE - 6 - MARGIN, SMALL, end=True), "small"))
    return pieces


def graded(rows: Sequence[ScaleRow | TokenRow], devices: int) -> str:
    """How the numbers of a chart are known, if all in one way; and that some devices are not in it."""
    found = grades_of(rows)
    said = ("at most" if found == [BOUND] else found[0]) if len(found) == 1 else ""
    return ", ".join(filter(None, (said, f"on the first {MOST} devices" if devices > MOST else "")))


def shaded(curves: Sequence[Curve]) -> str:
    """What the bands are, where there are any: what has none is a bound, or was measured."""
    known = {point.grade for curve in curves for point in curve.points if point.low and point.high}
    found = [grade for grade in GRADES if grade in known]
    return f"Shaded: the range of what is {' or '.join(found)}." if found else ""


def titled(device: DeviceRow, rows: Sequence[ScaleRow | TokenRow]) -> str:
    """A device in a legend, with its grade where another one has another."""
    mixed = len(grades_of(rows)) > 1
    own = ", ".join(grades_of([row for row in rows if row.device == device.device]))
    return short_name(device.name) + (f" ({own})" if mixed and own else "")
