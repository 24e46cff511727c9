"""Runs the command line, each time in a fork of a process that has imported everything and done nothing.

A run costs tens of milliseconds instead of a second. The fork has a session, streams and a folder of its own, and no
limit that a fresh process would not have. Jobs come as lines of JSON, and so do results.
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

_LOOK: Final = 0.2  # seconds between looks at a run's memory
_UNUSED: Final = ("onnx_autodoc.runtime", "onnx_autodoc.runtime.calibration")


def main() -> None:
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # as the command line does, before numpy is loaded
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _preload()
    for line in sys.stdin:
        answers.write(json.dumps(_ran(json.loads(line))) + "\n")
        answers.flush()


def _preload() -> None:
    import onnx_autodoc

    for module in pkgutil.walk_packages(onnx_autodoc.__path__, "onnx_autodoc."):
        if not module.name.startswith(_UNUSED) and not module.name.endswith("__main__"):
            importlib.import_module(module.name)


def _ran(job: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _live(job)
    why = _watched(child, job["seconds"], job["memory"])
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    wall, busy = time.monotonic() - started, used.ru_utime + used.ru_stime
    return {"code": code, "why": why, "wall": wall, "busy": busy, "peak": used.ru_maxrss * 1024}


def _watched(child: int, seconds: float, memory: int) -> str:
    """Waits for its end; what it was ended for, if it had to be."""
    handle, last = os.pidfd_open(child), time.monotonic() + seconds
    try:
        while not select.select([handle], [], [], min(_LOOK, max(last - time.monotonic(), 0)))[0]:
            why = "time" if time.monotonic() > last else "memory" if _resident(child) > memory else ""
            if why:
                os.killpg(child, signal.SIGKILL)
                return why
    finally:
        os.close(handle)
    return ""


def _resident(child: int) -> int:
    """The memory of a process and of those that it started."""
    total = 0
    for pid in [child, *_children(child)]:
        try:
            total = max(total, int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE"))
        except (OSError, IndexError):
            continue
    return total


def _children(pid: int) -> list[int]:
    try:
        found = [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return found + [inner for child in found for inner in _children(child)]


def _live(job: dict[str, Any]) -> NoReturn:
    """What Python does with a command: its streams, its exit code, and a traceback where nothing caught it."""
    code = 1
    try:
        os.setsid()
        for number, path in ((0, os.devnull), (1, job["stdout"]), (2, job["stderr"])):
            flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            os.dup2(os.open(path, flags, 0o600), number)
        os.chdir(job["folder"])
        module, name = job["main"].split(":")
        code = getattr(importlib.import_module(module), name)(job["argv"])
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
