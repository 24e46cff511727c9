"""What a run asks of a device, whichever it is: its kernels as columns of numbers, and what it holds in memory."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct, structs

from onnx_autodoc.facts import Facts
from onnx_autodoc.hardware._formats import Format, own_format
from onnx_autodoc.hardware._kernels import Amount, Kernel, amount, kernels
from onnx_autodoc.ops import WorkClass
from onnx_autodoc.resolve import Role, inputs_of, open_axes

WHOLE: Final = "whole"
PREFILL: Final = "prefill"
DECODE: Final = "decode"
FULL: Final = 4
HALF: Final = 2

Column = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


class Load(Struct, frozen=True, eq=False):
    """Kernels as columns: multiply-adds, numbers of weights, numbers and other bytes of data."""

    kernels: Sequence[Kernel]
    macs: Column
    weights: Column
    floats: Column
    others: Column
    launches: Column
    convolves: Flags  # which of them are convolutions

    @classmethod
    def of(cls, found: Sequence[Kernel]) -> "Load":
        moved = [each.read + each.written for each in found]
        columns = (
            [each.macs for each in found],
            [sum(each.weights.values()) for each in found],
            [each.floats for each in moved],
            [each.others for each in moved],
            [each.times for each in found],
        )
        macs, weights, floats, others, launches = (np.array(column, dtype=np.float64) for column in columns)
        convolves = np.array([each.kind is WorkClass.CONVOLUTION for each in found], dtype=bool)
        return cls(found, macs, weights, floats, others, launches, convolves)

    def scaled(self, by: float) -> "Load":
        """At so many times the batch: weights and launches stay."""
        names = ("macs", "floats", "others")
        return structs.replace(self, **{name: getattr(self, name) * by for name in names})


class Demand(Struct, frozen=True, eq=False):
    """`weights`: numbers that a run reads at least once; `held`: all that there are; `stored`: their bytes in the file.

    Weights that nodes make count too: the file has none of their bytes, a runtime holds them all. `sizes`: what is
    other than on the card.
    """

    load: Load
    own: Format
    macs: int
    weights: int
    held: int
    stored: int
    edges: Amount  # what goes in and comes out of the model
    peak: int | None  # bytes of activations, as the file has them
    width: int  # bytes of a number in them
    batch: int | None
    coverage: float
    family: str
    sizes: Mapping[Role, int] = {}
    phase: str = WHOLE  # of a decoder with a cache: prefill, or decode where one token is new


def demand(facts: Facts, family: str) -> Demand:
    found = kernels(facts)
    total, held = facts.costs.total, facts.parameters
    once: dict[tuple[str, ...], int] = {}
    for kernel in found:
        for names, count in kernel.weights.items():
            once[names] = max(once.get(names, 0), count)
    read, width = sum(once.values()), HALF if facts.precision.label in ("fp16", "bf16") else FULL
    return Demand(
        load=Load.of(found),
        own=own_format(facts),
        macs=total.macs,
        weights=read,
        held=max(held.total + held.statistics, read),
        stored=max(held.nbytes, read * width) if read > held.total + held.constants else held.nbytes,
        edges=_edges(facts),
        peak=facts.memory.peak.nbytes if facts.memory.peak is not None else None,
        width=width,
        batch=batch_of(facts),
        coverage=total.counted / total.nodes if total.nodes else 1.0,
        family=family,
        phase=_phase(facts),
    )


def _phase(facts: Facts) -> str:
    """Decode, where a cache goes in and one token is new."""
    if facts.cache is None:
        return WHOLE
    axes, sizes = open_axes(facts.model), facts.binding.axes
    new = {sizes.get((each.value.name, each.axis)) for each in axes if each.role is Role.SEQUENCE}
    return DECODE if new == {1} else PREFILL


def _edges(facts: Facts) -> Amount:
    """A cache is read, and what is new in it is next to nothing: it can be written in place."""
    kept = facts.cache.tensors if facts.cache else ()
    outputs = (value for value in facts.model.graph.outputs if value.name not in kept)
    ports = (*inputs_of(facts.model), *outputs)
    knowns = [facts.shapes.values[value.name] for value in ports if value.name in facts.shapes.values]
    return sum(map(amount, knowns), start=Amount())


def batch_of(facts: Facts) -> int | None:
    """The open batch, or what all inputs with several axes begin with; None where there is no such size."""
    axes = facts.binding.axes
    found = [axes.get((each.value.name, each.axis)) for each in open_axes(facts.model) if each.role is Role.BATCH]
    known = [facts.shapes.values.get(value.name) for value in inputs_of(facts.model)]
    fixed = [each.concrete[0] for each in known if each is not None and len(each.concrete or ()) > 1 and each.concrete]
    sizes = set(found or fixed)
    return next(iter(sizes)) if len(sizes) == 1 else None
