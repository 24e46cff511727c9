"""What published measurements say of those of other sources: typical times where their own source is left out."""

from functools import cache

from msgspec import Struct

from onnx_autodoc.hardware._typical import Columns, Measurement, case_of, near
from scripts import typical
from scripts.published import Published, all_published


class Left(Struct, frozen=True):
    """A measurement, and what the others say of it; None where nothing is near."""

    row: Published
    point: Measurement
    ratio: float | None  # of the expected time to the measured one
    inside: bool
    width: float  # of the range, high / low

    @property
    def error(self) -> float | None:
        return None if self.ratio is None else abs(self.ratio - 1)


@cache
def left_out(runtime_known: bool) -> tuple[Left, ...]:
    found = tuple(typical.points(all_published()))
    return tuple(_left(row, own, [each for _, each in found], runtime_known) for row, own in found)


def _left(row: Published, own: Measurement, every: list[Measurement], runtime_known: bool) -> Left:
    case = case_of(row.parts[0][0], row.device, row.wanted, row.floors[0][0])
    assert case is not None
    others = [each for each in every if each.source != own.source and each.platform == own.platform]
    found = near(case, Columns(others), own.runtime if runtime_known else None)
    if found is None:
        return Left(row, own, None, False, 0.0)
    really = case.roofline * 10.0**own.factor
    return Left(row, own, found.expected / really, found.low <= really <= found.high, found.high / found.low)
