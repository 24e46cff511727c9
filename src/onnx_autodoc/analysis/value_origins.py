"""Where a value comes from, moves left out: back over casts, reshapes and slices, through branches and functions."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Function, Graph, Model, Node
from onnx_autodoc.ops import Trait, has_trait

MAX_VISITS: Final = 20_000  # values looked at in one search: functions within functions may multiply
_MAX_MOVES: Final = 64  # moves and branches followed from an output, and scopes within scopes

Functions = Mapping[tuple[str, str, str], Function]


class Root(Struct, frozen=True):
    """Where a value comes from, moves left out: a node's output, or (without a node) an input of the model."""

    scope: "Scope"
    name: str
    node: Node | None
    at: int = 0
    turn: tuple[int, ...] | None = ()  # for each axis of the value, the root's; () if as they were, None if not known
    slices: tuple[Node, ...] = ()  # those on the way

    def out(self, axis: int) -> int | None:
        """Where the root's axis is in the value."""
        if self.turn:
            axis %= len(self.turn)
            return self.turn.index(axis) if axis in self.turn else None
        return axis if self.turn == () else None


class Scope:
    """The nodes of a graph by what they make; of a subgraph, with the graph around it; of a function, with its call."""

    def __init__(self, nodes: tuple[Node, ...], inputs: Iterable[str], functions: Functions) -> None:
        self.nodes, self.inputs, self._functions = nodes, set(inputs), functions
        self._made = {name: (node, at) for node in nodes for at, name in enumerate(node.outputs) if name}
        self._outer: Scope | None = None
        self._given: dict[str, str] = {}  # what a function's call gives it, in the scope of the call
        self._caller: Scope | None = None
        self._depth = 0
        self._inside: dict[object, Scope] = {}
        self.exits: dict[str, tuple[Scope, str]] = {}  # its outputs, and what they are outside

    @property
    def around(self) -> "Scope | None":
        return self._outer

    def find(self, name: str) -> Root | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._made:
                return Root(scope, name, *scope._made[name])
            if name in scope._given and scope._caller is not None:
                scope, name = scope._caller, scope._given[name]
            elif name in scope.inputs:
                return Root(scope, name, None)
            else:
                scope = scope._outer
        return None

    @cached_property
    def readers(self) -> dict[str, list[tuple[Node, int]]]:
        found: dict[str, list[tuple[Node, int]]] = {}
        for node in self.nodes:
            for at, name in enumerate(node.inputs):
                found.setdefault(name, []).append((node, at))
        return found

    @cached_property
    def branches(self) -> "list[tuple[Graph, Scope]]":
        """The subgraphs of its nodes: what they read from around them is a reader too."""
        return [
            (graph, self.inside(node, graph))
            for node in self.nodes
            if node.has_subgraphs
            for _, graph in node.subgraphs()
        ]

    def inside(self, node: Node, graph: Graph) -> "Scope":
        if id(graph) not in self._inside:
            made = Scope(graph.nodes, (), self._functions)
            made._outer, made._depth = self, self._depth + 1
            if node.is_op("If"):
                made.exits = {value.name: (self, name) for value, name in zip(graph.outputs, node.outputs)}
            self._inside[id(graph)] = made
        return self._inside[id(graph)]

    def called(self, node: Node) -> "tuple[Function, Scope] | None":
        """The function that a node calls, and its body as this call runs it."""
        function = self._functions.get((node.domain, node.op, node.overload))
        if function is None or self._depth > _MAX_MOVES:
            return None
        if id(node) not in self._inside:
            made = Scope(function.nodes, (), self._functions)
            made._caller, made._given, made._depth = self, dict(zip(function.inputs, node.inputs)), self._depth + 1
            made.exits = {name: (self, outside) for name, outside in zip(function.outputs, node.outputs)}
            self._inside[id(node)] = made
        return function, self._inside[id(node)]

    def within(self) -> "Iterator[Scope]":
        """This scope and all inside it."""
        waiting = [self]
        for _ in range(MAX_VISITS):
            if not waiting:
                return
            scope = waiting.pop()
            yield scope
            waiting.extend(inner for _, inner in scope.branches)
            calls = (scope.called(node) for node in scope.nodes) if self._functions else ()
            waiting.extend(call[1] for call in calls if call)


def main_scope(model: Model, inputs: Iterable[str]) -> Scope:
    return Scope(model.graph.nodes, inputs, model.functions_by_key)


def roots(scope: Scope, name: str) -> Iterator[Root]:
    """Follow a value back over moves, branches and functions."""
    start = scope.find(name)
    waiting = [(start, 0)] if start else []
    for _ in range(MAX_VISITS):
        if not waiting:
            return
        root, depth = waiting.pop()
        before = list(_before(root)) if root.node is not None and depth < _MAX_MOVES else []
        waiting.extend((each, depth + 1) for each in before)
        if not before and (root.node is None or not has_trait(root.node, Trait.MOVES)):
            yield root


def _before(root: Root) -> Iterator[Root]:
    """What a value was before the node that made it moved it."""
    node, scope = root.node, root.scope
    assert node is not None
    call = scope.called(node)
    if call is not None:
        names = [(call[1], call[0].outputs[root.at])] if root.at < len(call[0].outputs) else []
    elif node.is_op("If"):
        branches = [(scope.inside(node, graph), graph.outputs) for _, graph in node.subgraphs()]
        names = [(inner, outputs[root.at].name) for inner, outputs in branches if root.at < len(outputs)]
    else:
        names = [(scope, node.inputs[0])] if has_trait(node, Trait.MOVES) and node.inputs else []
    turn, slices = _turned(root.turn, node), (*root.slices, *[node] * (node.is_op("Slice")))
    for inner, name in names:
        found = inner.find(name)
        if found is not None:
            yield Root(found.scope, found.name, found.node, found.at, turn, slices)


def _turned(turn: tuple[int, ...] | None, node: Node) -> tuple[int, ...] | None:
    if turn is None or has_trait(node, Trait.SHIFTS_AXES):
        return None
    if not node.is_op("Transpose"):
        return turn
    axes = node.attributes.get("perm")
    perm = tuple(axis for axis in axes if isinstance(axis, int)) if isinstance(axes, tuple) else ()
    fits = perm and all(axis < len(perm) for axis in turn)
    return (tuple(perm[axis] for axis in turn) if turn else perm) if fits else None
