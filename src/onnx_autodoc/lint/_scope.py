"""The graphs of a file as rules walk them: every one once, however often it runs, so that the file is what costs."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.ir import (
    Function,
    Graph,
    Model,
    Node,
    Tensor,
    Value,
    constants_of,
    execution_order,
    label,
    needed_names,
)
from onnx_autodoc.ops import Known, kinds
from onnx_autodoc.shapes import Body, Step

INPUTS_ARE_APART: Final = 4  # from this IR version on, weights need not be inputs; one that is may be overridden


class Spot(Struct, frozen=True, eq=False):
    """One node at its place."""

    scope: "Scope"
    step: Step
    node: Node  # of the step: asked for most of all

    @property
    def path(self) -> str:
        """What evidence calls it: its name, after the way to its graph."""
        name = label(self.step.node, self.step.at)
        return f"{self.scope.path}/{name}" if self.scope.path else name

    def input(self, at: int) -> Known | None:
        return self.step.inputs[at] if at < len(self.step.inputs) else None

    def output(self, at: int = 0) -> Known | None:
        return self.step.outputs[at] if at < len(self.step.outputs) else None

    def makers(self) -> "Iterator[Spot | None]":
        """The node of this graph that makes each input; None for what comes from elsewhere."""
        return (self.scope.maker(name) for name in self.node.inputs)

    def only_reader(self) -> "Spot | None":
        """The one node that reads what this one makes; None where several do, or the value goes elsewhere."""
        names = [name for name in self.node.outputs if name]
        if len(names) != 1 or names[0] in self.scope.leaving:
            return None
        readers = self.scope.readers(names[0])
        return readers[0] if len(readers) == 1 else None


class Scope:
    """One graph of the file. `path` is the way there; `outer` is the graph around it, whose values it sees."""

    def __init__(
        self, path: str, steps: tuple[Step, ...], graph: Graph, outer: "Scope | None" = None, runs: bool = True
    ) -> None:
        self.path, self.graph, self.outer = path, graph, outer
        self.runs = runs  # False: a branch that is not taken at these sizes
        self.changed = frozenset[str]()  # initializers that are no constants, as a caller may replace them
        self.spots = tuple(Spot(self, step, step.node) for step in steps)

    @cached_property
    def given(self) -> frozenset[str]:
        """What the graph is called with."""
        return frozenset(value.name for value in self.graph.inputs)

    @cached_property
    def leaving(self) -> frozenset[str]:
        """Values that are read outside of this graph, or by graphs inside it."""
        inner = (graph.outer for spot in self.spots if spot.node.nested for _, graph in spot.node.graphs())
        return frozenset(value.name for value in self.graph.outputs).union(*inner)

    @cached_property
    def _makers(self) -> dict[str, Spot]:
        return {name: spot for spot in self.spots for name in spot.node.outputs if name}

    @cached_property
    def _readers(self) -> dict[str, list[Spot]]:
        found: dict[str, list[Spot]] = {}
        for spot in self.spots:
            for name in dict.fromkeys(spot.node.inputs):
                found.setdefault(name, []).append(spot)
        return found

    @cached_property
    def _constants(self) -> dict[str, Tensor]:
        return {name: tensor for name, tensor in constants_of(self.graph) if name not in self.changed}

    def maker(self, name: str) -> Spot | None:
        return self._makers.get(name)

    def readers(self, name: str) -> list[Spot]:
        """The nodes of this graph that read a value, each once, in file order."""
        return self._readers.get(name, [])

    def constant(self, name: str) -> Tensor | None:
        """The initializer or Constant that a name stands for here, in this graph or around it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._constants:
                return scope._constants[name]
            scope = scope.outer
        return None

    @cached_property
    def in_order(self) -> tuple[Node, ...]:
        """The nodes, each after those that it reads from."""
        nodes = [spot.node for spot in self.spots]
        return tuple(nodes[at] for at in execution_order(nodes))

    @cached_property
    def _fixed(self) -> set[str]:
        """The constants here, and what is made of constants alone."""
        found = {"", *self._constants}
        for node in self.in_order:
            drawn = node.op in kinds.DRAWN and not node.domain
            if not drawn and self._are_fixed(needed_names(node), found):
                found.update(node.outputs)
        return found - {""}

    def _are_fixed(self, names: Sequence[str], here: set[str]) -> bool:
        return here.issuperset(names) or (
            self.outer is not None and all(name in here or self.outer.is_fixed(name) for name in names)
        )

    def is_fixed(self, name: str) -> bool:
        """Whether a value is the same in every run: a constant, or made of constants alone."""
        return name in self._fixed or (self.outer is not None and self.outer.is_fixed(name))


def overridable(model: Model) -> frozenset[str]:
    """Initializers that a caller may replace: defaults, not constants. Old files had to list all as inputs."""
    if (model.ir_version or 0) < INPUTS_ARE_APART:
        return frozenset()
    graph = model.graph
    return frozenset(value.name for value in graph.inputs) & {tensor.name for tensor in graph.initializers}


def scopes_of(facts: Facts) -> Iterator[Scope]:
    """The main graph first. A function is one scope, that of its first call."""
    functions = {function.key: function for function in facts.model.functions}
    main = Scope("", facts.shapes.steps, facts.model.graph)
    main.changed = overridable(facts.model)
    waiting = [main]
    called: set[tuple[str, str, str]] = set()
    while waiting:
        scope = waiting.pop()
        yield scope
        for spot in reversed(scope.spots):
            if not spot.step.bodies:
                continue
            key = (spot.node.domain, spot.node.op, spot.node.overload)
            if key not in called:
                waiting.extend(_inner(spot, body, functions.get(key)) for body in reversed(spot.step.bodies))
            called.update({key} & functions.keys())


def _inner(spot: Spot, body: Body, function: Function | None) -> Scope:
    path, runs = f"{spot.path}/{body.name}", spot.scope.runs and body.times != 0
    if function is None:
        return Scope(path, body.steps, dict(spot.node.graphs())[body.name], spot.scope, runs)
    outputs = tuple(map(Value, function.outputs))
    return Scope(path, body.steps, Graph(function.name, function.nodes, outputs=outputs), None, runs)
