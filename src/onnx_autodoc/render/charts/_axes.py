"""Scales with round marks: linear ones for memory, logarithmic ones for what spans powers of ten."""

import math
import re
from typing import Final

from msgspec import Struct

_STEPS: Final = (1, 2, 5, 10)
_BINARY: Final = 1024
_AIR: Final = 2.0
_MOST_MARKS: Final = 6


class Scale(Struct, frozen=True):
    """From values to places. `marks` are the values that are written beside it."""

    low: float
    high: float
    start: float
    end: float
    log: bool
    marks: tuple[float, ...]

    def at(self, value: float) -> float:
        low, high, here = (math.log10(each) if self.log else each for each in (self.low, self.high, value))
        return self.start + (here - low) / (high - low) * (self.end - self.start)


def of_memory(most: int, start: float, end: float) -> Scale:
    """From zero to the next mark after `most` bytes; marks are round in the unit that memory is said in."""
    unit = 1.0
    while most >= unit * _BINARY * 0.9995:
        unit *= _BINARY
    step = max(1.0, _round_step(most / unit / 4) * unit)
    count = max(1, math.ceil(most / step - 1e-9))
    return Scale(0.0, step * count, start, end, False, tuple(step * mark for mark in range(count + 1)))


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(step * power for step in _STEPS if step * power >= rough * 0.999)


def by_powers(low: float, high: float, start: float, end: float) -> Scale:
    """Logarithmic, with some air at both ends; powers of ten are marked, or round numbers where they are few."""
    low, high = low / _AIR, high * _AIR
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**power for power in powers if low <= 10.0**power <= high]
    fine = [step * 10.0**power for power in powers for step in _STEPS[:3] if low <= step * 10.0**power <= high]
    marks = tens[:: -(-len(tens) // _MOST_MARKS)] if len(tens) > 1 else fine
    return Scale(low, high, start, end, True, tuple(marks))


def plain(text: str) -> str:
    """A mark without the zeros that three digits leave behind a point: "2.50 MiB" is "2.5 MiB"."""
    return re.sub(r"\.(\d*?)0+(?!\d)", lambda found: "." + found[1] if found[1] else "", text)
