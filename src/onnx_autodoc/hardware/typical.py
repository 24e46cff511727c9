"""Typical times: how far real runtimes are from the roofline, by the published measurements closest to a query.

Measurements are compared by the causes of slow runtimes: the length of a kernel at its limit (short ones wait for
launches), the batch, the arithmetic intensity, the class of work, the device, the precision, and the runtime if the
user names one. Close ones weigh more; many of one source weigh less than their number. A straight line in the length
of kernels is fitted to their factors over the roofline; its residuals are the range, wider with few sources. If no
runtime is named, the measurements contain slow and fast ones: the expected time is the median, since hardly any runtime
has the mean. If too little is close, there is no typical time.

`make typical` generates `data/typical.json`; docs/accuracy.md has the accuracy on left-out sources.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from msgspec import Struct

from onnx_autodoc.card import TYPICAL
from onnx_autodoc.decoding import decode_json
from onnx_autodoc.hardware.devices import Device, find_device
from onnx_autodoc.hardware.estimate import LowerBound, TimeRange
from onnx_autodoc.hardware.workload import DECODE, Column, NumberFormat, Workload
from onnx_autodoc.text import pluralize

# Weights of measurements that differ from the query in one respect, tuned on left-out sources (docs/accuracy.md).
_OTHER_DEVICE_WEIGHT: Final = 0.2  # of the same platform; other platforms have none
_NARROW_PRECISION_WEIGHT: Final = 0.15  # another precision, both narrow
_OTHER_PRECISION_WEIGHT: Final = 0.1
_OTHER_WORK_WEIGHT: Final = 0.02
_OTHER_FAMILY_WEIGHT: Final = 0.8
_OTHER_RUNTIME_WEIGHT: Final = 0.05
_BANDWIDTHS: Final = (0.6, 0.8, 0.4)  # decades of kernel length, batch and intensity
_SOURCE_BALANCE: Final = 0.4  # exponent that reduces the weight of many measurements of one source
_PRIOR_SLOPE_WEIGHT: Final = 0.05
_PRIOR_SLOPE: Final = -0.2
_RANGE_DEVIATIONS: Final = 1.35  # on each side
_MIN_SPREAD: Final = 0.1  # decades
_SOURCE_SPREAD: Final = 0.2  # decades: how far off a whole source may be
_MIN_TOTAL_WEIGHT: Final = 0.1
_NARROW_PRECISIONS: Final = ("fp16", "bf16", "fp8", "int8", "int4")
_MAX_LISTED: Final = 3
_MIN_LISTED_SHARE: Final = 20  # measurements with less than this part of the largest weight are not counted
_DIGITS: Final = 6


class Measurement(Struct, frozen=True):
    """A published measurement; `length`, `batch`, `intensity`, `factor` are decimal logarithms."""

    device: str
    platform: str
    precision: str
    work: str
    family: str
    runtime: str
    source: str
    length: float
    batch: float
    intensity: float
    factor: float


class MeasurementQuery(Struct, frozen=True):
    """What to estimate, in the terms of `Measurement`. `roofline` in seconds."""

    device: str
    platform: str
    precision: str
    work: str
    family: str
    length: float
    batch: float
    intensity: float
    roofline: float


def estimate_typical_time(
    workload: Workload, device: Device, number_format: NumberFormat, bound: LowerBound, runtime: str | None = None
) -> TimeRange | None:
    """Return None also for a device whose rates are upper limits: factors are of published rates."""
    query = None if device.is_ceiling else make_query(workload, device, number_format, bound)
    return estimate_from(query, _published_table(query.platform), runtime) if query is not None else None


def make_query(
    workload: Workload, device: Device, number_format: NumberFormat, bound: LowerBound
) -> MeasurementQuery | None:
    kernels, roofline = workload.kernels, bound.roofline
    launches, moved = float(kernels.launches.sum()), float((kernels.floats + kernels.weights).sum())
    if roofline is None or not workload.macs or not launches or not moved or workload.batch is None:
        return None
    is_convolutional = 2 * float(kernels.macs[kernels.is_convolution].sum()) > workload.macs
    work = DECODE if workload.phase == DECODE else "convolutions" if is_convolutional else "products"
    return MeasurementQuery(
        device.id,
        find_platform(device),
        number_format.name,
        work,
        workload.family,
        float(np.log10(roofline / launches)),
        float(np.log10(workload.batch)),
        float(np.log10(workload.macs / moved)),
        roofline,
    )


def find_platform(device: Device) -> str:
    """Return the group of devices with similar runtimes and comparable rooflines."""
    if device.family in ("jetson", "apple"):
        return device.family
    if device.kind == "npu":
        kind = "npu" if device.memory_kind == "on-chip" else "npu with memory"
        return f"{device.id.split('_')[0]} {kind}"
    return device.kind if device.kind == "cpu" else f"{device.vendor} {device.kind}"


@cache
def published_measurements() -> tuple[Measurement, ...]:
    data = (Path(__file__).parents[1] / "data" / "typical.json").read_bytes()
    return decode_json(data, tuple[Measurement, ...])


class MeasurementTable:
    """Measurements of one platform as columns."""

    def __init__(self, rows: Sequence[Measurement]) -> None:
        self.rows = rows
        names = ("device", "precision", "work", "family", "runtime")
        self.labels = {name: np.array([getattr(row, name) for row in rows]) for name in names}
        self.is_narrow = np.isin(self.labels["precision"], _NARROW_PRECISIONS)
        self.positions = np.array([(row.length, row.batch, row.intensity) for row in rows]).reshape(-1, 3)
        self.factors = np.array([row.factor for row in rows])
        self.sources = np.unique([row.source for row in rows], return_inverse=True)[1].reshape(-1)


@cache
def _published_table(platform: str) -> MeasurementTable:
    return MeasurementTable([row for row in published_measurements() if row.platform == platform])


def estimate_from(query: MeasurementQuery, table: MeasurementTable, runtime: str | None = None) -> TimeRange | None:
    """Estimate a range from measurements of the query's platform; None if too few are close."""
    if not table.rows:
        return None
    distances = (table.positions - np.array([query.length, query.batch, query.intensity])) / np.array(_BANDWIDTHS)
    similarity = _label_weights(query, table, runtime) * np.exp(-(distances**2).sum(axis=1) / 2)
    total = float(similarity.sum())
    if total < _MIN_TOTAL_WEIGHT:
        return None
    sums = np.bincount(table.sources, similarity)[table.sources]
    weights: Column = similarity / np.maximum(sums, 1e-12) ** _SOURCE_BALANCE
    weights /= weights.sum()
    median, mean, deviation = _fit_line(query, table, weights)
    source_shares = np.bincount(table.sources, weights)
    spread = _RANGE_DEVIATIONS * math.hypot(
        deviation,
        _MIN_SPREAD * math.sqrt(1 + 1 / (total + 0.1)),
        _SOURCE_SPREAD * math.sqrt(float(source_shares @ source_shares)),  # 1 for one source, 1/n for n equal ones
    )
    factors = (mean - spread, median if runtime is None else mean, mean + spread)
    # Rounded, since the last digits of an exponential depend on the processor, and cards must be reproducible.
    low, expected, high = (float(f"{query.roofline * 10.0**factor:.{_DIGITS}g}") for factor in factors)
    return TimeRange(low, expected, high, TYPICAL, _basis_text(table.rows, similarity))


def _label_weights(query: MeasurementQuery, table: MeasurementTable, runtime: str | None) -> Column:
    labels = table.labels
    weights = np.where(labels["device"] == query.device, 1.0, _OTHER_DEVICE_WEIGHT)
    both_narrow = table.is_narrow & (query.precision in _NARROW_PRECISIONS)
    other_precision = np.where(both_narrow, _NARROW_PRECISION_WEIGHT, _OTHER_PRECISION_WEIGHT)
    weights *= np.where(labels["precision"] == query.precision, 1.0, other_precision)
    family = np.where(labels["family"] == query.family, 1.0, _OTHER_FAMILY_WEIGHT)
    weights *= np.where(labels["work"] == query.work, family, _OTHER_WORK_WEIGHT)
    weights *= (labels["work"] == DECODE) == (query.work == DECODE)
    return weights if runtime is None else weights * np.where(labels["runtime"] == runtime, 1.0, _OTHER_RUNTIME_WEIGHT)


def _fit_line(query: MeasurementQuery, table: MeasurementTable, weights: Column) -> tuple[float, float, float]:
    """Return median and mean factor at the query, and the deviation of measurements from the line; in decades."""
    lengths, factors = table.positions[:, 0] - query.length, table.factors
    mean_length, mean_factor = float(weights @ lengths), float(weights @ factors)
    x, y = lengths - mean_length, factors - mean_factor
    slope = float((weights @ (x * y) + _PRIOR_SLOPE_WEIGHT * _PRIOR_SLOPE) / (weights @ x**2 + _PRIOR_SLOPE_WEIGHT))
    residuals = y - slope * x
    mean = mean_factor - slope * mean_length
    # the weighted median: the residual with half of the weight on each side, interpolated
    order = np.argsort(residuals, kind="stable")
    below = np.cumsum(weights[order]) - weights[order] / 2
    median = float(np.interp(0.5, below, residuals[order]))
    return mean + median, mean, math.sqrt(float(weights @ residuals**2))


def _basis_text(rows: Sequence[Measurement], similarity: Column) -> str:
    """Return how many measurements count, and which devices and runtimes have the most weight."""
    counted = np.flatnonzero(similarity > similarity.max() / _MIN_LISTED_SHARE)
    sums = Counter[tuple[str, str]]()
    for at in counted.tolist():
        sums[rows[at].device, rows[at].runtime] += similarity[at]
    most = ", ".join(
        f"{find_device(device).name} with {runtime}" for (device, runtime), _ in sums.most_common(_MAX_LISTED)
    )
    return f"{pluralize(len(counted), 'published measurement')}, mostly {most}"
