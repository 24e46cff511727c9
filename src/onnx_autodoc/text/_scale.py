"""Numbers for people: the only place that rounds and scales. Files are in MB, memory is in MiB."""

import math
from typing import Final

_FILES: Final = ((1e12, " TB"), (1e9, " GB"), (1e6, " MB"), (1e3, " kB"))


_COUNTS: Final = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_TIMES: Final = ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_SHORTEST: Final = (1e-9, "ns")
_ABSURD: Final = 10**36  # no machine has that many of anything: only the power of ten is said
_MOST_BITS: Final = 400  # of a number that is written in full
_MEMORY: Final = ((1 << 40, " TiB"), (1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB"))


def count(number: int) -> str:
    """A count in full, with separators: 1,088. Dimensions of 2^62 multiply to what fills a page: its power of ten."""
    return f"{number:,}" if number.bit_length() <= _MOST_BITS else _power(number)


def _power(number: float) -> str:
    return f"about {'−' * (number < 0)}10^{math.floor(math.log10(abs(number)))}"


def file_size(nbytes: int) -> str:
    """A file's size in decimal units: 435.8 MB."""
    if nbytes >= _ABSURD:
        return f"{_power(nbytes)} bytes"
    for scale, unit in _FILES:
        if nbytes >= scale:
            return f"{nbytes / scale:.1f}{unit}"
    return f"{nbytes} bytes"


def short(number: int, unit: str = "") -> str:
    """A count in three significant digits: 22.6 M, 1.43 GMACs. Small ones in full."""
    if number >= _ABSURD:
        return f"{_power(number)} {unit}".rstrip()
    return (_scaled(number, _COUNTS, " ") or f"{number} ") + unit if unit else short(number, " ").rstrip()


def memory(nbytes: int) -> str:
    """Memory in binary units, in three significant digits: 86.1 MiB."""
    if nbytes >= _ABSURD:
        return f"{_power(nbytes)} bytes"
    return _scaled(nbytes, _MEMORY, "") or plural(nbytes, "byte")


def _scaled(number: int, units: tuple[tuple[int, str], ...], before: str) -> str:
    """In the largest unit of which there is one, after rounding; nothing where there is none."""
    return next((f"{three(number / scale)}{before}{unit}" for scale, unit in units if number >= scale * 0.9995), "")


def three(number: float) -> str:
    """Three significant digits, never in powers of ten. "0.00" is said only of nothing."""
    if 0 < number < 0.005:
        return "<0.01"
    if not abs(number) < _ABSURD:
        return _power(number) if abs(number) < math.inf else "no finite number"
    return f"{number:,.{max(0, 3 - len(str(int(number))))}f}"


def percent(share: float) -> str:
    """A share of 0 to 1; "0 %" is said only of nothing and "100 %" only of all."""
    if not abs(share * 100) < math.inf:
        return "no finite share"
    if 0 < share < 0.01:
        return "<1 %"
    if 0.99 < share < 1:
        return ">99 %"
    return f"{share * 100:.0f} %"


def plural(number: int, word: str, words: str = "") -> str:
    """ "1 node", "2 nodes", "3 classes"."""
    return f"{count(number)} {word if number == 1 else words or word + 's'}"


def duration(seconds: float, low: float | None = None, high: float | None = None) -> str:
    """A time in three significant digits: 2.30 ms, 14.0 µs, 1.25 s; long ones in minutes and hours.

    With a range it is "2.30 ms (1.20–4.00)": in the unit that has just been said.
    """
    scale, unit = next((each for each in _TIMES if seconds >= each[0] * 0.9995), _SHORTEST)
    span = f" ({three(low / scale)}–{three(high / scale)})" if low is not None and high is not None else ""
    return f"{three(seconds / scale)} {unit}{span}"
