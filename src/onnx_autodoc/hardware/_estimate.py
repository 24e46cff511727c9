"""A model on one device: how long, how much memory, what limits it."""

from collections import defaultdict
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from onnx_autodoc.hardware._demand import Demand
from onnx_autodoc.hardware._floor import COMPUTE, MEMORY, Floor, floor
from onnx_autodoc.hardware._formats import Format
from onnx_autodoc.hardware._grades import BOUND, MEASURED, TYPICAL, Range, at_least
from onnx_autodoc.hardware._memory import fits, memory_need, total, usable
from onnx_autodoc.hardware._types import DeviceRow, MemoryNeed, OperatorTime, Seconds
from onnx_autodoc.hardware.devices import Device

LAUNCHES: Final = "launches"
_MOST_OPERATORS: Final = 12
_FAR: Final = 3.0  # an expected time so many times the roofline is spent on neither arithmetic nor memory
_NONE: Final = "no hardware support"  # why a device's file has no rate
_SHORT: Final = 2e-5  # seconds of a kernel at its limit: about what it takes to launch one

Grade = Callable[[Demand, Device, Format, Floor], Range | None]  # None where nothing that was measured is near


class Estimate(Struct, frozen=True, eq=False):
    """One run at one batch on one device."""

    demand: Demand
    device: Device
    wanted: Format
    floor: Floor
    range: Range | None
    need: MemoryNeed

    @property
    def expected(self) -> float | None:
        return self.range.expected if self.range else self.floor.seconds

    @property
    def basis(self) -> str:
        return self.range.basis if self.range else BOUND

    @property
    def fits(self) -> bool | None:
        return fits(self.need, self.device)

    @property
    def memory(self) -> int | None:
        return total(self.need)

    @property
    def per_second(self) -> float | None:
        """Samples: runs times the batch, where there is one."""
        batch, seconds = self.demand.batch, self.expected
        return batch / seconds if batch and seconds else None

    @property
    def bottleneck(self) -> str | None:
        """Of the bound; of an expected time, where the roofline's goes, or launches where short kernels take more."""
        line = self.floor.roofline
        if self.range is None or line is None or self.floor.each is None or self.floor.waits is None:
            return self.floor.bottleneck
        short = line / max(1.0, float(self.demand.load.launches.sum())) < _SHORT
        if short and self.range.expected > _FAR * line:
            return LAUNCHES
        waiting = float(self.floor.each[self.floor.waits].sum())
        return MEMORY if waiting > line / 2 else COMPUTE

    @property
    def utilisation(self) -> float | None:
        """Of the peak rate, at the time that is shown."""
        return self.floor.compute / self.expected if self.floor.compute and self.expected else None


def estimate(demand: Demand, device: Device, wanted: Format, grade: Grade) -> Estimate:
    found = floor(demand, device, wanted)
    timed = _kept(grade(demand, device, wanted, found), demand, found)
    return Estimate(demand, device, wanted, found, timed, memory_need(demand, device, wanted))


def _kept(timed: Range | None, demand: Demand, found: Floor) -> Range | None:
    """What was measured stays as it is, also where a bound that rests on a clock of the moment says otherwise.

    Nothing else is expected of a run whose work is not all known: what is missing may be most of it.
    """
    if timed is not None and timed.basis == MEASURED:
        return timed
    return None if demand.is_partial else at_least(timed, found)


def device_row(found: Estimate, best: int | None) -> DeviceRow:
    device, timed = found.device, found.range
    bound = found.floor.seconds
    return DeviceRow(
        device=device.id,
        name=device.name,
        precision=found.wanted.name,
        batch=found.demand.batch,
        memory_bytes=found.memory,
        capacity_bytes=device.capacity_bytes,
        fits=found.fits,
        seconds=Seconds(bound, timed.low, timed.expected, timed.high) if timed else Seconds(bound),
        basis=found.basis,
        bottleneck=found.bottleneck,
        coverage=found.demand.coverage,
        memory=found.need,
        utilisation=found.utilisation,
        roofline=found.floor.roofline,
        per_second=found.per_second,
        best_batch=best,
        rests_on=timed.rests_on if timed else None,
        notes=tuple(_notes(found)),
        operators=_operators(found),
        rate=found.floor.rate.per_second,
        bandwidth=device.bandwidth,
    )


def _notes(found: Estimate) -> list[str]:
    device, rate = found.device, found.floor.rate
    notes = [rate.why] if rate.why else []
    if rate.name and rate.name != found.wanted.name:
        notes.append(f"{found.wanted.name} is computed at its {rate.name} rate{_own_rate(device, found.wanted.name)}")
    if device.bandwidth is None:
        notes.append("its memory bandwidth is not known: the bound is of the arithmetic alone")
    if usable(device) is None and found.need.activations is not None:
        notes.append("how much memory it has for a model is not known")
    notes += device.notes if device.is_ceiling else ()
    if found.demand.dynamic and found.wanted is found.demand.own and found.basis == TYPICAL:
        notes.append("published times are of models quantized beforehand; this one quantizes its data while it runs")
    if found.demand.coverage < 1:
        notes.append("not all of the model is counted: the bound leaves out what is not")
    if found.demand.more_memory:
        notes.append("how large some values are is only known when it runs: it takes at least this memory")
    return notes


def _own_rate(device: Device, name: str) -> str:
    """A rate that nobody found is not one that there is none of: then the bound is only as good as what is known."""
    unknown = any(each.startswith(f"{name}_") and _NONE not in each for each in device.unknown)
    return f"; what it does in {name} itself is not known" if unknown and name not in device.rates else ""


def _operators(found: Estimate) -> tuple[OperatorTime, ...]:
    """The types of operators that take the most of the roofline."""
    each, waits, line = found.floor.each, found.floor.waits, found.floor.roofline
    if each is None or waits is None or not line:
        return ()
    seconds, waiting, counts = (
        defaultdict[str, float](float),
        defaultdict[str, float](float),
        defaultdict[str, int](int),
    )
    for kernel, took, waited in zip(found.demand.load.kernels, each.tolist(), waits.tolist()):
        seconds[kernel.op] += took
        waiting[kernel.op] += took if waited else 0.0
        counts[kernel.op] += 1
    top = sorted(seconds, key=lambda op: (-seconds[op], op))[:_MOST_OPERATORS]
    limits = {op: MEMORY if waiting[op] > seconds[op] / 2 else COMPUTE for op in top}
    return tuple(OperatorTime(op, counts[op], seconds[op], seconds[op] / line, limits[op]) for op in top)
