"""Shape inference of a whole model: at the sizes of a binding, with dynamic dimensions left unbound, or skipped."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from onnx_autodoc.ir import Model, Type, Value, deeply
from onnx_autodoc.ops import MAX_DIMS, Dim, Unknown, ValueInfo, unknown_value
from onnx_autodoc.shapes.binding import Binding
from onnx_autodoc.shapes.call_cache import CallCache
from onnx_autodoc.shapes.dynamic_axes import is_fixed, required_inputs, role_of
from onnx_autodoc.shapes.results import Conflict, Shapes, skip_steps
from onnx_autodoc.shapes.scope import Scope
from onnx_autodoc.shapes.walk import Walk
from onnx_autodoc.text import quote_name, repr_name

_CONTAINER_REASONS: Final = {
    "sequence": "a sequence of tensors has no shape",
    "optional": "an optional value has no shape",
    "map": "a map has no shape",
}
_FIRST_OPSET: Final = {"": 1}  # for files older than opset imports


def infer_shapes(model: Model, binding: Binding, calls: CallCache | None = None) -> Shapes:
    """Infer the types, dims and small values of every node's inputs and outputs.

    `calls` are the cached calls of the same model at other sizes.
    """
    calls = CallCache() if calls is None else calls
    walk = Walk(model, binding.sizes, calls)
    scope = Scope(model.opsets or _FIRST_OPSET)
    requested = _sizes_by_input(binding)
    inputs = {value.name: calls.share(_input_info(value, binding, requested)) for value in required_inputs(model)}
    with np.errstate(all="ignore"):
        steps, _ = deeply(walk.graph(model.graph, scope, inputs))
    return Shapes(
        steps,
        scope.values,
        tuple(walk.contradictions),
        tuple(walk.misdeclared),
        tuple(walk.assumed),
        walk.limits.rules - walk.left,
        tuple(walk.avoided),
        calls,
    )


def _sizes_by_input(binding: Binding) -> Mapping[str, dict[int, int]]:
    sizes: dict[str, dict[int, int]] = {}
    for (name, axis), size in binding.axes.items():
        sizes.setdefault(name, {})[axis] = size
    return sizes


def _input_info(value: Value, binding: Binding, requested: Mapping[str, dict[int, int]]) -> ValueInfo:
    declared = value.type
    if declared is None:
        return unknown_value(f"the input {repr_name(value.name)} declares no type")
    if declared.kind in _CONTAINER_REASONS:
        return _container_input(declared)
    if len(declared.dims or ()) > MAX_DIMS:
        return unknown_value(f"the input {repr_name(value.name)} has a rank above {MAX_DIMS:,}")
    if declared.kind != "tensor" or declared.dims is None:
        why = f"the input {repr_name(value.name)} declares no shape"
        return ValueInfo(declared.dtype, _requested_dims(requested.get(value.name, {})), why=why)
    dims = tuple(_input_dim(value, axis, dim, binding) for axis, dim in enumerate(declared.dims))
    return ValueInfo(declared.dtype, dims, binding.values.get(value.name))


def _container_input(declared: Type) -> ValueInfo:
    element = declared.element
    inner = None if element is None or element.kind not in _CONTAINER_REASONS else _container_input(element)
    return ValueInfo(declared.dtype, why=_CONTAINER_REASONS[declared.kind], kind=declared.kind, element=inner)


def _requested_dims(sizes: Mapping[int, int]) -> tuple[Dim, ...] | None:
    """Return the dims of an input that declares none, if --dim INPUT.AXIS=N sets all of them."""
    return tuple(sizes[axis] for axis in range(len(sizes))) if sizes and max(sizes) + 1 == len(sizes) else None


def _input_dim(value: Value, axis: int, dim: int | str | None, binding: Binding) -> Dim:
    size = binding.axes.get((value.name, axis))
    if size is not None:
        return size
    if isinstance(dim, int) and (dim or is_fixed(dim, role_of(value, axis))):
        return dim
    name, option = repr_name(value.name), f"--dim {quote_name(value.name)}.{axis}=N"
    return Unknown(f"dimension {axis} of the input {name} is dynamic; set it with {option}")


def infer_unbound(model: Model, binding: Binding, shapes: Shapes) -> Shapes:
    """Infer again with dynamic dimensions unbound, if there are conflicts that a bound size or value may have caused.

    Most sizes of a card are assumed. Only a conflict that remains without them is a fault of the file.
    """
    if not (shapes.contradictions or shapes.misdeclared) or not (binding.axes or binding.values):
        return shapes
    empty = {axis: 0 for axis, size in binding.axes.items() if size == 0}  # confirmed by the file, or requested
    return infer_shapes(model, Binding(axes=empty), shapes.calls)


def exclude_subjects(conflicts: tuple[Conflict, ...], others: tuple[Conflict, ...]) -> tuple[Conflict, ...]:
    """Leave out conflicts about a node or value that `others` name too; reasons may mention other sizes."""
    subjects = {(conflict.code, conflict.subject) for conflict in others}
    return tuple(conflict for conflict in conflicts if (conflict.code, conflict.subject) not in subjects)


def skip_inference(model: Model, why: str) -> tuple[Binding, Shapes]:
    """Return what the file declares, with the reason `why` in place of each shape."""
    steps = skip_steps(model.graph.nodes, why)
    inputs = {value.name: unknown_value(why) for value in required_inputs(model) if value.name}
    values = inputs | {name: unknown_value(why) for node in model.graph.nodes for name in node.outputs if name}
    values |= {tensor.name: ValueInfo(tensor.dtype, tensor.dims) for tensor in model.graph.initializers}
    return Binding(), Shapes(steps, values)
