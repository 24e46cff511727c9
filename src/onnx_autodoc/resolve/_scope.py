"""The values that a node can see: those of its own graph, then those of the graphs around it."""

from collections.abc import Mapping

from msgspec import Struct

from onnx_autodoc.graph import Type
from onnx_autodoc.ops import Known


class Scope:
    __slots__ = ("declared", "opsets", "parent", "values")

    def __init__(self, opsets: Mapping[str, int], parent: "Scope | None" = None) -> None:
        self.values: dict[str, Known] = {}
        self.declared: Mapping[str, Type] = {}  # what the file claims of values, used only where no rule can tell
        self.opsets = opsets
        self.parent = parent

    def find(self, name: str) -> Known | None:
        scope: Scope | None = self
        while scope is not None:
            known = scope.values.get(name)
            if known is not None:
                return known
            scope = scope.parent
        return None


class Limits(Struct, frozen=True):
    """How much work resolving may be. Each is far above what real models need."""

    evaluations: int = 150_000  # rules applied, over all passes through all bodies
    each: int = 8  # so many more for each node of the file
    depth: int = 400  # graphs and functions inside each other
    simulated: int = 60_000  # rules applied to find out how often one loop runs
    held: int = 64 << 20  # bytes of elements kept; beyond that, only values of a few elements
    replayed: int = 20_000  # rules applied to follow one loop pass by pass
