"""The machine: its name, and how much of it others use. Nothing native is loaded here."""

import os
import platform
import time
from pathlib import Path
from typing import Final

from msgspec import Struct

from onnx_autodoc.runtime._types import Machine

_STAT: Final = Path("/proc/stat")
_SHORT: Final = 0.2  # seconds; the system counts in hundredths


class Clock(Struct, frozen=True):
    """Seconds that all processors together have worked, of these stolen, and what this process had of them."""

    at: float
    busy: float
    stolen: float
    own: float


def clock() -> Clock | None:
    """None where the system does not tell."""
    try:
        words = _STAT.read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return None
    # user nice system idle iowait irq softirq steal; guests are in user already
    ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in words[1:9]]
    spent = os.times()
    stolen = ticks[7] if len(ticks) > 7 else 0.0
    return Clock(time.monotonic(), sum(ticks[:3]) + sum(ticks[5:]), stolen, spent.user + spent.system)


def others(start: Clock | None, end: Clock | None) -> float | None:
    """The share of the machine that others used between two moments; None where they are too near."""
    if start is None or end is None or end.at - start.at < _SHORT:
        return None
    used = (end.busy - start.busy) - (end.own - start.own)
    return min(max(used / _whole(start, end), 0.0), 1.0)


def stolen(start: Clock | None, end: Clock | None) -> float | None:
    if start is None or end is None or end.at - start.at < _SHORT:
        return None
    return min(max((end.stolen - start.stolen) / _whole(start, end), 0.0), 1.0)


def _whole(start: Clock, end: Clock) -> float:
    return (end.at - start.at) * (os.cpu_count() or 1)


def machine() -> Machine:
    return Machine(_cpu(), _cores(), _memory(), f"{platform.system()} {platform.machine()}")


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.lower().startswith(("model name", "hardware"))]
    return next((name for name in names if name), platform.processor() or "not known")


def _cores() -> int:
    """That this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return None
