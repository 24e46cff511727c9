"""How long one run takes: warm-up, then runs one after the other, and what others did with the machine meanwhile."""

import gc
import math
import time
from collections.abc import Callable, Sequence
from typing import Final

from onnx_autodoc.runtime._machine import clock, others, stolen
from onnx_autodoc.runtime._memory import high_water
from onnx_autodoc.runtime._messages import Busy, Stage, Task, Timed
from onnx_autodoc.runtime._session import Runner
from onnx_autodoc.runtime._types import Load, Timing

_LEAST_RUNS: Final = 10
_LONG_ENOUGH: Final = 2.0  # seconds of runs
_PATIENCE: Final = 60.0  # after so long, three runs are enough
_FEW: Final = 3
_WARM: Final = 0.5  # seconds
_LOOKS: Final = 4  # at the machine, until it is quiet
_LOOK: Final = 0.5  # seconds
_BETWEEN: Final = 0.5  # of words on progress


def measure(task: Task, say: Callable[[Stage], None]) -> Timed | Busy:
    runner = Runner(task, say, optimised=True)
    say(Stage("warming up"))
    warmups, once = _warm(runner)
    say(Stage("looking whether the machine is quiet"))
    before, steal = _look(task.busiest)
    if task.busiest is not None and before is not None and before > task.busiest:
        return Busy(before, steal, task.runtime, runner.threads)
    start = clock()
    each = _runs(runner, task.runs, once, say)
    end = clock()
    load = Load(before, others(start, end), _either(stolen(start, end), steal))
    return Timed(_timing(each, warmups, runner, load, task.runtime))


def _timing(each: Sequence[float], warmups: int, runner: Runner, load: Load, runtime: str) -> Timing:
    ordered = sorted(each)
    middle = len(ordered) // 2
    return Timing(
        median_seconds=ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2,
        p95_seconds=ordered[math.ceil(0.95 * len(ordered)) - 1],
        min_seconds=ordered[0],
        mean_seconds=sum(ordered) / len(ordered),
        runs=len(ordered),
        warmups=warmups,
        session_seconds=runner.seconds,
        rss_peak_bytes=high_water(),
        threads=runner.threads,
        provider=runner.provider,
        runtime=runtime,
        load=load,
    )


def _warm(runner: Runner) -> tuple[int, float]:
    """How often it ran, and how long the last time took."""
    count, start = 0, time.perf_counter()
    while True:
        began = time.perf_counter()
        runner.run()
        count, now = count + 1, time.perf_counter()
        if now - start > _PATIENCE / 10 or (count >= _FEW and now - start > _WARM):
            return count, now - began


def _look(most: float | None) -> tuple[float | None, float | None]:
    """What others use; looked at again where it is more than `most`: what has just ended is no load."""
    found: tuple[float | None, float | None] = None, None
    for _ in range(_LOOKS):
        start = clock()
        time.sleep(_LOOK)
        end = clock()
        found = others(start, end), stolen(start, end)
        if most is None or found[0] is None or found[0] <= most:
            break
    return found


def _runs(runner: Runner, wanted: int | None, once: float, say: Callable[[Stage], None]) -> list[float]:
    expected = wanted or max(_LEAST_RUNS, math.ceil(_LONG_ENOUGH / max(once, 1e-6)))
    each: list[float] = []
    start = told = time.perf_counter()
    gc.disable()
    while not _enough(len(each), wanted, time.perf_counter() - start):
        if time.perf_counter() - told > _BETWEEN:
            say(Stage("timing the model", len(each), expected))
            told = time.perf_counter()
        began = time.perf_counter()
        runner.run()
        each.append(time.perf_counter() - began)
    gc.enable()
    return each


def _enough(count: int, wanted: int | None, seconds: float) -> bool:
    if wanted is not None:
        return count >= wanted
    return (count >= _LEAST_RUNS and seconds >= _LONG_ENOUGH) or (count >= _FEW and seconds >= _PATIENCE)


def _either(one: float | None, other: float | None) -> float | None:
    return one if one is not None else other
