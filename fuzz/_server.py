"""A server that runs the command line in forks of a process with all modules imported.

A run takes tens of milliseconds instead of a second. Each fork has its own session, streams and folder, and no limits
that a new process would not have. Jobs and results are lines of JSON.
"""

import importlib
import json
import os
import pkgutil
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Final, NoReturn

_POLL_SECONDS: Final = 0.2  # between checks of a run's memory
_NOT_PRELOADED: Final = ("onnx_autodoc.runtime", "onnx_autodoc.runtime.calibration")


def main() -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command line does, before numpy is loaded
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _preload()
    for line in sys.stdin:
        answers.write(json.dumps(_run_job(json.loads(line))) + "\n")
        answers.flush()


def _preload() -> None:
    import onnx_autodoc

    for module in pkgutil.walk_packages(onnx_autodoc.__path__, "onnx_autodoc."):
        if not module.name.startswith(_NOT_PRELOADED) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _run_job(job: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _run_in_child(job)
    kill_reason = _wait_or_kill(child, job["seconds"], job["memory"])
    _, status, usage = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    wall, busy = time.monotonic() - started, usage.ru_utime + usage.ru_stime
    return {"code": code, "why": kill_reason, "wall": wall, "busy": busy, "peak": usage.ru_maxrss * 1024}


def _wait_or_kill(child: int, seconds: float, memory: int) -> str:
    """Wait for the end of a process. Return why it was killed, "" if it ended on its own."""
    handle, deadline = os.pidfd_open(child), time.monotonic() + seconds
    try:
        while not select.select([handle], [], [], min(_POLL_SECONDS, max(deadline - time.monotonic(), 0)))[0]:
            kill_reason = "time" if time.monotonic() > deadline else "memory" if _resident(child) > memory else ""
            if kill_reason:
                os.killpg(child, signal.SIGKILL)
                return kill_reason
    finally:
        os.close(handle)
    return ""


def _resident(child: int) -> int:
    """Return the largest memory of a process and its descendants."""
    total = 0
    for pid in [child, *_children(child)]:
        try:
            total = max(total, int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        except (OSError, IndexError):
            continue
    return total


def _children(pid: int) -> list[int]:
    try:
        children = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return children + [inner for child in children for inner in _children(child)]


def _run_in_child(job: dict[str, Any]) -> NoReturn:
    """Run a job as Python runs a command: with streams, exit code, and a traceback of an uncaught exception."""
    code = 1
    try:
        os.setsid()
        for number, path in ((0, os.devnull), (1, job["stdout"]), (2, job["stderr"])):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(path, flags, 0o600), number)
        os.chdir(job["folder"])
        module, name = job["main"].split(":")
        code = getattr(importlib.import_module(module), name)(job["argv"])
    except SystemExit as exit_:
        code = exit_.code if isinstance(exit_.code, int) else 0 if exit_.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
