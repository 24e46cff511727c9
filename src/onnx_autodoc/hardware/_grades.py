"""Grades of knowing how long a run takes: the best one there is for a device, and a range where it has one."""

from typing import Final

from msgspec import Struct

from onnx_autodoc.hardware._floor import Floor

BOUND: Final = "bound"
TYPICAL: Final = "typical"
CALIBRATED: Final = "calibrated"
MEASURED: Final = "measured"


class Range(Struct, frozen=True):
    """Seconds, and what they rest on, in words."""

    low: float
    expected: float
    high: float
    basis: str
    rests_on: str


def at_least(found: Range | None, floor: Floor) -> Range | None:
    """A range that does not contradict the bound: nothing in it is faster."""
    least = floor.seconds
    if found is None or least is None or found.low >= least:
        return found
    low, expected = max(found.low, least), max(found.expected, least)
    return Range(low, expected, max(found.high, expected), found.basis, found.rests_on)
