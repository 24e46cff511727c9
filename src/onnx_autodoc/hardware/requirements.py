"""The smallest device that suffices, with growing margins.

The size of a device is its rate times its memory. Rack-only devices come last, and only if no other is fast enough.
Devices are estimated at the requested precision, or the native one; those with too little published data are left out.
Without a target only memory decides. With a target, devices with an expected time are compared by it; if there is none,
all are compared by their lower bounds, with a wide margin. Times of two grades are never compared: the bound would
always win.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Choice, Requirements
from onnx_autodoc.hardware.devices import Device
from onnx_autodoc.hardware.estimate import Estimate, usable_memory
from onnx_autodoc.hardware.workload import NumberFormat, find_peak_rate
from onnx_autodoc.text import format_bytes, format_number, format_time, pluralize

# Families of devices that people buy or rent to run models: no phones, no processors without own memory.
_CANDIDATE_FAMILIES: Final = (
    *("jetson", "nvidia_laptop", "nvidia_desktop", "nvidia_workstation", "nvidia_datacenter", "amd", "intel", "own"),
)
_RACK_FORMS: Final = ("SXM", "OAM", "superchip")
_BOUND_FACTOR: Final = 4.0  # assumed time over lower bound
_UNKNOWN_MEMORY: Final = "the memory size of a run is unknown: no device can be chosen"
_TOO_LARGE: Final = "no listed device has enough memory"


class Margin(Struct, frozen=True):
    """Factors of the required memory and speed."""

    memory: float
    speed: float


_MARGINS: Final = {"minimum": Margin(1.0, 1.0), "recommended": Margin(1.5, 2.0), "comfortable": Margin(3.0, 4.0)}


class Target(Struct, frozen=True):
    """Seconds for one run, samples per second; None without a requirement."""

    latency: float | None = None
    throughput: float | None = None


EstimateDevice = Callable[[Device], Iterator[Estimate]]  # at the card's batch first, then at others


def find_requirements(
    devices: Iterable[Device], number_format: NumberFormat, estimate_device: EstimateDevice, target: Target
) -> Requirements:
    candidates = [device for device in devices if device.family in _CANDIDATE_FAMILIES and usable_memory(device)]

    def size(device: Device) -> tuple[bool, float, str]:
        rate = find_peak_rate(device, number_format).per_second or math.inf
        return device.form.startswith(_RACK_FORMS), rate * (device.capacity_bytes or 0), device.id

    candidates.sort(key=size)
    if target == Target():
        return _choose_by_memory(candidates, estimate_device)
    return _choose_by_speed(candidates, estimate_device, target)


def _choose_by_memory(candidates: Sequence[Device], estimate_device: EstimateDevice) -> Requirements:
    first = cache(lambda index: next(estimate_device(candidates[index])))  # most models fit one of the first
    chosen = {name: _choose(map(first, range(len(candidates))), margin, Target()) for name, margin in _MARGINS.items()}
    is_unknown = bool(candidates) and first(0).memory is None
    notes = () if chosen["minimum"] is not None else (_UNKNOWN_MEMORY if is_unknown else _TOO_LARGE,)
    return Requirements(**chosen, target="memory only: no latency or throughput was requested", notes=notes)


def _choose_by_speed(candidates: Sequence[Device], estimate_device: EstimateDevice, target: Target) -> Requirements:
    """Latency is that at the card's batch; throughput at any batch that meets the latency."""
    most = 1 if target.throughput is None else None
    rows = [row for device in candidates for row in islice(estimate_device(device), most)]
    rows = [row for row in rows if row.workload.macs > 0 and not row.workload.is_partial]
    comparable = [row for row in rows if row.range is not None] or rows
    cards = [row for row in comparable if not row.device.form.startswith(_RACK_FORMS)]
    eligible = comparable if _choose(cards, _MARGINS["minimum"], target) is None else cards
    chosen = {name: _choose(eligible, margin, target) for name, margin in _MARGINS.items()}
    notes = [] if chosen["minimum"] is not None else [_explain_no_choice(comparable, target)]
    skipped = len(candidates) - len({row.device.id for row in comparable})
    if comparable and skipped:
        notes.append(f"{pluralize(skipped, 'device')} without a comparable time could not be judged")
    texts = [f"a run in {format_time(target.latency)}"] if target.latency is not None else []
    texts += [f"{target.throughput:g} samples per second"] if target.throughput is not None else []
    return Requirements(**chosen, target=" and ".join(texts), notes=tuple(notes))


def _choose(rows: Iterable[Estimate], margin: Margin, target: Target) -> Choice | None:
    """Return the first row with enough memory and speed."""
    for row in rows:
        if _has_memory(row, margin) and _is_fast(row, margin, target):
            device, memory, precision = row.device, row.memory, row.number_format.name
            assert memory is not None and device.capacity_bytes is not None
            reason = f"takes {format_bytes(memory)} of {format_bytes(device.capacity_bytes)}"
            reason += "" if target == Target() else f", {_time_text(row)}"
            sizes = (memory, device.capacity_bytes, row.expected)
            return Choice(device.id, device.name, precision, *sizes, row.basis, reason)
    return None


def _has_memory(row: Estimate, margin: Margin) -> bool:
    usable = usable_memory(row.device)
    return row.memory is not None and usable is not None and row.memory * margin.memory <= usable


def _is_fast(row: Estimate, margin: Margin, target: Target) -> bool:
    seconds, batch = row.expected, row.workload.batch
    if target == Target() or seconds is None:
        return target == Target()
    if row.range is None:
        seconds *= _BOUND_FACTOR
    if target.latency is not None and seconds * margin.speed > target.latency:
        return False
    return target.throughput is None or (batch is not None and batch / seconds >= target.throughput * margin.speed)


def _time_text(row: Estimate) -> str:
    batch = f" at batch {row.workload.batch}" if row.workload.batch is not None else ""
    if row.range is None:
        return f"by its lower bound only, at least {format_time(row.lower_bound.seconds or 0.0)}{batch}"
    return f"{row.basis} {format_time(row.range.expected, row.range.low, row.range.high)}{batch}"


def _explain_no_choice(comparable: Sequence[Estimate], target: Target) -> str:
    """Return why no device suffices, and which comes nearest."""
    if not comparable:
        return "the compute of a run is unknown: no device can be chosen by its speed"
    if all(row.memory is None for row in comparable):
        return _UNKNOWN_MEMORY
    fitting = [row for row in comparable if row.expected is not None and _has_memory(row, _MARGINS["minimum"])]
    if not fitting:
        return _TOO_LARGE
    if target.throughput is None:
        best, rate = min(fitting, key=lambda row: row.expected or math.inf), ""
    else:
        best = max(fitting, key=lambda row: row.per_second or 0.0)
        rate = f", {format_number(best.per_second)} samples/s" if best.per_second else ""
    return f"no listed device is fast enough; the closest is {best.device.name}: {_time_text(best)}{rate}"
