"""The line chart: rates over sizes that grow by factors. Both axes are logarithmic, and each line has its own dash.

At most three lines, which differ in their dash, so that a black-and-white print is readable.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from onnx_autodoc.render.charts import svg
from onnx_autodoc.text import format_count

MAX_LINES: Final = 3
CURVE_KINDS: Final = ("", "-2", "-3")  # suffixes of the CSS classes
SAMPLE_WIDTH: Final = 26.0  # of a line in the legend
_LEGEND_HEIGHT: Final = 18.0
_PANEL_GAP: Final = 24.0
_PADDING: Final = 12.0  # beside the first and the last size


class CurvePoint(Struct, frozen=True):
    """`low` and `high` are the range of an estimate; `marked` points get a ring."""

    size: int
    value: float
    tooltip: str
    grade: str
    low: float | None = None
    high: float | None = None
    marked: bool = False


class Curve(Struct, frozen=True):
    """One line. `index` is its place in the legend, which decides its dash."""

    index: int
    points: tuple[CurvePoint, ...]


class LinePanel(Struct, frozen=True):
    title: str
    curves: tuple[Curve, ...]


class LineChart(Struct, frozen=True):
    """Panels side by side that share the sizes along the horizontal axis; a single panel needs no title."""

    name: str
    title: str
    alt: str
    heading: str
    note: str
    legend: tuple[str, ...]
    panels: tuple[LinePanel, ...]
    sizes: tuple[int, ...]
    axis: str
    footnote: str = ""


class _Frame(Struct, frozen=True):
    left: float
    right: float
    top: float
    bottom: float


def draw_lines(chart: LineChart) -> svg.Chart:
    titled = any(panel.title for panel in chart.panels)
    top, bottom = (68.0, 250.0) if titled else (52.0, 240.0)
    height = bottom + 36
    elements = [svg.heading(chart.heading, chart.note), *_draw_legend(chart.legend, 14 + _LEGEND_HEIGHT)]
    width = (svg.WIDTH - _PANEL_GAP * (len(chart.panels) - 1)) / len(chart.panels)
    for index, panel in enumerate(chart.panels):
        left = (width + _PANEL_GAP) * index
        elements += [svg.text(left, top - 14, panel.title, "small")] if panel.title else []
        elements += _draw_panel(_Frame(left, left + width, top, bottom), panel.curves, chart.sizes)
        elements.append(svg.text(left + width, bottom + 31, chart.axis, "small", "end"))
    if chart.footnote:
        elements.append(svg.text(0, bottom + (46 if titled else 31), chart.footnote, "small"))
        height += 16 if titled else 0
    return svg.frame_chart(chart.name, chart.title, chart.alt, height, elements)


def _draw_panel(frame: _Frame, curves: Sequence[Curve], sizes: Sequence[int]) -> list[str]:
    points = [point for curve in curves for point in curve.points]
    values = [value for point in points for value in (point.low, point.value, point.high) if value]
    up = svg.log_scale(min(values), max(values), frame.bottom, frame.top)
    left = frame.left + svg.tick_width(up) + svg.MARGIN
    across = svg.Scale(sizes[0], sizes[-1], left + _PADDING, frame.right - _PADDING, True, tuple(map(float, sizes)))
    elements = [*svg.horizontal_grid(up, left, frame.right), *_draw_sizes(across, sizes, frame)]
    elements.append(svg.line(left, frame.bottom, frame.right, frame.bottom, "axis"))
    return elements + [element for curve in curves for element in _draw_curve(curve, across, up)]


def _draw_sizes(across: svg.Scale, sizes: Sequence[int], frame: _Frame) -> list[str]:
    """Label the horizontal axis with the sizes whose labels do not overlap."""
    elements, free = [], frame.left
    for size in sizes:
        width = svg.text_width(format_count(size), svg.SMALL_FONT_SIZE)
        x = min(across.at(size), frame.right - width / 2)
        if x - width / 2 >= free:
            elements.append(svg.text(x, frame.bottom + 15, format_count(size), "small", "middle"))
            free = x + width / 2 + svg.MARGIN
    return elements


def _draw_curve(curve: Curve, across: svg.Scale, up: svg.Scale) -> list[str]:
    """Draw one line per run of points of the same grade: no line joins a bound to a measurement."""
    kind = CURVE_KINDS[curve.index]
    elements: list[str] = []
    for _, group in groupby(curve.points, lambda point: point.grade):
        points = list(group)
        ranged = [point for point in points if point.low and point.high]
        above = [(across.at(point.size), up.at(point.high or point.value)) for point in ranged]
        below = [(across.at(point.size), up.at(point.low or point.value)) for point in ranged]
        if len(ranged) > 1:
            elements.append(svg.path(above + below[::-1], f"band{kind}", closed=True))
        elif ranged:
            elements.append(svg.path(above + below, f"curve{kind}"))
        if len(points) > 1:
            elements.append(svg.path([(across.at(point.size), up.at(point.value)) for point in points], f"curve{kind}"))
    for point in curve.points:
        x, y = across.at(point.size), up.at(point.value)
        elements.append(svg.circle(x, y, 3, f"spot{kind}", point.tooltip))
        elements += [svg.circle(x, y, 6, "ring", point.tooltip)] if point.marked else []
    return elements


def _draw_legend(names: Sequence[str], y: float) -> list[str]:
    width = svg.WIDTH / max(1, len(names))
    elements = []
    for index, name in enumerate(names):
        x = width * index
        elements.append(svg.path([(x, y - 4), (x + SAMPLE_WIDTH, y - 4)], f"curve{CURVE_KINDS[index]}"))
        label = svg.fit_text(name, width - SAMPLE_WIDTH - 6 - svg.MARGIN, svg.SMALL_FONT_SIZE, cut_end=True)
        elements.append(svg.text(x + SAMPLE_WIDTH + 6, y, label, "small"))
    return elements
