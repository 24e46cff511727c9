"""Following the numbers of inputs through a graph to whoever asks something of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.ir import Deep, Function, Graph, deeply, execution_order
from onnx_autodoc.ops import kinds
from onnx_autodoc.patterns.limits import Asked, asked, compared, counted, moved
from onnx_autodoc.shapes import Body, Step, inputs_of

_MOST_STEPS: Final = 200_000
_MOST_TRACES: Final = 8  # of one value: what is joined of many inputs tells little of each


class Trace(Struct, frozen=True):
    """The numbers of an input, each times `factor`, and at least `least`, at most `most` more."""

    source: str
    factor: float = 1
    least: float = 0
    most: float = 0
    summed: bool = False  # counted up along an axis


class Demand:
    """What a graph asks of one input."""

    def __init__(self) -> None:
        self.low, self.high = 0, math.inf  # numbers from `low` on, below `high`
        self.counts = False  # places are counted from it
        self.exactly: list[int | float] = []
        self.apart = False  # no two numbers alike
        self.among: tuple[int | float | str, ...] = ()  # known to whoever asks, and all others stop the run
        self.compared: list[float] = []  # single numbers that it is compared with
        self.measures: list[int] = []  # sizes of axes that it is compared along

    @property
    def bounded(self) -> bool:
        return self.high < math.inf

    def below(self, trace: Trace, high: int) -> None:
        """The index that comes of a number must be less than `high`, and not below zero."""
        if trace.factor > 0:
            most = math.floor((high - 1 - trace.most) / trace.factor)
            least = math.ceil(-trace.least / trace.factor)
            self.low, self.high = max(self.low, least), min(self.high, most + 1)

    def wish(self, trace: Trace, asked: Asked) -> None:
        """A number of its own, or one of several; what several ask for, if there is such a thing."""
        if asked.among:
            self.among = tuple(item for item in self.among if item in asked.among) or self.among or asked.among
        elif asked.exactly is not None and trace.factor > 0:
            number = (asked.exactly - trace.most) / trace.factor
            if number >= min(0, asked.exactly):
                self.exactly.append(number)
                self.apart |= asked.apart


Traces = dict[str, tuple[Trace, ...]]


def demands(facts: Facts) -> dict[str, Demand]:
    """What the graph asks of each of its inputs."""
    names = [value.name for value in inputs_of(facts.model)]
    walk = _Walk({function.key: function for function in facts.model.functions}, names)
    deeply(walk.graph(facts.shapes.steps, {name: (Trace(name),) for name in names}))
    return walk.demands


class _Walk:
    def __init__(self, functions: Mapping[tuple[str, str, str], Function], names: Sequence[str]) -> None:
        self.demands = {name: Demand() for name in names}
        self._functions = functions
        self._left = _MOST_STEPS

    def graph(self, steps: Sequence[Step], traces: Traces) -> Deep[None]:
        for at in execution_order([step.node for step in steps]):
            self._left -= 1
            if self._left <= 0:
                return
            if steps[at].bodies:
                self._demand(steps[at], traces)
                for body in steps[at].bodies:
                    yield self._enter(steps[at], body, traces)
            else:
                self._step(steps[at], traces)

    def _step(self, step: Step, traces: Traces) -> None:
        if any(name in traces for name in step.node.inputs):
            self._demand(step, traces)
            made = tuple(dict.fromkeys(_handed_on(step, traces)))[:_MOST_TRACES]
            if made:
                traces |= {name: made for name in step.node.outputs if name}

    def _demand(self, step: Step, traces: Traces) -> None:
        names = step.node.inputs
        for at, wish in asked(step):
            for trace in traces.get(names[at], ()):
                demand = self.demands[trace.source]
                if trace.summed:
                    demand.counts = True
                elif wish.below is not None:
                    demand.below(trace, wish.below)
                else:
                    demand.wish(trace, wish)
        for at, number, size in compared(step):
            for trace in traces.get(names[at], ()):
                self._compare(trace, number, size)

    def _compare(self, trace: Trace, number: float | None, size: int | None) -> None:
        if trace.factor <= 0 or trace.summed:
            return
        if number is not None:
            self.demands[trace.source].compared.append((number - trace.most) / trace.factor)
        if size is not None and trace.factor == 1 and not trace.most:
            self.demands[trace.source].measures.append(size)

    def _enter(self, step: Step, body: Body, traces: Traces) -> Deep[None]:
        """Into a function, a branch or a loop, and back out with what comes of it."""
        node = step.node
        function = self._functions.get((node.domain, node.op, node.overload))
        graph = node.attributes.get(body.name)
        if function is not None:
            inner = _renamed(function.inputs, node.inputs, traces)
            made, skipped = function.outputs, 0
        elif isinstance(graph, Graph):
            looped = 2 if node.op == kinds.LOOP else 0
            names = [value.name for value in graph.inputs]
            inner = traces | _renamed(names[looped:], node.inputs[looped:], traces)
            made, skipped = tuple(value.name for value in graph.outputs), 1 if looped else 0
        else:
            return
        yield from self.graph(body.steps, inner)
        for name, inside in zip(node.outputs, made[skipped:]):
            if inside in inner:
                traces[name] = tuple(dict.fromkeys((*traces.get(name, ()), *inner[inside])))[:_MOST_TRACES]


def _renamed(names: Sequence[str], given: Sequence[str], traces: Traces) -> Traces:
    return {name: traces[outer] for name, outer in zip(names, given) if outer in traces}


def _handed_on(step: Step, traces: Traces) -> Iterator[Trace]:
    """What comes out of a step of the numbers that go in."""
    names = step.node.inputs
    if counted(step):
        yield from (Trace(trace.source, summed=True) for trace in traces.get(names[0], ()))
    for move in moved(step):
        for trace in traces.get(names[move.at], ()) if move.at < len(names) else ():
            scaled = (move.factor * trace.least + move.least, move.factor * trace.most + move.most)
            yield Trace(trace.source, trace.factor * move.factor, *scaled, trace.summed)
