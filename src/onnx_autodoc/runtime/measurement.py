"""Latency and memory of one model, measured in the worker process."""

import ctypes
import gc
import math
import re
import resource
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Final

from onnx_autodoc.card import Feed, Load, Timing
from onnx_autodoc.ir import stored_bytes
from onnx_autodoc.runtime.machine import background_load, read_cpu_clock, stolen_share
from onnx_autodoc.runtime.model_loading import LoadedModel
from onnx_autodoc.runtime.protocol import BusyResult, MemoryResult, RunRequest, Stage, TimingResult
from onnx_autodoc.runtime.session import ReportStage, Session

_MIN_RUNS: Final = 10
_MIN_TIMED_SECONDS: Final = 2.0
_MIN_RUNS_IF_SLOW: Final = 3
_SLOW_SECONDS: Final = 60.0  # after which `_MIN_RUNS_IF_SLOW` suffice
_WARM_UP_SECONDS: Final = 0.5
_MAX_WARM_UP_SECONDS: Final = 6.0
_LOAD_CHECKS: Final = 4
_LOAD_CHECK_SECONDS: Final = 0.5
_PROGRESS_SECONDS: Final = 0.5


def measure_latency(request: RunRequest, model: LoadedModel, report: ReportStage) -> TimingResult | BusyResult:
    """Time an optimized model, unless other processes use more of the machine than the request allows."""
    session = Session(request, model, report, optimized=True)
    report(Stage("warming up"))
    warmups, last_seconds = _warm_up(session)
    report(Stage("checking whether the machine is idle"))
    before, steal = _wait_until_quiet(request.max_background_load)
    if request.max_background_load is not None and before is not None and before > request.max_background_load:
        return BusyResult(before, steal, session.threads)
    start = read_cpu_clock()
    seconds = sorted(_time_runs(session, request.runs, last_seconds, report))
    end = read_cpu_clock()
    stolen = stolen_share(start, end)
    timing = Timing(
        median_seconds=median(seconds),
        p95_seconds=seconds[math.ceil(0.95 * len(seconds)) - 1],
        min_seconds=seconds[0],
        mean_seconds=sum(seconds) / len(seconds),
        runs=len(seconds),
        warmups=warmups,
        session_seconds=session.load_seconds,
        rss_peak_bytes=_peak_rss(),
        threads=session.threads,
        provider=session.provider,
        runtime=session.runtime,
        load=Load(before, background_load(start, end), stolen if stolen is not None else steal),
    )
    return TimingResult(timing)


def _warm_up(session: Session) -> tuple[int, float]:
    """Return the number of runs, and the seconds of the last one."""
    count, start = 0, time.perf_counter()
    while True:
        began = time.perf_counter()
        session.run()
        count, now = count + 1, time.perf_counter()
        if now - start > _MAX_WARM_UP_SECONDS or (count >= _MIN_RUNS_IF_SLOW and now - start > _WARM_UP_SECONDS):
            return count, now - began


def _wait_until_quiet(max_load: float | None) -> tuple[float | None, float | None]:
    """Return the background load and the stolen time, once the load is at most `max_load` or after some checks.

    A process that has just ended may still show as load at the first check.
    """
    load = steal = None
    for _ in range(_LOAD_CHECKS):
        start = read_cpu_clock()
        time.sleep(_LOAD_CHECK_SECONDS)
        end = read_cpu_clock()
        load, steal = background_load(start, end), stolen_share(start, end)
        if max_load is None or load is None or load <= max_load:
            break
    return load, steal


def _time_runs(session: Session, runs: int | None, estimate: float, report: ReportStage) -> list[float]:
    expected = runs or max(_MIN_RUNS, math.ceil(_MIN_TIMED_SECONDS / max(estimate, 1e-6)))
    seconds: list[float] = []
    start = reported = time.perf_counter()
    gc.disable()
    while not _has_enough_runs(len(seconds), runs, time.perf_counter() - start):
        if time.perf_counter() - reported > _PROGRESS_SECONDS:
            report(Stage("timing the model", len(seconds), expected))
            reported = time.perf_counter()
        began = time.perf_counter()
        session.run()
        seconds.append(time.perf_counter() - began)
    gc.enable()
    return seconds


def _has_enough_runs(count: int, wanted: int | None, seconds: float) -> bool:
    if wanted is not None:
        return count >= wanted
    if count >= _MIN_RUNS and seconds >= _MIN_TIMED_SECONDS:
        return True
    return count >= _MIN_RUNS_IF_SLOW and seconds >= _SLOW_SECONDS


# -- memory

# glibc maps every allocation above the threshold separately, and unmaps it when it is freed
MEMORY_ENVIRONMENT: Final = {
    "MALLOC_MMAP_THRESHOLD_": "16384",
    "MALLOC_MMAP_MAX_": "1000000000",
    "MALLOC_TRIM_THRESHOLD_": "0",
    "MALLOC_TOP_PAD_": "0",
    "MALLOC_ARENA_MAX": "1",
}
# Reuse keeps a freed tensor's memory for a later one of its size: it took twice the memory of live tensors.
_ALLOCATION_SETTINGS: Final = {"enable_cpu_mem_arena": False, "enable_mem_pattern": False, "enable_mem_reuse": False}
_STATUS: Final = Path("/proc/self/status")
_CLEAR_REFS: Final = Path("/proc/self/clear_refs")
_PR_SET_THP_DISABLE: Final = 41  # a huge page of 2 MiB for a tensor of 1.1 MiB would count in full
_EXACT: Final = "peak resident memory during a run minus the resident memory before it (reset by clear_refs)"
_COARSE: Final = (
    "ru_maxrss after the first run minus ru_maxrss before it: too low if loading used more memory than running"
)


def measure_memory(request: RunRequest, model: LoadedModel, report: ReportStage) -> MemoryResult:
    """Measure how far the process grows during a run.

    Comparable with the card's peak activations: not optimized, one thread, no arena, no reuse, and an allocator that
    returns freed memory at once (`MEMORY_ENVIRONMENT`).
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)
    session = Session(request, model, report, optimized=False, settings=_ALLOCATION_SETTINGS)
    input_bytes = sum_input_bytes(request.feeds)
    report(Stage("measuring memory"))
    if not can_reset_peak_rss(_CLEAR_REFS, _STATUS):
        before = _peak_rss()
        session.run()
        return MemoryResult(max(_peak_rss() - before, 0), input_bytes, _COARSE)
    session.run()
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if malloc_trim is not None:
        malloc_trim(0)
    _CLEAR_REFS.write_text("5", encoding="ascii")
    before = _read_status(_STATUS, "VmRSS")
    session.run()
    return MemoryResult(max(_read_status(_STATUS, "VmHWM") - before, 0), input_bytes, _EXACT)


def _peak_rss() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def sum_input_bytes(feeds: Iterable[Feed]) -> int | None:
    """Return the bytes of all inputs; None if one of them is of strings."""
    sizes = [stored_bytes(feed.dtype, math.prod(feed.dims)) for feed in feeds]
    return None if None in sizes else sum(filter(None, sizes))


def can_reset_peak_rss(clear_refs: Path, status: Path) -> bool:
    """Return False in sandboxes whose /proc cannot be written, or lists no peak."""
    try:
        clear_refs.write_text("5", encoding="ascii")
        _read_status(status, "VmRSS"), _read_status(status, "VmHWM")
    except (OSError, LookupError):
        return False
    return True


def _read_status(status: Path, key: str) -> int:
    match = re.search(rf"^{key}:\s+(\d+) kB", status.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    if match is None:
        raise LookupError(key)
    return int(match[1]) * 1024
