"""Format numbers for people. Sizes in bytes are in binary units (KiB, MiB, GiB)."""

import math
from typing import Final

_COUNT_UNITS: Final = ((10**18, "E"), (10**15, "P"), (10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_TIME_UNITS: Final = ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_NANOSECONDS: Final = (1e-9, "ns")
_BYTE_UNITS: Final = tuple((1 << power, f" {unit}iB") for power, unit in zip(range(60, 0, -10), "EPTGMK"))
_MIN_IMPLAUSIBLE: Final = 10**36  # from here on only the power of ten is printed
_MAX_COUNT_BITS: Final = 400  # of a number that is written in full


def format_count(number: int) -> str:
    """Return a count in full, with separators: 1,088. A huge one is given as a power of ten, so that it fits a line."""
    return f"{number:,}" if number.bit_length() <= _MAX_COUNT_BITS else _power_of_ten(number)


def _power_of_ten(number: float) -> str:
    return f"about {'−' * (number < 0)}10^{math.floor(math.log10(abs(number)))}"


def format_short(number: int, unit: str = "") -> str:
    """Return a count in three significant digits: 22.6 M, 1.43 GMACs. Small counts are printed in full."""
    if number >= _MIN_IMPLAUSIBLE:
        return f"{_power_of_ten(number)} {unit}".rstrip()
    if not unit:
        return format_short(number, " ").rstrip()
    return (_scale(number, _COUNT_UNITS, " ") or f"{number} ") + unit


def format_bytes(nbytes: int) -> str:
    """Return a size in binary units, in three significant digits: 86.1 MiB."""
    if nbytes >= _MIN_IMPLAUSIBLE:
        return f"{_power_of_ten(nbytes)} bytes"
    return _scale(nbytes, _BYTE_UNITS, "") or pluralize(nbytes, "byte")


def _scale(number: int, units: tuple[tuple[int, str], ...], separator: str) -> str:
    """Return the number in the largest unit that fits after rounding, or "" if it is below all units."""
    fits = (f"{format_number(number / scale)}{separator}{unit}" for scale, unit in units if number >= scale * 0.9995)
    return next(fits, "")


def format_number(number: float) -> str:
    """Return three significant digits without an exponent. "0.00" is printed for zero only."""
    if 0 < number < 0.005:
        return "<0.01"
    if not abs(number) < _MIN_IMPLAUSIBLE:
        return _power_of_ten(number) if abs(number) < math.inf else "no finite number"
    return f"{number:,.{max(0, 3 - len(str(int(number))))}f}"


def format_percent(share: float) -> str:
    """Return a share of 0 to 1 as a percentage; "0%" and "100%" are printed for exact values only."""
    if not abs(share * 100) < math.inf:
        return "no finite share"
    if 0 < share < 0.01:
        return "<1%"
    if 0.99 < share < 1:
        return ">99%"
    return f"{share * 100:.0f}%"


def pluralize(number: int, word: str, plural: str = "") -> str:
    """Return a count with its noun: "1 node", "2 nodes", "3 classes"."""
    return f"{format_count(number)} {word if number == 1 else plural or word + 's'}"


def format_time(seconds: float, low: float | None = None, high: float | None = None) -> str:
    """Return a time in three significant digits: 2.30 ms, 14.0 µs, 1.25 s; long times in minutes and hours.

    A range is given in the same unit: "2.30 ms (1.20–4.00)".
    """
    scale, unit = next((each for each in _TIME_UNITS if seconds >= each[0] * 0.9995), _NANOSECONDS)
    span = ""
    if low is not None and high is not None:
        span = f" ({format_number(low / scale)}–{format_number(high / scale)})"
    return f"{format_number(seconds / scale)} {unit}{span}"
