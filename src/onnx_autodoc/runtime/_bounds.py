"""What the process that runs a model may take, so that a file cannot fill the machine.

Its limits are its own: those of the process that started it are for reading files, which takes little.
"""

import os
import resource
import sys
from pathlib import Path
from typing import Final

from onnx_autodoc.limits import Limits, limits

_MEMINFO: Final = Path("/proc/meminfo")
_CGROUP: Final = Path("/sys/fs/cgroup")
# the limit and what is used of it, in cgroups of version 2 and 1
_GROUPS: Final = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)
_SHARE: Final = 0.9  # of what is free; the rest is for who else works here
_LARGEST_FILE: Final = 4 << 30  # bytes: a profile
_SPARE: Final = 60  # seconds of processor time, to start with


def free_memory() -> int | None:
    """Bytes that a run may take now: most of what is free, or what the user allows. None: the system does not tell."""
    found = [each for each in (_available(), *map(_left, _GROUPS)) if each is not None]
    free = int(min(found) * _SHARE) if found else None
    chosen = limits().memory
    if chosen == Limits().memory:
        return free
    return chosen if free is None else min(free, chosen)


def bound(memory: int | None, seconds: float) -> None:
    """For this process and for good. Private memory is counted, not weights that are mapped from their file."""
    _set(resource.RLIMIT_CORE, 0)  # no dump of it beside the model
    _set(resource.RLIMIT_FSIZE, _LARGEST_FILE)
    _set(resource.RLIMIT_CPU, int(seconds * (os.cpu_count() or 1)) + _SPARE)
    _set(resource.RLIMIT_AS, None)
    # macOS has no such count of private memory
    _set(resource.RLIMIT_DATA if sys.platform == "linux" else resource.RLIMIT_AS, memory)


def _set(what: int, wanted: int | None) -> None:
    """None: as much as the system lets this process have."""
    _, hard = resource.getrlimit(what)
    if wanted is None or (hard != resource.RLIM_INFINITY and wanted > hard):
        wanted = hard
    resource.setrlimit(what, (wanted, hard))


def _available() -> int | None:
    for line in _lines(_MEMINFO):
        words = line.split()
        if words[:1] == ["MemAvailable:"] and words[1].isdigit():
            return int(words[1]) * 1024
    return None


def _left(group: tuple[str, str]) -> int | None:
    most, used = ("".join(_lines(_CGROUP / name)[:1]) for name in group)
    return max(int(most) - int(used), 0) if most.isdigit() and used.isdigit() else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return []
