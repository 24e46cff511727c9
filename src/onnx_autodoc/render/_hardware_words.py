"""How long a run takes on a device, in words that say how that is known: the same ones on a terminal and on a page.

A bound is never printed as if it were a time: nothing is faster than it, and most runs are slower. What was measured
comes with its range.
"""

import re
from collections.abc import Sequence
from typing import Final

from onnx_autodoc.card import BOUND, CALIBRATED, MEASURED, TYPICAL, DeviceRow, ScaleRow, TokenRow
from onnx_autodoc.text import clean, duration, memory, percent, short, three

Row = DeviceRow | ScaleRow | TokenRow

GRADES: Final = {
    MEASURED: "a run of this model on this machine",
    CALIBRATED: "reckoned with factors that were measured on this machine, with the range that they leave",
    TYPICAL: "what published measurements of like models on like devices imply, as a range",
    BOUND: "what the device's published peak rates allow at most: no runtime is faster, most are slower",
}
_LIMITS: Final = {"compute": "arithmetic", "memory": "bandwidth", "launches": "launches"}
_BOUND_BY: Final = {"compute": "compute-bound", "memory": "memory-bound", "launches": "launch-bound"}
_KNOWN: Final = {BOUND: "not faster than ", **{basis: f"{basis} " for basis in (TYPICAL, CALIBRATED, MEASURED)}}
TITLES: Final = {BOUND: "Not faster than", **{basis: f"Time, {basis}" for basis in (TYPICAL, CALIBRATED, MEASURED)}}
_UP_TO: Final = {MEASURED: "", BOUND: "at most "}
_MOST: Final = 100  # from which on a rate is a whole number
_VENDORS: Final = ("NVIDIA ", "Intel ", "AMD ", "Apple ", "Qualcomm ", "Google ", "GeForce ")


def taken(row: Row, bare: bool = False) -> str:
    """The time of a run: "not faster than 354 µs", "typical 2.10 ms (1.20–4.00)"; `bare` where a title says which."""
    seconds, low, high = _seconds(row)
    if not seconds:
        least = least_of(row)
        return f"{_KNOWN[BOUND]}{duration(least)}" if least else "not known"
    return ("" if bare else _KNOWN.get(row.basis, "about ")) + duration(seconds, low, high)


def least_of(row: Row) -> float | None:
    """The bound of a row that has no time of its own grade, though others of its device have one."""
    return None if isinstance(row, DeviceRow) or row.fits is False or row.seconds else row.bound


def seconds_of(row: DeviceRow) -> float | None:
    """The time that is shown: the expected one, or else the bound."""
    return _seconds(row)[0]


def _seconds(row: Row) -> tuple[float | None, float | None, float | None]:
    if not isinstance(row, DeviceRow):
        return row.seconds, row.low, row.high
    found = row.seconds
    return (found.bound, None, None) if row.basis == BOUND else (found.expected, found.low, found.high)


def rate(row: Row, alone: bool = False) -> str:
    """Samples or tokens in a second: "at most 2.82 k", "about 470", or what was measured.

    `alone`: no time stands beside it that says how it is known, so it does ("typical 470").
    """
    found = row.tokens_per_second if isinstance(row, TokenRow) else row.per_second
    if not found:
        return "not known"
    words = _UP_TO.get(row.basis, "about ") if not alone or row.basis == BOUND else _KNOWN.get(row.basis, "about ")
    return words + (short(round(found)) if found >= _MOST else three(found))


def one_grade(rows: Sequence[Row]) -> str | None:
    """The grade of all that is shown, where it is one: a title can say it for all."""
    found = grades_shown(rows)
    return found[0] if len(found) == 1 else None


def grades_shown(rows: Sequence[Row]) -> list[str]:
    """Those of the times, and the bound where one stands in for a time that nothing tells."""
    return list(dict.fromkeys([*grades_of(rows), *(BOUND for row in rows if least_of(row))]))


def grades_of(rows: Sequence[Row]) -> list[str]:
    """Of those that have a time."""
    return list(dict.fromkeys(row.basis for row in rows if row.fits is not False and row.seconds is not None))


def used(row: DeviceRow) -> str:
    """Of the peak rate, at the time that is shown."""
    if row.utilisation is None:
        return "not known"
    share = percent(row.utilisation)
    return f"at most {share}" if row.basis == BOUND and not share.startswith("<") else share


def needed(nbytes: int | None, capacity: int | None, fits: bool | None) -> str:
    """ "605 MiB of 15.0 GiB"; that it does not fit is a word."""
    whole = memory(nbytes) if nbytes is not None else "not known"
    of = f" of {memory(capacity)}" if capacity is not None else ""
    return f"does not fit: {whole}{of}" if fits is False else f"{whole}{of}"


def limited(bottleneck: str | None) -> str:
    return _LIMITS.get(bottleneck, clean(bottleneck, 40)) if bottleneck else "not known"


def bound_by(bottleneck: str | None) -> str:
    """The same in one word, as engineers say it."""
    return _BOUND_BY.get(bottleneck, "") if bottleneck else ""


def grade(basis: str, rests_on: str | None = None) -> str:
    """For who asks behind a number: the grade, what it means, and what it rests on."""
    said = f"{basis}: {GRADES[basis]}" if basis in GRADES else clean(basis, 40)
    return f"{said}; {clean(rests_on, 400)}" if rests_on else said


def short_name(name: str) -> str:
    """A device as people call it: without its maker, and without what stands in brackets."""
    text = re.sub(r"\s*\([^()]*\)", "", clean(name, 60)).strip()
    for vendor in _VENDORS:
        text = text.removeprefix(vendor)
    return text or clean(name, 60)


def listed(names: Sequence[str]) -> str:
    """ "A, B and C"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
