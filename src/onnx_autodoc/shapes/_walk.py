"""One forward pass over a model: each node once, in order, every value's type, dims and small elements.

The walk knows no operator: rules come from `ops`, control flow from `_control`. It holds the only mutable state of
resolving (what is known so far, and how much work is left).
"""

from collections.abc import Iterable, Mapping, Sequence

from onnx_autodoc.ir import Deep, Function, Graph, Model, Node, Type, count_nodes, deeply, execution_order, label
from onnx_autodoc.ops import (
    MAX_ELEMENTS,
    Call,
    Contradiction,
    Dim,
    Known,
    NotKnown,
    dims_text,
    find,
    known_tensor,
    nothing,
)
from onnx_autodoc.shapes._apply import SLIPS, apply, missing, unfit
from onnx_autodoc.shapes._control import CONTROL
from onnx_autodoc.shapes._functions import bound_nodes, call_key
from onnx_autodoc.shapes._scope import NAMES, Scope, raised_by, work
from onnx_autodoc.shapes._shapes import Body, Step
from onnx_autodoc.text import quoted, told

_TOO_MUCH = "resolving stopped after {:,} steps" + raised_by("steps")
_TOO_DEEP = "resolving stopped: functions and subgraphs nest deeper than {:,} levels" + raised_by("depth")

_FEW = 64  # elements that always may be kept


_Result = tuple[Sequence[Known], tuple[Body, ...]]  # what a node gives, and what ran inside it


class Walk:
    def __init__(self, model: Model, sizes: Mapping[str, int]) -> None:
        self.work = work(count_nodes(model))
        self.left = self.work.most
        self.spent = _TOO_MUCH.format(self.work.most)
        self.contradictions: dict[str, None] = {}
        self.avoided: dict[str, None] = {}
        self.misdeclared: dict[str, None] = {}
        self.assumed: dict[str, None] = {}
        self._sizes = sizes  # open dimensions by name, for declared shapes
        self._functions: dict[tuple[str, str, str], Function] = {entry.key: entry for entry in model.functions}
        # Each result keeps its call: a key may hold what is told apart by identity alone.
        self._results: dict[object, tuple[Call, tuple[Step, ...], list[Known]]] = {}
        self._running: set[tuple[str, str, str]] = set()
        self._depth = 0
        self._held = 0

    def graph(
        self, graph: Graph, scope: Scope, given: Mapping[str, Known]
    ) -> Deep[tuple[tuple[Step, ...], list[Known]]]:
        """The steps of a graph whose inputs are `given`, and what is known of its outputs."""
        self.left -= (len(graph.initializers) + len(graph.values)) // NAMES
        scope.values.update((tensor.name, known_tensor(tensor)) for tensor in graph.initializers)
        scope.values.update(given)
        scope.declared = {value.name: value.type for value in (*graph.values, *graph.outputs) if value.type}
        steps = yield from self.nodes(graph.nodes, scope)
        return steps, [self.look(scope, value.name) for value in graph.outputs]

    def nodes(self, nodes: Sequence[Node], scope: Scope, only: Iterable[int] | None = None) -> Deep[tuple[Step, ...]]:
        """The steps of some nodes in file order, resolved in an order that works."""
        if self.left <= 0 or self._depth > self.work.depth:
            why = self.spent if self.left <= 0 else _TOO_DEEP.format(self.work.depth)
            scope.values.update((name, nothing(why)) for node in nodes for name in node.outputs)
            return deeply(_untouched(nodes, why))
        self._depth += 1
        steps: dict[int, Step] = {}
        for at in execution_order(nodes) if only is None else only:
            node = nodes[at]
            call = self._call(node, scope)
            inside = self._inside(call, scope)
            steps[at] = (
                self._plain(call, at, scope) if inside is None else (yield self._opened(call, at, scope, inside))
            )
        self._depth -= 1
        return tuple(steps[at] for at in sorted(steps))

    def _call(self, node: Node, scope: Scope) -> Call:
        self.left -= 1 + (len(node.inputs) + len(node.outputs)) // NAMES
        inputs = tuple(self.look(scope, name) if name else None for name in node.inputs)
        return Call(node, inputs, scope.opsets.get(node.domain))

    def _inside(self, call: Call, scope: Scope) -> "Deep[_Result] | None":
        """The walk over what a node runs; None if it runs nothing."""
        node = call.node
        function = self._functions.get((node.domain, node.op, node.overload)) if self._functions else None
        if function is not None:
            return self._function(function, call)
        return self._control(call, scope) if node.op in CONTROL and not node.domain else None

    def _plain(self, call: Call, at: int, scope: Scope) -> Step:
        """A node of one operator, if there is a rule for it at all."""
        operator = find(call.node.domain, call.node.op)
        most = MAX_ELEMENTS if self._held <= self.work.held else _FEW
        try:
            outputs, reason = apply(operator, call, most) if operator else missing(call), None
        except NotKnown as raised:
            outputs, reason = [], raised
        return self._step(call, at, scope, outputs, reason, claims=operator is None)

    def _opened(self, call: Call, at: int, scope: Scope, inside: "Deep[_Result]") -> Deep[Step]:
        """A node that runs other nodes."""
        outputs: Sequence[Known] = []
        bodies: tuple[Body, ...] = ()
        reason: NotKnown | None = None
        depth = self._depth
        try:
            outputs, bodies = yield from inside
        except NotKnown as raised:
            reason, self._depth = raised, depth
        return self._step(call, at, scope, outputs, reason, bodies)

    def _step(
        self,
        call: Call,
        at: int,
        scope: Scope,
        outputs: Sequence[Known],
        reason: NotKnown | None,
        bodies: tuple[Body, ...] = (),
        claims: bool = False,
    ) -> Step:
        """The step that comes of a node; `reason` is why its outputs are not known."""
        node, gap = call.node, "" if reason is None else str(reason)
        if isinstance(reason, Contradiction):
            self.contradictions[f"{told(label(node, at))}: {reason}"] = None
        outputs = self._named(node, outputs, scope, gap, claims)
        gap = gap or next((known.reason for known in outputs if known.kind == "tensor" and known.reason), "")
        return Step(node, at, tuple(call.inputs), tuple(outputs), gap, bodies, call.version)

    def _control(self, call: Call, scope: Scope) -> "Deep[_Result]":
        try:
            return (yield from CONTROL[call.node.op](self, call, scope))
        except SLIPS:
            raise unfit(call) from None

    def _function(self, function: Function, call: Call) -> "Deep[_Result]":
        """A call of a model-local function: resolved once for each set of inputs, however often it is called."""
        key = call_key(function, call)
        if function.key in self._running:
            raise Contradiction(f"the function {told(function.name)} calls itself")
        if key not in self._results:
            self._running.add(function.key)
            scope = Scope(function.opsets)
            scope.values.update((name, known) for name, known in zip(function.inputs, call.inputs) if known)
            scope.declared = {value.name: value.type for value in function.values if value.type}
            steps = yield from self.nodes(bound_nodes(function, call.node), scope)
            self._results[key] = call, steps, [self.look(scope, name) for name in function.outputs]
            self._running.remove(function.key)
        _, steps, outputs = self._results[key]
        return outputs, (Body(function.name, steps),)

    def _named(self, node: Node, outputs: Sequence[Known], scope: Scope, gap: str, claims: bool) -> list[Known]:
        """One known for each output the node has, put into the scope under its name."""
        result = []
        for at, name in enumerate(node.outputs):
            known = outputs[at] if at < len(outputs) else nothing(gap or f"{told(node.op)} has no output {at}")
            declared = scope.declared.get(name)
            if declared is not None:
                known = self._compared(name, known, declared, claims)
            known = self._affordable(known)
            if name:
                scope.values[name] = known
            result.append(known)
        return result

    def _affordable(self, known: Known) -> Known:
        """Without its elements, once the elements held take too much memory."""
        if known.value is None or known.value.size <= _FEW:
            return known
        self._held += known.value.nbytes
        return known if self._held <= self.work.held else Known(known.dtype, known.shape)

    def _compared(self, name: str, known: Known, declared: Type, claims: bool) -> Known:
        """The file's own claim about a value: noticed where it contradicts, used only where there is no rule."""
        if claims and declared.kind == "tensor":
            return self._claimed(name, declared) or known
        shape, claim = known.shape, declared.dims
        if shape is None or claim is None:
            return known
        pairs = zip(shape, claim)
        if len(shape) != len(claim) or any(_differ(dim, said) for dim, said in pairs):
            has, says = dims_text(shape), dims_text(claim)
            self.misdeclared[f"the file declares {told(name)} as {says}, its nodes give {has}"] = None
        return known

    def _claimed(self, name: str, declared: Type) -> Known | None:
        if declared.dims is None:
            return None
        dims = [self._sizes.get(dim) if isinstance(dim, str) else dim for dim in declared.dims]
        if any(dim is None for dim in dims):
            return None
        self.assumed[name] = None
        return Known(declared.dtype, tuple(dim for dim in dims if dim is not None))

    def look(self, scope: Scope, name: str) -> Known:
        known = scope.find(name)
        if known is None:
            self.contradictions[f"{quoted(name)} is read, but nothing makes it"] = None
            return nothing(f"{quoted(name)} is read, but nothing makes it")
        return known

    def untaken(self, graph: Graph, why: str) -> tuple[Step, ...]:
        return deeply(_untouched(graph.nodes, why))


def _untouched(nodes: Sequence[Node], why: str) -> Deep[tuple[Step, ...]]:
    """Nodes that are not resolved, with all that is inside them."""
    steps = []
    for at, node in enumerate(nodes):
        bodies = []
        for name, graph in node.graphs() if node.nested else ():
            bodies.append(Body(name, (yield _untouched(graph.nodes, why)), 0))
        outputs = (nothing(why),) * len(node.outputs)
        steps.append(Step(node, at, (None,) * len(node.inputs), outputs, why, tuple(bodies)))
    return tuple(steps)


def _differ(dim: Dim, said: int | str | None) -> bool:
    return type(dim) is int and type(said) is int and dim != said
