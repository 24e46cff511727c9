"""Values that depend on the data of a run, and values that are equal in every run at the same sizes.

Shape arithmetic, masks and positions made from sizes, and everything computed from constants is bookkeeping: a runtime
can do it once. Its arithmetic is not counted as the model's, except for matrix products.
"""

from collections.abc import Iterable, Sequence

from onnx_autodoc.ir import Graph, Model, topological_order
from onnx_autodoc.ops import Trait, has_trait
from onnx_autodoc.shapes import Body, Step, required_inputs


class DataFlow:
    """The values of one graph by whether they vary from run to run."""

    __slots__ = ("_default", "_fixed", "_outer", "_sized", "_varying", "bookkeeping")

    def __init__(self, varying: Iterable[str], fixed: Iterable[str], outer: "DataFlow | None", default: bool) -> None:
        self._varying, self._fixed, self._outer = set(varying), set(fixed), outer
        self._default = default  # whether names vary that are defined nowhere: the inputs of a function
        self._sized: set[str] = set()  # fixed values that depend on sizes
        self.bookkeeping: set[int] = set()  # the places of nodes that do not depend on data

    def varies(self, name: str) -> bool:
        flow = self
        while name not in flow._varying and name not in flow._fixed:
            if flow._outer is None:
                return flow._default
            flow = flow._outer
        return name in flow._varying

    def follow(self, steps: Sequence[Step]) -> "DataFlow":
        """Classify the outputs of all steps."""
        nodes = [step.node for step in steps]
        for at in topological_order(nodes):
            node, varies = nodes[at], self._step_varies(steps[at])
            (self._varying if varies else self._fixed).update(filter(None, node.outputs))
            if not varies:
                self.bookkeeping.add(at)
                if has_trait(node, Trait.SHAPE_QUERY) or any(map(self.is_sized, node.inputs)):
                    self._sized.update(node.outputs)
        return self

    def is_sized(self, name: str) -> bool:
        """Return whether a value depends on sizes but not on data."""
        flow: DataFlow | None = self
        while flow is not None and name not in flow._sized:
            flow = flow._outer
        return flow is not None

    def _step_varies(self, step: Step) -> bool:
        if has_trait(step.node, Trait.RANDOM):
            return True
        if has_trait(step.node, Trait.SHAPE_QUERY) and step.inputs and (known := step.inputs[0]) is not None:
            return known.concrete is None
        return self.reads_data(step)

    def reads_data(self, step: Step) -> bool:
        return any(map(self.varies, filter(None, step.node.all_inputs)))

    def enter(self, step: Step, body: Body) -> "DataFlow":
        """Return the flow of a body of a node. Its inputs vary if anything that the node reads varies."""
        varies = self.reads_data(step)
        graph = step.node.attributes.get(body.name)
        if not isinstance(graph, Graph):
            return DataFlow((), (), None, varies).follow(body.steps)  # a function captures nothing
        inputs = [value.name for value in graph.inputs]
        constants = [tensor.name for tensor in graph.initializers]
        fixed = constants if varies else constants + inputs
        return DataFlow(inputs if varies else (), fixed, self, varies).follow(body.steps)


def main_data_flow(model: Model, steps: Sequence[Step]) -> DataFlow:
    inputs = [value.name for value in required_inputs(model)]
    return DataFlow(inputs, (tensor.name for tensor in model.graph.initializers), None, default=True).follow(steps)
