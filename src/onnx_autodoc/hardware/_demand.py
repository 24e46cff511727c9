"""What a run asks of a device, whichever it is: its kernels as columns of numbers, and what it holds in memory."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct, structs

from onnx_autodoc.analysis import Costs, Facts, binding_at
from onnx_autodoc.hardware._formats import Format, own_format
from onnx_autodoc.hardware._kernels import Amount, Kernel, amount, kernels
from onnx_autodoc.ir import Value, needed_names
from onnx_autodoc.ops import WorkClass, kinds, work_class
from onnx_autodoc.shapes import Role, inputs_of, open_axes, resolve

WHOLE: Final = "whole"
PREFILL: Final = "prefill"
DECODE: Final = "decode"
_RECURRENT: Final = 3  # axes of what goes into a recurrent cell: steps, batch, features
_FLOATS: Final = {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2}
_QUANTIZED: Final = {"int8": 1, "uint8": 1}
_MOST: Final = 10**100  # of anything: what is more is said to be at least so much, since floats end at 10^308

Dims = tuple[int, ...]
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
        bounded = ([min(each, _MOST) for each in column] for column in columns)
        macs, weights, floats, others, launches = (np.array(column, dtype=np.float64) for column in bounded)
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
    folded: int = 0  # multiply-adds that hang on no data: a runtime may do them before any run
    tables: int = 0  # of those that are held, numbers that are looked up by row
    dynamic: bool = False  # data are quantized while it runs
    is_partial: bool = False  # nodes whose multiply-adds nobody knows are not in it
    more_memory: bool = False  # values whose size nobody knows are not in the peak
    sizes: Mapping[Role, int] = {}
    phase: str = WHOLE  # of a decoder with a cache: prefill, or decode where one token is new


def demand(facts: Facts, family: str) -> Demand:
    found = kernels(facts)
    total, held = facts.costs.total, facts.parameters
    once: dict[tuple[str, ...], int] = {}
    for kernel in found:
        for names, count in kernel.weights.items():
            once[names] = max(once.get(names, 0), count)
    read, width = sum(once.values()), _width(facts)
    made = max(0, read - held.total - held.statistics - held.quantization - held.constants)
    return _bounded(
        Demand(
            load=Load.of(found),
            own=own_format(facts),
            macs=total.macs,
            weights=read,
            held=max(held.total + held.statistics, read),
            stored=held.nbytes + made * width,
            edges=_edges(facts),
            peak=facts.memory.peak.nbytes if facts.memory.peak is not None else None,
            width=width,
            batch=batch_of(facts),
            coverage=total.counted / total.nodes if total.nodes else 1.0,
            family=family,
            folded=total.macs - sum(each.macs for each in found) if found else 0,
            tables=_tables(facts),
            dynamic=facts.precision.label == "int8-dynamic",
            is_partial=any(each.macs for each in total.missing.values()),
            more_memory=bool(facts.memory.unknown),
            phase=_phase(facts),
        )
    )


def _bounded(found: Demand) -> Demand:
    """With what no float can hold as "at least"."""
    names = ("macs", "weights", "held", "stored", "folded", "tables")
    cut = {name: _MOST for name in names if getattr(found, name) > _MOST}
    edges = Amount(min(found.edges.floats, _MOST), min(found.edges.others, _MOST))
    peak = None if found.peak is None else min(found.peak, _MOST)
    if not cut and (edges, peak) == (found.edges, found.peak):
        return found
    return structs.replace(found, **cut, edges=edges, peak=peak, is_partial=True, more_memory=True)


def _width(facts: Facts) -> int:
    """Bytes of a number in what most of the run's data are in: quantized operators hand on single bytes."""
    widths = _FLOATS | (_QUANTIZED if facts.precision.label == "int8-qoperator" else {})
    counts = Counter[str]()
    for step in facts.shapes.steps:
        for made in step.outputs:
            if made.dtype in widths and made.concrete is not None:
                counts[made.dtype] += math.prod(made.concrete)
    return widths[max(counts, key=lambda dtype: (counts[dtype], dtype), default="float32")]


def _tables(facts: Facts) -> int:
    shares, readers = facts.parameters.nodes, facts.parameters.readers
    return sum(shares[place].elements for place in shares if work_class(readers[place].op) is WorkClass.LOOKUP)


def load_at(facts: Facts, sizes: Mapping[Role, int]) -> Load | None:
    """The kernels with other sizes for the open dimensions of some roles; None where it does not run so."""
    binding = binding_at(facts, sizes)
    shapes = resolve(facts.model, binding)
    if shapes.contradictions:
        return None
    costs = Costs(facts.model, shapes)
    return Load.of(kernels(structs.replace(facts, binding=binding, shapes=shapes, costs=costs)))


def _phase(facts: Facts) -> str:
    """Decode, where a cache goes in and one token is new."""
    if facts.cache is None:
        return WHOLE
    axes, sizes = open_axes(facts.model), facts.binding.axes
    new = {sizes.get((each.value.name, each.axis)) for each in axes if each.role is Role.SEQUENCE}
    return DECODE if new == {1} else PREFILL


def _edges(facts: Facts) -> Amount:
    """What a node reads more of than its size. A cache is read, and what is new in it is next to nothing: it can be
    written in place.
    """
    kept = facts.cache.tensors if facts.cache else ()
    graph = facts.model.graph
    read = {name for node in graph.nodes if node.op not in kinds.OF_SIZES for name in needed_names(node)}
    outputs = (value for value in graph.outputs if value.name not in kept)
    ports = (*(value for value in inputs_of(facts.model) if value.name in read), *outputs)
    knowns = [facts.shapes.values[value.name] for value in ports if value.name in facts.shapes.values]
    return sum(map(amount, knowns), start=Amount())


def batch_of(facts: Facts) -> int | None:
    """The open batch, or what all inputs with several axes begin with; None where there is no such size."""
    axes, model = facts.binding.axes, facts.model
    found = [axes.get((each.value.name, each.axis)) for each in open_axes(model) if each.role is Role.BATCH]
    inputs = [dims for dims in _dims(facts, inputs_of(model)) if len(dims) > 1]
    sizes = set(found or [dims[0] for dims in inputs])
    batch = next(iter(sizes)) if len(sizes) == 1 else None
    return batch if found or batch == 1 or _is_batch(batch, inputs, _dims(facts, model.graph.outputs)) else None


def _is_batch(size: int | None, inputs: Sequence[Dims], outputs: Sequence[Dims]) -> bool:
    """A fixed size is one if outputs begin with it, too: not the channels of a single picture.

    Where 1 comes next, no one can tell a batch from the steps of one sequence.
    """
    steps = any(dims[1:2] == (1,) and len(dims) == _RECURRENT for dims in inputs)
    return not steps and {dims[0] for dims in outputs if dims} == {size}


def _dims(facts: Facts, values: Sequence[Value]) -> list[Dims]:
    known = [facts.shapes.values.get(value.name) for value in values]
    return [each.concrete for each in known if each is not None and each.concrete is not None]
