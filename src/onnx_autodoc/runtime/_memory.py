"""The memory that a run takes: how far the process grows above where it stood before.

Made to be compared with the card's peak activations: optimisations off, one thread, no arena, no reuse, and (by
the environment that the process was started with) an allocator that gives back at once what is freed.
"""

import ctypes
import math
import re
import resource
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from onnx_autodoc.ir import stored_bytes
from onnx_autodoc.runtime._messages import Peak, Stage, Task
from onnx_autodoc.runtime._session import Runner
from onnx_autodoc.runtime._types import Feed

# glibc: what is larger than this is mapped by itself, and unmapped when it is freed
ENVIRONMENT: Final = {
    "MALLOC_MMAP_THRESHOLD_": "16384",
    "MALLOC_MMAP_MAX_": "1000000000",
    "MALLOC_TRIM_THRESHOLD_": "0",
    "MALLOC_TOP_PAD_": "0",
    "MALLOC_ARENA_MAX": "1",
}
_STATUS: Final = Path("/proc/self/status")
_RESET: Final = Path("/proc/self/clear_refs")
_THP_OFF: Final = 41  # PR_SET_THP_DISABLE: a page of 2 MiB for a tensor of 1.1 would be counted whole
_EXACT: Final = "resident memory at its highest during a run, above where it stood before (reset by clear_refs)"
_COARSE: Final = "ru_maxrss after the first run, above that before it: too low where loading took more than running"


def measure(task: Task, say: Callable[[Stage], None]) -> Peak:
    _small_pages()
    # Reuse keeps a freed tensor's memory for a later one of its size: it took twice the memory of what was alive.
    off = {"enable_cpu_mem_arena": False, "enable_mem_pattern": False, "enable_mem_reuse": False}
    runner = Runner(task, say, optimised=False, settings=off)
    inputs = _input_bytes(task.feeds)
    say(Stage("measuring memory"))
    if not _can_reset():
        before = high_water()
        runner.run()
        return Peak(max(high_water() - before, 0), inputs, _COARSE)
    runner.run()
    _trim()
    _RESET.write_text("5", encoding="ascii")
    before = _kept("VmRSS")
    runner.run()
    return Peak(max(_kept("VmHWM") - before, 0), inputs, _EXACT)


def high_water() -> int:
    """The most memory that this process ever held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _input_bytes(feeds: Iterable[Feed]) -> int | None:
    """None where one is of texts, whose lengths are their own."""
    found = [stored_bytes(feed.dtype, math.prod(feed.dims)) for feed in feeds]
    known = [nbytes for nbytes in found if nbytes is not None]
    return sum(known) if len(known) == len(found) else None


def _can_reset() -> bool:
    """And read: sandboxes have a /proc without the one or the other."""
    try:
        _RESET.write_text("5", encoding="ascii")
        _kept("VmRSS"), _kept("VmHWM")
    except (OSError, LookupError):
        return False
    return True


def _kept(key: str) -> int:
    found = re.search(rf"^{key}:\s+(\d+) kB", _STATUS.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    if found is None:
        raise LookupError(key)
    return int(found[1]) * 1024


def _small_pages() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_THP_OFF, 1, 0, 0, 0)


def _trim() -> None:
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
