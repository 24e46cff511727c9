"""The graphs of a file as it declares them, each once with its path, whether it ever runs or not."""

from collections.abc import Iterator

from msgspec import Struct

from onnx_autodoc.ir.model import Graph, Model


class GraphScope(Struct, frozen=True, eq=False):
    """One graph with its path. A subgraph has the scope around it and the position of the node that holds it."""

    path: str  # "" for the main graph, the function's name for its body
    graph: Graph
    parent: "GraphScope | None" = None
    position: int = 0
    in_function: bool = False

    def node_path(self, at: int) -> str:
        return self.qualify(self.graph.nodes[at].label(at))

    def qualify(self, name: str) -> str:
        """Return the path of a node or value of this graph."""
        return f"{self.path}/{name}" if self.path else name

    def subgraphs(self) -> "Iterator[GraphScope]":
        for at, node in enumerate(self.graph.nodes):
            if node.has_subgraphs:
                path = self.node_path(at)
                for key, graph in node.subgraphs():
                    yield GraphScope(f"{path}/{key}", graph, self, at, self.in_function)


def graph_scopes(model: Model) -> Iterator[GraphScope]:
    """Yield the main graph with its subgraphs, then the body of each function with its subgraphs."""
    pending = [GraphScope(function.name, function.body, in_function=True) for function in reversed(model.functions)]
    pending.append(GraphScope("", model.graph))
    while pending:
        scope = pending.pop()
        yield scope
        pending.extend(scope.subgraphs())
