"""Wall time, CPU time and peak memory of a command: the minimum of several runs, since noise only adds."""

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


class CommandOutcome(NamedTuple):
    run: Run
    code: int  # exit status; negative: the signal that ended it
    timed_out: bool


def run_command(
    command: Sequence[str],
    limit: float = threading.TIMEOUT_MAX,
    stdout: IO[str] | None = None,
    stderr: IO[str] | None = None,
) -> CommandOutcome:
    """Run a command once and kill it after `limit` seconds. Its output is discarded unless files are given."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=stdout or subprocess.DEVNULL, stderr=stderr)
    timer = threading.Timer(limit, process.kill)
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    run = Run(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
    return CommandOutcome(run, process.returncode, wall >= limit)


def run_checked(command: Sequence[str]) -> Run:
    outcome = run_command(command)
    if outcome.code:
        raise SystemExit(f"{' '.join(command)} failed with {outcome.code}")
    return outcome.run


def best_runs(*commands: Sequence[str], rounds: int = 7) -> list[Run]:
    """Return the best run of each command. The commands alternate, so that noise affects all of them."""
    runs = [[run_checked(command) for command in commands] for _ in range(rounds)]
    return [Run(*map(min, zip(*column, strict=True))) for column in zip(*runs, strict=True)]


def autodoc_command(*words: str) -> list[str]:
    return [sys.executable, "-m", "onnx_autodoc", *words]


def python_command(code: str) -> list[str]:
    return [sys.executable, "-c", code]
