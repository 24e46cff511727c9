"""Wall time and peak memory of a command, as the best of several runs: a noisy machine only ever adds."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NamedTuple


class Run(NamedTuple):
    wall: float  # seconds
    cpu: float  # seconds, user and system
    peak: int  # bytes of memory


def once(command: Sequence[str]) -> Run:
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {child.returncode}")
    return Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def best(*commands: Sequence[str], rounds: int = 7) -> list[Run]:
    """Each command's best run; the commands take turns, so that a slow moment hits all alike."""
    runs = [[once(command) for command in commands] for _ in range(rounds)]
    return [Run(*map(min, zip(*column, strict=True))) for column in zip(*runs, strict=True)]


def ours(*words: str) -> list[str]:
    return [sys.executable, "-m", "onnx_autodoc", *words]


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]
