"""Traces of the numbers of inputs through a graph to the operators that constrain them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.ir import Deep, Function, Graph, deeply, topological_order
from onnx_autodoc.ops import Arithmetic, Array, Call, InputConstraint, Trait, has_trait, operator_of
from onnx_autodoc.shapes import Body, Step, required_inputs

_MAX_STEPS: Final = 200_000
_MAX_TRACES: Final = 8  # of one value: a value joined from many inputs shows little about each


class ValueTrace(Struct, frozen=True):
    """The numbers of an input, each times `factor`, plus at least `min_offset` and at most `max_offset`."""

    source: str
    factor: float = 1
    min_offset: float = 0
    max_offset: float = 0
    summed: bool = False  # along an axis


class InputDemand:
    """What a graph requires of one input."""

    def __init__(self) -> None:
        self.low, self.high = 0, math.inf  # numbers from `low` on, below `high`
        self.is_counted = False  # positions are counted from it
        self.exactly: list[int | float] = []
        self.distinct = False  # no two numbers may be equal
        self.among: tuple[int | float | str, ...] = ()  # categories; others stop the run
        self.compared: list[float] = []  # single numbers that it is compared with
        self.axis_sizes: list[int] = []  # of axes along which it is compared

    @property
    def is_bounded(self) -> bool:
        return self.high < math.inf

    def add(self, trace: ValueTrace, constraint: InputConstraint) -> None:
        if trace.summed:
            self.is_counted = True
        elif constraint.below is not None:
            if trace.factor > 0:
                highest = math.floor((constraint.below - 1 - trace.max_offset) / trace.factor)
                lowest = math.ceil(-trace.min_offset / trace.factor)
                self.low, self.high = max(self.low, lowest), min(self.high, highest + 1)
        elif constraint.among:
            common = tuple(item for item in self.among if item in constraint.among)
            self.among = common or self.among or constraint.among
        elif constraint.exactly is not None and trace.factor > 0:
            number = (constraint.exactly - trace.max_offset) / trace.factor
            if number >= min(0, constraint.exactly):
                self.exactly.append(number)
                self.distinct |= constraint.distinct

    def add_comparison(self, trace: ValueTrace, number: float | None, axis_size: int | None) -> None:
        if trace.factor <= 0 or trace.summed:
            return
        if number is not None:
            self.compared.append((number - trace.max_offset) / trace.factor)
        if axis_size is not None and trace.factor == 1 and not trace.max_offset:
            self.axis_sizes.append(axis_size)


Traces = dict[str, tuple[ValueTrace, ...]]


def find_demands(facts: Facts) -> dict[str, InputDemand]:
    """Return what the graph requires of each of its inputs."""
    names = [value.name for value in required_inputs(facts.model)]
    walk = _TraceWalk(facts.model.functions_by_key, names)
    deeply(walk.visit_graph(facts.shapes.steps, {name: (ValueTrace(name),) for name in names}))
    return walk.demands


class _TraceWalk:
    def __init__(self, functions: Mapping[tuple[str, str, str], Function], names: Sequence[str]) -> None:
        self.demands = {name: InputDemand() for name in names}
        self._functions = functions
        self._steps_left = _MAX_STEPS

    def visit_graph(self, steps: Sequence[Step], traces: Traces) -> Deep[None]:
        for index in topological_order([step.node for step in steps]):
            step = steps[index]
            self._steps_left -= 1
            if self._steps_left <= 0:
                return
            if step.bodies:
                self._add_demands(step, traces)
                for body in step.bodies:
                    yield self._visit_body(step, body, traces)
            elif any(name in traces for name in step.node.inputs):
                self._add_demands(step, traces)
                outgoing = tuple(dict.fromkeys(_propagate(step, traces)))[:_MAX_TRACES]
                if outgoing:
                    traces |= {name: outgoing for name in step.node.outputs if name}

    def _add_demands(self, step: Step, traces: Traces) -> None:
        names = step.node.inputs
        call = Call(step.node, step.inputs, step.version, step.outputs)
        for index, rule in operator_of(step.node).constraints.items():
            constraint = rule(call) if call.has(index) else None
            if constraint is not None:
                for trace in traces.get(names[index], ()):
                    self.demands[trace.source].add(trace, constraint)
        for index, number, axis_size in find_comparisons(step):
            for trace in traces.get(names[index], ()):
                self.demands[trace.source].add_comparison(trace, number, axis_size)

    def _visit_body(self, step: Step, body: Body, traces: Traces) -> Deep[None]:
        """Follow traces into a function, a branch or a loop body, and those of its outputs back out."""
        node = step.node
        function = self._functions.get(node.function_key)
        graph = node.attributes.get(body.name)
        if function is not None:
            inner = _rename(function.inputs, node.inputs, traces)
            outputs: Sequence[str] = function.outputs
        elif isinstance(graph, Graph):
            is_loop = node.is_op("Loop")
            leading = 2 if is_loop else 0  # trip count and condition
            names = [value.name for value in graph.inputs]
            inner = traces | _rename(names[leading:], node.inputs[leading:], traces)
            outputs = [value.name for value in graph.outputs][1 if is_loop else 0 :]
        else:
            return
        yield from self.visit_graph(body.steps, inner)
        for name, inner_name in zip(node.outputs, outputs):
            if inner_name in inner:
                traces[name] = tuple(dict.fromkeys((*traces.get(name, ()), *inner[inner_name])))[:_MAX_TRACES]


def _rename(names: Sequence[str], outer_names: Sequence[str], traces: Traces) -> Traces:
    return {name: traces[outer] for name, outer in zip(names, outer_names) if outer in traces}


def _propagate(step: Step, traces: Traces) -> Iterator[ValueTrace]:
    """Yield the traces of a step's outputs."""
    names = step.node.inputs
    if has_trait(step.node, Trait.SUMS):
        yield from (ValueTrace(trace.source, summed=True) for trace in traces.get(names[0], ()))
    for transfer in find_transfers(step):
        for trace in traces.get(names[transfer.index], ()) if transfer.index < len(names) else ():
            yield ValueTrace(
                trace.source,
                trace.factor * transfer.factor,
                transfer.factor * trace.min_offset + transfer.min_offset,
                transfer.factor * trace.max_offset + transfer.max_offset,
                trace.summed,
            )


# How operators change numbers


class ValueTransfer(Struct, frozen=True):
    """An input whose numbers an operator outputs: each times `factor`, plus an offset within bounds."""

    index: int
    factor: float = 1
    min_offset: float = 0
    max_offset: float = 0


def find_transfers(step: Step) -> Iterator[ValueTransfer]:
    """Yield the inputs whose numbers a step passes to its outputs."""
    row = operator_of(step.node)
    has_maximum = "max" in step.node.attributes or (len(step.inputs) > 2 and step.inputs[2] is not None)
    if not (Trait.CLIPS in row.traits and has_maximum):
        yield from (ValueTransfer(index) for index in row.select_number_inputs(len(step.inputs)))
    if row.arithmetic is not None and len(step.inputs) == 2:
        for index in (0, 1):
            operand = _known_numbers(step, 1 - index)
            transfer = _arithmetic_transfer(row.arithmetic, index, operand) if operand is not None else None
            if transfer is not None:
                yield transfer


def _arithmetic_transfer(arithmetic: Arithmetic, index: int, operand: Array) -> ValueTransfer | None:
    low, high = float(operand.min()), float(operand.max())
    if arithmetic is Arithmetic.SUM:
        return ValueTransfer(index, 1, low, high)
    if arithmetic is Arithmetic.DIFFERENCE and index == 0:
        return ValueTransfer(index, 1, -high, -low)
    if arithmetic is Arithmetic.PRODUCT and high > 0 and low >= 0:
        return ValueTransfer(index, high)
    if arithmetic is Arithmetic.QUOTIENT and index == 0 and low > 0:
        return ValueTransfer(index, 1 / low)
    return None


def _known_numbers(step: Step, index: int) -> Array | None:
    info = step.inputs[index]
    value = info.value if info is not None else None
    return value if value is not None and value.size and value.dtype.kind in "iuf" else None


def find_comparisons(step: Step) -> Iterator[tuple[int, float | None, int | None]]:
    """Yield (input index, number, axis size): an input is compared with one number, or broadcast along an axis."""
    if not has_trait(step.node, Trait.COMPARES) or len(step.inputs) != 2:
        return
    for index in (0, 1):
        operand = _known_numbers(step, 1 - index)
        number = float(operand.reshape(-1)[0]) if operand is not None and operand.size == 1 else None
        yield index, number, _broadcast_axis_size(step, index)


def _broadcast_axis_size(step: Step, index: int) -> int | None:
    """Return the size of the axis along which an input is broadcast: a length is compared with positions."""
    own, other = (info.concrete if info is not None else None for info in (step.inputs[index], step.inputs[1 - index]))
    if own is None or other is None or not has_trait(step.node, Trait.COMPARES_ORDER):
        return None
    padded = (1,) * (len(other) - len(own)) + own
    sizes = [size for dim, size in zip(padded[-len(other) :], other) if dim == 1 < size] if other else []
    return sizes[-1] if sizes else None
