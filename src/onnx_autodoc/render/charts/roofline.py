"""The roofline plot: FLOPs of each operator type against its arithmetic intensity, under the roofs of devices.

A roof is the upper bound of what a device computes in a span of time: flat where its peak rate limits, sloped where
its bandwidth does. The span is a power of ten that puts the first device's roof into the plot; operators above a roof
take longer than the span. Operators without FLOPs cannot be placed on logarithmic axes: a note counts them.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts import svg
from onnx_autodoc.render.charts.lines import CURVE_KINDS, MAX_LINES, SAMPLE_WIDTH
from onnx_autodoc.render.charts.model_charts import operator_name
from onnx_autodoc.render.device_text import short_device_name
from onnx_autodoc.text import (
    format_count,
    format_number,
    format_percent,
    format_short,
    format_time,
    pluralize,
    sanitize,
)

_MIN_OPERATORS: Final = 3
_TOP: Final = 34.0
_BOTTOM: Final = 300.0
_HEIGHT: Final = 354.0
_ROW_HEIGHT: Final = 16.0
_MAX_RADIUS: Final = 20.0  # of a dot that moves all bytes
_MIN_RADIUS: Final = 2.5
_MAX_NAME_WIDTH: Final = 150.0
_MIN_LABELLED_SHARE: Final = 0.01
_LABEL_HEIGHT: Final = 13.0
_LABEL_ASCENT: Final = 10.0
_LINE_STEP: Final = 3.0  # between the small areas that stand for a line

# Directions from a dot to its label, in the order of preference.
_LABEL_DIRECTIONS: Final = (
    *((1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0)),
    *((0.7, -0.9), (0.7, 0.9), (-0.7, -0.9), (-0.7, 0.9)),
)

Area = tuple[float, float, float, float]  # left, top, right, bottom


class _Workload(Struct, frozen=True):
    """An operator type, or the whole model."""

    name: str
    flops: int
    nbytes: int

    @property
    def intensity(self) -> float:
        return self.flops / self.nbytes

    @property
    def tooltip(self) -> str:
        numbers = f"{format_count(self.flops)} FLOPs, {format_count(self.nbytes)} bytes moved"
        return f"{sanitize(self.name)}: {numbers}, {format_number(self.intensity)} FLOPs per byte"


class Roof(Struct, frozen=True):
    """A device's limits over the span: FLOPs at most, and FLOPs per unit of intensity (bytes)."""

    device: str
    label: str
    kind: str
    flat: float
    slope: float

    @property
    def ridge(self) -> float:
        """Return the intensity from which on the peak rate limits."""
        return self.flat / self.slope


class LabelledDot(Struct, frozen=True):
    x: float
    y: float
    radius: float
    name: str
    detail: str = ""


def roofline(card: Card) -> svg.Chart | None:
    """Draw the plot; None for fewer than three operator types with FLOPs."""
    operators = [
        _Workload(operator_name(row), row.flops, row.bytes_moved)
        for row in card.graph.operators
        if row.flops and row.bytes_moved
    ]
    if len(operators) < _MIN_OPERATORS:
        return None
    operators.sort(key=lambda workload: (-workload.flops, workload.name))
    compute = card.compute
    known = compute.flops and compute.bytes_moved and compute.arithmetic_intensity is not None
    model = [_Workload("whole model", compute.flops or 0, compute.bytes_moved or 0)] if known else []
    flops = [workload.flops for workload in (*operators, *model)]
    roofs, span = device_roofs(card, max(flops))
    intensities = [*(workload.intensity for workload in (*operators, *model)), *(roof.ridge for roof in roofs)]
    up = svg.log_scale(min(flops), max(flops), _BOTTOM, _TOP)
    left, right = svg.tick_width(up) + svg.MARGIN, svg.WIDTH - _MAX_RADIUS / 2
    across = svg.log_scale(min(intensities), max(intensities), left, right)
    elements = [svg.heading("FLOPs by arithmetic intensity", svg.format_bindings(card))]
    elements += [*svg.horizontal_grid(up, across.start, svg.WIDTH), *svg.vertical_grid(across, _TOP, _BOTTOM)]
    elements.append(svg.line(across.start, _BOTTOM, svg.WIDTH, _BOTTOM, "axis"))
    roof_lines = [(roof.kind, points) for roof in roofs if len(points := _roof_points(roof, across, up)) > 1]
    elements += [svg.path(points, kind) for kind, points in roof_lines]
    obstacles = [area for _, points in roof_lines for area in _line_areas(points)]
    elements += _draw_dots(operators, model, across, up, obstacles, _total_bytes(card))
    elements += [*_draw_notes(card), *_draw_legend(roofs, span)]
    height = _HEIGHT + (_ROW_HEIGHT * (len(roofs) + 1) if roofs else 0.0)
    alt = _describe(operators, model, roofs)
    return svg.frame_chart("roofline", "Roofline", alt, height, elements)


def device_roofs(card: Card, max_flops: int) -> tuple[list[Roof], str]:
    """Return the roofs of the first devices with known rate and bandwidth, and the span of time as text."""
    rows = card.hardware.devices if card.hardware is not None else ()
    known = [row for row in rows if row.rate and row.bandwidth][:MAX_LINES]
    if not known or not max_flops:
        return [], ""
    seconds = 10.0 ** math.floor(math.log10(max_flops / (known[0].rate or 1.0)))
    roofs = []
    for kind, row in zip(CURVE_KINDS, known):
        rate, bandwidth = row.rate or 0.0, row.bandwidth or 0.0
        unit = "OP" if row.precision.startswith("int") else "FLOP"
        speed, ridge = f"{format_number(bandwidth / 1e9)} GB", format_number(rate / bandwidth)
        peak = f"{format_short(round(rate), unit)}/s, {speed}/s, ridge point at {ridge} {unit}/byte"
        name = short_device_name(row.name)
        label = f"{name} in {sanitize(row.precision, 20)}: {peak}"
        roofs.append(Roof(name, label, f"curve{kind}", rate * seconds, bandwidth * seconds))
    return roofs, format_time(seconds)


def _roof_points(roof: Roof, across: svg.Scale, up: svg.Scale) -> list[svg.Point]:
    """Clip a roof to the plot: from where its slope enters to the right end; [] where it is outside."""
    start = max(across.low, up.low / roof.slope)
    top = min(roof.ridge, up.high / roof.slope, across.high)
    if roof.flat <= up.low or start >= across.high:
        return []
    points = [(across.at(start), up.at(start * roof.slope))] if start < top else []
    points.append((across.at(max(start, top)), up.at(min(roof.flat, max(start, top) * roof.slope))))
    is_flat_inside = roof.ridge < across.high and roof.flat < up.high
    return [*points, (across.end, up.at(roof.flat))] if is_flat_inside else points


def _line_areas(points: list[svg.Point]) -> Iterator[Area]:
    """Cover a line with small areas, for labels to avoid."""
    for (x1, y1), (x2, y2) in pairwise(points):
        steps = max(1, round((x2 - x1) / _LINE_STEP))
        for step in range(steps + 1):
            x, y = x1 + (x2 - x1) * step / steps, y1 + (y2 - y1) * step / steps
            yield x - 1, y - 1, x + 1, y + 1


def _draw_dots(
    operators: list[_Workload],
    model: list[_Workload],
    across: svg.Scale,
    up: svg.Scale,
    obstacles: list[Area],
    total_bytes: int,
) -> list[str]:
    """Draw all dots, then the labels that have room, those with the most FLOPs first."""

    def place(workload: _Workload, radius: float, detail: str) -> LabelledDot:
        name = svg.fit_text(workload.name, _MAX_NAME_WIDTH, svg.SMALL_FONT_SIZE)
        return LabelledDot(across.at(workload.intensity), up.at(workload.flops), radius, name, detail)

    total_flops = sum(operator.flops for operator in operators)
    dots = []
    for operator in operators:
        share, flops_share = operator.nbytes / total_bytes, operator.flops / total_flops
        radius = max(_MIN_RADIUS, _MAX_RADIUS * share**0.5) if share else 6.0
        dots.append(place(operator, radius, format_percent(flops_share) if flops_share >= _MIN_LABELLED_SHARE else ""))
    rings = [place(whole, 6.0, f"{format_number(whole.intensity)} per byte") for whole in model]
    elements = [svg.circle(dot.x, dot.y, dot.radius, "bubble", row.tooltip) for dot, row in zip(dots, operators)]
    elements += [svg.circle(ring.x, ring.y, 5, "ring", whole.tooltip) for ring, whole in zip(rings, model)]
    labels = place_labels([*rings, *dots], (across.start, _TOP - 8, svg.WIDTH, _BOTTOM), obstacles)
    return elements + [svg.text(x, y, dot.name, "small", soft=dot.detail) for x, y, dot in labels]


def place_labels(
    dots: list[LabelledDot], inside: Area, obstacles: Sequence[Area] = ()
) -> Iterator[tuple[float, float, LabelledDot]]:
    """Yield the start of each label that covers no dot and no other label; `obstacles` are avoided if possible."""
    taken = [(dot.x - dot.radius, dot.y - dot.radius, dot.x + dot.radius, dot.y + dot.radius) for dot in dots]
    for dot in dots:
        place = _find_place(dot, inside, [*taken, *obstacles]) or _find_place(dot, inside, taken)
        if place is not None:
            x, y, area = place
            taken.append(area)
            yield x, y, dot


def _find_place(dot: LabelledDot, inside: Area, taken: list[Area]) -> tuple[float, float, Area] | None:
    width, away = svg.text_width(f"{dot.name} {dot.detail}", svg.SMALL_FONT_SIZE), dot.radius + 4
    for dx, dy in _LABEL_DIRECTIONS:
        x = dot.x + dx * away - width * (0.5 if not dx else dx < 0)
        y = dot.y + 4 + dy * (away + 4)
        area = (x, y - _LABEL_ASCENT, x + width, y - _LABEL_ASCENT + _LABEL_HEIGHT)
        is_inside = x >= inside[0] and area[1] >= inside[1] and area[2] <= inside[2] and area[3] <= inside[3]
        if is_inside and not any(_overlaps(area, covered) for covered in taken):
            return x, y, area
    return None


def _overlaps(a: Area, b: Area) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _draw_notes(card: Card) -> list[str]:
    rows = [row for row in card.graph.operators if row.bytes_moved and row.flops == 0]
    share = format_percent(sum(row.bytes_moved or 0 for row in rows) / max(1, _total_bytes(card)))
    verb = "moves" if len(rows) == 1 else "move"
    unplotted = f"{pluralize(len(rows), 'operator type')} without FLOPs {verb} {share} of the bytes." if rows else ""
    entry = card.uncertain.get("compute.flops")
    nodes = pluralize(entry.parameters.get("nodes", 0), "node") if entry else ""
    uncounted = f"{nodes} not counted: the figures are lower bounds." if entry else ""
    return [
        svg.text(svg.WIDTH, _BOTTOM + 32, "arithmetic intensity (FLOPs per byte)", "small", "end"),
        svg.text(0, _BOTTOM + 32, "Dot area: share of the bytes moved. %: share of the FLOPs.", "small"),
        svg.text(0, _BOTTOM + 48, " ".join(filter(None, (unplotted, uncounted))), "small"),
    ]


def _total_bytes(card: Card) -> int:
    return sum(row.bytes_moved or 0 for row in card.graph.operators)


def _draw_legend(roofs: list[Roof], span: str) -> list[str]:
    if not roofs:
        return []
    note = f"Roofs: upper bound of each device in {span}. Bytes moved: by the nodes as stored, before any fusion."
    elements = [svg.text(0, _HEIGHT + _ROW_HEIGHT - 4, note, "small")]
    for index, roof in enumerate(roofs):
        y = _HEIGHT + 2 * _ROW_HEIGHT - 4 + _ROW_HEIGHT * index
        label = svg.fit_text(roof.label, svg.WIDTH - SAMPLE_WIDTH - 6, svg.SMALL_FONT_SIZE)
        elements += [
            svg.path([(0, y - 4), (SAMPLE_WIDTH, y - 4)], roof.kind),
            svg.text(SAMPLE_WIDTH + 6, y, label, "small"),
        ]
    return elements


def _describe(operators: list[_Workload], model: list[_Workload], roofs: list[Roof]) -> str:
    whole = f"Arithmetic intensity of the model: {format_number(model[0].intensity)} FLOPs per byte; " if model else ""
    first = operators[0]
    share = format_percent(first.flops / sum(operator.flops for operator in operators))
    ridge = f"; {roofs[0].device} is memory-bound below {format_number(roofs[0].ridge)}" if roofs else ""
    intensity = format_number(first.intensity)
    return f"{whole}{sanitize(first.name, 40)}: {share} of the FLOPs at {intensity} FLOPs per byte{ridge}."
