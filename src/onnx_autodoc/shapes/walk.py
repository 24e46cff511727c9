"""One forward pass over a model: each node once, in order; the type, dims and small elements of every value.

The walk names no operator: rules come from `ops`, control flow from `control_flow`. It holds the only mutable state of
shape inference: the known values, and the work that is left.
"""

from collections.abc import Iterable, Mapping, Sequence
from operator import is_
from typing import Final

from onnx_autodoc.ir import Deep, Function, Graph, Model, Node, Type
from onnx_autodoc.ops import (
    MAX_ELEMENTS,
    Call,
    Contradiction,
    InferenceError,
    ValueInfo,
    find,
    format_dims,
    load_plugins,
    unknown_value,
)
from onnx_autodoc.shapes.call_cache import CallCache, CallResult
from onnx_autodoc.shapes.control_flow import CONTROL, Result
from onnx_autodoc.shapes.function_calls import bind_nodes, call_key
from onnx_autodoc.shapes.results import Body, Conflict, Step, find_gap, skip_steps
from onnx_autodoc.shapes.rule_application import RULE_ERRORS, apply_rules, rule_failure
from onnx_autodoc.shapes.scope import NAMES_PER_RULE, Scope, limit_hint, work_limits
from onnx_autodoc.text import quote_name

_TOO_MUCH: Final = "shape inference stopped after {:,} steps" + limit_hint("steps")
_TOO_DEEP: Final = "shape inference stopped: functions and subgraphs nest deeper than {:,} levels" + limit_hint("depth")
_MAX_ELEMENTS_OVER_LIMIT: Final = 64  # of a value that is stored even when the limit on stored elements is reached


class Walk:
    def __init__(self, model: Model, sizes: Mapping[str, int], calls: CallCache) -> None:
        self._calls = calls
        self.limits = work_limits(model.node_count)
        self.left = self.limits.rules
        self.spent = _TOO_MUCH.format(self.limits.rules)
        self.contradictions: dict[Conflict, None] = {}
        self.avoided: dict[Conflict, None] = {}
        self.misdeclared: dict[Conflict, None] = {}
        self.assumed: dict[str, None] = {}
        self._sizes = sizes  # of dynamic dimensions by name, for declared shapes
        self._functions = model.functions_by_key
        # Each result keeps its call alive: keys hold ids.
        self._results: dict[object, tuple[Call, tuple[Step, ...], list[ValueInfo]]] = {}
        self._running: set[tuple[str, str, str]] = set()
        self._depth = 0
        self._value_bytes = 0
        self._max_elements = MAX_ELEMENTS  # up to which an output is evaluated

    def graph(
        self, graph: Graph, scope: Scope, inputs: Mapping[str, ValueInfo]
    ) -> Deep[tuple[tuple[Step, ...], list[ValueInfo]]]:
        """Return the steps and outputs of a graph."""
        self.left -= (len(graph.initializers) + len(graph.value_info)) // NAMES_PER_RULE
        scope.values.update((tensor.name, self._calls.initializer(tensor)) for tensor in graph.initializers)
        scope.values.update(inputs)
        scope.declared = {value.name: value.type for value in (*graph.value_info, *graph.outputs) if value.type}
        steps = yield from self.nodes(graph.nodes, scope, graph.index.order)
        return steps, [self._look_up(scope, value.name) for value in graph.outputs]

    def nodes(self, nodes: Sequence[Node], scope: Scope, order: Iterable[int]) -> Deep[tuple[Step, ...]]:
        """Return the steps of the nodes at the positions in `order`, inferred in that order, in file order."""
        if self.left <= 0 or self._depth > self.limits.depth:
            why = self.spent if self.left <= 0 else _TOO_DEEP.format(self.limits.depth)
            scope.values.update((name, unknown_value(why)) for node in nodes for name in node.outputs)
            return skip_steps(nodes, why)
        self._depth += 1
        steps: dict[int, Step] = {}
        for at in order:
            node = nodes[at]
            self.left -= 1 + (len(node.inputs) + len(node.outputs)) // NAMES_PER_RULE
            step = self._find_equal(node, at, scope)
            if step is None:
                inputs = tuple(self._look_up(scope, name) if name else None for name in node.inputs)
                call = Call(node, inputs, scope.opsets.get(node.domain))
                body = self._body_walk(call, scope)
                step = self._infer_plain(call, at, scope) if body is None else (yield self._run(call, at, scope, body))
            steps[at] = step
        self._depth -= 1
        return tuple(map(steps.__getitem__, sorted(steps)))

    def _find_equal(self, node: Node, at: int, scope: Scope) -> Step | None:
        """Return the step of a node whose inputs are all of this scope and whose call equals a cached one."""
        inputs = tuple(map(scope.values.get, node.inputs))
        if not all(inputs):
            return None
        version = scope.opsets.get(node.domain)
        result = self._calls.find_call(node, version, self._max_elements, inputs)
        if result is None or result.is_large or len(result.outputs) != len(node.outputs):
            return None
        for name, known in zip(node.outputs, result.outputs):
            declared = scope.declared.get(name)
            if declared is not None:
                self._compare(name, known, declared)
            if name:
                scope.values[name] = known
        return Step(node, at, result.inputs, result.outputs, "", (), version, result.call_id)

    def _body_walk(self, call: Call, scope: Scope) -> Deep[Result] | None:
        """Return the walk over the graph that a node runs; None if it runs none."""
        node = call.node
        function = self._functions.get((node.domain, node.op, node.overload)) if self._functions else None
        if function is not None:
            return self._run_function(function, call)
        return self._run_control_flow(call, scope) if node.op in CONTROL and not node.domain else None

    def _infer_plain(self, call: Call, at: int, scope: Scope) -> Step:
        """Infer a node that runs no other nodes."""
        max_elements = self._max_elements
        key = self._calls.key(call.node, call.version, max_elements, call.inputs)
        result = self._calls.find(key)
        if result is not None:
            return self._step(call, at, scope, result.outputs, result=result)
        operator = find(call.node.domain, call.node.op)
        if operator is None:
            domain = quote_name(call.node.domain or "ai.onnx")
            why = f"there is no shape rule for operator {quote_name(call.node.op)} of domain {domain}"
            unknown = unknown_value("; ".join((why, *load_plugins())))
            return self._step(call, at, scope, [unknown] * len(call.node.outputs), has_rule=False)
        try:
            outputs = apply_rules(operator, call, max_elements)
        except InferenceError as reason:
            return self._step(call, at, scope, [], reason)
        result = self._calls.add(key, call.inputs, outputs)
        return self._step(call, at, scope, result.outputs if result else outputs, result=result)

    def _run(self, call: Call, at: int, scope: Scope, body: Deep[Result]) -> Deep[Step]:
        """Infer a node that runs other nodes."""
        depth = self._depth
        try:
            outputs, bodies = yield from body
        except InferenceError as reason:
            self._depth = depth
            return self._step(call, at, scope, [], reason)
        return self._step(call, at, scope, outputs, bodies=bodies)

    def _step(
        self,
        call: Call,
        at: int,
        scope: Scope,
        outputs: Sequence[ValueInfo],
        reason: InferenceError | None = None,
        bodies: tuple[Body, ...] = (),
        has_rule: bool = True,
        result: CallResult | None = None,
    ) -> Step:
        """Store the outputs of a node in the scope and return its step; `reason` is why they are unknown."""
        node, gap = call.node, "" if reason is None else str(reason)
        if isinstance(reason, Contradiction):
            self.contradictions[Conflict("cannot-run", node.label(at), gap)] = None
        outputs = self._store_outputs(node, outputs, scope, gap, has_rule)
        if result is not None:
            call_id = result.call_id if all(map(is_, outputs, result.outputs)) else 0
            return Step(node, at, result.inputs, outputs, "", bodies, call.version, call_id)
        return Step(node, at, tuple(call.inputs), outputs, gap or find_gap(outputs), bodies, call.version)

    def _run_control_flow(self, call: Call, scope: Scope) -> Deep[Result]:
        try:
            return (yield from CONTROL[call.node.op](self, call, scope))
        except RULE_ERRORS:
            raise rule_failure(call) from None

    def _run_function(self, function: Function, call: Call) -> Deep[Result]:
        """Infer a call of a model-local function, once for each set of inputs, however often it is called."""
        key = call_key(function, call)
        if function.key in self._running:
            raise Contradiction(f"the function {quote_name(function.name)} calls itself")
        if key not in self._results:
            self._running.add(function.key)
            scope = Scope(function.opsets)
            scope.values.update((name, known) for name, known in zip(function.inputs, call.inputs) if known)
            scope.declared = {value.name: value.type for value in function.value_info if value.type}
            steps = yield from self.nodes(bind_nodes(function, call.node), scope, function.body.index.order)
            self._results[key] = call, steps, [self._look_up(scope, name) for name in function.outputs]
            self._running.remove(function.key)
        _, steps, outputs = self._results[key]
        return outputs, (Body(function.name, steps),)

    def _store_outputs(
        self, node: Node, outputs: Sequence[ValueInfo], scope: Scope, gap: str, has_rule: bool
    ) -> tuple[ValueInfo, ...]:
        """Store one value for each output of the node; drop elements once all stored elements take too much memory."""
        stored = []
        for at, name in enumerate(node.outputs):
            known = (
                outputs[at] if at < len(outputs) else unknown_value(gap or f"{quote_name(node.op)} has no output {at}")
            )
            declared = scope.declared.get(name)
            if declared is not None:
                if not has_rule and declared.kind == "tensor":
                    known = self._assume_declared(name, declared) or known
                else:
                    self._compare(name, known, declared)
            if known.value is not None and known.value.size > _MAX_ELEMENTS_OVER_LIMIT:
                self._value_bytes += known.value.nbytes
                if self._value_bytes > self.limits.value_bytes:
                    self._max_elements = _MAX_ELEMENTS_OVER_LIMIT
                    known = ValueInfo(known.dtype, known.shape)
            if name:
                scope.values[name] = known
            stored.append(known)
        return tuple(stored)

    def _compare(self, name: str, known: ValueInfo, declared: Type) -> None:
        """Record a declared shape that contradicts the inferred one."""
        shape, dims = known.shape, declared.dims
        if shape is None or dims is None:
            return
        if len(shape) != len(dims) or any(
            type(inferred) is int and type(dim) is int and inferred != dim for inferred, dim in zip(shape, dims)
        ):
            conflict = Conflict("misdeclared", name, declared=format_dims(dims), inferred=format_dims(shape))
            self.misdeclared[conflict] = None

    def _assume_declared(self, name: str, declared: Type) -> ValueInfo | None:
        """Return the declared type of a value for which there is no rule; None if its shape is not fully declared."""
        if declared.dims is None:
            return None
        dims = [self._sizes.get(dim) if isinstance(dim, str) else dim for dim in declared.dims]
        if any(dim is None for dim in dims):
            return None
        self.assumed[name] = None
        return ValueInfo(declared.dtype, tuple(dim for dim in dims if dim is not None))

    def _look_up(self, scope: Scope, name: str) -> ValueInfo:
        known = scope.find(name)
        if known is None:
            conflict = Conflict("undefined", name)
            self.contradictions[conflict] = None
            return unknown_value(conflict.sentence)
        return known
