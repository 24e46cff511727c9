"""The smallest device that will do, with growing margins.

Small is what computes little and has little memory: its rate times its memory. Parts of racks come last, and are never
chosen for the sake of more speed than is needed. A device is asked at the model's own precision, or at the one that is
wanted; those of which too little is known to say are left out. Without a target only memory decides. With one, devices
of which a time is expected are compared by it; where there is none at all, all by their bounds, with a wide margin.
Times of the two grades are never held against each other: the bound would always win.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.hardware._estimate import Estimate
from onnx_autodoc.hardware._formats import Format, rate_of
from onnx_autodoc.hardware._memory import usable
from onnx_autodoc.hardware._types import Choice, Requirements
from onnx_autodoc.hardware.devices import Device
from onnx_autodoc.text import duration, memory, plural, three

# Families of what people buy or rent to run models on: no phones, no processors without memory of their own.
_BOUGHT: Final = (
    "jetson",
    "nvidia_laptop",
    "nvidia_desktop",
    "nvidia_workstation",
    "nvidia_datacenter",
    "amd",
    "intel",
    "own",
)
_RACKED: Final = ("SXM", "OAM", "superchip")
_FAR_FROM_BOUND: Final = 4.0  # how far reality is taken to be from a bound where nothing published is near
_NO_MEMORY: Final = "how much memory a run takes is not known: no device can be chosen"
_TOO_LARGE: Final = "no device that is known has the memory"


class Margin(Struct, frozen=True):
    """How many times the memory and the speed that are needed, at least."""

    memory: float
    speed: float


_MARGINS: Final = {"minimum": Margin(1.0, 1.0), "recommended": Margin(1.5, 2.0), "comfortable": Margin(3.0, 4.0)}


class Target(Struct, frozen=True):
    """Seconds for one run, samples per second; None where the user has no wish."""

    latency: float | None = None
    throughput: float | None = None


Asked = Callable[[Device], Iterator[Estimate]]  # a device's estimates, at the card's batch first, then at others


def requirements(devices: Iterable[Device], wanted: Format, asked: Asked, target: Target) -> Requirements:
    known = [each for each in devices if each.family in _BOUGHT and usable(each)]
    known.sort(key=lambda each: (_is_racked(each), _size(each, wanted), each.id))
    return _by_memory(known, asked) if target == Target() else _by_speed(known, asked, target)


def _is_racked(device: Device) -> bool:
    """Whether it is sold in servers alone: no one puts it into a machine that is there."""
    return device.form.startswith(_RACKED)


def _size(device: Device, wanted: Format) -> float:
    rate = rate_of(device, wanted).per_second
    return rate * (device.capacity_bytes or 0) if rate is not None else math.inf


def _by_memory(known: Sequence[Device], asked: Asked) -> Requirements:
    first = cache(lambda place: next(asked(known[place])))  # most models fit into one of the first
    chosen = {name: _first(map(first, range(len(known))), each, Target()) for name, each in _MARGINS.items()}
    unknown = bool(known) and first(0).memory is None
    notes = () if chosen["minimum"] is not None else (_NO_MEMORY if unknown else _TOO_LARGE,)
    return Requirements(**chosen, target="memory alone: no latency or throughput was asked for", notes=notes)


def _by_speed(known: Sequence[Device], asked: Asked, target: Target) -> Requirements:
    most = 1 if target.throughput is None else None
    rows = [row for device in known for row in islice(asked(device), most) if _is_counted(row)]
    judged = [row for row in rows if row.range is not None] or rows
    cards = [row for row in judged if not _is_racked(row.device)]
    needed = judged if _first(cards, _MARGINS["minimum"], target) is None else cards
    chosen = {name: _first(needed, margin, target) for name, margin in _MARGINS.items()}
    left = len(known) - len({row.device.id for row in judged})
    notes = [] if chosen["minimum"] is not None else [_nearest(judged, target)]
    notes += (
        [f"{plural(left, 'device')} of which no time is known like this could not be judged"] if judged and left else []
    )
    return Requirements(**chosen, target=_said(target), notes=tuple(notes))


def _is_counted(row: Estimate) -> bool:
    """Whether its work is known, so that there is something to judge a speed by."""
    return row.demand.macs > 0 and not row.demand.is_partial


def _first(rows: Iterable[Estimate], margin: Margin, target: Target) -> Choice | None:
    """Latency at the card's batch; throughput at any batch that still meets the latency."""
    found = next((row for row in rows if _has_room(row, margin) and _is_fast(row, margin, target)), None)
    return _choice(found, target) if found is not None else None


def _has_room(row: Estimate, margin: Margin) -> bool:
    room = usable(row.device)
    return row.memory is not None and room is not None and row.memory * margin.memory <= room


def _is_fast(row: Estimate, margin: Margin, target: Target) -> bool:
    seconds, batch = _careful(row), row.demand.batch
    if target == Target() or seconds is None:
        return target == Target()
    quick = target.latency is None or seconds * margin.speed <= target.latency
    many = target.throughput is None or (batch is not None and batch / seconds >= target.throughput * margin.speed)
    return quick and many


def _careful(row: Estimate) -> float | None:
    """The expected time; of a bound, several times that."""
    return row.expected if row.range is not None or row.expected is None else row.expected * _FAR_FROM_BOUND


def _choice(row: Estimate, target: Target) -> Choice:
    device, precision = row.device, row.wanted.name
    why = _why(row, target)
    return Choice(device.id, device.name, precision, row.memory, device.capacity_bytes, row.expected, row.basis, why)


def _why(row: Estimate, target: Target) -> str:
    assert row.memory is not None and row.device.capacity_bytes is not None
    room = f"takes {memory(row.memory)} of {memory(row.device.capacity_bytes)}"
    return room if target == Target() else f"{room}, {_time(row)}"


def _time(row: Estimate) -> str:
    batch = f" at batch {row.demand.batch}" if row.demand.batch is not None else ""
    if row.range is None:
        return f"by its bound alone, not faster than {duration(row.floor.seconds or 0.0)}{batch}"
    return f"{row.basis} {duration(row.range.expected, row.range.low, row.range.high)}{batch}"


def _nearest(judged: Sequence[Estimate], target: Target) -> str:
    """Why there is none, and what comes nearest."""
    if not judged:
        return "how much work a run is, is not known: no device can be chosen by its speed"
    if all(row.memory is None for row in judged):
        return _NO_MEMORY
    fitting = [row for row in judged if row.expected is not None and _has_room(row, _MARGINS["minimum"])]
    if not fitting:
        return _TOO_LARGE
    best = max(fitting, key=_per_second if target.throughput is not None else lambda row: -(row.expected or math.inf))
    rate = f", {three(_per_second(best))} samples/s" if _per_second(best) and target.throughput is not None else ""
    return f"no device that is known is fast enough; nearest is {best.device.name}: {_time(best)}{rate}"


def _per_second(row: Estimate) -> float:
    return row.per_second or 0.0


def _said(target: Target) -> str:
    wishes = [f"a run in {duration(target.latency)}"] if target.latency is not None else []
    wishes += [f"{target.throughput:g} samples per second"] if target.throughput is not None else []
    return " and ".join(wishes)
