"""Def-use relations, captures and execution order of one graph, computed on first use and kept with the graph.

Nodes are identified by their position in `Graph.nodes`. A name that several nodes produce belongs to the last of them.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from onnx_autodoc.ir.model import Graph, Node, Tensor

Key = TypeVar("Key", bound=Hashable)


class GraphIndex:
    """Def-use relations and order of one graph. Get it from `Graph.index`."""

    def __init__(self, graph: "Graph") -> None:
        self._graph = graph

    @cached_property
    def inputs(self) -> frozenset[str]:
        return frozenset(value.name for value in self._graph.inputs)

    @cached_property
    def outputs(self) -> frozenset[str]:
        return frozenset(value.name for value in self._graph.outputs)

    @cached_property
    def initializers(self) -> frozenset[str]:
        return frozenset(tensor.name for tensor in self._graph.initializers)

    @cached_property
    def producers(self) -> Mapping[str, int]:
        """The node that produces each value."""
        return {name: at for at, node in enumerate(self._graph.nodes) for name in node.outputs if name}

    @cached_property
    def first_definitions(self) -> Mapping[str, int]:
        """The first node that produces each value; -1 for inputs and initializers."""
        first = {name: at for at, node in reversed(list(enumerate(self._graph.nodes))) for name in node.outputs}
        return {**first, **dict.fromkeys(self.inputs | self.initializers, -1)}

    def producer(self, name: str) -> "Node | None":
        at = self.producers.get(name)
        return None if at is None else self._graph.nodes[at]

    def trace_back(self, name: str, is_passthrough: "Callable[[Node], bool]", max_nodes: int | None = None) -> str:
        """Follow a value back through the first inputs of `is_passthrough` nodes, and return the first one's name."""
        for _ in range(len(self._graph.nodes) if max_nodes is None else max_nodes):
            node = self.producer(name)
            if node is None or not node.inputs or not is_passthrough(node):
                break
            name = node.inputs[0]
        return name

    @cached_property
    def uses(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """The (node, input slot) pairs that read each value directly, in file order. Captures are not among them."""
        uses: dict[str, list[tuple[int, int]]] = {}
        for at, node in enumerate(self._graph.nodes):
            for slot, name in enumerate(node.inputs):
                uses.setdefault(name, []).append((at, slot))
        return uses

    @cached_property
    def captured(self) -> frozenset[str]:
        """Values that the subgraphs of this graph's nodes read from it or from the graphs around it."""
        nested = (node for node in self._graph.nodes if node.has_subgraphs)
        return frozenset[str]().union(*(graph.captures for node in nested for _, graph in node.subgraphs()))

    @cached_property
    def defined(self) -> frozenset[str]:
        """Every value that the graph itself defines: inputs, initializers and outputs of nodes."""
        return self.inputs.union(self.initializers, self.producers) - {""}

    @cached_property
    def undefined(self) -> list[str]:
        """Values that the graph reads or returns and does not define, sorted."""
        read = set(self.outputs).union(*(node.all_inputs for node in self._graph.nodes))
        return sorted(read - self.defined - {""})

    @cached_property
    def constants(self) -> Mapping[str, "Tensor"]:
        """Initializers and values of Constant nodes."""
        return dict(self._graph.constants())

    @cached_property
    def is_sorted(self) -> bool:
        return _is_sorted(self._graph.nodes)

    @cached_property
    def order(self) -> Sequence[int]:
        """All nodes in an order in which they can run; see `topological_order`."""
        return range(len(self._graph.nodes)) if self.is_sorted else tuple(topological_order(self._graph.nodes))

    @cached_property
    def cyclic(self) -> Sequence[int]:
        """Nodes that lie on a cycle or on a path between two cycles. A repeated name is its first definition here."""
        if self.is_sorted:
            return ()
        first = self.first_definitions
        reads = {
            at: {first[name] for name in node.all_inputs if name and first.get(name, -1) >= 0}
            for at, node in enumerate(self._graph.nodes)
        }
        return sorted(find_cyclic(reads))


def topological_order(nodes: "Sequence[Node]") -> Iterator[int]:
    """Yield the positions of all nodes, each after the nodes that it reads from.

    File order wherever that works, as ONNX requires; of the nodes that can run, always the first one in the file. Nodes
    on a cycle come last, in file order.
    """
    if _is_sorted(nodes):
        yield from range(len(nodes))
        return
    producers = {name: at for at, node in enumerate(nodes) for name in node.outputs if name}
    reads = [{producers[name] for name in node.all_inputs if name in producers} for node in nodes]
    readers: list[list[int]] = [[] for _ in nodes]
    for at, sources in enumerate(reads):
        for source in sources:
            readers[source].append(at)
    pending = [len(sources) for sources in reads]
    ready = [at for at, count in enumerate(pending) if count == 0]
    while ready:
        at = heappop(ready)
        yield at
        for reader in readers[at]:
            pending[reader] -= 1
            if pending[reader] == 0:
                heappush(ready, reader)
    yield from (at for at, count in enumerate(pending) if count > 0)


def _is_sorted(nodes: "Sequence[Node]") -> bool:
    """Whether no node reads an output of itself or of a later node."""
    read: set[str] = set()
    for node in nodes:
        read.update(node.all_inputs if node.has_subgraphs else node.inputs)
        if not read.isdisjoint(node.outputs):
            return False
    return True


def find_cyclic(reads: Mapping[Key, set[Key]]) -> list[Key]:
    """Return every key that lies on a cycle of `reads`, or on a path between two cycles."""
    downstream = _drop_acyclic(_invert(reads))
    return list(_drop_acyclic(_invert(downstream)))


def _invert(edges: Mapping[Key, set[Key]]) -> dict[Key, set[Key]]:
    inverse: dict[Key, set[Key]] = {key: set() for key in edges}
    for key, targets in edges.items():
        for target in targets & edges.keys():
            inverse[target].add(key)
    return inverse


def _drop_acyclic(readers: Mapping[Key, set[Key]]) -> dict[Key, set[Key]]:
    """Remove keys that wait for nothing until none is left, and return the rest with their readers."""
    pending = dict.fromkeys(readers, 0)
    for targets in readers.values():
        for target in targets:
            pending[target] += 1
    ready = [key for key, count in pending.items() if not count]
    while ready:
        key = ready.pop()
        del pending[key]
        for reader in readers[key]:
            pending[reader] -= 1
            if not pending[reader]:
                ready.append(reader)
    return {key: readers[key] for key in pending}
