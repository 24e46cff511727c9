"""Roofs over a plane of arithmetic against balance: what a device does at most in a stretch of time.

A roof is flat where the peak rate limits, and slopes where the bandwidth does. The stretch is a power of ten, so that
the roof of the first device goes through the plane; a dot below a roof takes less than it, above it more.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Card
from onnx_autodoc.render._hardware_words import short_name
from onnx_autodoc.render.charts._axes import Scale
from onnx_autodoc.render.charts._chart import WIDTH
from onnx_autodoc.render.charts._labels import Area
from onnx_autodoc.render.charts._svg import path, words
from onnx_autodoc.render.charts._text import SMALL, fit
from onnx_autodoc.text import clean, duration, file_size, short, three

MOST: Final = 3
ROW: Final = 16.0
_KINDS: Final = ("curve", "curve-2", "curve-3")
_SAMPLE: Final = 26.0
_FINE: Final = 3.0  # between the areas that stand for a line
_WHOLE: Final = "int"  # precisions whose operations are on no floating point


class Roof(Struct, frozen=True):
    """FLOPs in the stretch at most, and for each FLOP per byte."""

    device: str
    name: str
    kind: str
    flat: float
    slope: float

    @property
    def turn(self) -> float:
        """FLOPs for each byte from which on the rate limits."""
        return self.flat / self.slope


def roofs(card: Card, most: int) -> tuple[list[Roof], str]:
    """Of the first devices whose rate and bandwidth are known, and the stretch of time. `most`: FLOPs of a dot."""
    rows = card.hardware.devices if card.hardware is not None else ()
    known = [row for row in rows if row.rate and row.bandwidth][:MOST]
    if not known or not most:
        return [], ""
    seconds = 10.0 ** math.floor(math.log10(most / (known[0].rate or 1.0)))
    found = []
    for kind, row in zip(_KINDS, known):
        rate, bandwidth = row.rate or 0.0, row.bandwidth or 0.0
        unit = "OP/s" if row.precision.startswith(_WHOLE) else "FLOP/s"
        peak = f"{short(round(rate), unit)}, {file_size(round(bandwidth))}/s, turns at {three(rate / bandwidth)}"
        name = f"{short_name(row.name)} in {clean(row.precision, 20)}: {peak} per byte"
        found.append(Roof(short_name(row.name), name, kind, rate * seconds, bandwidth * seconds))
    return found, duration(seconds)


def ways(found: Sequence[Roof], across: Scale, up: Scale) -> list[tuple[str, list[tuple[float, float]]]]:
    """Each roof from where its slope comes into the picture to the right end; those wholly outside are left out."""
    return [(roof.kind, way) for roof in found if len(way := _way(roof, across, up)) > 1]


def _way(roof: Roof, across: Scale, up: Scale) -> list[tuple[float, float]]:
    start = max(across.low, up.low / roof.slope)
    top = min(roof.turn, up.high / roof.slope, across.high)
    if roof.flat <= up.low or start >= across.high:
        return []
    way = [(across.at(start), up.at(start * roof.slope))] if start < top else []
    way.append((across.at(max(start, top)), up.at(min(roof.flat, max(start, top) * roof.slope))))
    return [*way, (across.end, up.at(roof.flat))] if roof.turn < across.high and roof.flat < up.high else way


def drawn(found: Sequence[Roof], across: Scale, up: Scale) -> list[str]:
    return [path(way, kind) for kind, way in ways(found, across, up)]


def lines(found: Sequence[Roof], across: Scale, up: Scale) -> list[Area]:
    """The roofs as small areas one beside the other, for names to keep off."""
    areas = []
    for _, way in ways(found, across, up):
        for (x1, y1), (x2, y2) in pairwise(way):
            steps = max(1, round((x2 - x1) / _FINE))
            points = [(x1 + (x2 - x1) * at / steps, y1 + (y2 - y1) * at / steps) for at in range(steps + 1)]
            areas += [(x - 1, y - 1, x + 1, y + 1) for x, y in points]
    return areas


def _named(roof: Roof, y: float) -> str:
    return words(_SAMPLE + 6, y, fit(roof.name, WIDTH - _SAMPLE - 6, SMALL), "small")


def legend(found: Sequence[Roof], y: float) -> list[str]:
    pieces = []
    for at, roof in enumerate(found):
        line = y + ROW * at
        pieces += [path([(0, line - 4), (_SAMPLE, line - 4)], roof.kind), _named(roof, line)]
    return pieces
