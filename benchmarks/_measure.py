"""Wall time and peak memory of a command, as the best of several runs: a noisy machine only ever adds."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import IO, NamedTuple


class Run(NamedTuple):
    wall: float  # seconds
    cpu: float  # seconds, user and system
    peak: int  # bytes of memory


class Ended(NamedTuple):
    run: Run
    code: int  # the exit status; below zero, the signal that ended it
    late: bool  # it was ended for taking longer than it may


def watched(
    command: Sequence[str],
    limit: float = threading.TIMEOUT_MAX,
    stdout: IO[str] | None = None,
    stderr: IO[str] | None = None,
) -> Ended:
    """One run of a command, ended after so many seconds; what it prints is dropped unless somewhere is given."""
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=stdout or subprocess.DEVNULL, stderr=stderr)
    alarm = threading.Timer(limit, child.kill)
    alarm.start()
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    alarm.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    run = Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
    return Ended(run, child.returncode, wall >= limit)


def once(command: Sequence[str]) -> Run:
    ended = watched(command)
    if ended.code:
        raise SystemExit(f"{' '.join(command)} failed with {ended.code}")
    return ended.run


def best(*commands: Sequence[str], rounds: int = 7) -> list[Run]:
    """Each command's best run; the commands take turns, so that a slow moment hits all alike."""
    runs = [[once(command) for command in commands] for _ in range(rounds)]
    return [Run(*map(min, zip(*column, strict=True))) for column in zip(*runs, strict=True)]


def ours(*words: str) -> list[str]:
    return [sys.executable, "-m", "onnx_autodoc", *words]


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]
