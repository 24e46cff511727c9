"""The hardware section of the card, for the requested devices."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.architecture import Structure
from onnx_autodoc.card import HardwareSection, Price
from onnx_autodoc.hardware.devices import Device
from onnx_autodoc.hardware.estimate import Estimate, TimeEstimator, TimeRange, estimate, make_device_row
from onnx_autodoc.hardware.requirements import Target, find_requirements
from onnx_autodoc.hardware.scaling import (
    find_best_batch,
    find_phases,
    make_consistent,
    make_scale_rows,
    make_token_rows,
    scale_batches,
)
from onnx_autodoc.hardware.workload import NUMBER_FORMATS, Workload, measure_workload

_HOUR_SECONDS: Final = 3600.0
_PRICED_SAMPLES: Final = 1_000_000


class HardwareRequest(Struct, frozen=True):
    """Devices and precision to estimate for. Requirements are chosen from `candidates`."""

    devices: tuple[Device, ...]
    estimate_time: TimeEstimator
    candidates: Callable[[], Iterable[Device]] | None = None
    precision: str | None = None
    target: Target = Target()
    prices: Mapping[str, float] = {}  # per hour, by device
    has_named_devices: bool = False  # so that more work may be spent on them
    measured: TimeRange | None = None  # of the native format on the first device


class _Estimator:
    """Estimates of one model, device by device."""

    def __init__(self, facts: Facts, structure: Structure, request: HardwareRequest) -> None:
        self._request = request
        self._workload = own = measure_workload(facts, structure.family.name)
        self._batches = scale_batches(facts, own)
        self.phases = find_phases(facts, own, structure.sizes.context, request.has_named_devices)
        self.number_format = NUMBER_FORMATS[request.precision] if request.precision else own.native_format

    def estimate(self, device: Device) -> Estimate:
        """Estimate at the card's batch, consistent with smaller batches."""
        measured, own = self._request.measured, self._workload
        if measured is not None and device is self._request.devices[0]:
            return estimate(own, device, own.native_format, lambda *_: measured)
        smaller = (item for item in self._batches if own.batch and item.batch and item.batch < own.batch)
        return self._estimate_all((*smaller, own), device)[-1]

    def estimate_batches(self, device: Device) -> list[Estimate]:
        return self._estimate_all(self._batches, device)

    def _estimate_all(self, workloads: Iterable[Workload], device: Device) -> list[Estimate]:
        estimate_time = self._request.estimate_time
        return make_consistent([estimate(item, device, self.number_format, estimate_time) for item in workloads])

    def iterate(self, device: Device) -> Iterator[Estimate]:
        """Yield the estimate at the card's batch, then those at others, computed on demand."""
        yield self.estimate(device)
        yield from self.estimate_batches(device)


def estimate_hardware(facts: Facts, structure: Structure, request: HardwareRequest) -> HardwareSection:
    own = _Estimator(facts, structure, request)
    rows = [(own.estimate(device), own.estimate_batches(device)) for device in request.devices]
    best = [find_best_batch(batches) for _, batches in rows]
    requirements = None
    if request.candidates is not None:
        requirements = find_requirements(request.candidates(), own.number_format, own.iterate, request.target)
    return HardwareSection(
        devices=tuple(make_device_row(row, batch) for (row, _), batch in zip(rows, best, strict=True)),
        scaling=tuple(row for _, batches in rows for row in make_scale_rows(batches)),
        best_batch=best[0] if best else None,
        generation=tuple(
            row
            for device in request.devices
            for row in make_token_rows(own.phases, device, own.number_format, request.estimate_time)
        ),
        requirements=requirements,
        prices=tuple(
            _price_samples(row, batches, request.prices[row.device.id])
            for row, batches in rows
            if row.device.id in request.prices
        ),
    )


def _price_samples(row: Estimate, batches: Sequence[Estimate], per_hour: float) -> Price:
    """Price a million samples at the best batch, or at the card's if the batch is static."""
    best = find_best_batch(batches)
    used = next((batch for batch in batches if batch.workload.batch == best), row)
    speed = used.per_second
    per_million = per_hour / _HOUR_SECONDS / speed * _PRICED_SAMPLES if speed and used.fits is not False else None
    return Price(row.device.id, per_hour, per_million, used.workload.batch, used.basis)
