"""One forward pass over a model: each node once, in order, every value's type, dims and small elements.

The walk knows no operator: rules come from `ops`, control flow from `_control`. It holds the only mutable state of
resolving (what is known so far, and how much work is left).
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import is_

from onnx_autodoc.ir import Deep, Function, Graph, Model, Node, Type, deeply
from onnx_autodoc.ops import (
    MAX_ELEMENTS,
    Call,
    Contradiction,
    Dim,
    InferenceError,
    ValueInfo,
    find,
    format_dims,
    unknown_value,
)
from onnx_autodoc.shapes.call_cache import CallCache, CallResult
from onnx_autodoc.shapes.control_flow import CONTROL
from onnx_autodoc.shapes.function_calls import bound_nodes, call_key
from onnx_autodoc.shapes.results import Body, Conflict, Step, skipped_steps
from onnx_autodoc.shapes.rule_application import RULE_ERRORS, apply, missing, rule_failure
from onnx_autodoc.shapes.scope import NAMES, Scope, raised_by, work
from onnx_autodoc.text import quote_name

_TOO_MUCH = "resolving stopped after {:,} steps" + raised_by("steps")
_TOO_DEEP = "resolving stopped: functions and subgraphs nest deeper than {:,} levels" + raised_by("depth")

_FEW = 64  # elements that always may be kept


_Result = tuple[Sequence[ValueInfo], tuple[Body, ...]]  # what a node gives, and what ran inside it


class Walk:
    def __init__(self, model: Model, sizes: Mapping[str, int], calls: CallCache) -> None:
        self._calls = calls
        self.work = work(model.node_count)
        self.left = self.work.most
        self.spent = _TOO_MUCH.format(self.work.most)
        self.contradictions: dict[Conflict, None] = {}
        self.avoided: dict[Conflict, None] = {}
        self.misdeclared: dict[Conflict, None] = {}
        self.assumed: dict[str, None] = {}
        self._sizes = sizes  # dynamic dimensions by name, for declared shapes
        self._functions = model.functions_by_key
        # Each result keeps its call: a key may hold what is told apart by identity alone.
        self._results: dict[object, tuple[Call, tuple[Step, ...], list[ValueInfo]]] = {}
        self._running: set[tuple[str, str, str]] = set()
        self._depth = 0
        self._held = 0

    def graph(
        self, graph: Graph, scope: Scope, given: Mapping[str, ValueInfo]
    ) -> Deep[tuple[tuple[Step, ...], list[ValueInfo]]]:
        """The steps of a graph whose inputs are `given`, and what is known of its outputs."""
        self.left -= (len(graph.initializers) + len(graph.value_info)) // NAMES
        scope.values.update((tensor.name, self._calls.initializer(tensor)) for tensor in graph.initializers)
        scope.values.update(given)
        scope.declared = {value.name: value.type for value in (*graph.value_info, *graph.outputs) if value.type}
        steps = yield from self.nodes(graph.nodes, scope, graph.index.order)
        return steps, [self.look(scope, value.name) for value in graph.outputs]

    def nodes(self, nodes: Sequence[Node], scope: Scope, order: Iterable[int]) -> Deep[tuple[Step, ...]]:
        """The steps of the nodes at the positions in `order`, inferred in that order and returned in file order."""
        if self.left <= 0 or self._depth > self.work.depth:
            why = self.spent if self.left <= 0 else _TOO_DEEP.format(self.work.depth)
            scope.values.update((name, unknown_value(why)) for node in nodes for name in node.outputs)
            return deeply(skipped_steps(nodes, why))
        self._depth += 1
        steps: dict[int, Step] = {}
        for at in order:
            node = nodes[at]
            self.left -= 1 + (len(node.inputs) + len(node.outputs)) // NAMES
            step = self._find_equal(node, at, scope)
            if step is not None:
                steps[at] = step
                continue
            inputs = tuple(self.look(scope, name) if name else None for name in node.inputs)
            call = Call(node, inputs, scope.opsets.get(node.domain))
            inside = self._inside(call, scope)
            steps[at] = (
                self._plain(call, at, scope) if inside is None else (yield self._opened(call, at, scope, inside))
            )
        self._depth -= 1
        return tuple(steps[at] for at in sorted(steps))

    def _find_equal(self, node: Node, at: int, scope: Scope) -> Step | None:
        """Return the step of a node whose inputs are all of this scope and whose call equals a cached one."""
        inputs = tuple(map(scope.values.get, node.inputs))
        if not all(inputs):
            return None
        version = scope.opsets.get(node.domain)
        result = self._calls.find(self._calls.key(node, version, self._max_elements, inputs))
        if result is None or result.is_large or len(result.outputs) != len(node.outputs):
            return None
        for name, known in zip(node.outputs, result.outputs):
            declared = scope.declared.get(name)
            if declared is not None:
                self._compared(name, known, declared, False)
            if name:
                scope.values[name] = known
        return Step(node, at, result.inputs, result.outputs, "", (), version, result.call_id)

    def _inside(self, call: Call, scope: Scope) -> "Deep[_Result] | None":
        """The walk over what a node runs; None if it runs nothing."""
        node = call.node
        function = self._functions.get((node.domain, node.op, node.overload)) if self._functions else None
        if function is not None:
            return self._function(function, call)
        return self._control(call, scope) if node.op in CONTROL and not node.domain else None

    @property
    def _max_elements(self) -> int:
        """The elements of an output that are evaluated."""
        return MAX_ELEMENTS if self._held <= self.work.held else _FEW

    def _plain(self, call: Call, at: int, scope: Scope) -> Step:
        """A node of one operator, if there is a rule for it at all."""
        most = self._max_elements
        key = self._calls.key(call.node, call.version, most, call.inputs)
        result = self._calls.find(key)
        if result is not None:
            return self._step(call, at, scope, result.outputs, None, result=result)
        operator = find(call.node.domain, call.node.op)
        if operator is None:
            return self._step(call, at, scope, missing(call), None, claims=True)
        try:
            outputs = apply(operator, call, most)
        except InferenceError as reason:
            return self._step(call, at, scope, [], reason)
        result = self._calls.add(key, call.inputs, outputs)
        return self._step(call, at, scope, result.outputs if result else outputs, None, result=result)

    def _opened(self, call: Call, at: int, scope: Scope, inside: "Deep[_Result]") -> Deep[Step]:
        """A node that runs other nodes."""
        outputs: Sequence[ValueInfo] = []
        bodies: tuple[Body, ...] = ()
        reason: InferenceError | None = None
        depth = self._depth
        try:
            outputs, bodies = yield from inside
        except InferenceError as raised:
            reason, self._depth = raised, depth
        return self._step(call, at, scope, outputs, reason, bodies)

    def _step(
        self,
        call: Call,
        at: int,
        scope: Scope,
        outputs: Sequence[ValueInfo],
        reason: InferenceError | None,
        bodies: tuple[Body, ...] = (),
        claims: bool = False,
        result: CallResult | None = None,
    ) -> Step:
        """The step that comes of a node; `reason` is why its outputs are not known."""
        node, gap = call.node, "" if reason is None else str(reason)
        if isinstance(reason, Contradiction):
            self.contradictions[Conflict("cannot-run", node.label(at), gap)] = None
        outputs = self._named(node, outputs, scope, gap, claims)
        if result is not None:
            call_id = result.call_id if all(map(is_, outputs, result.outputs)) else 0
            return Step(node, at, result.inputs, outputs, "", bodies, call.version, call_id)
        gap = gap or next((known.reason for known in outputs if known.kind == "tensor" and known.reason), "")
        return Step(node, at, tuple(call.inputs), outputs, gap, bodies, call.version)

    def _control(self, call: Call, scope: Scope) -> "Deep[_Result]":
        try:
            return (yield from CONTROL[call.node.op](self, call, scope))
        except RULE_ERRORS:
            raise rule_failure(call) from None

    def _function(self, function: Function, call: Call) -> "Deep[_Result]":
        """A call of a model-local function: resolved once for each set of inputs, however often it is called."""
        key = call_key(function, call)
        if function.key in self._running:
            raise Contradiction(f"the function {quote_name(function.name)} calls itself")
        if key not in self._results:
            self._running.add(function.key)
            scope = Scope(function.opsets)
            scope.values.update((name, known) for name, known in zip(function.inputs, call.inputs) if known)
            scope.declared = {value.name: value.type for value in function.value_info if value.type}
            steps = yield from self.nodes(bound_nodes(function, call.node), scope, function.body.index.order)
            self._results[key] = call, steps, [self.look(scope, name) for name in function.outputs]
            self._running.remove(function.key)
        _, steps, outputs = self._results[key]
        return outputs, (Body(function.name, steps),)

    def _named(
        self, node: Node, outputs: Sequence[ValueInfo], scope: Scope, gap: str, claims: bool
    ) -> tuple[ValueInfo, ...]:
        """One known for each output the node has, put into the scope under its name."""
        result = []
        for at, name in enumerate(node.outputs):
            known = (
                outputs[at] if at < len(outputs) else unknown_value(gap or f"{quote_name(node.op)} has no output {at}")
            )
            declared = scope.declared.get(name)
            if declared is not None:
                known = self._compared(name, known, declared, claims)
            known = self._affordable(known)
            if name:
                scope.values[name] = known
            result.append(known)
        return tuple(result)

    def _affordable(self, known: ValueInfo) -> ValueInfo:
        """Without its elements, once the elements held take too much memory."""
        if known.value is None or known.value.size <= _FEW:
            return known
        self._held += known.value.nbytes
        return known if self._held <= self.work.held else ValueInfo(known.dtype, known.shape)

    def _compared(self, name: str, known: ValueInfo, declared: Type, claims: bool) -> ValueInfo:
        """The file's own claim about a value: noticed where it contradicts, used only where there is no rule."""
        if claims and declared.kind == "tensor":
            return self._claimed(name, declared) or known
        shape, claim = known.shape, declared.dims
        if shape is None or claim is None:
            return known
        pairs = zip(shape, claim)
        if len(shape) != len(claim) or any(_differ(dim, said) for dim, said in pairs):
            conflict = Conflict("misdeclared", name, declared=format_dims(claim), inferred=format_dims(shape))
            self.misdeclared[conflict] = None
        return known

    def _claimed(self, name: str, declared: Type) -> ValueInfo | None:
        if declared.dims is None:
            return None
        dims = [self._sizes.get(dim) if isinstance(dim, str) else dim for dim in declared.dims]
        if any(dim is None for dim in dims):
            return None
        self.assumed[name] = None
        return ValueInfo(declared.dtype, tuple(dim for dim in dims if dim is not None))

    def look(self, scope: Scope, name: str) -> ValueInfo:
        known = scope.find(name)
        if known is None:
            conflict = Conflict("undefined", name)
            self.contradictions[conflict] = None
            return unknown_value(conflict.sentence)
        return known

    def untaken(self, graph: Graph, why: str) -> tuple[Step, ...]:
        return deeply(skipped_steps(graph.nodes, why))


def _differ(dim: Dim, said: int | str | None) -> bool:
    return type(dim) is int and type(said) is int and dim != said
