"""Seconds for each unit of work on a machine, fitted to timed graphs, and predictions from them.

The time of a graph is the sum over its kernels, so many graphs give a system of linear equations, which is solved for
non-negative times. Errors count by ratio, outliers count less. Where the graphs leave a time undetermined, it stays
near its usual value.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

from onnx_autodoc.runtime.calibration.lowering import KernelWork

WorkKey = tuple[str, str]  # kernel class, quantity
Work = dict[WorkKey, float]
UnitTimes = dict[WorkKey, float]
_Vector = np.ndarray[Any, np.dtype[np.float64]]

RUN: Final = ("", "run")
KERNEL_CHANGES: Final = ("", "changes")
_KERNELS: Final = "kernels"
_WEIGHTS: Final = "weights"
_FAR_WEIGHTS: Final = "far weights"
# Usual seconds for one unit of each quantity; within a factor of ten on machines of today
USUAL_SECONDS: Final = {
    "run": 1e-5,
    _KERNELS: 3e-6,
    "changes": 1e-6,
    "macs": 1 / 60e9,
    "narrow": 1 / 60e9,
    "state": 1 / 30e9,
    "near": 1 / 40e9,
    "far": 1 / 12e9,
    _WEIGHTS: 1 / 40e9,
    _FAR_WEIGHTS: 1 / 20e9,
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
_PRIOR_WEIGHT: Final = 0.03  # of the usual times, against 1 for a graph
_OUTLIER_ERROR: Final = 0.25  # larger errors count linearly, not squared
_REWEIGHTINGS: Final = 8
_MAX_SWEEPS: Final = 200
_TOLERANCE: Final = 1e-4
_CACHE_STEEPNESS: Final = 4  # of the change from cached weights to weights in memory


class TimedGraph(Struct, frozen=True):
    name: str
    seconds: float
    work: Work


def sum_work(kernels: Sequence[KernelWork], cache_bytes: float) -> Work:
    """Add up the work of all kernels by class. Weights that exceed the cache together are read from memory."""
    launches = sum(kernel.quantities.get(_KERNELS, 0.0) for kernel in kernels)
    work: Work = {RUN: 1.0, KERNEL_CHANGES: launches * _change_share(kernels)}
    for kernel in kernels:
        for name, amount in kernel.quantities.items():
            work[kernel.kind, name] = work.get((kernel.kind, name), 0.0) + amount
    return _split_weights(work, _far_share(kernels, cache_bytes))


def _change_share(kernels: Iterable[KernelWork]) -> float:
    """Return the share of kernels that follow one of another class: their code and data are not in the cache."""
    return 1 - 1 / max(len({kernel.kind for kernel in kernels}), 1)


def _far_share(kernels: Iterable[KernelWork], cache_bytes: float) -> float:
    weights = sum(kernel.weight_bytes for kernel in kernels)
    return 1 / (1 + (cache_bytes / weights) ** _CACHE_STEEPNESS) if weights else 0.0


def _split_weights(work: Work, far_share: float) -> Work:
    split: Work = {}
    for (kind, name), amount in work.items():
        if name == _WEIGHTS:
            split[kind, _FAR_WEIGHTS] = amount * far_share
            amount *= 1 - far_share
        split[kind, name] = amount
    return split


def fit_times(graphs: Sequence[TimedGraph]) -> UnitTimes:
    """Return the seconds for one unit of each quantity, by kernel class."""
    keys = sorted({key for graph in graphs for key in graph.work})
    usual = np.array([USUAL_SECONDS[name] for _, name in keys])
    amounts = np.array([[graph.work.get(key, 0.0) for key in keys] for graph in graphs]) * usual
    seconds = np.array([graph.seconds for graph in graphs])
    times = np.ones(len(keys))
    scale = 1 / seconds
    for _ in range(_REWEIGHTINGS):
        times = _solve_non_negative(amounts * scale[:, None], seconds * scale, times)
        # An error is about the logarithm of the ratio; the weight of outliers makes it linear.
        predicted = amounts @ times
        scale = 1 / np.sqrt(seconds * np.maximum(predicted, seconds / 100))
        errors = np.abs((predicted - seconds) * scale)
        scale = scale * np.sqrt(np.minimum(1.0, _OUTLIER_ERROR / np.maximum(errors, 1e-9)))
    return dict(zip(keys, (times * usual).tolist()))


def _solve_non_negative(rows: _Vector, target: _Vector, times: _Vector) -> _Vector:
    """Solve least squares with a prior at 1 and non-negative times, by coordinate descent.

    The prior of a time far above 1 is weaker, so that it acts on the ratio and not on the distance.
    """
    prior = _PRIOR_WEIGHT / np.maximum(times, 1.0) ** 2
    square = rows.T @ rows + np.diag(prior)
    right, diagonal, times = rows.T @ target + prior, np.diag(square), times.copy()
    for _ in range(_MAX_SWEEPS):
        before = times.copy()
        for at in range(len(times)):
            times[at] = max(0.0, times[at] + (right[at] - square[at] @ times) / diagonal[at])
        if np.max(np.abs(times - before)) < _TOLERANCE:
            break
    return times


def predict_seconds(work: Mapping[WorkKey, float], times: UnitTimes) -> float:
    """Return the seconds for this work; a quantity that was never measured counts at its usual time."""
    return sum(amount * times.get(key, USUAL_SECONDS[key[1]]) for key, amount in work.items())


def cross_validate(graphs: Sequence[TimedGraph], tested: Sequence[TimedGraph]) -> dict[str, float]:
    """Return predicted over measured time of each tested graph, fitted on all other graphs."""
    ratios = {}
    for graph in tested:
        times = fit_times([remaining for remaining in graphs if remaining.name != graph.name])
        ratios[graph.name] = predict_seconds(graph.work, times) / graph.seconds
    return ratios


class Prediction(Struct, frozen=True):
    """Seconds of one run. `rows` has those of each node by row number, `added` those of kernels without a node."""

    low: float
    expected: float
    high: float
    rows: dict[int, float]
    added: float
    covered_time: float  # share of the expected time in kernel classes that were measured


def predict_kernels(
    kernels: Sequence[KernelWork], times: UnitTimes, cache_bytes: float, error_range: tuple[float, float]
) -> Prediction:
    far_share, change_share = _far_share(kernels, cache_bytes), _change_share(kernels)
    measured_kinds = {kind for kind, _ in times}
    start = times.get(RUN, USUAL_SECONDS[RUN[1]])
    expected = covered = start
    rows: dict[int, float] = {}
    for kernel in kernels:
        own = {(kernel.kind, name): amount for name, amount in kernel.quantities.items()}
        changes = kernel.quantities.get(_KERNELS, 0.0) * change_share
        seconds = predict_seconds(_split_weights(own, far_share) | {KERNEL_CHANGES: changes}, times)
        expected += seconds
        covered += seconds if kernel.kind in measured_kinds else 0.0
        for row in kernel.rows[:1]:  # the node that names the kernel
            rows[row] = rows.get(row, 0.0) + seconds
    low, high = error_range
    return Prediction(
        low=expected * low,
        expected=expected,
        high=expected * high,
        rows=rows,
        added=expected - sum(rows.values()),
        covered_time=covered / expected if expected else 1.0,
    )
