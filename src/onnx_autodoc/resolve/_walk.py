"""One forward pass over a model: each node once, in order, every value's type, dims and small elements.

The walk knows no operator: rules come from `ops`, control flow from `_control`. It holds the only mutable state of
resolving (what is known so far, and how much work is left).
"""

from collections.abc import Iterable, Mapping, Sequence

from onnx_autodoc.graph import Function, Graph, Model, Node, Type, all_graphs, execution_order, label
from onnx_autodoc.ops import Call, Contradiction, Dim, Known, NotKnown, dims_text, find, known_tensor, nothing
from onnx_autodoc.resolve._apply import SLIPS, apply, missing, unfit
from onnx_autodoc.resolve._control import CONTROL
from onnx_autodoc.resolve._functions import bound_nodes, call_key
from onnx_autodoc.resolve._scope import Limits, Scope
from onnx_autodoc.resolve._shapes import Body, Step

_TOO_MUCH = "resolving stopped: the limit of {:,} rule evaluations was reached"
_TOO_DEEP = "resolving stopped: functions and subgraphs nest deeper than {:,} levels"

_FEW = 512  # bytes of elements that always may be kept


class Walk:
    def __init__(self, model: Model, sizes: Mapping[str, int], limits: Limits) -> None:
        self.limits = limits
        self.most = limits.evaluations + limits.each * sum(len(graph.nodes) for graph in all_graphs(model))
        self.left = self.most
        self.contradictions: dict[str, None] = {}
        self.avoided: dict[str, None] = {}
        self.misdeclared: dict[str, None] = {}
        self.assumed: dict[str, None] = {}
        self._sizes = sizes  # open dimensions by name, for declared shapes
        self._functions: dict[tuple[str, str, str], Function] = {entry.key: entry for entry in model.functions}
        # Each result keeps its call: a key may hold what is told apart by identity alone.
        self._results: dict[object, tuple[Call, tuple[Step, ...], list[Known]]] = {}
        self._inside: set[tuple[str, str, str]] = set()
        self._depth = 0
        self._held = 0

    def graph(self, graph: Graph, scope: Scope, given: Mapping[str, Known]) -> tuple[tuple[Step, ...], list[Known]]:
        """The steps of a graph whose inputs are `given`, and what is known of its outputs."""
        scope.values.update((tensor.name, known_tensor(tensor)) for tensor in graph.initializers)
        scope.values.update(given)
        scope.declared = {value.name: value.type for value in (*graph.values, *graph.outputs) if value.type}
        steps = self.nodes(graph.nodes, scope)
        return steps, [self.look(scope, value.name) for value in graph.outputs]

    def nodes(self, nodes: Sequence[Node], scope: Scope, only: Iterable[int] | None = None) -> tuple[Step, ...]:
        """The steps of some nodes in file order, resolved in an order that works."""
        if self.left <= 0 or self._depth >= self.limits.depth:
            why = _TOO_MUCH.format(self.most) if self.left <= 0 else _TOO_DEEP.format(self.limits.depth)
            scope.values.update((name, nothing(why)) for node in nodes for name in node.outputs)
            return tuple(self.untouched(node, at, why) for at, node in enumerate(nodes))
        self._depth += 1
        steps: dict[int, Step] = {}
        for at in execution_order(nodes) if only is None else only:
            steps[at] = self.step(nodes[at], at, scope)
        self._depth -= 1
        return tuple(steps[at] for at in sorted(steps))

    def step(self, node: Node, at: int, scope: Scope) -> Step:
        self.left -= 1
        inputs = tuple(self.look(scope, name) if name else None for name in node.inputs)
        call = Call(node, inputs, scope.opsets.get(node.domain))
        bodies: tuple[Body, ...] = ()
        gap, ruled = "", True
        try:
            outputs, bodies, ruled = self._outputs(call, scope)
        except NotKnown as reason:
            outputs, gap = [], str(reason)
            if isinstance(reason, Contradiction):
                self.contradictions[f"{label(node, at)}: {reason}"] = None
        outputs = self._named(node, outputs, scope, gap, claims=not ruled)
        gap = gap or next((known.reason for known in outputs if known.kind == "tensor" and known.reason), "")
        return Step(node, at, inputs, tuple(outputs), gap, bodies, call.version)

    def _outputs(self, call: Call, scope: Scope) -> tuple[Sequence[Known], tuple[Body, ...], bool]:
        """The outputs, what ran inside the node, and whether there is a rule for it at all."""
        node = call.node
        function = self._functions.get((node.domain, node.op, node.overload))
        if function is not None:
            return *self._function(function, call), True
        if node.op in CONTROL and not node.domain:
            return *self._control(call, scope), True
        operator = find(node.domain, node.op)
        return (apply(operator, call) if operator else missing(call)), (), operator is not None

    def _control(self, call: Call, scope: Scope) -> tuple[Sequence[Known], tuple[Body, ...]]:
        try:
            return CONTROL[call.node.op](self, call, scope)
        except SLIPS as slip:
            raise unfit(call, slip) from None

    def _function(self, function: Function, call: Call) -> tuple[list[Known], tuple[Body, ...]]:
        """A call of a model-local function: resolved once for each set of inputs, however often it is called."""
        key = call_key(function, call)
        if function.key in self._inside:
            raise Contradiction(f"the function {function.name} calls itself")
        if key not in self._results:
            self._inside.add(function.key)
            scope = Scope(function.opsets)
            scope.values.update((name, known) for name, known in zip(function.inputs, call.inputs) if known)
            scope.declared = {value.name: value.type for value in function.values if value.type}
            steps = self.nodes(bound_nodes(function, call.node), scope)
            self._results[key] = call, steps, [self.look(scope, name) for name in function.outputs]
            self._inside.remove(function.key)
        _, steps, outputs = self._results[key]
        return outputs, (Body(function.name, steps),)

    def _named(self, node: Node, outputs: Sequence[Known], scope: Scope, gap: str, claims: bool) -> list[Known]:
        """One known for each output the node has, put into the scope under its name."""
        result = []
        for at, name in enumerate(node.outputs):
            known = outputs[at] if at < len(outputs) else nothing(gap or f"{node.op} has no output {at}")
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
        if known.value is None or known.value.nbytes <= _FEW:
            return known
        self._held += known.value.nbytes
        return known if self._held <= self.limits.held else Known(known.dtype, known.shape)

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
            self.misdeclared[f"the file declares {name} as {says}, its nodes give {has}"] = None
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
            self.contradictions[f"'{name}' is read, but nothing makes it"] = None
            return nothing(f"'{name}' is read, but nothing makes it")
        return known

    def untouched(self, node: Node, at: int, why: str) -> Step:
        """A node that is not resolved, with all that is inside it."""
        outputs = tuple(nothing(why) for _ in node.outputs)
        bodies = tuple(Body(name, self.untaken(graph, why), 0) for name, graph in node.graphs())
        return Step(node, at, (None,) * len(node.inputs), outputs, why, bodies)

    def untaken(self, graph: Graph, why: str) -> tuple[Step, ...]:
        return tuple(self.untouched(node, at, why) for at, node in enumerate(graph.nodes))


def _differ(dim: Dim, said: int | str | None) -> bool:
    return type(dim) is int and type(said) is int and dim != said
