"""How much arithmetic each type of operator does for each byte that it moves: the plane that roofs are drawn in.

Right is where a processor limits, left is where its memory does; high is where the work is; the area of a dot is its
share of the bytes moved. The roofs are of the card's devices. What moves bytes without arithmetic has no place on such
axes, and is said below. No chart of fewer than three types.
"""

from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._axes import Scale, by_powers, plain
from onnx_autodoc.render.charts._chart import MARGIN, WIDTH, Chart, framed, holds
from onnx_autodoc.render.charts._labels import Area, Spot, placed
from onnx_autodoc.render.charts._parts import operator
from onnx_autodoc.render.charts._plot import feet, rules
from onnx_autodoc.render.charts._roofs import ROW, Roof, drawn, legend, lines, roofs
from onnx_autodoc.render.charts._svg import dot, line, words
from onnx_autodoc.render.charts._text import BOLD, SMALL, fit, width
from onnx_autodoc.text import clean, count, percent, plural, short, three

_HEAD: Final = "FLOPs against FLOPs per byte moved"
_LEAST: Final = 3
_TOP: Final = 34.0
_BOTTOM: Final = 300.0
_HEIGHT: Final = 354.0
_RADIUS: Final = 20.0  # of a dot that moves all bytes
_SMALLEST: Final = 2.5
_MOST_NAME: Final = 150.0
_TELLING: Final = 0.01


class _Point(Struct, frozen=True):
    """An operator type, or all of them."""

    name: str
    flops: int
    nbytes: int

    @property
    def intensity(self) -> float:
        return self.flops / self.nbytes


def roofline(card: Card) -> Chart | None:
    points = [
        _Point(operator(row.op, row.domain), row.flops, row.bytes_moved)
        for row in card.graph.operators
        if row.flops and row.bytes_moved
    ]
    if len(points) < _LEAST:
        return None
    points.sort(key=lambda point: (-point.flops, point.name))
    whole = _whole(card)
    found, stretch = roofs(card, max(point.flops for point in [*points, *whole]))
    across, up = _scales([*points, *whole], found)
    note = fit(holds(card), WIDTH - width(_HEAD) * BOLD - MARGIN, end=True)
    pieces = [words(0, 14, _HEAD, "head", soft=note)]
    pieces += [*rules(up, across.start, WIDTH, _power), *feet(across, _TOP, _BOTTOM, _power)]
    pieces += [line(across.start, _BOTTOM, WIDTH, _BOTTOM, "axis"), *drawn(found, across, up)]
    pieces += [
        *_drawn(points, whole, (across, up), card, lines(found, across, up)),
        *_notes(card),
        *_roofed(found, stretch),
    ]
    high = _HEIGHT + (ROW * (len(found) + 1) if found else 0.0)
    return framed("roofline", "Arithmetic against bytes moved", _alt(points, whole, found), high, pieces)


def _roofed(found: list[Roof], stretch: str) -> list[str]:
    if not found:
        return []
    said = f"Roofs: what a device does at most in {stretch}; bytes of dots are as the file has them, before any fusion."
    return [words(0, _HEIGHT + ROW - 4, said, "small"), *legend(found, _HEIGHT + 2 * ROW - 4)]


def _whole(card: Card) -> list[_Point]:
    done = card.compute
    known = done.flops and done.bytes_moved and done.arithmetic_intensity is not None
    return [_Point("whole model", done.flops or 0, done.bytes_moved or 0)] if known else []


def _scales(points: list[_Point], found: list[Roof]) -> tuple[Scale, Scale]:
    """As far as the dots go, and to where roofs turn."""
    flops = [point.flops for point in points]
    each = [*(point.intensity for point in points), *(roof.turn for roof in found)]
    up = by_powers(min(flops), max(flops), _BOTTOM, _TOP)
    left = max(width(_power(mark), SMALL) for mark in up.marks) + MARGIN
    return by_powers(min(each), max(each), left, WIDTH - _RADIUS / 2), up


def _power(value: float) -> str:
    return plain(short(round(value))) if value >= 1 else f"{value:.9f}".rstrip("0")


def _drawn(
    points: list[_Point], whole: list[_Point], scales: tuple[Scale, Scale], card: Card, roofed: list[Area]
) -> list[str]:
    """All dots first; then the names, those with the most work first, where there is room for them."""
    (across, up), moved = scales, _moved(card)
    spots = [_spot(point, across, up, point.nbytes / moved, _done(point, points)) for point in points]
    rings = [_spot(point, across, up, 0.0, f"{three(point.intensity)} per byte") for point in whole]
    pieces = [dot(spot.x, spot.y, spot.radius, "bubble", _exact(point)) for spot, point in zip(spots, points)]
    pieces += [dot(spot.x, spot.y, 5, "ring", _exact(point)) for spot, point in zip(rings, whole)]
    names = placed([*rings, *spots], (across.start, _TOP - 8, WIDTH, _BOTTOM), roofed)
    return pieces + [words(x, y, spot.name, "small", soft=spot.detail) for x, y, spot in names]


def _spot(point: _Point, across: Scale, up: Scale, share: float, detail: str) -> Spot:
    radius = max(_SMALLEST, _RADIUS * share**0.5) if share else 6.0
    return Spot(across.at(point.intensity), up.at(point.flops), radius, fit(point.name, _MOST_NAME, SMALL), detail)


def _done(point: _Point, points: list[_Point]) -> str:
    """Its share of the FLOPs, where that is worth a word."""
    share = _share(point, points)
    return percent(share) if share >= _TELLING else ""


def _share(point: _Point, points: list[_Point]) -> float:
    return point.flops / sum(each.flops for each in points)


def _exact(point: _Point) -> str:
    numbers = f"{count(point.flops)} FLOPs, {count(point.nbytes)} bytes moved"
    return f"{clean(point.name)}: {numbers}, {three(point.intensity)} FLOPs per byte"


def _notes(card: Card) -> list[str]:
    area = words(0, _BOTTOM + 32, "Area of a dot: its share of the bytes moved; % is of the FLOPs.", "small")
    apart = " ".join(filter(None, (_still(card), _gaps(card))))
    return [words(WIDTH, _BOTTOM + 32, "FLOPs per byte", "small", "end"), area, words(0, _BOTTOM + 48, apart, "small")]


def _still(card: Card) -> str:
    """What moves bytes and does no arithmetic."""
    rows = [row for row in card.graph.operators if row.bytes_moved and row.flops == 0]
    share = sum(row.bytes_moved or 0 for row in rows) / max(1, _moved(card))
    verb = "moves" if len(rows) == 1 else "move"
    return f"{plural(len(rows), 'type')} without arithmetic {verb} {percent(share)} of the bytes." if rows else ""


def _gaps(card: Card) -> str:
    unknown = sum(gap.count for gap in card.compute.coverage.gaps)
    return f"{plural(unknown, 'node')} not counted: the numbers are at least these." if unknown else ""


def _moved(card: Card) -> int:
    return sum(row.bytes_moved or 0 for row in card.graph.operators)


def _alt(points: list[_Point], whole: list[_Point], found: list[Roof]) -> str:
    model = f"The whole model does {three(whole[0].intensity)} FLOPs per byte moved; " if whole else ""
    most, share = points[0], percent(_share(points[0], points))
    return (
        f"{model}{clean(most.name, 40)} does {share} of the FLOPs, at {three(most.intensity)} per byte{_turns(found)}."
    )


def _turns(found: list[Roof]) -> str:
    return f"; {found[0].device} waits for its memory below {three(found[0].turn)}" if found else ""
