"""What the operating system says, read through one place so that tests can put another system there."""

import os
import re
from pathlib import Path
from sys import platform as this_platform
from typing import Final

import msgspec

_WHOLE: Final = re.compile(r"[0-9]{1,19}")
_MOST_CPUS: Final = 1 << 16
_MOST: Final = 4_000_000  # characters of one file; cpuinfo of the largest machines is half of it


class System(msgspec.Struct, frozen=True, kw_only=True):
    """Where the kernel's files are, which processors this process may use, and what system it is."""

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")
    allowed: frozenset[int] | None = None
    platform: str = this_platform


def here() -> System:
    allowed = frozenset(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return System(allowed=allowed)


def text(path: Path) -> str | None:
    """A file's text, or None: the kernel's files may be absent, unreadable or gone."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MOST).strip("\0\n ")
    except (OSError, ValueError):
        return None


def whole(word: str | None) -> int | None:
    """A plain number of a size that a kernel would write, else None."""
    return int(word) if word and _WHOLE.fullmatch(word) else None


def number(path: Path) -> int | None:
    return whole(text(path))


def cpu_list(path: Path) -> frozenset[int]:
    """ "0-3,8" as the kernel writes sets of processors."""
    found: set[int] = set()
    for part in (text(path) or "")[:10_000].split(","):
        first, dash, last = part.strip().partition("-")
        low, high = whole(first), whole(last if dash else first)
        if low is not None and high is not None and high < _MOST_CPUS:
            found |= set(range(low, high + 1))
    return frozenset(found)
