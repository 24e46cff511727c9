"""How long one of each thing takes on a machine, by pace: fitted on runs of whole graphs.

A graph's time is a sum over its kernels, so many graphs give a system of linear equations, solved for times that are
not negative. Errors count by ratio, and far ones little. Where the runs do not tell, a time stays near what it usually
is.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

from onnx_autodoc.runtime.calibration._tasks import Task

Key = tuple[str, str]  # pace, amount
Totals = dict[Key, float]
Times = dict[Key, float]
_Array = np.ndarray[Any, np.dtype[np.float64]]

RUN: Final = ("", "run")
CHANGES: Final = ("", "changes")
KERNELS: Final = "kernels"
WEIGHTS: Final = "weights"
FAR_WEIGHTS: Final = "far weights"
# Seconds that one of each usually takes, on any machine of today within a factor of ten
USUAL: Final = {
    "run": 1e-5,
    KERNELS: 3e-6,
    "changes": 1e-6,
    "macs": 1 / 60e9,
    "narrow": 1 / 60e9,
    "state": 1 / 30e9,
    "near": 1 / 40e9,
    "far": 1 / 12e9,
    WEIGHTS: 1 / 40e9,
    FAR_WEIGHTS: 1 / 20e9,
    "elements": 3e-10,
    "window": 2e-10,
    "out": 2e-10,
    "in": 2e-10,
    "unpacked": 1e-10,
    "columns": 3e-10,
    "cells": 1e-9,
    "steps": 2e-6,
    "batch": 1e-6,
    "passes": 3e-6,
    "rows": 5e-9,
}
_PULL: Final = 0.03  # towards the usual, against 1 for a run
_FAR_OFF: Final = 0.25  # errors beyond it count less
_ROUNDS: Final = 8
_SWEEPS: Final = 200
_SETTLED: Final = 1e-4
_STEEP: Final = 4  # how sharply weights stop fitting into the cache


class Run(Struct, frozen=True):
    """A graph that was run: what it took, and what was in it."""

    name: str
    seconds: float
    totals: Totals


def totals(tasks: Sequence[Task], cache: float) -> Totals:
    """The amounts of all kernels by pace. Weights that do not fit into the cache together come from memory."""
    found: Totals = {RUN: 1.0, CHANGES: sum(task.amounts.get(KERNELS, 0.0) for task in tasks) * variety(tasks)}
    for task in tasks:
        for name, amount in task.amounts.items():
            found[task.pace, name] = found.get((task.pace, name), 0.0) + amount
    return spread(found, far_share(tasks, cache))


def variety(tasks: Iterable[Task]) -> float:
    """The share of kernels that come after one of another kind: code and data of their own are not at hand then."""
    return 1 - 1 / max(len({task.pace for task in tasks}), 1)


def far_share(tasks: Iterable[Task], cache: float) -> float:
    held = sum(task.held for task in tasks)
    return 1 / (1 + (cache / held) ** _STEEP) if held else 0.0


def spread(found: Totals, share: float) -> Totals:
    far = {(pace, FAR_WEIGHTS): amount * share for (pace, name), amount in found.items() if name == WEIGHTS}
    near = {key: amount * (1 - share) if key[1] == WEIGHTS else amount for key, amount in found.items()}
    return near | far


def fit(runs: Sequence[Run]) -> Times:
    """Seconds for one of each."""
    keys = sorted({key for run in runs for key in run.totals})
    usual = np.array([USUAL[name] for _, name in keys])
    amounts = np.array([[run.totals.get(key, 0.0) for key in keys] for run in runs]) * usual
    seconds = np.array([run.seconds for run in runs])
    times = np.ones(len(keys))
    scale = 1 / seconds
    for _ in range(_ROUNDS):
        times = _solved(amounts * scale[:, None], seconds * scale, times)
        scale = _scale(amounts @ times, seconds)
    return dict(zip(keys, (times * usual).tolist()))


def _scale(guess: _Array, seconds: _Array) -> _Array:
    """So that an error is about the logarithm of the ratio, and one that is far off weighs less than its square."""
    even = 1 / np.sqrt(seconds * np.maximum(guess, seconds / 100))
    errors = np.abs((guess - seconds) * even)
    return np.asarray(even * np.sqrt(np.minimum(1.0, _FAR_OFF / np.maximum(errors, 1e-9))))


def _solved(rows: _Array, wanted: _Array, times: _Array) -> _Array:
    """Least squares with a pull towards 1 and no negative times, one unknown after the other.

    What turned out to be far above 1 is pulled by its ratio to it, not by the distance.
    """
    pull = _PULL / np.maximum(times, 1.0) ** 2
    square = rows.T @ rows + np.diag(pull)
    right, diagonal, times = rows.T @ wanted + pull, np.diag(square), times.copy()
    for _ in range(_SWEEPS):
        before = times.copy()
        for at in range(len(times)):
            times[at] = max(0.0, times[at] + (right[at] - square[at] @ times) / diagonal[at])
        if np.max(np.abs(times - before)) < _SETTLED:
            break
    return times


def seconds(found: Mapping[Key, float], times: Times) -> float:
    """What a graph takes; what was never measured counts at what it usually takes."""
    return sum(amount * times.get(key, USUAL[key[1]]) for key, amount in found.items())


def task_totals(task: Task, share: float, changing: float) -> Totals:
    own = {(task.pace, name): amount for name, amount in task.amounts.items()}
    return spread(own, share) | {CHANGES: task.amounts.get(KERNELS, 0.0) * changing}


def left_out(runs: Sequence[Run], among: Sequence[Run]) -> dict[str, float]:
    """Of each of `among`: predicted over measured, where it was fitted on all other runs."""
    found = {}
    for run in among:
        times = fit([other for other in runs if other.name != run.name])
        found[run.name] = seconds(run.totals, times) / run.seconds
    return found


__all__ = [
    "Key",
    "Run",
    "Times",
    "Totals",
    "far_share",
    "fit",
    "left_out",
    "seconds",
    "task_totals",
    "totals",
]
