"""The values that a node can see: those of its own graph, then those of the graphs around it."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Graph, Type
from onnx_autodoc.limits import OPTIONS, current_limits
from onnx_autodoc.ops import ValueInfo


class Scope:
    __slots__ = ("declared", "opsets", "parent", "values")

    def __init__(self, opsets: Mapping[str, int], parent: "Scope | None" = None) -> None:
        self.values: dict[str, ValueInfo] = {}
        self.declared: Mapping[str, Type] = {}  # what the file claims of values, used only where no rule can tell
        self.opsets = opsets
        self.parent = parent

    def find(self, name: str) -> ValueInfo | None:
        scope: Scope | None = self
        while scope is not None:
            known = scope.values.get(name)
            if known is not None:
                return known
            scope = scope.parent
        return None


EACH: Final = 8  # so many rules more for each node of the file
_HELD: Final = 400  # bytes of elements kept for each rule that may be applied: 60 MB


class Work(Struct, frozen=True):
    """How much work resolving may be, all of it by --max-steps. Each is far above what real models need."""

    most: int  # rules applied, over all passes through all bodies
    depth: int  # graphs and functions inside each other
    simulated: int  # rules applied to find out how often one loop runs
    replayed: int  # rules applied to follow one loop pass by pass
    held: int  # bytes of elements kept; beyond that, only values of a few elements


def work(nodes: int) -> Work:
    """For a file of so many nodes, by the limits that hold here."""
    steps = current_limits().steps
    return Work(steps + EACH * nodes, current_limits().depth, steps * 2 // 5, steps * 2 // 15, steps * _HELD)


def raised_by(name: str) -> str:
    """The end of a sentence on a limit."""
    return f"; {OPTIONS[name]} raises the limit"


def weight(graph: Graph) -> int:
    """What one pass through a graph takes, in rules applied: what it holds and what its nodes name is gone through."""
    named = sum(len(node.inputs) + len(node.outputs) for node in graph.nodes)
    held = len(graph.initializers) + len(graph.value_info) + len(graph.inputs) + len(graph.outputs)
    return len(graph.nodes) + (named + held) // NAMES


NAMES: Final = 64  # that are read or made in about the time that a rule takes
