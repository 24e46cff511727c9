"""Values that the file holds or that follow from a shape alone: Constant, Shape, Size, Range, ConstantOfShape."""

import math

import numpy as np

from onnx_autodoc.ir import Tensor, dtype_name, dtype_spelled
from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import each_input, free, view
from onnx_autodoc.ops._elements import MAX_ELEMENTS, elements
from onnx_autodoc.ops._known import Array, Contradiction, Dim, Known, NotKnown, Shape, Unknown, nothing, tensor
from onnx_autodoc.ops._operator import Operator, constants, unchanged
from onnx_autodoc.ops._prices import made
from onnx_autodoc.ops._ranks import ranked
from onnx_autodoc.text import told

_LONGEST = 60  # characters of a name in a reason


def known_tensor(held: Tensor) -> Known:
    """What is known of a tensor in the file. Of one that contradicts itself no element is believed."""
    if not held.flaws:
        return Known(held.dtype, held.dims, elements(held), held=True)
    why = f"the tensor {told(held.name, _LONGEST)} contradicts itself: {held.flaws[0]}"
    return nothing(why) if min(held.dims, default=0) < 0 else Known(held.dtype, held.dims, why=why)


def dims_array(dims: "list[Dim] | Shape") -> Array:
    """Sizes as an int64 array; with `Unknown` among them, or a size no int64 holds, an array of objects."""
    if all(type(dim) is int and dim < 1 << 63 for dim in dims):
        return np.array(dims, np.int64)
    array = np.empty(len(dims), object)
    array[:] = dims
    return array


# attribute of Constant -> element type
_SCALARS = {"value_float": "float32", "value_int": "int64", "value_string": "string"}
_LISTS = {"value_floats": "float32", "value_ints": "int64", "value_strings": "string"}


def _constant(call: Call) -> list[Known]:
    for name in ("value", "sparse_value"):
        held = call.attr_tensor(name)
        if held is not None:
            return [known_tensor(held)]
    for name, dtype in _SCALARS.items():
        if name in call.node.attributes:
            return [_literal(call, name, dtype, ())]
    for name, dtype in _LISTS.items():
        if name in call.node.attributes:
            return [_literal(call, name, dtype, (call.attr_count(name),))]
    raise NotKnown("a Constant without a value")


def _literal(call: Call, name: str, dtype: str, shape: Shape) -> Known:
    held = call.attribute(name)
    kind = tuple if shape else int | float
    plain = isinstance(held, kind) and dtype != "string" and call.attr_count(name) <= MAX_ELEMENTS
    return Known(dtype, shape, np.array(held, dtype) if plain else None)


def _shape(call: Call) -> list[Known]:
    dims = call.shape(0)
    start, end = call.attr_int("start", 0), call.attribute("end")
    part = dims[start : call.attr_int("end", 0) if end is not None else None]
    return [Known("int64", (len(part),), dims_array(part))]


def _size(call: Call) -> list[Known]:
    return [Known("int64", (), dims_array([size(call.shape(0))]).reshape(()))]


def _constant_of_shape(call: Call) -> list[Known]:
    held = call.attr_tensor("value")
    if held is not None and held.elements != 1:
        raise Contradiction(f"ConstantOfShape fills with {held.elements:,} numbers, not 1")
    dtype = held.dtype if held else "float32"
    return [tensor(dtype, tuple(call.ints(0)))]


def _fill(call: Call, arrays: list[Array]) -> list[Array]:
    held = call.attr_tensor("value")
    filling = elements(held) if held else np.zeros(1, np.float32)
    if filling is None:
        raise NotKnown("the filling value is not in the file")
    return [np.full(tuple(arrays[0].tolist()), filling.reshape(-1)[0])]


def _constant_fill(call: Call) -> list[Known]:
    """ConstantFill, an experimental operator of opset 1."""
    given = call.ints(0) if call.has(0) and call.attr_int("input_as_shape", 0) else None
    shape = given if given is not None else call.attr_ints("shape")
    return [tensor(dtype_name(call.attr_int("dtype", 1)), tuple(shape) if shape is not None else call.shape(0))]


def _range(call: Call) -> list[Known]:
    # max(ceil((limit - start) / delta), 0) elements
    start, limit, delta = (call.one(at) for at in range(3))
    if isinstance(start, Unknown) or isinstance(limit, Unknown) or isinstance(delta, Unknown):
        why = next(item.why for item in (start, limit, delta) if isinstance(item, Unknown))
        return [tensor(call.dtype(0), (Unknown(why),))]
    if delta == 0:
        raise Contradiction("a Range with a step of 0")
    exact = isinstance(start, int) and isinstance(limit, int) and isinstance(delta, int)
    count = -((start - limit) // delta) if exact else math.ceil((limit - start) / delta)
    return [tensor(call.dtype(0), (max(count, 0),))]


def _range_value(call: Call, arrays: list[Array]) -> list[Array]:
    """Counted as the dims are: numpy takes the end from the start in their own type, where 0 - 1 may be 2^64 - 1."""
    (count,) = _range(call)[0].concrete or (0,)
    start, _, delta = (array.reshape(-1)[0] for array in arrays)
    return [start + np.arange(count).astype(start.dtype) * delta]


def _eye_like(call: Call) -> list[Known]:
    number = call.attribute("dtype")
    return [tensor(dtype_name(number) if isinstance(number, int) else call.dtype(0), ranked(call, 0, 2))]


def _identity(call: Call) -> list[Known]:
    return [call.known(0)]


def _non_zero(call: Call) -> list[Known]:
    why = "NonZero: how many elements are not zero depends on the data"
    value = call.value(0)
    rank = max(call.rank(0), 1)
    if value is None or value.dtype == object:
        return [tensor("int64", (rank, Unknown(why)))]
    count = int(np.count_nonzero(value))
    if rank * count > MAX_ELEMENTS:  # places have so many numbers as there are dimensions: more than the elements
        return [tensor("int64", (rank, count))]
    return [Known("int64", (rank, count), np.array(np.nonzero(np.atleast_1d(value)), np.int64))]


def _cast(call: Call) -> list[Known]:
    return [tensor(_target(call), call.shape(0))]


def _target(call: Call) -> str | None:
    to = call.attribute("to")
    return dtype_spelled(to) if isinstance(to, str) else dtype_name(to) if isinstance(to, int) else None


def _cast_like(call: Call) -> list[Known]:
    return [tensor(call.dtype(1), call.shape(0))]


OPERATORS: dict[str, Operator] = {
    "Constant": Operator(_constant, cost=view),
    "ConstantOfShape": Operator(_constant_of_shape, _fill, cost=made),
    "ConstantFill": Operator(_constant_fill, cost=made),
    "Shape": Operator(_shape, cost=view),
    "Size": Operator(_size, cost=view),
    "Range": Operator(_range, _range_value, cost=made, parts=constants(0, 1, 2)),
    "EyeLike": Operator(_eye_like, cost=made),
    "Identity": Operator(_identity, cost=view),
    "NonZero": Operator(_non_zero, cost=each_input(1, "comparison")),
    "Cast": Operator(_cast, unchanged, partial=True, cost=free),
    "CastLike": Operator(_cast_like, unchanged, partial=True, cost=free),
    "BitCast": Operator(_cast, cost=view),
}
