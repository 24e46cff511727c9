"""A declared size of 0: some exporters write an open size so, and a file may mean it.

It is meant where the file bears it out: taken at its word every node runs, and every output is declared as it then
comes out. Runtimes take it at its word always; where the file does not run so, an open size is the kinder reading.
"""

from onnx_autodoc.ir import Model, Value
from onnx_autodoc.ops import Known
from onnx_autodoc.shapes._bind import Binding, Open, open_axes
from onnx_autodoc.shapes._shapes import Shapes


def empty_keys(model: Model, binding: Binding) -> list[str]:
    """The dimensions that are declared as 0; none where the user gave one of them a size."""
    keys = [item.key for item in open_axes(model) if _is_empty(item)]
    return keys if all(key in binding.defaults or key not in binding.chosen for key in keys) else []


def _is_empty(item: Open) -> bool:
    dims = (item.value.type.dims if item.value.type else None) or ()
    return dims[item.axis] == 0


def bears_out(model: Model, shapes: Shapes) -> bool:
    if shapes.contradictions or shapes.misdeclared:
        return False
    return all(_agrees(value, shapes.values.get(value.name)) for value in model.graph.outputs)


def _agrees(value: Value, known: Known | None) -> bool:
    """Whether an output that comes out empty is declared to be."""
    said = value.type.dims if value.type else None
    if known is None or known.shape is None or said is None:
        return False
    return 0 in said or not any(type(dim) is int and dim == 0 for dim in known.shape)
