"""What a container leaves of the machine: memory and processor time by cgroups, version 1 and 2."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from onnx_autodoc.hardware.devices._system import System, number, text, whole

_NO_LIMIT: Final = 1 << 60  # version 1 writes a huge number where there is none


def total_memory(system: System) -> int | None:
    for line in (text(system.proc / "meminfo") or "").splitlines():
        words = line.split()
        if words[:1] == ["MemTotal:"] and (kib := whole("".join(words[1:2]))):
            return kib * 1024
    return None


def memory_limit(system: System) -> int | None:
    """The least of all limits on the way from this process's group to the top."""
    found = [number(folder / "memory.max") for folder in _folders(system, "")]
    found += [number(folder / "memory.limit_in_bytes") for folder in _folders(system, "memory")]
    return min((limit for limit in found if limit is not None and limit < _NO_LIMIT), default=None)


def cpu_quota(system: System) -> float | None:
    """How many processors' time the group may use: 1.5 is one and a half."""
    found = [_share(*(text(folder / "cpu.max") or "").partition(" ")[::2]) for folder in _folders(system, "")]
    found += [
        _share(text(folder / "cpu.cfs_quota_us") or "", text(folder / "cpu.cfs_period_us") or "")
        for folder in _folders(system, "cpu")
    ]
    return min((share for share in found if share is not None), default=None)


def _share(quota: str, period: str) -> float | None:
    """Of "200000" and "100000"; "max" and -1 are no limit."""
    used, of = whole(quota), whole(period)
    return used / of if used and of else None


def _folders(system: System, controller: str) -> Iterator[Path]:
    """This process's group and those above it; in a container the path may not be visible, the top is."""
    top = system.sys / "fs" / "cgroup" / controller
    for line in (text(system.proc / "self" / "cgroup") or "0::/").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller in controllers.split(","):
            own = PurePosixPath("/", path)
            for folder in (own, *own.parents):
                if ".." not in folder.parts:
                    yield top / str(folder).lstrip("/")
