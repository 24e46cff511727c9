"""The card's section on hardware, from what a run asks for and the devices that were named."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.architecture import Structure
from onnx_autodoc.hardware._batches import batches, best_batch, coherent, scale_rows
from onnx_autodoc.hardware._demand import demand
from onnx_autodoc.hardware._estimate import Estimate, Grade, device_row, estimate
from onnx_autodoc.hardware._formats import FORMATS
from onnx_autodoc.hardware._generation import phases, token_rows
from onnx_autodoc.hardware._grades import Range
from onnx_autodoc.hardware._requirements import Target, requirements
from onnx_autodoc.hardware._types import HardwareSection, Price
from onnx_autodoc.hardware.devices import Device

_HOUR: Final = 3600.0
_MILLION: Final = 1_000_000


class Wanted(Struct, frozen=True):
    """What a user wants to know of hardware. `shelf`: the devices that requirements are chosen from."""

    devices: tuple[Device, ...]
    grade: Grade
    shelf: Callable[[], Iterable[Device]] | None = None
    precision: str | None = None
    target: Target = Target()
    prices: Mapping[str, float] = {}  # per hour, by device
    asked: bool = False  # the devices were named, so that more work may be spent on them
    measured: Range | None = None  # what a run took on the first of the devices, as the file is


class _Case:
    """One model, asked of one device after the other."""

    def __init__(self, facts: Facts, structure: Structure, wanted: Wanted) -> None:
        self.demand = demand(facts, structure.family.name)
        self.batches = batches(facts, self.demand)
        self.phases = phases(facts, self.demand, structure.sizes.context, wanted.asked)
        self.grade, self.wanted = wanted.grade, wanted
        self.format = FORMATS[wanted.precision] if wanted.precision else self.demand.own

    def on(self, device: Device) -> Estimate:
        """At the card's batch; its time stands beside those of smaller ones as it does in the table of batches."""
        taken, own = self.wanted.measured, self.demand
        if taken is not None and device is self.wanted.devices[0]:
            return estimate(own, device, own.own, lambda *_: taken)
        smaller = [each for each in self.batches if own.batch and each.batch and each.batch < own.batch]
        return coherent([estimate(each, device, self.format, self.grade) for each in (*smaller, own)])[-1]

    def asked(self, device: Device) -> Iterator[Estimate]:
        """At the card's batch, then at others; worked out as they are asked for."""
        yield self.on(device)
        yield from self.scaled(device)

    def scaled(self, device: Device) -> list[Estimate]:
        return coherent([estimate(each, device, self.format, self.grade) for each in self.batches])


def hardware(facts: Facts, structure: Structure, wanted: Wanted) -> HardwareSection:
    case = _Case(facts, structure, wanted)
    found = [(case.on(device), case.scaled(device)) for device in wanted.devices]
    best = [best_batch(rows) for _, rows in found]
    return HardwareSection(
        devices=tuple(device_row(one, batch) for (one, _), batch in zip(found, best, strict=True)),
        scaling=tuple(row for _, rows in found for row in scale_rows(rows)),
        best_batch=best[0] if best else None,
        generation=tuple(
            row for device in wanted.devices for row in token_rows(case.phases, device, case.format, case.grade)
        ),
        requirements=requirements(wanted.shelf(), case.format, case.asked, wanted.target) if wanted.shelf else None,
        prices=tuple(_price(one, rows, wanted.prices) for one, rows in found if one.device.id in wanted.prices),
    )


def _price(one: Estimate, rows: Sequence[Estimate], prices: Mapping[str, float]) -> Price:
    """At the best batch, or at the card's where the batch is fixed."""
    batch = best_batch(rows)
    at = next((row for row in rows if row.demand.batch == batch), one)
    hourly, speed = prices[one.device.id], at.per_second
    each = hourly / _HOUR / speed * _MILLION if speed and at.fits is not False else None
    return Price(one.device.id, hourly, each, at.demand.batch, at.basis)
