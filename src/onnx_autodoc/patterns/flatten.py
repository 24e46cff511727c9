"""Construction of the canonical net: functions, branches and loop bodies inlined, identity operations removed."""

from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from onnx_autodoc.ir import Deep, Graph, Model, Node, deeply, topological_order
from onnx_autodoc.limits import OPTIONS, current_limits
from onnx_autodoc.ops import Identity, Operator, Trait, ValueInfo, has_trait, operator_of
from onnx_autodoc.patterns.canonicalize import canonicalize
from onnx_autodoc.patterns.net import NO_VALUE, Net, Op, operator_kind
from onnx_autodoc.shapes import Body, Shapes, Step, required_inputs

_IDENTITIES_AT_SAME_SIZE: Final = (
    *(Identity.WHOLE, Identity.ONE_INPUT, Identity.REPEATED_ONCE, Identity.SAME_SHAPE),
    *(Identity.MATRIX, Identity.NO_PADDING),
)
_MIN_OVERFLOW_BOUND: Final = 6e4  # bounds that only keep fp16 from overflowing


def forwarded_input(net: Net, step: Step, inputs: list[int], dynamic_scales: set[int]) -> int | None:
    """Return the index of the input that a step forwards unchanged, if it does."""
    operator = operator_of(step.node)
    if not inputs:
        return None
    if Trait.FORWARDS in operator.traits:
        return 0
    if operator.identity in _IDENTITIES_AT_SAME_SIZE:
        is_join = operator.identity is Identity.ONE_INPUT and len(inputs) > 1
        return 0 if not is_join and _keeps_size(net.shape(inputs[0]), step) else None
    if operator.identity is Identity.SAME_ORDER:
        return 0 if _keeps_order(step) else None
    if step.node.is_op("Where"):  # Where(IsNaN(x), 0, x): for rows whose scores are all masked
        condition = net.producer(inputs[0], "IsNaN") if len(inputs) == 3 else None
        return next((index for index in (1, 2) if condition is not None and inputs[index] in condition.inputs), None)
    if step.node.is_op("Clip"):
        bounds = [net.scalar(value) for value in inputs[1:] if value]
        bounds += [item for key in ("min", "max") if isinstance(item := step.node.attributes.get(key), float)]
        guards_overflow = all(bound is not None and abs(bound) >= _MIN_OVERFLOW_BOUND for bound in bounds)
        return 0 if bounds and guards_overflow else None
    return _neutral_operand(net, operator, inputs, dynamic_scales)


def _keeps_size(before: tuple[int, ...] | None, step: Step) -> bool:
    """Whether the result has the shape of the first input, except for axes of 1."""
    after = step.outputs[0].concrete if step.outputs else None
    if before is None or after is None:
        return False
    return [dim for dim in before if dim != 1] == [dim for dim in after if dim != 1]


def _keeps_order(step: Step) -> bool:
    """Whether a Transpose moves axes of 1 only, as of pooled features [batch, 1, 1, channels]."""
    info, permutation = step.inputs[0], step.node.attributes.get("perm")
    shape = info.concrete if info is not None else None
    axes = [axis for axis in permutation if isinstance(axis, int)] if isinstance(permutation, tuple) else []
    if shape is None or sorted(axes) != list(range(len(shape))):
        return False
    moved = [axis for axis in axes if shape[axis] != 1]
    return moved == sorted(moved) and len([axis for axis in moved if axis]) < 2


def _neutral_operand(net: Net, operator: Operator, inputs: list[int], dynamic_scales: set[int]) -> int | None:
    """Return the operand that is combined with a neutral element, or with a scale of dynamic quantization."""
    neutral = operator.neutral
    if neutral is None or len(inputs) < 2:
        return None
    for constant in neutral.inputs:
        if net.constant[inputs[1 - constant]] or not net.constant[inputs[constant]]:
            continue
        is_scale = inputs[constant] in dynamic_scales and neutral.value == 1 and len(neutral.inputs) == 2
        if net.scalar(inputs[constant]) == neutral.value or is_scale:
            return 1 - constant
    return None


_DEFAULT_MAX_OPS: Final = 100_000
_MAX_OPS_PER_ROW: Final = 4  # functions that call functions can require any number
_TRUNCATION: Final = (
    "the model has more than {:,} operations after inlining functions; " + OPTIONS["rows"] + " raises the limit"
)
_MAX_INVARIANT_STEPS: Final = 4


class _Scope:
    """Values that nodes of a graph can read by name; constants become values when they are first read."""

    __slots__ = ("initializers", "outer", "values")

    def __init__(self, initializers: set[str], outer: "_Scope | None" = None) -> None:
        self.values: dict[str, int] = {}
        self.initializers = initializers
        self.outer = outer

    def find(self, name: str) -> "tuple[_Scope, int | None]":
        """Return the scope that defines `name`, and its value there if it has one."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope, scope.values[name]
            if name in scope.initializers:
                return scope, None
            scope = scope.outer
        return self, None


def flatten(model: Model, shapes: Shapes, is_counted: Sequence[bool]) -> Net:
    """Return the net of a model. `is_counted`: by row of `Shapes.rows`, whether its cost is counted."""
    builder = _NetBuilder(model, is_counted)
    net = builder.net
    scope = _Scope({tensor.name for tensor in model.graph.initializers})
    for value in required_inputs(model):
        scope.values[value.name] = net.add_value(value.name, shapes.values.get(value.name), constant=False)
        net.inputs[value.name] = scope.values[value.name]
    deeply(builder.add_graph(shapes.steps, scope, 0))
    for output in model.graph.outputs:
        net.outputs[output.name] = builder.look_up(scope, output.name, shapes.values.get(output.name))
    net.output_values = set(net.outputs.values())
    for op in reversed(list(net)) if net.output_values else ():  # dead code
        if not any(net.consumers[value] or value in net.output_values for value in op.outputs):
            net.remove(op)
    return net


class _NetBuilder:
    def __init__(self, model: Model, is_counted: Sequence[bool]) -> None:
        self.net = Net()
        self._is_counted = is_counted
        self._functions = model.functions_by_key
        self._row_counts: dict[int, int] = {}  # rows of steps with their bodies, by identity
        self._max_ops = self._ops_left = current_limits().rows or _DEFAULT_MAX_OPS + _MAX_OPS_PER_ROW * len(is_counted)
        self._position = self._loops = self._loop = 0
        self._dynamic_scales: set[int] = set()  # values computed from the scales of a dynamic quantization

    def add_graph(self, steps: Sequence[Step], scope: _Scope, first_row: int) -> Deep[None]:
        rows = list(accumulate((1 + sum(map(self._count_rows, step.bodies)) for step in steps), initial=first_row))
        for index in topological_order([step.node for step in steps]):
            step, row = steps[index], rows[index]
            self._ops_left -= 1
            if not step.node.outputs:
                continue
            if not step.bodies or self._ops_left < 0:
                self._add_step(step, scope, row)
            elif step.node.function_key in self._functions:
                yield self._add_function_call(step, scope, row + 1)
            elif step.node.is_op("If"):
                yield self._add_branch(step, scope, row + 1)
            else:
                yield self._add_loop(step, scope, row + 1)

    def _count_rows(self, body: Body) -> int:
        return deeply(self._count_steps(body.steps))

    def _count_steps(self, steps: Sequence[Step]) -> Deep[int]:
        """Return the number of steps, including those of bodies at any depth."""
        if id(steps) not in self._row_counts:
            total = len(steps)
            for body in [body for step in steps if step.bodies for body in step.bodies]:
                total += yield self._count_steps(body.steps)
            self._row_counts[id(steps)] = total
        return self._row_counts[id(steps)]

    def look_up(self, scope: _Scope, name: str, info: ValueInfo | None) -> int:
        if not name:
            return NO_VALUE
        home, value = scope.find(name)
        if value is None:
            value = home.values[name] = self.net.add_value(name, info, constant=True)
            self.net.weights[value] = name
        return value

    def _add_step(self, step: Step, scope: _Scope, row: int) -> None:
        """Add a node as ops, or drop it: constants stay off the net, identities forward their input."""
        if self._ops_left < 0:
            self.net.truncation = _TRUNCATION.format(self._max_ops)
        node, net = step.node, self.net
        inputs = [self.look_up(scope, name, info) for name, info in zip(node.inputs, step.inputs)]
        captured = sorted(set(node.all_inputs) - set(node.inputs)) if node.has_subgraphs else []
        read = (*inputs, *(self.look_up(scope, name, None) for name in captured))
        is_random = has_trait(node, Trait.RANDOM)
        is_constant = all(net.constant[value] for value in read) and not is_random
        is_constant = is_constant or has_trait(node, Trait.SHAPE_QUERY)
        forwarded = None if is_constant else forwarded_input(net, step, inputs, self._dynamic_scales)
        outputs = [net.add_value(name, info, is_constant) for name, info in zip(node.outputs, step.outputs)]
        if is_constant:
            op = Op(operator_kind(node), inputs, outputs, -1, ())
            op.node, op.version = node, step.version
            net.add_constant(op)
            if not self._dynamic_scales.isdisjoint(inputs):
                self._dynamic_scales.update(outputs)
        elif forwarded is None:
            for op in canonicalize(net, step, row, inputs, outputs):
                self._position += 1
                op.position, op.loop = self._position, self._loop
                net.add(op)
        else:
            net.identity_rows[row] = outputs[0] = inputs[forwarded]
            if node.is_op("DynamicQuantizeLinear"):
                for value in outputs[1:]:  # scales bypass the quantized product: they are no data
                    net.constant[value] = True
                    self._dynamic_scales.add(value)
        scope.values.update((name, value) for name, value in zip(node.outputs, outputs) if name)

    def _add_boundary(self, kind: str, source: int, name: str, info: ValueInfo | None, constant: bool = False) -> int:
        """Add a value on the way into or out of a loop body, with the op that computes it from `source`."""
        self._position += 1
        value = self.net.add_value(name, info, constant)
        if not constant:
            self.net.add(Op(kind, [source], [value], self._position, ())).loop = self._loop
        return value

    # Nodes with bodies

    def _add_function_call(self, step: Step, scope: _Scope, row: int) -> Deep[None]:
        node = step.node
        function = self._functions[node.function_key]
        inner = _Scope(set())
        for parameter, name, info in zip(function.inputs, node.inputs, step.inputs):
            inner.values[parameter] = self.look_up(scope, name, info)
        yield self.add_graph(step.bodies[0].steps, inner, row)
        for name, result, info in zip(node.outputs, function.outputs, step.outputs):
            scope.values[name] = self.look_up(inner, result, info)

    def _add_branch(self, step: Step, scope: _Scope, row: int) -> Deep[None]:
        """Add the branch that runs; if that is data-dependent, the one whose cost is counted."""
        pairs = list(zip(step.bodies, accumulate(map(self._count_rows, step.bodies), initial=row)))
        possible = [(body, row) for body, row in pairs if body.times != 0] or pairs
        counted = [(body, row) for body, row in possible if body.steps and self._is_counted[row]]
        body, row = (counted or possible)[0]
        graph = step.node.attributes.get(body.name)
        if isinstance(graph, Graph):
            inner = _Scope({tensor.name for tensor in graph.initializers}, scope)
            yield self.add_graph(body.steps, inner, row)
            for name, result, info in zip(step.node.outputs, graph.outputs, step.outputs):
                scope.values[name] = self.look_up(inner, result.name, info)

    def _add_loop(self, step: Step, scope: _Scope, row: int) -> Deep[None]:
        """Add one iteration of a Loop or Scan: states enter through `carry`, scan outputs leave through `stack`."""
        body, node, net = step.bodies[0], step.node, self.net
        graph = node.attributes.get(body.name)
        if not isinstance(graph, Graph):
            return
        outer_loop, self._loops = self._loop, self._loops + 1
        self._loop = self._loops
        inner = _Scope({tensor.name for tensor in graph.initializers}, scope)
        inputs = [self.look_up(scope, name, info) for name, info in zip(node.inputs, step.inputs)]
        leading = 2 if node.is_op("Loop") else 0  # trip count and condition
        invariants = _loop_invariants(graph, leading)
        for index, name in enumerate(value.name for value in graph.inputs):
            if index < leading or index >= len(inputs):
                inner.values[name] = net.add_value(name, None, constant=True)  # iteration number and condition
            elif name in invariants:
                inner.values[name] = inputs[index]
            else:
                info = net.value_info[inputs[index]]
                inner.values[name] = self._add_boundary("carry", inputs[index], name, info)
        yield self.add_graph(body.steps, inner, row)
        self._loop = outer_loop
        results = [self.look_up(inner, value.name, None) for value in graph.outputs][1 if leading else 0 :]
        scanned = node.attributes.get("num_scan_inputs", len(graph.inputs))
        states = len(inputs) - leading if leading else len(graph.inputs) - scanned if isinstance(scanned, int) else 0
        for index, (name, output_info) in enumerate(zip(node.outputs, step.outputs)):
            result = results[index] if index < len(results) else NO_VALUE
            if index >= states:
                result = self._add_boundary("stack", result, name, output_info, net.constant[result])
            scope.values[name] = result


def _loop_invariants(graph: Graph, leading: int) -> set[str]:
    """Return the inputs of a loop body that it passes to the next iteration unchanged."""

    def is_passthrough(node: Node) -> bool:
        return node.is_op("Add") or has_trait(node, Trait.FORWARDS)

    pairs = zip(graph.inputs[leading:], graph.outputs[leading // 2 :])
    trace = graph.index.trace_back
    return {start.name for start, end in pairs if trace(end.name, is_passthrough, _MAX_INVARIANT_STEPS) == start.name}
