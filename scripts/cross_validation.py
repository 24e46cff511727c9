"""What published measurements say of those of other sources: typical times where their own source is left out.

Sources of one publisher may be twins, as one model with two versions of a runtime: `far` leaves out all of theirs.
"""

import re
from functools import cache

from msgspec import Struct

from onnx_autodoc.hardware.typical import Measurement, MeasurementTable, estimate_from, make_query
from scripts import typical
from scripts.published import Published, load_published


class Prediction(Struct, frozen=True):
    """A measurement with its prediction from the others; None if none is similar."""

    row: Published
    point: Measurement
    ratio: float | None  # of the expected time to the measured one
    is_inside: bool
    width: float  # of the range, high / low

    @property
    def error(self) -> float | None:
        return None if self.ratio is None else abs(self.ratio - 1)


@cache
def cross_validate(runtime_known: bool, by_publisher: bool = False) -> tuple[Prediction, ...]:
    rows = tuple(typical.points(load_published()))
    sources = [(publisher_of(each.source) if by_publisher else each.source, each) for _, each in rows]
    return tuple(
        _predict(row, own, [each for source, each in sources if source != own_source], runtime_known)
        for (row, own), (own_source, _) in zip(rows, sources, strict=True)
    )


def publisher_of(source: str) -> str:
    """Return the publisher of a source: a repository, MLPerf as a whole, or the page."""
    rows = re.match(r"(?:https://github\.com/)?([\w.-]+)/([\w.-]+)", source)
    if rows is None:
        return source
    return rows[1] if rows[1] == "mlcommons" else f"{rows[1]}/{rows[2]}"


def _predict(row: Published, own: Measurement, others: list[Measurement], runtime_known: bool) -> Prediction:
    query = make_query(row.parts[0][0], row.device, row.number_format, row.lower_bounds[0][0])
    assert query is not None
    rows = estimate_from(
        query,
        MeasurementTable([each for each in others if each.platform == own.platform]),
        own.runtime if runtime_known else None,
    )
    if rows is None:
        return Prediction(row, own, None, False, 0.0)
    measured = query.roofline * 10.0**own.factor
    return Prediction(row, own, rows.expected / measured, rows.low <= measured <= rows.high, rows.high / rows.low)
