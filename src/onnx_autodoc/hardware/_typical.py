"""How far real runtimes stay from the roofline, by the published measurements nearest to a case.

Measurements are compared by what makes runtimes slow: how long a kernel takes at its limit (short ones wait for being
launched), the batch, how much arithmetic there is for each number moved, the kind of work, the device, the precision,
and the runtime where a user names one. Near ones count more, many of one source count less than their number. Through
their factors goes a straight line in the length of kernels; how far they lie from it is the range, wider where few
sources speak. Where no runtime is named there are slow and fast ones among them: expected is the middle one, as their
mean is a time that hardly any runtime takes. Where too little is near, nothing is said.

`data/typical.json` is made by `make typical`; docs/accuracy.md says how good this is on sources that were left out.
"""

import math
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct

from onnx_autodoc.hardware._demand import DECODE, Column, Demand
from onnx_autodoc.hardware._floor import Floor
from onnx_autodoc.hardware._formats import Format
from onnx_autodoc.hardware._grades import TYPICAL, Range
from onnx_autodoc.hardware.devices import Device, find
from onnx_autodoc.text import plural

# How much a measurement counts that is like the case but for this: found by leaving out sources, see docs/accuracy.md.
_OTHER_DEVICE: Final = 0.2  # of the same platform; of another one, nothing
_NEAR_PRECISION: Final = 0.15  # both narrow
_FAR_PRECISION: Final = 0.1
_OTHER_WORK: Final = 0.02
_OTHER_FAMILY: Final = 0.8
_OTHER_RUNTIME: Final = 0.05
_WIDTHS: Final = (0.6, 0.8, 0.4)  # in powers of ten: of a kernel's length, of the batch, of the intensity
_BALANCE: Final = 0.4  # of many measurements of one source
_STIFF: Final = 0.05  # how much the usual slope counts beside the one that is seen
_SLOPE: Final = -0.2
_SPREAD: Final = 1.35  # standard deviations on each side
_LEAST_SPREAD: Final = 0.1  # powers of ten
_SOURCE_SPREAD: Final = 0.2  # powers of ten: how far off a whole source may be
_ENOUGH: Final = 0.1
_NARROW: Final = ("fp16", "bf16", "fp8", "int8", "int4")
_MOST_NAMED: Final = 3
_HARDLY: Final = 20  # what counts less than this part of the nearest one is not named
_DIGITS: Final = 6


class Measurement(Struct, frozen=True):
    """A published one, as the line goes through it: `length`, `batch`, `intensity`, `factor` in powers of ten."""

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


class Case(Struct, frozen=True):
    """What is asked for, in the same terms. `roofline` in seconds."""

    device: str
    platform: str
    precision: str
    work: str
    family: str
    length: float
    batch: float
    intensity: float
    roofline: float


def typical(demand: Demand, device: Device, wanted: Format, floor: Floor, runtime: str | None = None) -> Range | None:
    """None too where a device's rates are only a ceiling: factors are of those that makers state."""
    case = None if device.is_ceiling else case_of(demand, device, wanted, floor)
    return near(case, _shipped(case.platform), runtime) if case is not None else None


def case_of(demand: Demand, device: Device, wanted: Format, floor: Floor) -> Case | None:
    line, load = floor.roofline, demand.load
    launches, moved = float(load.launches.sum()), float((load.floats + load.weights).sum())
    if line is None or not demand.macs or not launches or not moved or demand.batch is None:
        return None
    return Case(
        device.id,
        platform_of(device),
        wanted.name,
        _work(demand),
        demand.family,
        float(np.log10(line / launches)),
        float(np.log10(demand.batch)),
        float(np.log10(demand.macs / moved)),
        line,
    )


def platform_of(device: Device) -> str:
    """Devices whose runtimes are alike, and whose rooflines mean the same: chips with memory of their own or none."""
    if device.family in ("jetson", "apple"):
        return device.family
    if device.kind == "npu":
        kind = "npu" if device.memory_kind == "on-chip" else "npu with memory"
        return f"{device.id.split('_')[0]} {kind}"
    return device.kind if device.kind == "cpu" else f"{device.vendor} {device.kind}"


def _work(demand: Demand) -> str:
    if demand.phase == DECODE:
        return DECODE
    convolved = float(demand.load.macs[demand.load.convolves].sum())
    return "convolutions" if 2 * convolved > demand.macs else "products"


@cache
def measurements() -> tuple[Measurement, ...]:
    data = (files("onnx_autodoc") / "data" / "typical.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[Measurement, ...])


class Columns:
    """Measurements of one platform, column by column."""

    def __init__(self, some: Sequence[Measurement]) -> None:
        self.some = some
        names = ("device", "precision", "work", "family", "runtime")
        self.words = {name: np.array([getattr(each, name) for each in some]) for name in names}
        self.narrow = np.isin(self.words["precision"], _NARROW)
        self.places = np.array([(each.length, each.batch, each.intensity) for each in some]).reshape(-1, 3)
        self.factors = np.array([each.factor for each in some])
        self.sources = np.unique([each.source for each in some], return_inverse=True)[1].reshape(-1)


@cache
def _shipped(platform: str) -> Columns:
    return Columns([each for each in measurements() if each.platform == platform])


def near(case: Case, columns: Columns, runtime: str | None = None) -> Range | None:
    """The range at a case, from measurements of its platform."""
    if not columns.some:
        return None
    alike = _alike(case, columns, runtime) * _closeness(case, columns)
    whole = float(alike.sum())
    if whole < _ENOUGH:
        return None
    weights = _balanced(columns, alike)
    middle, factor, spread = _line(case, columns, weights)
    spread = _SPREAD * math.hypot(
        spread,
        _LEAST_SPREAD * math.sqrt(1 + 1 / (whole + 0.1)),
        _SOURCE_SPREAD * math.sqrt(_alone(columns, weights)),
    )
    powers = (factor - spread, middle if runtime is None else factor, factor + spread)
    low, expected, high = (_steady(case.roofline * 10.0**power) for power in powers)
    return Range(low, expected, high, TYPICAL, _rests_on(columns.some, alike))


def _steady(seconds: float) -> float:
    """The last digits of an exponential hang on the processor: a card is the same bytes on all of them."""
    return float(f"{seconds:.{_DIGITS}g}")


def _alike(case: Case, columns: Columns, runtime: str | None) -> Column:
    """How much each measurement counts by its kind alone."""
    words = columns.words
    count = np.where(words["device"] == case.device, 1.0, _OTHER_DEVICE)
    narrow = columns.narrow & (case.precision in _NARROW)
    count *= np.where(words["precision"] == case.precision, 1.0, np.where(narrow, _NEAR_PRECISION, _FAR_PRECISION))
    family = np.where(words["family"] == case.family, 1.0, _OTHER_FAMILY)
    count *= np.where(words["work"] == case.work, family, _OTHER_WORK)
    count *= (words["work"] == DECODE) == (case.work == DECODE)
    return count if runtime is None else count * np.where(words["runtime"] == runtime, 1.0, _OTHER_RUNTIME)


def _closeness(case: Case, columns: Columns) -> Column:
    own = np.array([case.length, case.batch, case.intensity])
    away: Column = (((columns.places - own) / np.array(_WIDTHS)) ** 2).sum(axis=1)
    return np.exp(-away / 2)


def _balanced(columns: Columns, alike: Column) -> Column:
    """Many of one source count less than their number. They add up to 1."""
    sums = np.bincount(columns.sources, alike)[columns.sources]
    weights: Column = alike / np.maximum(sums, 1e-12) ** _BALANCE
    weights /= weights.sum()
    return weights


def _alone(columns: Columns, weights: Column) -> float:
    """1 where one source speaks alone, 1/n where n of them count the same."""
    shares = np.bincount(columns.sources, weights)
    return float(shares @ shares)


def _line(case: Case, columns: Columns, weights: Column) -> tuple[float, float, float]:
    """The middle and the mean factor at the case, and how far measurements lie from the line; all in powers of ten."""
    away, factors = columns.places[:, 0] - case.length, columns.factors
    middle, level = float(weights @ away), float(weights @ factors)
    across, up = away - middle, factors - level
    slope = float((weights @ (across * up) + _STIFF * _SLOPE) / (weights @ across**2 + _STIFF))
    rest = up - slope * across
    mean = level - slope * middle
    return mean + _half(rest, weights), mean, math.sqrt(float(weights @ rest**2))


def _half(values: Column, weights: Column) -> float:
    """The value below and above which there is half of the weight: between two of them, so that it moves with them."""
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order]) - weights[order] / 2
    return float(np.interp(0.5, below, values[order]))


def _rests_on(some: Sequence[Measurement], alike: Column) -> str:
    """How many measurements, and which devices and runtimes most of the weight is on."""
    counted = np.flatnonzero(alike > alike.max() / _HARDLY)
    sums = Counter[tuple[str, str]]()
    for at in counted.tolist():
        sums[some[at].device, some[at].runtime] += alike[at]
    most = ", ".join(f"{find(device).name} with {runtime}" for (device, runtime), _ in sums.most_common(_MOST_NAMED))
    return f"{plural(len(counted), 'published measurement')}, mostly {most}"
