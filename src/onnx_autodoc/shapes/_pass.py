"""One pass over a whole model, with its inputs sized by a binding."""

from typing import Final

import numpy as np

from onnx_autodoc.ir import Model, Type, Value, deeply
from onnx_autodoc.ops import MOST_DIMS, Dim, Known, Unknown, nothing
from onnx_autodoc.shapes._bind import Binding, inputs_of, is_fixed
from onnx_autodoc.shapes._roles import role_of
from onnx_autodoc.shapes._scope import Scope
from onnx_autodoc.shapes._shapes import Shapes
from onnx_autodoc.shapes._walk import Walk
from onnx_autodoc.text import quoted, told

_WRAPPED: Final = {
    "sequence": "a sequence of tensors has no shape of its own",
    "optional": "an optional value has no shape of its own",
    "map": "a map has no shape",
}
_BEFORE_OPSETS: Final = {"": 1}  # files older than the operator sets use the first one


def resolve(model: Model, binding: Binding) -> Shapes:
    """What every node of the model takes and gives."""
    walk = Walk(model, binding.sizes)
    scope = Scope(model.opsets or _BEFORE_OPSETS)
    given = {value.name: _input(value, binding) for value in inputs_of(model)}
    with np.errstate(all="ignore"):
        steps, _ = deeply(walk.graph(model.graph, scope, given))
    return Shapes(
        steps,
        scope.values,
        tuple(walk.contradictions),
        tuple(walk.misdeclared),
        tuple(walk.assumed),
        walk.work.most - walk.left,
        tuple(walk.avoided),
    )


def _input(value: Value, binding: Binding) -> Known:
    declared = value.type
    if declared is None:
        return nothing(f"the input {quoted(value.name)} declares no type")
    if declared.kind in _WRAPPED:
        return _wrapped(declared)
    if len(declared.dims or ()) > MOST_DIMS:
        return nothing(f"the input {quoted(value.name)} has over {MOST_DIMS:,} dimensions")
    if declared.kind != "tensor" or declared.dims is None:
        why = f"the input {quoted(value.name)} declares no shape"
        return Known(declared.dtype, _given_dims(value, binding), why=why)
    dims = tuple(_dim(value, axis, dim, binding) for axis, dim in enumerate(declared.dims))
    return Known(declared.dtype, dims, binding.values.get(value.name))


def _wrapped(declared: Type) -> Known:
    element = declared.element
    held = None if element is None or element.kind not in _WRAPPED else _wrapped(element)
    return Known(declared.dtype, why=_WRAPPED[declared.kind], kind=declared.kind, element=held)


def _given_dims(value: Value, binding: Binding) -> tuple[Dim, ...] | None:
    """The dims of an input that declares none, where the user gave them all with --dim INPUT.AXIS=N."""
    given = {axis: size for (name, axis), size in binding.axes.items() if name == value.name}
    return tuple(given[axis] for axis in range(len(given))) if given and max(given) + 1 == len(given) else None


def _dim(value: Value, axis: int, dim: int | str | None, binding: Binding) -> Dim:
    size = binding.axes.get((value.name, axis))
    if size is not None:
        return size
    if isinstance(dim, int) and (dim or is_fixed(dim, role_of(value, axis))):
        return dim
    name, option = quoted(value.name), f"--dim {told(value.name)}.{axis}=N"
    return Unknown(f"dimension {axis} of the input {name} is open: give it with {option}")
