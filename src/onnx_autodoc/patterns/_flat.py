"""From the resolved steps of a model to one flat net: functions, branches and loop bodies opened."""

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.ir import Deep, Graph, Model, Node, deeply, execution_order, needed_names
from onnx_autodoc.limits import OPTIONS, limits
from onnx_autodoc.ops import Known, kinds
from onnx_autodoc.patterns._canonicalize import spell
from onnx_autodoc.patterns._identity_ops import passed_on
from onnx_autodoc.patterns._net import NO_VALUE, Net, Term
from onnx_autodoc.shapes import Body, Shapes, Step, inputs_of

_USUAL: Final = 100_000  # terms, and
_EACH: Final = 4  # terms more for each node of the file: functions that call functions can ask for any number
_CUT: Final = (
    "the model has more than {:,} operations once its functions are opened; " + OPTIONS["rows"] + " raises the limit"
)
_HANDED_ON: Final = frozenset(("Identity", "Unsqueeze", "Squeeze", "Add", "Cast"))


class _Scope:
    """The values that nodes can see by name, and the constants that are made values when they are first read."""

    __slots__ = ("held", "outer", "values")

    def __init__(self, held: set[str], outer: "_Scope | None" = None) -> None:
        self.values: dict[str, int] = {}
        self.held = held
        self.outer = outer

    def find(self, name: str) -> "tuple[_Scope, int | None]":
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.values:
                return scope, scope.values[name]
            if name in scope.held:
                return scope, None
            scope = scope.outer
        return self, None


def flatten(model: Model, shapes: Shapes, runs: Sequence[bool]) -> Net:
    """The net of a model. `runs` says of each row (each step, in the order of `Shapes.rows`) whether it is counted."""
    flat = _Flat(model, runs)
    scope = _Scope({tensor.name for tensor in model.graph.initializers})
    for value in inputs_of(model):
        flat.net.inputs[value.name] = scope.values[value.name] = flat.net.value(
            value.name, shapes.values.get(value.name), fixed=False
        )
    deeply(flat.graph(shapes.steps, scope, 0))
    for output in model.graph.outputs:
        flat.net.outputs[output.name] = flat.look(scope, output.name, shapes.values.get(output.name))
    flat.net.leaving = set(flat.net.outputs.values())
    if flat.net.leaving:
        _prune(flat.net)
    return flat.net


def _prune(net: Net) -> None:
    """Take away what nothing reads."""
    for term in reversed(list(net)):
        if not any(net.readers[value] or value in net.leaving for value in term.outputs):
            net.drop(term)


class _Flat:
    def __init__(self, model: Model, runs: Sequence[bool]) -> None:
        self.net = Net()
        self._runs = runs
        self._functions = {function.key: function for function in model.functions}
        self._sizes: dict[int, int] = {}  # rows of steps with all inside them, by identity
        self._most = self._left = limits().rows or _USUAL + _EACH * len(runs)
        self._at = self._loops = self._loop = 0
        self.rescaled: set[int] = set()  # made from the scales of a dynamic quantization

    def graph(self, steps: Sequence[Step], scope: _Scope, row: int) -> Deep[None]:
        """Take in the steps of one graph, whose first one has this row."""
        rows = list(self._rows(steps, row))
        for at in execution_order([step.node for step in steps]):
            step = steps[at]
            self._left -= 1
            if step.bodies and step.node.outputs and self._left >= 0:
                yield self._open(step, scope, rows[at])
            elif step.node.outputs:  # else nothing comes of it
                self._step(step, scope, rows[at])

    def _rows(self, steps: Sequence[Step], row: int) -> Iterator[int]:
        for step in steps:
            yield row
            row += 1 + sum(map(self._size, step.bodies))

    def _size(self, body: Body) -> int:
        """How many rows a body takes."""
        waiting = [body.steps]
        while id(body.steps) not in self._sizes:
            steps = waiting[-1]
            inner = [each.steps for step in steps if step.bodies for each in step.bodies]
            unknown = [each for each in inner if id(each) not in self._sizes]
            if not unknown:
                self._sizes[id(steps)] = len(steps) + sum(self._sizes[id(each)] for each in inner)
                waiting.pop()
            waiting.extend(unknown)
        return self._sizes[id(body.steps)]

    def look(self, scope: _Scope, name: str, known: Known | None) -> int:
        if not name:
            return NO_VALUE
        home, value = scope.find(name)
        if value is None:
            value = home.values[name] = self.net.value(name, known, fixed=True)
            self.net.weights[value] = name
        return value

    def _step(self, step: Step, scope: _Scope, row: int) -> None:
        if self._left < 0:
            self.net.cut = _CUT.format(self._most)
        inputs = [self.look(scope, name, known) for name, known in zip(step.node.inputs, step.inputs)]
        outer = [self.look(scope, name, None) for name in self._captured(step.node)]
        self._take(step, scope, row, inputs, all(self.net.fixed[value] for value in (*inputs, *outer)))

    def _captured(self, node: Node) -> list[str]:
        return list(set(needed_names(node)) - set(node.inputs)) if node.nested else []

    def _take(self, step: Step, scope: _Scope, row: int, inputs: list[int], fixed: bool) -> None:
        """One node: passed over, kept beside the net, or put on it."""
        node = step.node
        drawn = node.op in kinds.DRAWN and not node.domain
        if (fixed and not drawn) or node.op in kinds.OF_SIZES:
            self._beside(step, scope, inputs)
            return
        passed = passed_on(self.net, step, inputs, self.rescaled)
        outputs = [self.net.value(name, known, fixed=False) for name, known in zip(node.outputs, step.outputs)]
        if passed is not None:
            self.net.aside[row] = inputs[passed]
            outputs[0] = inputs[passed]
            if node.op == kinds.DYNAMIC_SCALE:
                self._rescaling(outputs[1:])
        scope.values.update((name, value) for name, value in zip(node.outputs, outputs) if name)
        if passed is None:
            self._put(step, inputs, outputs, row)

    def _rescaling(self, values: list[int]) -> None:
        """Scales of a quantization are a way around the product, not data."""
        for value in values:
            self.net.fixed[value] = True
            self.rescaled.add(value)

    def _beside(self, step: Step, scope: _Scope, inputs: list[int]) -> None:
        node = step.node
        outputs = [self.net.value(name, known, fixed=True) for name, known in zip(node.outputs, step.outputs)]
        term = Term(node.op, inputs, outputs, -1, ())
        term.node, term.version = node, step.version
        for value in outputs:
            self.net.makers[value] = term
        if not self.rescaled.isdisjoint(inputs):
            self.rescaled.update(outputs)
        scope.values.update((name, value) for name, value in zip(node.outputs, outputs) if name)

    def _put(self, step: Step, inputs: list[int], outputs: list[int], row: int) -> None:
        for draft in spell(self.net, step, inputs, outputs):
            self._at += 1
            term = Term(draft.op, draft.inputs, draft.outputs, self._at, (row,) if draft.main else ())
            term.node, term.version, term.loop = step.node, step.version, self._loop
            term.facts, term.row = draft.facts, row
            self.net.add(term)

    def _join(self, op: str, inputs: list[int], name: str, known: Known | None, fixed: bool = False) -> int:
        """A value on the way into or out of a body."""
        self._at += 1
        made = self.net.value(name, known, fixed)
        if not fixed:
            self.net.add(Term(op, inputs, [made], self._at, ()))
            self.net.terms[self._at].loop = self._loop
        return made

    # -- nodes that run other graphs

    def _open(self, step: Step, scope: _Scope, row: int) -> Deep[None]:
        node = step.node
        starts = list(self._starts(step, row + 1))
        if (node.domain, node.op, node.overload) in self._functions:
            yield from self._call(step, scope, starts[0])
        elif node.op == kinds.BRANCH:
            yield from self._branch(step, scope, starts)
        else:
            yield from self._repeat(step, scope, starts[0])

    def _starts(self, step: Step, row: int) -> Iterator[int]:
        for body in step.bodies:
            yield row
            row += self._size(body)

    def _call(self, step: Step, scope: _Scope, row: int) -> Deep[None]:
        node = step.node
        function = self._functions[node.domain, node.op, node.overload]
        inner = _Scope(set())
        for name, given, known in zip(function.inputs, node.inputs, step.inputs):
            inner.values[name] = self.look(scope, given, known)
        yield from self.graph(step.bodies[0].steps, inner, row)
        for name, made, known in zip(node.outputs, function.outputs, step.outputs):
            scope.values[name] = self.look(inner, made, known)

    def _branch(self, step: Step, scope: _Scope, starts: list[int]) -> Deep[None]:
        """The branch that runs; where the data decide, the one that is counted."""
        pairs = list(zip(step.bodies, starts))
        able = [(body, row) for body, row in pairs if body.times != 0] or pairs
        counted = [(body, row) for body, row in able if body.steps and self._runs[row]]
        body, row = (counted or able)[0]
        graph = step.node.attributes.get(body.name)
        if isinstance(graph, Graph):
            inner = _Scope({tensor.name for tensor in graph.initializers}, scope)
            yield from self.graph(body.steps, inner, row)
            for name, made, known in zip(step.node.outputs, graph.outputs, step.outputs):
                scope.values[name] = self.look(inner, made.name, known)

    def _repeat(self, step: Step, scope: _Scope, row: int) -> Deep[None]:
        """A loop's body, once: what it hands to its next pass enters as `carry`, what it gathers leaves as `stack`."""
        body, node = step.bodies[0], step.node
        graph = node.attributes.get(body.name)
        if not isinstance(graph, Graph):
            return
        around, self._loops = self._loop, self._loops + 1
        self._loop = self._loops
        inner = _Scope({tensor.name for tensor in graph.initializers}, scope)
        given = [self.look(scope, name, known) for name, known in zip(node.inputs, step.inputs)]
        ahead = 2 if node.op == kinds.LOOP else 0
        handed = _handed_on(graph, ahead)
        for at, value in enumerate(graph.inputs):
            inner.values[value.name] = self._entering(at, ahead, value.name, given, handed)
        yield from self.graph(body.steps, inner, row)
        self._loop = around
        made = [self.look(inner, value.name, None) for value in graph.outputs][1 if ahead else 0 :]
        carried = len(given) - ahead if ahead else len(graph.outputs) - _scanned_out(node, graph)
        for at, (name, known) in enumerate(zip(node.outputs, step.outputs)):
            out = made[at] if at < len(made) else NO_VALUE
            scope.values[name] = out if at < carried else self._join("stack", [out], name, known, self.net.fixed[out])

    def _entering(self, at: int, ahead: int, name: str, given: list[int], handed: set[str]) -> int:
        if at < ahead or at >= len(given):
            return self.net.value(name, None, fixed=True)  # the number of the pass, and whether there is one
        start = given[at]
        if name in handed:
            return start
        value = self._join("carry", [start], name, self.net.knowns[start])
        self.net.carried[value] = start
        return value


def _handed_on(graph: Graph, ahead: int) -> set[str]:
    """The inputs of a loop's body that it hands to its next pass as they were."""
    makers = {name: node for node in graph.nodes for name in node.outputs}
    pairs = zip(graph.inputs[ahead:], graph.outputs[1:] if ahead else graph.outputs)
    return {given.name for given, made in pairs if _origin(makers, made.name) == given.name}


def _origin(makers: dict[str, Node], name: str) -> str:
    for _ in range(4):
        node = makers.get(name)
        if node is None or node.op not in _HANDED_ON or not node.inputs:
            break
        name = node.inputs[0]
    return name


def _scanned_out(node: Node, graph: Graph) -> int:
    scanned = node.attributes.get("num_scan_inputs")
    states = len(graph.inputs) - scanned if isinstance(scanned, int) else 0
    return len(graph.outputs) - states
