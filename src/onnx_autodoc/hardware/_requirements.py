"""The smallest device that will do, with growing margins.

Small is what computes little, and of those what has little memory. A device is asked at the model's own precision, or
at the one that is wanted; those of which too little is known to say are left out. Without a target only memory decides;
with one, the expected time where something published is near, and else the bound with a wide margin.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.devices import Device
from onnx_autodoc.hardware._estimate import Estimate
from onnx_autodoc.hardware._formats import Format, rate_of
from onnx_autodoc.hardware._grades import BOUND
from onnx_autodoc.hardware._memory import usable
from onnx_autodoc.hardware._types import Choice, Requirements
from onnx_autodoc.say import duration, memory

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
_FAR_FROM_BOUND: Final = 4.0  # how far reality is taken to be from a bound where nothing published is near


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
    known.sort(key=lambda each: (rate_of(each, wanted).per_second or math.inf, each.capacity_bytes or 0, each.id))
    chosen = {name: _first(known, asked, margin, target) for name, margin in _MARGINS.items()}
    notes = [] if any(chosen.values()) else ["no device that is known has the memory and the speed"]
    return Requirements(**chosen, target=_said(target), notes=tuple(notes))


def _first(known: Sequence[Device], asked: Asked, margin: Margin, target: Target) -> Choice | None:
    for device in known:
        if (row := _meeting(asked(device), margin, target)) is not None:
            return _choice(device, row, target)
    return None


def _meeting(rows: Iterator[Estimate], margin: Margin, target: Target) -> Estimate | None:
    """Latency at the card's batch; throughput at any batch that still meets the latency."""
    for row in islice(rows, 1 if target.throughput is None else None):
        if _has_room(row, margin) and _is_fast(row, margin, target):
            return row
    return None


def _has_room(row: Estimate, margin: Margin) -> bool:
    room = usable(row.device)
    return row.memory is not None and room is not None and row.memory * margin.memory <= room


def _is_fast(row: Estimate, margin: Margin, target: Target) -> bool:
    seconds, batch = _careful(row), row.demand.batch
    if seconds is None:
        return False
    quick = target.latency is None or seconds * margin.speed <= target.latency
    many = target.throughput is None or (batch is not None and batch / seconds >= target.throughput * margin.speed)
    return quick and many


def _careful(row: Estimate) -> float | None:
    """The expected time; of a bound, several times that."""
    if row.expected is None:
        return None
    return row.expected * _FAR_FROM_BOUND if row.basis == BOUND else row.expected


def _choice(device: Device, row: Estimate, target: Target) -> Choice:
    return Choice(
        device.id,
        device.name,
        row.wanted.name,
        row.memory,
        device.capacity_bytes,
        row.expected,
        row.basis,
        _why(row, target),
    )


def _why(row: Estimate, target: Target) -> str:
    assert row.memory is not None and row.device.capacity_bytes is not None
    room = f"takes {memory(row.memory)} of {memory(row.device.capacity_bytes)}"
    if target == Target() or row.expected is None:
        return room
    word = "not faster than" if row.basis == BOUND else "about"
    return f"{room}, {word} {duration(row.expected)} at batch {row.demand.batch}"


def _said(target: Target) -> str:
    wishes = [f"a run in {duration(target.latency)}"] if target.latency is not None else []
    wishes += [f"{target.throughput:g} samples per second"] if target.throughput is not None else []
    return " and ".join(wishes) or "memory alone: no latency or throughput was asked for"
