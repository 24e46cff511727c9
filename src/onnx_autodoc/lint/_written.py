"""The graphs of a file as they are written: each once, with the way there, whether it is ever run or not."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from onnx_autodoc.ir import Function, Graph, Model, Value, label, needed_names
from onnx_autodoc.text import clean

_LONGEST = 200


class Written(Struct, frozen=True, eq=False):
    """One graph and the way there. `inner`: it stands in a node, and sees what is around that."""

    path: str
    graph: Graph
    inner: bool = False

    def name(self, at: int) -> str:
        """What evidence calls one of its nodes."""
        return self.within(label(self.graph.nodes[at], at))

    def within(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name

    def inside(self) -> "Iterator[Written]":
        for at, node in enumerate(self.graph.nodes):
            if node.nested:
                yield from (Written(f"{self.name(at)}/{key}", graph, True) for key, graph in node.graphs())


def written(model: Model) -> Iterator[Written]:
    """The main graph (its way is empty), those inside it, and the bodies of functions as graphs."""
    waiting = [Written(function.name, _body(function)) for function in reversed(model.functions)]
    waiting.append(Written("", model.graph))
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(each.inside())


def _body(function: Function) -> Graph:
    ends = tuple(map(Value, function.inputs)), tuple(map(Value, function.outputs))
    return Graph(function.name, function.nodes, *ends)


def own_names(graph: Graph) -> set[str]:
    """Every value that a graph itself holds: what it is given, its tensors, and what its nodes make."""
    made = {value.name for value in graph.inputs} | {tensor.name for tensor in graph.initializers}
    made.update(name for node in graph.nodes for name in node.outputs)
    return made - {""}


def open_names(graph: Graph) -> list[str]:
    """Every value that a graph needs, with those inside it, and does not hold; in the order of the alphabet."""
    needs = {value.name for value in graph.outputs}
    for node in graph.nodes:
        needs.update(needed_names(node))
    return sorted(needs - own_names(graph) - {""})


def told(texts: Sequence[str], one: str, many: str) -> str:
    """ "a node is wrong: …" or "3 nodes are wrong, first: …"."""
    head = one if len(texts) == 1 else f"{len(texts):,} {many}, first"
    return f"{head}: {clean(texts[0], _LONGEST)}"
