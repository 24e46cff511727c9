"""Memory of one graph while it runs: aliases of inputs, values that a node allocates, and when each is freed.

A function uses the values of its caller and is analysed as if inlined; a branch or a loop body has its own values and
captures those of outer graphs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from onnx_autodoc.ir import Deep, Function, Graph, Model, Node, deeply, topological_order
from onnx_autodoc.ops import Trait, ValueInfo, has_trait
from onnx_autodoc.shapes import Body, Shapes, Step, required_inputs

Views = tuple[int | None, ...]  # for each output: which input it shares memory with
_FIRST: Views = (0,)
Key = tuple[int, frozenset[str]]  # the steps of a body, and which of the values that it is handed are weights
_OUTER_PREFIX = "\0"  # before the name of a value that is not of this graph: no name has that


class AliasAnalysis:
    """A function that only reshapes is a view, as the operators in it are: it is what it would be if written out."""

    def __init__(self, model: Model) -> None:
        self._functions = model.functions_by_key
        self._known: dict[tuple[str, str, str], Views] = {}

    def called(self, node: Node) -> Function | None:
        return self._functions.get(node.function_key) if self._functions else None

    def views(self, node: Node) -> Views:
        function = self.called(node)
        if function is not None:
            return deeply(self._through(function))
        return _FIRST if has_trait(node, Trait.SHARES_MEMORY) else ()

    def _through(self, function: Function) -> Deep[Views]:
        if function.key not in self._known:
            self._known[function.key] = ()  # one that calls itself has no end to look at
            roots = {name: at for at, name in enumerate(function.inputs)}
            for at in function.body.index.order:
                node = function.nodes[at]
                inner = self.called(node)
                views = self.views(node) if inner is None else (yield self._through(inner))
                for name, which in zip(node.outputs, views):
                    if which is not None and which < len(node.inputs) and node.inputs[which] in roots:
                        roots.setdefault(name, roots[node.inputs[which]])
            self._known[function.key] = tuple(roots.get(name) for name in function.outputs)
        return self._known[function.key]


def main_liveness(model: Model, shapes: Shapes) -> "Liveness":
    held = {tensor.name for tensor in model.graph.initializers}
    inputs = {value.name: shapes.values[value.name] for value in required_inputs(model) if value.name in shapes.values}
    return Liveness(shapes.steps, inputs, [value.name for value in model.graph.outputs], held, AliasAnalysis(model))


class Liveness:
    """Names that share memory go by the name of the first of them. `given` take memory elsewhere."""

    def __init__(
        self,
        steps: Sequence[Step],
        inputs: Mapping[str, ValueInfo],
        outputs: Iterable[str],
        held: set[str],
        sharing: AliasAnalysis,
        around: "Liveness | None" = None,
        given: Iterable[str] = (),
        fixed: frozenset[str] = frozenset(),
    ) -> None:
        self.steps = [steps[at] for at in topological_order([step.node for step in steps])]
        self.inputs = inputs
        self.first: dict[str, str] = {name: name for name in (*inputs, *given)}
        self._held, self._handed, self._fixed = held, frozenset(outputs), fixed
        self._sharing, self._around = sharing, around
        for step in self.steps:
            self._name(step)
        last = {self.first[name]: at for at, step in enumerate(self.steps) for name in self._read(step)}
        last |= {self.first[name]: len(steps) for name in self._handed if name in self.first}
        self.freed: dict[int, list[str]] = {}
        for name, at in last.items():
            self.freed.setdefault(at, []).append(name)
        self.read = last.keys()

    def _name(self, step: Step) -> None:
        node = step.node
        needed = list(filter(None, node.all_inputs))
        names = dict.fromkeys(filter(None, node.outputs))
        if (node.is_op("Constant")) or (needed and all(map(self._is_held, needed))):
            kept = names.keys() & self._handed if not node.is_op("Constant") else set[str]()
            self._held.update(names.keys() - kept)
            names = {name: None for name in names if name in kept}
        sources = {name: node.inputs[at] for name, at in zip(node.outputs, self._views(step)) if at is not None}
        for name in names:
            self.first.setdefault(name, self._root(sources.get(name, "")) or name)

    def _views(self, step: Step) -> Iterator[int | None]:
        count = len(step.node.inputs)
        return (at if at is not None and at < count else None for at in self._sharing.views(step.node))

    def _root(self, name: str) -> str:
        """The value whose memory another one has; empty where it is a weight's, or nobody's."""
        room, outside = self, ""
        while name not in room.first:
            if name in room._held or room._around is None:
                return ""
            room, outside = room._around, _OUTER_PREFIX
        return outside + room.first[name]

    def _is_held(self, name: str) -> bool:
        room = self
        while name not in room._held and name not in room.first and room._around is not None:
            room = room._around
        return name in room._held

    def gone(self, at: int, made: Iterable[str]) -> list[str]:
        """What nobody reads any more after this node."""
        return [*self.freed.get(at, ()), *(name for name in made if name not in self.read)]

    def _read(self, step: Step) -> Iterator[str]:
        return (name for name in step.node.all_inputs if name in self.first)

    def made(self, step: Step) -> Iterator[tuple[str, ValueInfo]]:
        """The outputs of a node that take memory of their own."""
        pairs = zip(step.node.outputs, step.outputs)
        return ((name, known) for name, known in pairs if name and self.first.get(name) == name)

    def key(self, step: Step, body: Body) -> Key:
        """What the memory of a body hangs on."""
        function = self._function(step, body)
        return id(body.steps), self._fixed if function is None else self._weights(step, function)

    def inside(self, step: Step, body: Body) -> "Liveness":
        function = self._function(step, body)
        if function is not None:
            held = self._weights(step, function)
            given = [name for name in function.inputs if name not in held]
            return Liveness(body.steps, {}, function.outputs, set(held), self._sharing, None, given, held)
        graph = step.node.attributes.get(body.name)
        if not isinstance(graph, Graph):
            return Liveness(body.steps, {}, (), set(), self._sharing)
        outputs, tensors = [each.name for each in graph.outputs], {tensor.name for tensor in graph.initializers}
        return Liveness(body.steps, _handed(graph, body), outputs, tensors, self._sharing, self, fixed=self._fixed)

    def _function(self, step: Step, body: Body) -> Function | None:
        return None if isinstance(step.node.attributes.get(body.name), Graph) else self._sharing.called(step.node)

    def _weights(self, step: Step, function: Function) -> frozenset[str]:
        """The inputs of a function that are weights, or made of weights alone."""
        return frozenset(name for name, own in zip(function.inputs, step.node.inputs) if own and self._is_held(own))


def _handed(graph: Graph, body: Body) -> dict[str, ValueInfo]:
    """What a loop hands to its body, as far as a node there reads it."""
    names = {value.name for value in graph.inputs}
    pairs = ((name, known) for step in body.steps for name, known in zip(step.node.inputs, step.inputs))
    return {name: known for name, known in pairs if name in names and known is not None}
