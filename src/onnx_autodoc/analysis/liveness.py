"""Memory of one graph while it runs: aliases of inputs, values that a node allocates, and when each is freed.

A function uses the values of its caller and is analysed as if inlined; a branch or a loop body has its own values and
captures those of outer graphs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from onnx_autodoc.ir import Deep, Function, Graph, Model, Node, deeply, topological_order
from onnx_autodoc.ops import Trait, ValueInfo, has_trait
from onnx_autodoc.shapes import Body, Shapes, Step, required_inputs

Aliases = tuple[int | None, ...]  # for each output: the input with which it shares memory
_FIRST_INPUT: Aliases = (0,)
Key = tuple[int, frozenset[str]]  # the steps of a body, and which of its arguments are constant
_OUTER_PREFIX = "\0"  # before the name of a value of an outer graph: no name starts with it


class AliasAnalysis:
    """Outputs that share memory with an input. A function that only reshapes is a view, as the operators in it are."""

    def __init__(self, model: Model) -> None:
        self._functions = model.functions_by_key
        self._aliases: dict[tuple[str, str, str], Aliases] = {}

    def called_function(self, node: Node) -> Function | None:
        return self._functions.get(node.function_key) if self._functions else None

    def aliases(self, node: Node) -> Aliases:
        function = self.called_function(node)
        if function is not None:
            return deeply(self._function_aliases(function))
        return _FIRST_INPUT if has_trait(node, Trait.SHARES_MEMORY) else ()

    def _function_aliases(self, function: Function) -> Deep[Aliases]:
        if function.key not in self._aliases:
            self._aliases[function.key] = ()  # ends the recursion of a function that calls itself
            roots = {name: at for at, name in enumerate(function.inputs)}
            for at in function.body.index.order:
                node = function.nodes[at]
                inner = self.called_function(node)
                aliases = self.aliases(node) if inner is None else (yield self._function_aliases(inner))
                for name, which in zip(node.outputs, aliases):
                    if which is not None and which < len(node.inputs) and node.inputs[which] in roots:
                        roots.setdefault(name, roots[node.inputs[which]])
            self._aliases[function.key] = tuple(roots.get(name) for name in function.outputs)
        return self._aliases[function.key]


def main_liveness(model: Model, shapes: Shapes) -> "Liveness":
    constants = {tensor.name for tensor in model.graph.initializers}
    inputs = {value.name: shapes.values[value.name] for value in required_inputs(model) if value.name in shapes.values}
    outputs = [value.name for value in model.graph.outputs]
    return Liveness(shapes.steps, inputs, outputs, constants, AliasAnalysis(model))


class Liveness:
    """The values of one graph. Names that share memory are known by the first of them.

    `arguments` are names whose memory the caller owns; `constant_arguments` are those without memory.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        inputs: Mapping[str, ValueInfo],
        outputs: Iterable[str],
        constants: set[str],
        aliases: AliasAnalysis,
        outer: "Liveness | None" = None,
        arguments: Iterable[str] = (),
        constant_arguments: frozenset[str] = frozenset(),
    ) -> None:
        self.steps = [steps[at] for at in topological_order([step.node for step in steps])]
        self.inputs = inputs
        self._roots: dict[str, str] = {name: name for name in (*inputs, *arguments)}
        self._constants, self._outputs, self._constant_arguments = constants, frozenset(outputs), constant_arguments
        self._aliases, self._outer = aliases, outer
        for step in self.steps:
            self._define_outputs(step.node)
        last_use = {
            self._roots[name]: at
            for at, step in enumerate(self.steps)
            for name in step.node.all_inputs
            if name in self._roots
        }
        last_use |= {self._roots[name]: len(steps) for name in self._outputs if name in self._roots}
        self._freed: dict[int, list[str]] = {}
        for name, at in last_use.items():
            self._freed.setdefault(at, []).append(name)
        self._used = last_use.keys()

    def _define_outputs(self, node: Node) -> None:
        inputs = list(filter(None, node.all_inputs))
        names = dict.fromkeys(filter(None, node.outputs))
        if node.is_op("Constant") or (inputs and all(map(self._is_constant, inputs))):
            stored = self._outputs if not node.is_op("Constant") else frozenset[str]()
            self._constants.update(names.keys() - stored)
            names = {name: None for name in names if name in stored}
        pairs = zip(node.outputs, self._aliases.aliases(node))
        sources = {name: node.inputs[at] for name, at in pairs if at is not None and at < len(node.inputs)}
        for name in names:
            self._roots.setdefault(name, self._find_root(sources.get(name, "")) or name)

    def _find_root(self, name: str) -> str:
        """Return the value that owns the memory of another; "" for a constant or an unknown name."""
        graph, prefix = self, ""
        while name not in graph._roots:
            if name in graph._constants or graph._outer is None:
                return ""
            graph, prefix = graph._outer, _OUTER_PREFIX
        return prefix + graph._roots[name]

    def _is_constant(self, name: str) -> bool:
        graph = self
        while name not in graph._constants and name not in graph._roots and graph._outer is not None:
            graph = graph._outer
        return name in graph._constants

    def freed_after(self, at: int, allocated: Iterable[str]) -> list[str]:
        """Return the values that no node after this one reads."""
        return [*self._freed.get(at, ()), *(name for name in allocated if name not in self._used)]

    def allocated(self, step: Step) -> Iterator[tuple[str, ValueInfo]]:
        """Return the outputs of a node that share no memory with another value."""
        pairs = zip(step.node.outputs, step.outputs)
        return ((name, known) for name, known in pairs if name and self._roots.get(name) == name)

    def key(self, step: Step, body: Body) -> Key:
        """Return a key that is equal for bodies with equal memory."""
        function = self._function(step, body)
        constants = self._constant_arguments if function is None else self._find_constant_arguments(step, function)
        return id(body.steps), constants

    def enter(self, step: Step, body: Body) -> "Liveness":
        function = self._function(step, body)
        if function is not None:
            constants = self._find_constant_arguments(step, function)
            arguments = [name for name in function.inputs if name not in constants]
            outputs = function.outputs
            return Liveness(body.steps, {}, outputs, set(constants), self._aliases, None, arguments, constants)
        graph = step.node.attributes.get(body.name)
        if not isinstance(graph, Graph):
            return Liveness(body.steps, {}, (), set(), self._aliases)
        names = {value.name for value in graph.inputs}  # of which a loop allocates those that a node reads
        pairs = ((name, known) for inner in body.steps for name, known in zip(inner.node.inputs, inner.inputs))
        return Liveness(
            body.steps,
            {name: known for name, known in pairs if name in names and known is not None},
            [value.name for value in graph.outputs],
            {tensor.name for tensor in graph.initializers},
            self._aliases,
            self,
            constant_arguments=self._constant_arguments,
        )

    def _function(self, step: Step, body: Body) -> Function | None:
        return (
            None if isinstance(step.node.attributes.get(body.name), Graph) else self._aliases.called_function(step.node)
        )

    def _find_constant_arguments(self, step: Step, function: Function) -> frozenset[str]:
        pairs = zip(function.inputs, step.node.inputs)
        return frozenset(name for name, argument in pairs if argument and self._is_constant(argument))
