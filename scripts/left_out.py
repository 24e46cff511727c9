"""What published measurements say of those of other sources: typical times where their own source is left out.

Sources of one publisher may be twins, as one model with two versions of a runtime: `far` leaves out all of theirs.
"""

import re
from functools import cache

from msgspec import Struct

from onnx_autodoc.hardware.typical import Measurement, MeasurementTable, estimate_from, make_query
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
def left_out(runtime_known: bool, far: bool = False) -> tuple[Left, ...]:
    found = tuple(typical.points(all_published()))
    every = [(publisher(each.source) if far else each.source, each) for _, each in found]
    return tuple(
        _left(row, own, [each for other, each in every if other != mine], runtime_known)
        for (row, own), (mine, _) in zip(found, every, strict=True)
    )


def publisher(source: str) -> str:
    """A repository with all of its files and threads, or all of MLPerf, or the page itself."""
    found = re.match(r"(?:https://github\.com/)?([\w.-]+)/([\w.-]+)", source)
    if found is None:
        return source
    return found[1] if found[1] == "mlcommons" else f"{found[1]}/{found[2]}"


def _left(row: Published, own: Measurement, others: list[Measurement], runtime_known: bool) -> Left:
    query = make_query(row.parts[0][0], row.device, row.number_format, row.lower_bounds[0][0])
    assert query is not None
    found = estimate_from(
        query,
        MeasurementTable([each for each in others if each.platform == own.platform]),
        own.runtime if runtime_known else None,
    )
    if found is None:
        return Left(row, own, None, False, 0.0)
    really = query.roofline * 10.0**own.factor
    return Left(row, own, found.expected / really, found.low <= really <= found.high, found.high / found.low)
