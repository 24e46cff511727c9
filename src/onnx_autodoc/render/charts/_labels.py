"""Names beside dots, where they cover neither each other nor another dot; a name without room is left out."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.render.charts._text import SMALL, width

_HIGH: Final = 13.0
_RISE: Final = 10.0  # of the letters above their line

Area = tuple[float, float, float, float]  # left, top, right, bottom


class Spot(Struct, frozen=True):
    """A dot that wants a name, and what is said behind it."""

    x: float
    y: float
    radius: float
    name: str
    detail: str = ""


def placed(spots: list[Spot], inside: Area, lines: Sequence[Area] = ()) -> Iterator[tuple[float, float, Spot]]:
    """Where the names begin, the first spots first. Names keep off `lines`, too, where there is another place."""
    taken = [_dot(spot) for spot in spots]
    for spot in spots:
        found = _free(spot, inside, [*taken, *lines]) or _free(spot, inside, taken)
        if found is not None:
            x, y, area = found
            taken.append(area)
            yield x, y, spot


def _free(spot: Spot, inside: Area, taken: list[Area]) -> tuple[float, float, Area] | None:
    wide = width(f"{spot.name} {spot.detail}", SMALL)
    for x, y in _places(spot, wide):
        area = (x, y - _RISE, x + wide, y - _RISE + _HIGH)
        if _within(area, inside) and not any(_meet(area, other) for other in taken):
            return x, y, area
    return None


def _places(spot: Spot, wide: float) -> Iterator[tuple[float, float]]:
    """Right of the dot, left, above, below; then at its corners."""
    away = spot.radius + 4
    for x, y in ((1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (0.7, -0.9), (0.7, 0.9), (-0.7, -0.9), (-0.7, 0.9)):
        start = spot.x + x * away - wide * (0.5 if not x else x < 0)
        yield start, spot.y + 4 + y * (away + 4)


def _dot(spot: Spot) -> Area:
    return spot.x - spot.radius, spot.y - spot.radius, spot.x + spot.radius, spot.y + spot.radius


def _within(area: Area, inside: Area) -> bool:
    return area[0] >= inside[0] and area[1] >= inside[1] and area[2] <= inside[2] and area[3] <= inside[3]


def _meet(one: Area, two: Area) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]
