"""Where a value comes from: back over casts, reshapes, transposes and slices, through branches and functions."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Function, Graph, Model, Node
from onnx_autodoc.ops import Trait, has_trait

MAX_VISITS: Final = 20_000  # values visited in one search: functions within functions may multiply
_MAX_MOVES: Final = 64  # moves and branches followed from an output, and scopes within scopes

Functions = Mapping[tuple[str, str, str], Function]


class Root(Struct, frozen=True):
    """The origin of a value: a node's output or, without a node, an input of the model."""

    scope: "Scope"
    name: str
    node: Node | None
    at: int = 0
    axes: tuple[int, ...] | None = ()  # for each axis of the value, the root's; () if unchanged, None if unknown
    slices: tuple[Node, ...] = ()  # those on the way

    def axis_in_value(self, axis: int) -> int | None:
        """Return where the root's axis is in the value."""
        if self.axes:
            axis %= len(self.axes)
            return self.axes.index(axis) if axis in self.axes else None
        return axis if self.axes == () else None


class Scope:
    """The producers of the values of a graph; of a subgraph, with the graph around it; of a function, with its call."""

    def __init__(self, nodes: tuple[Node, ...], inputs: Iterable[str], functions: Functions) -> None:
        self.nodes, self.inputs, self._functions = nodes, set(inputs), functions
        self._producers = {name: (node, at) for node in nodes for at, name in enumerate(node.outputs) if name}
        self.outer: Scope | None = None
        self._arguments: dict[str, str] = {}  # a function's inputs, by their names in the scope of the call
        self._caller: Scope | None = None
        self._depth = 0
        self._inside: dict[object, Scope] = {}
        self.exits: dict[str, tuple[Scope, str]] = {}  # its outputs, and their scope and name outside

    def find(self, name: str) -> Root | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._producers:
                return Root(scope, name, *scope._producers[name])
            if name in scope._arguments and scope._caller is not None:
                scope, name = scope._caller, scope._arguments[name]
            elif name in scope.inputs:
                return Root(scope, name, None)
            else:
                scope = scope.outer
        return None

    @cached_property
    def readers(self) -> dict[str, list[tuple[Node, int]]]:
        readers: dict[str, list[tuple[Node, int]]] = {}
        for node in self.nodes:
            for at, name in enumerate(node.inputs):
                readers.setdefault(name, []).append((node, at))
        return readers

    @cached_property
    def branches(self) -> "list[tuple[Graph, Scope]]":
        """The subgraphs of its nodes, which may capture its values."""
        nodes = (node for node in self.nodes if node.has_subgraphs)
        return [(graph, self.enter(node, graph)) for node in nodes for _, graph in node.subgraphs()]

    def enter(self, node: Node, graph: Graph) -> "Scope":
        if id(graph) not in self._inside:
            scope = Scope(graph.nodes, (), self._functions)
            scope.outer, scope._depth = self, self._depth + 1
            if node.is_op("If"):
                scope.exits = {value.name: (self, name) for value, name in zip(graph.outputs, node.outputs)}
            self._inside[id(graph)] = scope
        return self._inside[id(graph)]

    def called_scope(self, node: Node) -> "tuple[Function, Scope] | None":
        """Return the function that a node calls, and the scope of its body in this call."""
        function = self._functions.get(node.function_key)
        if function is None or self._depth > _MAX_MOVES:
            return None
        if id(node) not in self._inside:
            scope = Scope(function.nodes, (), self._functions)
            scope._caller, scope._arguments = self, dict(zip(function.inputs, node.inputs))
            scope._depth = self._depth + 1
            scope.exits = {name: (self, outside) for name, outside in zip(function.outputs, node.outputs)}
            self._inside[id(node)] = scope
        return function, self._inside[id(node)]

    def within(self) -> "Iterator[Scope]":
        """Yield this scope and all inside it."""
        waiting = [self]
        for _ in range(MAX_VISITS):
            if not waiting:
                return
            scope = waiting.pop()
            yield scope
            waiting.extend(inner for _, inner in scope.branches)
            calls = (scope.called_scope(node) for node in scope.nodes) if self._functions else ()
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
        sources = list(_sources(root, root.node)) if root.node is not None and depth < _MAX_MOVES else []
        waiting.extend((source, depth + 1) for source in sources)
        if not sources and (root.node is None or not has_trait(root.node, Trait.MOVES)):
            yield root


def _sources(root: Root, node: Node) -> Iterator[Root]:
    """Yield the values that a node moves, selects or returns as this one."""
    scope = root.scope
    call = scope.called_scope(node)
    if call is not None:
        names = [(call[1], call[0].outputs[root.at])] if root.at < len(call[0].outputs) else []
    elif node.is_op("If"):
        branches = [(scope.enter(node, graph), graph.outputs) for _, graph in node.subgraphs()]
        names = [(inner, outputs[root.at].name) for inner, outputs in branches if root.at < len(outputs)]
    else:
        names = [(scope, node.inputs[0])] if has_trait(node, Trait.MOVES) and node.inputs else []
    axes, slices = _source_axes(root.axes, node), (*root.slices, *[node] * (node.is_op("Slice")))
    for inner, name in names:
        source = inner.find(name)
        if source is not None:
            yield Root(source.scope, source.name, source.node, source.at, axes, slices)


def _source_axes(axes: tuple[int, ...] | None, node: Node) -> tuple[int, ...] | None:
    if axes is None or has_trait(node, Trait.SHIFTS_AXES):
        return None
    if not node.is_op("Transpose"):
        return axes
    attribute = node.attributes.get("perm")
    perm = tuple(axis for axis in attribute if isinstance(axis, int)) if isinstance(attribute, tuple) else ()
    is_valid = perm and all(axis < len(perm) for axis in axes)
    return (tuple(perm[axis] for axis in axes) if axes else perm) if is_valid else None
