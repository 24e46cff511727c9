"""This machine: name, memory, caches, and how much of it other processes use. Loads nothing native."""

import os
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Machine
from onnx_autodoc.limits import Limits, current_limits

_STAT: Final = Path("/proc/stat")
_CGROUP: Final = Path("/sys/fs/cgroup")
_CPU_CACHES: Final = Path("/sys/devices/system/cpu/cpu0/cache")
_CGROUP_MEMORY: Final = (  # limit and usage, in version 2 and version 1
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
_MAX_FREE_SHARE: Final = 0.9  # of free memory; the rest is for other processes
_MIN_LOAD_SECONDS: Final = 0.2  # the kernel counts in hundredths
_DEFAULT_CACHE_BYTES: Final = float(32 << 20)
_CACHE_UNITS: Final = {"K": 1 << 10, "M": 1 << 20}


class CpuClock(Struct, frozen=True):
    """Seconds of processor time at one moment: of all processes, stolen by a hypervisor, of this process."""

    at: float
    busy: float
    stolen: float
    own: float


def read_cpu_clock() -> CpuClock | None:
    """Return None where the system has no /proc/stat."""
    lines = _read_lines(_STAT)
    if not lines:
        return None
    # user nice system idle iowait irq softirq steal; guest time is part of user time
    ticks = [int(word) / os.sysconf("SC_CLK_TCK") for word in lines[0].split()[1:9]]
    spent = os.times()
    stolen = ticks[7] if len(ticks) > 7 else 0.0
    return CpuClock(time.monotonic(), sum(ticks[:3]) + sum(ticks[5:]), stolen, spent.user + spent.system)


def background_load(start: CpuClock | None, end: CpuClock | None) -> float | None:
    """Return the share of the machine that other processes used between two moments; None if they are too close."""
    return _share(start, end, lambda clock: clock.busy - clock.own)


def stolen_share(start: CpuClock | None, end: CpuClock | None) -> float | None:
    return _share(start, end, lambda clock: clock.stolen)


def _share(start: CpuClock | None, end: CpuClock | None, used: Callable[[CpuClock], float]) -> float | None:
    if start is None or end is None or end.at - start.at < _MIN_LOAD_SECONDS:
        return None
    share = (used(end) - used(start)) / ((end.at - start.at) * (os.cpu_count() or 1))
    return min(max(share, 0.0), 1.0)


def describe_machine() -> Machine:
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        memory = None
    lines = [line for line in _read_lines(Path("/proc/cpuinfo")) if line.lower().startswith(("model name", "hardware"))]
    name = next(filter(None, (line.partition(":")[2].strip() for line in lines)), platform.processor() or "unknown")
    return Machine(name, cores, memory, f"{platform.system()} {platform.machine()}")


def free_memory() -> int | None:
    """Return the bytes that a run may use: most of the free memory, or less if the user's limit is lower.

    None where the system does not report free memory and the user has set no limit.
    """
    words = (line.split() for line in _read_lines(Path("/proc/meminfo")))
    sizes = [int(row[1]) * 1024 for row in words if row[:1] == ["MemAvailable:"] and row[1].isdigit()][:1]
    for names in _CGROUP_MEMORY:
        limit, usage = ("".join(_read_lines(_CGROUP / name)[:1]) for name in names)
        sizes += [max(int(limit) - int(usage), 0)] if limit.isdigit() and usage.isdigit() else []
    free = int(min(sizes) * _MAX_FREE_SHARE) if sizes else None
    chosen = current_limits().memory
    if chosen == Limits().memory:
        return free
    return chosen if free is None else min(free, chosen)


def cache_size() -> float:
    """Return the bytes of the largest cache of the first processor, or a usual size where that is unknown."""
    sizes = []
    for path in _CPU_CACHES.glob("index*/size"):
        text = "".join(_read_lines(path)[:1]).strip()
        if text[:-1].isdigit() and text[-1] in _CACHE_UNITS:
            sizes.append(float(int(text[:-1]) * _CACHE_UNITS[text[-1]]))
    return max(sizes, default=_DEFAULT_CACHE_BYTES)


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
