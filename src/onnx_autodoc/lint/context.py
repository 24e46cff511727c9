"""The model under check: its facts, architecture, graphs and, if they were read, the elements of its weights."""

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.analysis.weights import Weights
from onnx_autodoc.architecture import Structure
from onnx_autodoc.ir import GraphScope, Model, graph_scopes
from onnx_autodoc.lint.scopes import NodeRef, ResolvedScope, resolve_scopes
from onnx_autodoc.ops import Operator, Trait, find, select_op_types
from onnx_autodoc.shapes import dynamic_axes

__all__ = ["LintContext", "NodeRef", "OperatorUse", "ResolvedScope"]


FIRST_IR_WITH_FREE_INITIALIZERS: Final = 4  # before it, initializers had to be graph inputs too


class OperatorUse(Struct, frozen=True):
    """The nodes of a model that call one operator at one opset."""

    domain: str
    op: str
    opset: int | None
    is_local: bool  # a call of a function of the file
    on_data: list[NodeRef]
    on_constants: list[NodeRef]  # nodes that depend only on constants and sizes

    @property
    def refs(self) -> tuple[NodeRef, ...]:
        return (*self.on_data, *self.on_constants)

    @property
    def qualified_op(self) -> str:
        return f"{self.domain}.{self.op}" if self.domain else self.op


class LintContext:
    """One model under check. `weights` has the elements of its weights, where they were read."""

    def __init__(self, facts: Facts, structure: Structure, weights: Weights | None = None) -> None:
        self.facts, self.structure, self.weights = facts, structure, weights
        self.model: Model = facts.model

    @cached_property
    def declared_graphs(self) -> tuple[GraphScope, ...]:
        """The graphs as the file declares them, whether they ever run or not."""
        return tuple(graph_scopes(self.model))

    @cached_property
    def scopes(self) -> tuple[ResolvedScope, ...]:
        """The graphs that nodes run, with their shapes; the main graph first."""
        return tuple(resolve_scopes(self.facts, self.overridable))

    def all_nodes(self) -> Iterator[NodeRef]:
        """Every node once, in file order; those of a subgraph after all of the graph around it."""
        return (ref for scope in self.scopes for ref in scope.refs)

    @cached_property
    def _nodes_by_operator(self) -> dict[tuple[str, str], list[NodeRef]]:
        nodes: dict[tuple[str, str], list[NodeRef]] = {}
        for ref in self.all_nodes():
            nodes.setdefault((ref.node.domain, ref.node.op), []).append(ref)
        return nodes

    def nodes_of(self, *op_types: str, domain: str = "") -> list[NodeRef]:
        return [ref for op in op_types for ref in self._nodes_by_operator.get((domain, op), ())]

    def nodes_where(self, predicate: Callable[[Operator], object]) -> list[NodeRef]:
        """The nodes of the ai.onnx operators whose rows satisfy `predicate`."""
        return self.nodes_of(*select_op_types(predicate))

    def nodes_with_trait(self, trait: Trait) -> list[NodeRef]:
        """The nodes of the ai.onnx operators that have `trait`."""
        return self.nodes_where(lambda row: trait in row.traits)

    @cached_property
    def operator_uses(self) -> list[OperatorUse]:
        """The operators of the model in the order of their first node."""
        uses: dict[tuple[str, str, int | None], OperatorUse] = {}
        for ref in self.all_nodes():
            domain, op = ref.node.domain, ref.node.op
            key = (domain, op, ref.scope.opsets.get(domain))
            use = uses.get(key)
            if use is None:
                use = uses[key] = OperatorUse(*key, (domain, op) in self.local_functions, [], [])
            (use.on_constants if ref.is_data_independent else use.on_data).append(ref)
        return list(uses.values())

    def nodes_by_operator(self, is_domain: Callable[[str], bool]) -> dict[tuple[str, str], list[NodeRef]]:
        """The nodes of each operator (domain, op type) of some domains. Calls of local functions are excluded."""
        nodes: dict[tuple[str, str], list[NodeRef]] = {}
        for use in self.operator_uses:
            if not use.is_local and is_domain(use.domain):
                nodes.setdefault((use.domain, use.op), []).extend(use.refs)
        return nodes

    @cached_property
    def overridable(self) -> frozenset[str]:
        """Initializers that a caller may replace: defaults, not constants."""
        if (self.model.ir_version or 0) < FIRST_IR_WITH_FREE_INITIALIZERS:
            return frozenset()
        return self.model.graph.index.inputs & self.model.graph.index.initializers

    @cached_property
    def is_static(self) -> bool:
        """Whether the sizes on the card are those of every run: none is dynamic, assumed or left to callers."""
        dynamic = dynamic_axes(self.model) or self.facts.binding.values
        return not (dynamic or self.facts.shapes.assumed or self.overridable)

    @cached_property
    def local_functions(self) -> frozenset[tuple[str, str]]:
        """The functions of the file, by domain and name."""
        return frozenset((function.domain, function.name) for function in self.model.functions)

    @cached_property
    def opaque_operators(self) -> frozenset[tuple[str, str]]:
        """Operators that the tool does not know and that are not functions of the file."""
        used = {(domain, op) for domain, op, _ in self.facts.operators} - self.local_functions
        return frozenset(key for key in used if find(*key) is None)

    @staticmethod
    def outside_functions(refs: Iterable[NodeRef]) -> Iterator[NodeRef]:
        """Skip nodes of functions, whose types and sizes may differ from call to call."""
        return (ref for ref in refs if not ref.scope.in_function)
