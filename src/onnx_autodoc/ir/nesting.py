"""Walks over nested graphs: a trampoline, and every graph of a file with its path, whether it ever runs or not.

The file decides how deep its graphs nest, and the stack of a thread may be small, so nothing here recurses. A walk over
one graph is a generator for `deeply`. At a subgraph it yields the walk over that subgraph and receives its result:
`result = yield walk(subgraph)`. `deeply` stores the suspended walks in a list.
"""

from collections.abc import Generator, Iterator
from typing import Any, TypeVar

from msgspec import Struct

from onnx_autodoc.ir.model import Graph, Model

Result = TypeVar("Result")
Deep = Generator[Any, Any, Result]


def deeply(walk: Deep[Result]) -> Result:
    """Run `walk` with all walks that it yields and return its result. Exceptions propagate through suspended walks."""
    suspended: list[Deep[Any]] = [walk]
    result: Any = None
    raised: BaseException | None = None
    while suspended:
        try:
            inner = suspended[-1].send(result) if raised is None else suspended[-1].throw(raised)
            suspended.append(inner)
            result = raised = None
        except StopIteration as stop:
            suspended.pop()
            result, raised = stop.value, None
        except BaseException as error:  # raised again in the walk that waits for this one, or below
            suspended.pop()
            result, raised = None, error
    if raised is not None:
        raise raised
    final: Result = result
    return final


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
