"""A model whose shapes are left alone: all that the file says, with a reason where a shape would be."""

from collections.abc import Sequence

from onnx_autodoc.ir import Deep, Model, Node, deeply
from onnx_autodoc.ops import Known, nothing
from onnx_autodoc.shapes._bind import Binding, inputs_of
from onnx_autodoc.shapes._shapes import Body, Shapes, Step


def unresolved(model: Model, why: str) -> tuple[Binding, Shapes]:
    steps = deeply(untouched(model.graph.nodes, why))
    made = [value.name for value in inputs_of(model)] + [name for node in model.graph.nodes for name in node.outputs]
    values = {name: nothing(why) for name in made if name}
    values |= {tensor.name: Known(tensor.dtype, tensor.dims) for tensor in model.graph.initializers}
    return Binding({}, {}, {}, {}, {}), Shapes(steps, values)


def untouched(nodes: Sequence[Node], why: str) -> Deep[tuple[Step, ...]]:
    """Nodes that are not resolved, with all that is inside them."""
    steps = []
    for at, node in enumerate(nodes):
        bodies = []
        for name, graph in node.graphs():
            inner = yield untouched(graph.nodes, why)
            bodies.append(Body(name, inner, 0))
        outputs = tuple(nothing(why) for _ in node.outputs)
        steps.append(Step(node, at, (None,) * len(node.inputs), outputs, why, tuple(bodies)))
    return tuple(steps)
