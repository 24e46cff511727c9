"""Run times, rates and memory of devices as text that states how each figure is known.

A lower bound is never printed like a time: no run is faster, and most are slower. Measured times come with their range.
"""

import re
from collections.abc import Sequence
from typing import Final

from onnx_autodoc.card import BOUND, CALIBRATED, MEASURED, TYPICAL, DeviceRow, ScaleRow, TokenRow
from onnx_autodoc.render.content import UNKNOWN
from onnx_autodoc.text import format_bytes, format_number, format_percent, format_short, format_time, sanitize

TimedRow = DeviceRow | ScaleRow | TokenRow

GRADES: Final = {
    MEASURED: "a run of this model on this machine",
    CALIBRATED: "predicted from benchmarks of this machine, as a range",
    TYPICAL: "expected from published measurements of similar models on similar devices, as a range",
    BOUND: "from the device's published peak rates: no runtime is faster, most are slower",
}
GRADE_NAMES: Final = {BOUND: "lower bound", **{grade: grade for grade in (TYPICAL, CALIBRATED, MEASURED)}}
_BOTTLENECKS: Final = {"compute": "compute-bound", "memory": "memory-bound", "launches": "launch-bound"}
_TIME_PREFIXES: Final = {BOUND: "≥ ", **{grade: f"{grade} " for grade in (TYPICAL, CALIBRATED, MEASURED)}}
_TIME_SUFFIXES: Final = {BOUND: " (lower bound)"}
TIME_COLUMNS: Final = {grade: f"Time, {name}" for grade, name in GRADE_NAMES.items()}
_RATE_PREFIXES: Final = {MEASURED: "", BOUND: "≤ "}
DOES_NOT_FIT: Final = "does not fit: "
_WHOLE_RATE: Final = 100  # per second; from here on a rate is printed as a whole number
_VENDORS: Final = ("NVIDIA ", "Intel ", "AMD ", "Apple ", "Qualcomm ", "Google ", "GeForce ")


def format_run_time(row: TimedRow, with_grade: bool = True) -> str:
    """Format the time of a run: "≥ 354 µs (lower bound)", "typical 2.10 ms (1.20–4.00)"."""
    if not isinstance(row, DeviceRow):
        seconds, low, high = row.seconds, row.low, row.high
    elif row.basis == BOUND:
        seconds, low, high = row.seconds.bound, None, None
    else:
        seconds, low, high = row.seconds.expected, row.seconds.low, row.seconds.high
    if not seconds:
        bound = bound_only_seconds(row)
        return f"{_TIME_PREFIXES[BOUND]}{format_time(bound)}{_TIME_SUFFIXES[BOUND]}" if bound else UNKNOWN
    prefix = _TIME_PREFIXES.get(row.basis, "about ") if with_grade else ""
    suffix = _TIME_SUFFIXES.get(row.basis, "") if with_grade else ""
    return prefix + format_time(seconds, low, high) + suffix


def bound_only_seconds(row: TimedRow) -> float | None:
    """Return the lower bound of a row that has no time of its grade; None for rows that have one or do not run."""
    return None if isinstance(row, DeviceRow) or row.fits is False or row.seconds else row.bound


def shown_seconds(row: DeviceRow) -> float | None:
    """Return the time that `format_run_time` prints: the expected time, else the lower bound."""
    return row.seconds.bound if row.basis == BOUND else row.seconds.expected


def format_rate(row: TimedRow, with_grade: bool = False) -> str:
    """Format samples or tokens per second: "≤ 2.82 k", "about 470", or "typical 470" `with_grade`."""
    rate = row.tokens_per_second if isinstance(row, TokenRow) else row.per_second
    if not rate:
        return UNKNOWN
    prefixes = _TIME_PREFIXES if with_grade and row.basis != BOUND else _RATE_PREFIXES
    return prefixes.get(row.basis, "about ") + (
        format_short(round(rate)) if rate >= _WHOLE_RATE else format_number(rate)
    )


def single_grade(rows: Sequence[TimedRow]) -> str | None:
    """Return the grade of all times that are shown, if they share one: the column title then states it."""
    grades = shown_grades(rows)
    return grades[0] if len(grades) == 1 else None


def shown_grades(rows: Sequence[TimedRow]) -> list[str]:
    """Return the grades of all times, including the bound where it replaces an unknown time."""
    return list(dict.fromkeys([*time_grades(rows), *(BOUND for row in rows if bound_only_seconds(row))]))


def time_grades(rows: Sequence[TimedRow]) -> list[str]:
    """Return the grades of the rows that have a time."""
    return list(dict.fromkeys(row.basis for row in rows if row.fits is not False and row.seconds is not None))


def join_grades(grades: Sequence[str]) -> str:
    return ", ".join(GRADE_NAMES.get(grade, sanitize(grade, 40)) for grade in grades)


def format_utilisation(row: DeviceRow) -> str:
    if row.utilisation is None:
        return UNKNOWN
    share = format_percent(row.utilisation)
    return f"≤ {share}" if row.basis == BOUND and not share.startswith("<") else share


def format_memory_need(row: DeviceRow) -> str:
    """Format needed of available memory: "605 MiB of 15.0 GiB"."""
    need = format_bytes(row.memory_bytes) if row.memory_bytes is not None else UNKNOWN
    capacity = f" of {format_bytes(row.capacity_bytes)}" if row.capacity_bytes is not None else ""
    return DOES_NOT_FIT * (row.fits is False) + need + capacity


def format_bottleneck(bottleneck: str | None) -> str:
    return _BOTTLENECKS.get(bottleneck, sanitize(bottleneck, 40)) if bottleneck else UNKNOWN


def bottleneck_adjective(bottleneck: str | None) -> str:
    return _BOTTLENECKS.get(bottleneck, "") if bottleneck else ""


def describe_grade(basis: str, source: str | None = None) -> str:
    """Return the grade with its meaning and the source of its factors, for tooltips."""
    text = f"{GRADE_NAMES[basis]}: {GRADES[basis]}" if basis in GRADES else sanitize(basis, 40)
    return f"{text}; {sanitize(source, 400)}" if source else text


def short_device_name(name: str) -> str:
    """Return a device's name without its vendor and without text in parentheses."""
    text = re.sub(r"\s*\([^()]*\)", "", sanitize(name, 60)).strip()
    for vendor in _VENDORS:
        text = text.removeprefix(vendor)
    return text or sanitize(name, 60)


def join_names(names: Sequence[str]) -> str:
    """Join names as "A, B and C"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
