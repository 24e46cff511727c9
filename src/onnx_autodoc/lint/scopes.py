"""The graphs of a model with their inferred shapes, as rules see them: each once, however often it runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.ir import Function, FunctionKey, Graph, Model, Node, Tensor
from onnx_autodoc.ops import OPERATORS, Array, Trait, ValueInfo, has_trait
from onnx_autodoc.shapes import Body, Step


class NodeRef(Struct, frozen=True, eq=False):
    """A node in its scope, with the known shapes, types and elements of its inputs and outputs."""

    scope: "ResolvedScope"
    step: Step
    node: Node  # that of the step

    @property
    def path(self) -> str:
        """The name of the node in evidence: its label after the path of its graph."""
        label = self.node.label(self.step.at)
        return f"{self.scope.path}/{label}" if self.scope.path else label

    def input(self, at: int) -> ValueInfo | None:
        return self.step.inputs[at] if at < len(self.step.inputs) else None

    def output(self, at: int = 0) -> ValueInfo | None:
        return self.step.outputs[at] if at < len(self.step.outputs) else None

    def elements(self, at: int) -> Array | None:
        """The elements of an input, None unless all of them are known."""
        known = self.input(at)
        return None if known is None or known.value is None or known.value.dtype == object else known.value

    def has_constant(self, at: int) -> bool:
        """Whether an input is the same in every run."""
        return self.scope.is_constant(self.node.inputs[at])

    @property
    def dtypes(self) -> tuple[str | None, str | None]:
        """The element types of the first input and the first output."""
        inputs, outputs = self.step.inputs, self.step.outputs
        before = inputs[0].dtype if inputs and inputs[0] is not None else None
        return before, outputs[0].dtype if outputs else None

    @property
    def is_data_independent(self) -> bool:
        return self.scope.data_independent.issuperset(self.node.outputs)

    def producer(self, at: int = 0) -> "NodeRef | None":
        """The node of this graph that produces an input; None for values from elsewhere."""
        return self.scope.producer(self.node.inputs[at]) if at < len(self.node.inputs) else None

    def only_consumer(self) -> "NodeRef | None":
        """The one node that reads the output; None where several do, or the value leaves the graph."""
        names = [name for name in self.node.outputs if name]
        if len(names) != 1 or names[0] in self.scope.escaping:
            return None
        consumers = self.scope.consumers(names[0])
        return consumers[0] if len(consumers) == 1 else None


class ResolvedScope:
    """One graph of the model. `outer` is the graph around a subgraph, whose values it sees.

    A function's body is one scope: that of the first call. Types and sizes in it may differ at other calls.
    """

    def __init__(
        self,
        path: str,
        steps: tuple[Step, ...],
        graph: Graph,
        opsets: Mapping[str, int],
        *,
        outer: "ResolvedScope | None" = None,
        is_executed: bool = True,
        in_function: bool = False,
        overridable: frozenset[str] = frozenset(),
    ) -> None:
        self.path, self.graph, self.opsets, self.outer = path, graph, opsets, outer
        self.is_executed = is_executed  # False: a branch that is not taken at these sizes
        self.in_function = in_function
        self.refs = tuple(NodeRef(self, step, step.node) for step in steps)
        self._overridable = overridable

    @cached_property
    def escaping(self) -> frozenset[str]:
        """Values that are outputs of the graph or captured by its subgraphs."""
        return self.graph.index.outputs | self.graph.index.captured

    def producer(self, name: str) -> NodeRef | None:
        at = self.graph.index.producers.get(name)
        return None if at is None else self.refs[at]

    def consumers(self, name: str) -> list[NodeRef]:
        """The nodes of this graph that read a value, each once, in file order."""
        return [self.refs[at] for at in dict.fromkeys(at for at, _ in self.graph.index.uses.get(name, ()))]

    def find_constant(self, name: str) -> Tensor | None:
        """The initializer or Constant of a name, in this graph or around it."""
        for scope in self.outward():
            tensor = scope.graph.index.constants.get(name)
            if tensor is not None and name not in scope._overridable:
                return tensor
        return None

    @cached_property
    def constants(self) -> set[str]:
        """Values that are the same in every run: constants, and values computed only from constants."""
        known = {name for name in self.graph.index.constants if name not in self._overridable}
        return self._propagate(known, lambda scope: scope.constants, from_shapes=False) - {""}

    def is_constant(self, name: str) -> bool:
        return self._is_in(name, lambda scope: scope.constants)

    def are_constant(self, names: Sequence[str]) -> bool:
        """Whether all inputs of a node are constant; "" is an input that is left out."""
        return all(name in self.constants or not name or self.is_constant(name) for name in names)

    @cached_property
    def data_independent(self) -> set[str]:
        """Values that depend only on constants and sizes."""
        known = set(self.graph.index.initializers - self._overridable)
        return self._propagate(known, lambda scope: scope.data_independent, from_shapes=True)

    def is_data_independent(self, name: str) -> bool:
        return self._is_in(name, lambda scope: scope.data_independent)

    def _is_in(self, name: str, values: "ScopeValues") -> bool:
        """Whether a name is among the values of the scope that defines it."""
        scope: ResolvedScope | None = self
        while scope is not None and name not in values(scope):
            scope = None if name in scope.graph.index.defined else scope.outer
        return scope is not None

    def _propagate(self, known: set[str], values: "ScopeValues", *, from_shapes: bool) -> set[str]:
        """Add the outputs of deterministic nodes whose inputs are all known."""
        for scope in reversed(list(self.outward())[1:]):  # outermost first, so that nesting never recurses
            values(scope)
        known.add("")
        queries = (
            {key for key, row in list(OPERATORS.items()) if Trait.SHAPE_QUERY in row.traits} if from_shapes else set()
        )
        for at in self.graph.index.order:
            node = self.refs[at].node
            if (node.domain, node.op) in queries or (
                self._all_known(node.all_inputs if node.has_subgraphs else node.inputs, known, values)
                and not has_trait(node, Trait.RANDOM)
            ):
                known.update(node.outputs)
        return known

    def _all_known(self, names: Sequence[str], known: set[str], values: "ScopeValues") -> bool:
        if self.outer is None or known.issuperset(names):
            return known.issuperset(names)
        outer, own = self.outer, self.graph.index.defined
        return all(name in known or (name not in own and outer._is_in(name, values)) for name in names)

    def outward(self) -> "Iterator[ResolvedScope]":
        """Yield this graph and those around it, the innermost first."""
        scope: ResolvedScope | None = self
        while scope is not None:
            yield scope
            scope = scope.outer

    def live_nodes(self, opaque: frozenset[tuple[str, str]]) -> set[int]:
        """Positions of the nodes that an output of the graph depends on.

        `opaque` operators and their inputs count as live: they may have side effects.
        """
        roots = [ref for ref in self.refs if (ref.node.domain, ref.node.op) in opaque] if opaque else []
        pending = [value.name for value in self.graph.outputs]
        pending += [name for ref in roots for name in ref.node.all_inputs]
        live = {ref.step.at for ref in roots}
        while pending:
            at = self.graph.index.producers.get(pending.pop())
            if at is not None and at not in live:
                live.add(at)
                pending.extend(self.refs[at].node.all_inputs)
        return live


ScopeValues = Callable[[ResolvedScope], set[str]]


def resolve_scopes(facts: Facts, overridable: frozenset[str]) -> Iterator[ResolvedScope]:
    """Yield the main graph, then the graphs that its nodes run, outer ones before inner ones."""
    model = facts.model
    pending = [ResolvedScope("", facts.shapes.steps, model.graph, model.opsets, overridable=overridable)]
    called: set[FunctionKey] = set()
    while pending:
        scope = pending.pop()
        yield scope
        for ref in reversed(scope.refs):
            if not ref.step.bodies:
                continue
            key = ref.node.function_key
            function = model.functions_by_key.get(key)
            if key not in called:
                pending.extend(_body_scope(model, ref, body, function) for body in reversed(ref.step.bodies))
            if function is not None:
                called.add(key)


def _body_scope(model: Model, ref: NodeRef, body: Body, function: Function | None) -> ResolvedScope:
    path, is_executed = f"{ref.path}/{body.name}", ref.scope.is_executed and body.times != 0
    if function is not None:
        opsets = {**model.opsets, **function.opsets}
        return ResolvedScope(path, body.steps, function.body, opsets, is_executed=is_executed, in_function=True)
    graph, outer = dict(ref.node.subgraphs())[body.name], ref.scope
    return ResolvedScope(
        path, body.steps, graph, outer.opsets, outer=outer, is_executed=is_executed, in_function=outer.in_function
    )
