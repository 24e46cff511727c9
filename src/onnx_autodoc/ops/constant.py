"""Constants, casts, ranges and random values."""

import math

import numpy as np

from onnx_autodoc.ir import Tensor, dtype_name, parse_dtype
from onnx_autodoc.ops.call import Call, shape_of_rank, size
from onnx_autodoc.ops.cost import Cost, free, generated, per_input_element, per_output_element, view
from onnx_autodoc.ops.input_constraints import ONE, ZERO, numeric_text
from onnx_autodoc.ops.operator import Identity, Operator, Trait, WorkClass, constants, of_class, unchanged, with_traits
from onnx_autodoc.ops.shape_rules import shape_of
from onnx_autodoc.ops.values import (
    MAX_ELEMENTS,
    Array,
    Contradiction,
    InferenceError,
    Shape,
    Unknown,
    ValueInfo,
    elements,
    tensor,
    unknown_value,
)
from onnx_autodoc.text import quote_name

_MAX_NAME_CHARS = 60
_SAME_ELEMENTS = frozenset((Trait.CROSSES_QUANTIZATION, Trait.FORWARDS, Trait.KEEPS_SCALAR, Trait.MOVES, Trait.UNARY))


def tensor_info(stored: Tensor) -> ValueInfo:
    """Return the type, dims and elements of a stored tensor; a defective one has no elements."""
    if not stored.defects:
        return ValueInfo(stored.dtype, stored.dims, elements(stored), is_stored=True)
    why = f"the tensor {quote_name(stored.name, _MAX_NAME_CHARS)} is malformed: {stored.defects[0]}"
    return unknown_value(why) if min(stored.dims, default=0) < 0 else ValueInfo(stored.dtype, stored.dims, why=why)


def _dims_array(dims: Shape) -> Array:
    """Return sizes as int64, or as objects if one is `Unknown` or beyond int64."""
    if all(type(dim) is int and dim < 1 << 63 for dim in dims):
        return np.array(dims, np.int64)
    array = np.empty(len(dims), object)
    array[:] = dims
    return array


# attribute of Constant -> element type; a list ends with an s
_LITERALS = {
    f"value_{name}{plural}": dtype
    for plural in ("", "s")
    for name, dtype in (("float", "float32"), ("int", "int64"), ("string", "string"))
}


def _constant(call: Call) -> list[ValueInfo]:
    for name in ("value", "sparse_value"):
        stored = call.attr_tensor(name)
        if stored is not None:
            return [tensor_info(stored)]
    for name, dtype in _LITERALS.items():
        if name in call.node.attributes:
            literal, count = call.attribute(name), call.attr_count(name)
            shape, kind = ((count,), tuple) if name.endswith("s") else ((), int | float)
            is_small = isinstance(literal, kind) and dtype != "string" and count <= MAX_ELEMENTS
            return [ValueInfo(dtype, shape, np.array(literal, dtype) if is_small else None)]
    raise InferenceError("Constant has no value")


def _shape(call: Call) -> list[ValueInfo]:
    dims = call.shape(0)
    end = None if call.attribute("end") is None else call.attr_int("end", 0)
    part = dims[call.attr_int("start", 0) : end]
    return [ValueInfo("int64", (len(part),), _dims_array(part))]


def _constant_of_shape(call: Call) -> list[ValueInfo]:
    stored = call.attr_tensor("value")
    if stored is not None and stored.elements != 1:
        raise Contradiction(f"ConstantOfShape requires a value of one element, got {stored.elements:,}")
    dtype = stored.dtype if stored else "float32"
    return [tensor(dtype, tuple(call.ints(0)))]


def _fill(call: Call, arrays: list[Array]) -> list[Array]:
    stored = call.attr_tensor("value")
    fill = elements(stored) if stored else np.zeros(1, np.float32)
    if fill is None:
        raise InferenceError("the fill value is not in the file")
    return [np.full(tuple(arrays[0].tolist()), fill.reshape(-1)[0])]


def _constant_fill(call: Call) -> list[ValueInfo]:
    """Infer ConstantFill, an experimental operator of opset 1."""
    from_input = call.has(0) and call.attr_int("input_as_shape", 0)
    shape = call.ints(0) if from_input else call.attr_ints("shape")
    return [tensor(dtype_name(call.attr_int("dtype", 1)), tuple(shape) if shape is not None else call.shape(0))]


def _range(call: Call) -> list[ValueInfo]:
    # max(ceil((limit - start) / delta), 0) elements
    start, limit, delta = (call.one(at) for at in range(3))
    if isinstance(start, Unknown) or isinstance(limit, Unknown) or isinstance(delta, Unknown):
        why = next(bound.why for bound in (start, limit, delta) if isinstance(bound, Unknown))
        return [tensor(call.dtype(0), (Unknown(why),))]
    if delta == 0:
        raise Contradiction("Range has a step of 0")
    exact = isinstance(start, int) and isinstance(limit, int) and isinstance(delta, int)
    count = -((start - limit) // delta) if exact else math.ceil((limit - start) / delta)
    return [tensor(call.dtype(0), (max(count, 0),))]


def _range_value(call: Call, arrays: list[Array]) -> list[Array]:
    """Count as for the dims: numpy subtracts in the type of the inputs, where 0 - 1 may be 2^64 - 1."""
    (count,) = _range(call)[0].concrete or (0,)
    start, _, delta = (array.reshape(-1)[0] for array in arrays)
    return [start + np.arange(count).astype(start.dtype) * delta]


def _eye_like(call: Call) -> list[ValueInfo]:
    number = call.attribute("dtype")
    return [tensor(dtype_name(number) if isinstance(number, int) else call.dtype(0), shape_of_rank(call, 0, 2))]


def _non_zero(call: Call) -> list[ValueInfo]:
    why = "NonZero: the number of nonzero elements is data-dependent"
    value = call.value(0)
    rank = max(call.rank(0), 1)
    if value is None or value.dtype == object:
        return [tensor("int64", (rank, Unknown(why)))]
    count = int(np.count_nonzero(value))
    if rank * count > MAX_ELEMENTS:  # each position has `rank` numbers
        return [tensor("int64", (rank, count))]
    return [ValueInfo("int64", (rank, count), np.array(np.nonzero(np.atleast_1d(value)), np.int64))]


def _cast(call: Call) -> list[ValueInfo]:
    to = call.attribute("to")
    dtype = parse_dtype(to) if isinstance(to, str) else dtype_name(to) if isinstance(to, int) else None
    return [tensor(dtype, call.shape(0))]


_VIEWS: dict[str, Operator] = {
    "Constant": Operator(_constant, cost=view, traits={Trait.CONSTANT, Trait.DROPPED_BY_ORT}),
    "Shape": Operator(_shape, cost=view, traits={Trait.GENERATES, Trait.SHAPE_QUERY}),
    "Size": Operator(
        lambda call: [ValueInfo("int64", (), _dims_array((size(call.shape(0)),)).reshape(()))],
        cost=view,
        traits={Trait.GENERATES, Trait.SHAPE_QUERY},
    ),
    "Identity": Operator(
        lambda call: [call.input_info(0)],
        cost=view,
        traits=_SAME_ELEMENTS | {Trait.DROPPED_BY_ORT, Trait.FREE_TO_FOLD, Trait.SHARES_MEMORY},
        position_shift=0,
        identity=Identity.ALWAYS,
    ),
}
_CASTS: dict[str, Operator] = {
    "Cast": Operator(
        _cast,
        unchanged,
        partial=True,
        cost=free,
        traits=_SAME_ELEMENTS | {Trait.FOLLOWS_SCORES},
        position_shift=0,
        identity=Identity.SAME_TYPE,
        kernel="cast",
        constraints={0: numeric_text},
    ),
    "CastLike": Operator(
        shape_of(0, 1),
        unchanged,
        partial=True,
        cost=free,
        traits={Trait.FORWARDS, Trait.MOVES},
        identity=Identity.SAME_TYPE,
    ),
    "BitCast": Operator(_cast, cost=view),
}
OPERATORS: dict[str, Operator] = {
    **of_class(WorkClass.VIEW, _VIEWS),
    **of_class(WorkClass.POINTWISE, _CASTS),
    "ConstantOfShape": Operator(
        _constant_of_shape,
        _fill,
        cost=generated,
        traits={Trait.FREE_TO_FOLD, Trait.GENERATES},
        size_inputs=(0,),
        kernel="copy",
    ),
    "ConstantFill": Operator(_constant_fill, cost=generated, traits={Trait.EXPERIMENTAL}),
    "Range": Operator(
        _range,
        _range_value,
        cost=generated,
        roles=constants(0, 1, 2),
        traits={Trait.GENERATES},
        size_inputs=(0, 1, 2),
        kernel="copy",
        constraints={0: ZERO},
    ),
    "EyeLike": Operator(_eye_like, cost=generated, traits={Trait.FREE_TO_FOLD, Trait.GENERATES}),
    "NonZero": Operator(
        _non_zero,
        cost=per_input_element(1, "comparison"),
        traits={Trait.DATA_SIZED},
        position_output=0,
        work=WorkClass.LOOKUP,
        kernel="sort",
    ),
}


def _random(call: Call) -> list[ValueInfo]:
    shape = call.attr_ints("shape")
    if shape is None or any(dim < 0 for dim in shape):
        raise Contradiction(f"{call.node.op} requires a non-negative shape, got {shape}")
    return [tensor(dtype_name(call.attr_int("dtype", 1)), shape)]


def _random_like(call: Call) -> list[ValueInfo]:
    dtype = call.dtype(0) if call.attribute("dtype") is None else dtype_name(call.attr_required("dtype"))
    return [tensor(dtype, call.shape(0))]


def _multinomial(call: Call) -> list[ValueInfo]:
    x, samples = call.shape(0), call.attr_int("sample_size", 1)
    if len(x) != 2 or samples < 1:
        raise Contradiction(f"Multinomial requires rank 2 and a positive sample_size, got rank {len(x)} and {samples}")
    return [tensor(dtype_name(call.attr_int("dtype", 6)), (x[0], samples))]


def _drawn(call: Call) -> Cost:
    """1 FLOP per output element: random draw; reads nothing"""
    return Cost(other=size(call.output()), read=0)


def _multinomial_cost(call: Call) -> Cost:
    """2 FLOPs per input element: exp, running sum; 1 per output element: random draw. The class lookup is not
    counted"""
    return Cost(other=2 * size(call.shape(0)) + size(call.output()))


RANDOM: dict[str, Operator] = with_traits(
    {Trait.RANDOM},
    {
        "RandomNormal": Operator(_random, cost=_drawn),
        "RandomUniform": Operator(_random, cost=_drawn),
        "RandomNormalLike": Operator(_random_like, cost=_drawn, constraints={0: ONE}),
        "RandomUniformLike": Operator(_random_like, cost=_drawn),
        "Bernoulli": Operator(_random_like, cost=per_output_element(2, "random draw, comparison")),
        "Multinomial": Operator(_multinomial, cost=_multinomial_cost),
    },
)
