"""Files of the operating system: processors, memory, and the limits of containers (cgroups v1 and v2)."""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from sys import platform as this_platform
from typing import Final

import msgspec

_NUMBER: Final = re.compile(r"[0-9]{1,19}")
_MAX_CPUS: Final = 1 << 16
_MAX_FILE_CHARACTERS: Final = 4_000_000  # cpuinfo of the largest machines has half of it
_MAX_LIST_CHARACTERS: Final = 10_000
_NO_LIMIT: Final = 1 << 60  # cgroups v1 report a huge number


class System(msgspec.Struct, frozen=True, kw_only=True):
    """Folders of kernel files, processors of this process, and the platform; tests substitute others."""

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")
    allowed: frozenset[int] | None = None
    platform: str = this_platform


def this_system() -> System:
    allowed = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return System(allowed=allowed)


def read_text(path: Path) -> str | None:
    """Return None for a file that is absent or unreadable."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_FILE_CHARACTERS).strip("\0\n ")
    except (OSError, ValueError):
        return None


def parse_number(text: str | None) -> int | None:
    return int(text) if text and _NUMBER.fullmatch(text) else None


def read_number(path: Path) -> int | None:
    return parse_number(read_text(path))


def read_cpu_list(path: Path) -> frozenset[int]:
    """Parse a set of processors such as 0-3,8."""
    cpus: set[int] = set()
    for part in (read_text(path) or "")[:_MAX_LIST_CHARACTERS].split(","):
        first, dash, last = part.strip().partition("-")
        low, high = parse_number(first), parse_number(last if dash else first)
        if low is not None and high is not None and high < _MAX_CPUS:
            cpus |= set(range(low, high + 1))
    return frozenset(cpus)


def total_memory(system: System) -> int | None:
    for line in (read_text(system.proc / "meminfo") or "").splitlines():
        words = line.split()
        if words[:1] == ["MemTotal:"] and (kib := parse_number("".join(words[1:2]))):
            return kib * 1024
    return None


def memory_limit(system: System) -> int | None:
    """Return the lowest memory limit of this process's cgroup and its parents."""
    limits = [read_number(folder / "memory.max") for folder in _cgroup_folders(system, "")]
    limits += [read_number(folder / "memory.limit_in_bytes") for folder in _cgroup_folders(system, "memory")]
    return min((limit for limit in limits if limit is not None and limit < _NO_LIMIT), default=None)


def cpu_quota(system: System) -> float | None:
    """Return the processors that the cgroup may use: 1.5 is one and a half."""
    pairs = [(read_text(folder / "cpu.max") or "").partition(" ")[::2] for folder in _cgroup_folders(system, "")]
    pairs += [
        (read_text(folder / "cpu.cfs_quota_us") or "", read_text(folder / "cpu.cfs_period_us") or "")
        for folder in _cgroup_folders(system, "cpu")
    ]
    numbers = [(parse_number(quota), parse_number(period)) for quota, period in pairs]  # "max" and -1 are no limit
    return min((quota / period for quota, period in numbers if quota and period), default=None)


def _cgroup_folders(system: System, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's cgroup and its parents; a container may see only the root."""
    root = system.sys / "fs" / "cgroup" / controller
    for line in (read_text(system.proc / "self" / "cgroup") or "0::/").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            own = PurePosixPath("/", path)
            for folder in (own, *own.parents):
                if ".." not in folder.parts:
                    yield root / str(folder).lstrip("/")
