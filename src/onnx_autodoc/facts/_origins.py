"""Where a value comes from and where it goes, moves left out: over casts, reshapes and slices, and through branches."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from msgspec import Struct

from onnx_autodoc.graph import Graph, Node

_MOVERS: Final = frozenset(
    ("Cast", "DequantizeLinear", "Expand", "Gather", "Identity", "QuantizeLinear", "Reshape", "Slice", "Split")
) | {"Squeeze", "Tile", "Transpose", "Unsqueeze"}
_PASSING: Final = _MOVERS | {"Add", "Concat", "Div", "Mul", "Neg", "Sub", "Where"}  # between a cache and its product
_DEEPEST: Final = 64  # moves, branches and joins followed from an output


class Root(Struct, frozen=True):
    """Where a value comes from, moves left out: a node's output, or (without a node) an input of the model."""

    scope: "Scope"
    name: str
    node: Node | None
    at: int = 0


class Scope:
    """The nodes of a graph by what they make; of a subgraph, with the graph around it."""

    def __init__(self, graph: Graph, inputs: Iterable[str], outer: "Scope | None" = None) -> None:
        self._made = {name: (node, at) for node in graph.nodes for at, name in enumerate(node.outputs)}
        self._nodes = graph.nodes
        self.inputs, self._outer = set(inputs), outer
        self._inside: dict[int, Scope] = {}

    def find(self, name: str) -> Root | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope._made:
                return Root(scope, name, *scope._made[name])
            if name in scope.inputs:
                return Root(scope, name, None)
            scope = scope._outer
        return None

    @cached_property
    def _readers(self) -> dict[str, list[tuple[Node, int]]]:
        found: dict[str, list[tuple[Node, int]]] = {}
        for node in self._nodes:
            for at, name in enumerate(node.inputs):
                found.setdefault(name, []).append((node, at))
        return found

    def attended(self, name: str) -> bool:
        """Whether a value comes, as keys or values do, to the right side of a matrix product, or to attention."""
        waiting, seen = [name], {name}
        while waiting:
            for node, at in self._readers.get(waiting.pop(), ()):
                if (node.op == "MatMul" and at == 1) or node.op == "Einsum" or "Attention" in node.op:
                    return True
                fresh = [made for made in node.outputs if made not in seen] if node.op in _PASSING else []
                seen.update(fresh)
                waiting.extend(fresh)
        return False

    def inside(self, graph: Graph) -> "Scope":
        return self._inside.setdefault(id(graph), Scope(graph, (), self))


def roots(scope: Scope, name: str) -> Iterator[Root]:
    """Follow a value back over moves and branches."""
    waiting = [(scope, name, 0)]
    while waiting:
        inner, name, depth = waiting.pop()
        root = inner.find(name)
        if root is None or depth > _DEEPEST:
            continue
        if root.node is not None and root.node.op == "If" and not root.node.domain:
            branches = [(root.scope.inside(graph), graph) for _, graph in root.node.graphs()]
            waiting.extend((each, graph.outputs[root.at].name, depth + 1) for each, graph in branches)
        elif root.node is not None and root.node.op in _MOVERS and root.node.inputs:
            waiting.append((root.scope, root.node.inputs[0], depth + 1))
        else:
            yield root
