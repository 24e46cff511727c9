"""The values that a node can read, and the limits of shape inference."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Graph, Type
from onnx_autodoc.limits import OPTIONS, current_limits
from onnx_autodoc.ops import ValueInfo

RULES_PER_NODE: Final = 8  # allowed on top of --max-steps, per node of the file
NAMES_PER_RULE: Final = 64  # names that are read in about the time of one rule
_BYTES_PER_RULE: Final = 400  # of stored elements: 60 MB by default


class Scope:
    """The values of a graph, then those of the graphs around it."""

    __slots__ = ("declared", "opsets", "parent", "values")

    def __init__(self, opsets: Mapping[str, int], parent: "Scope | None" = None) -> None:
        self.values: dict[str, ValueInfo] = {}
        self.declared: Mapping[str, Type] = {}  # used only for values of operators without a rule
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


class WorkLimits(Struct, frozen=True):
    """Limits of one inference, all derived from --max-steps and far above what real models need."""

    rules: int  # applied in all passes through all bodies
    depth: int  # of nested graphs and functions
    trip_count_rules: int  # applied to find the trip count of one loop
    unrolled_rules: int  # applied to follow one loop pass by pass
    value_bytes: int  # of stored elements; above it, only values of a few elements are stored


def work_limits(nodes: int) -> WorkLimits:
    """Return the limits for a file with this number of nodes."""
    steps = current_limits().steps
    rules = steps + RULES_PER_NODE * nodes
    return WorkLimits(rules, current_limits().depth, steps * 2 // 5, steps * 2 // 15, steps * _BYTES_PER_RULE)


def limit_hint(name: str) -> str:
    """Return the end of a sentence on a limit: the option that raises it."""
    return f"; {OPTIONS[name]} raises the limit"


def pass_work(graph: Graph) -> int:
    """Return the work of one pass through a graph, in rules applied. Reading names and declarations counts too."""
    names = sum(len(node.inputs) + len(node.outputs) for node in graph.nodes)
    declarations = len(graph.initializers) + len(graph.value_info) + len(graph.inputs) + len(graph.outputs)
    return len(graph.nodes) + (names + declarations) // NAMES_PER_RULE
