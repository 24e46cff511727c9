"""Operators that pick or place elements by index."""

import numpy as np
from msgspec.structs import replace

from onnx_autodoc.ops.call import Call, check_shape, normalize_axis, size
from onnx_autodoc.ops.cost import NO_COST, Cost, free, per_input_element, reads_picked_elements, unknown_arithmetic
from onnx_autodoc.ops.input_constraints import index_into, nd_index, one_hot_index
from onnx_autodoc.ops.operator import Deprecation, Operator, Trait, WorkClass, constants, of_class
from onnx_autodoc.ops.reduction import keeps_dims
from onnx_autodoc.ops.shape_rules import same
from onnx_autodoc.ops.values import (
    Array,
    Contradiction,
    Dim,
    InferenceError,
    Shape,
    Unknown,
    ValueInfo,
    tensor,
    with_shape,
)


def _gather(call: Call) -> list[ValueInfo]:
    # data [.., n, ..] at indices [i...] = [.., i..., ..]
    source, axis = call.shape(0), call.axis(0)
    _check_indices(call, source[axis])
    return [with_shape(call.input_info(0), (*source[:axis], *call.shape(1), *source[axis + 1 :]))]


def _check_indices(call: Call, *sizes: Dim) -> None:
    """Raise if a stored index is out of bounds; with several sizes, each has a column of indices.

    Computed indices are not checked: they depend on assumed sizes.
    """
    known = call.input_info(1)
    if known.value is None or not known.is_stored or known.value.dtype.kind not in "iu":
        return
    for column, count in zip(known.value.reshape(-1, len(sizes)).T if sizes else (), sizes):
        if type(count) is int and column.size and not -count <= column.min() <= column.max() < count:
            wrong = column.min() if column.max() < count else column.max()
            raise Contradiction(f"{call.node.op} has index {wrong}, out of range for size {count}")


def _gather_value(call: Call, arrays: list[Array]) -> list[Array]:
    axis = normalize_axis(call.attr_int("axis", 0), arrays[0].ndim)
    indices = arrays[1]
    if indices.dtype == object:
        raise InferenceError("an index is unknown")
    length = arrays[0].shape[axis]
    if indices.size and not (-length <= indices.min() and indices.max() < length):
        raise Contradiction(f"Gather has index {int(indices.max())}, out of range for size {length}")
    return [np.asarray(np.take(arrays[0], indices, axis))]  # one index of an array of objects returns the bare object


def _gather_nd(call: Call) -> list[ValueInfo]:
    # indices [batch..., i..., k] pick slices data[batch..., k indices] = [batch..., i..., rest of data]
    source, indices = call.shape(0), call.shape(1)
    batch = call.attr_int("batch_dims", 0)
    depth = int(indices[-1]) if indices else 0  # an unknown one raises its reason
    if not indices or batch + depth > len(source):
        raise Contradiction(f"GatherND has indices for rank {batch + depth} and data of rank {len(source)}")
    _check_indices(call, *source[batch : batch + depth])
    return [with_shape(call.input_info(0), (*indices[:-1], *source[batch + depth :]))]


def _check_elements(call: Call) -> None:
    """Check that indices have as many dimensions as the data, and are within the axis."""
    source, indices = call.input_info(0).shape, call.input_info(1).shape
    if source is None or indices is None:
        return
    if len(source) != len(indices):
        raise Contradiction(
            f"{call.node.op} requires data and indices of equal rank, got {len(source)} and {len(indices)}"
        )
    _check_indices(call, source[call.axis(0)])


def _gather_elements(call: Call) -> list[ValueInfo]:
    _check_elements(call)
    return [with_shape(call.input_info(0), call.shape(1))]


def _scatter_elements(call: Call) -> list[ValueInfo]:
    _check_elements(call)
    if (indices := call.input_info(1).shape) is not None:
        check_shape(call, 2, *indices)
    return same(call)


def _scatter_nd(call: Call) -> list[ValueInfo]:
    # indices [i..., k] place updates [i..., rest of data]
    source, indices = call.shape(0), call.input_info(1).shape
    depth = indices[-1] if indices else None
    if indices and type(depth) is int:
        if depth > len(source):
            raise Contradiction(f"ScatterND has indices for rank {depth} and data of rank {len(source)}")
        check_shape(call, 2, *indices[:-1], *source[depth:])
        _check_indices(call, *source[:depth])
    return same(call)


def _scatter_value(call: Call, arrays: list[Array]) -> list[Array]:
    """Return the elements of ScatterND, ScatterElements and Scatter."""
    if call.attr_text("reduction", "none") != "none":
        raise InferenceError("a reduction is not evaluated")
    data, indices, updates = arrays
    if call.node.op == "ScatterND":
        fits = indices.ndim > 0 and updates.shape == indices.shape[:-1] + data.shape[indices.shape[-1] :]
    else:
        fits = indices.ndim == data.ndim and updates.shape == indices.shape
    if not fits:
        raise Contradiction(f"{call.node.op} has updates and indices of different shapes")
    result = data.copy()
    if indices.dtype.kind not in "iuO":
        raise Contradiction("an index is not an integer")
    whole = indices.astype(np.int64)  # raises at an unknown index
    if call.node.op == "ScatterND":
        positions = [*np.moveaxis(whole, -1, 0)]
    else:
        positions = [*np.indices(indices.shape)]  # the indices may cover less than the data, along every axis
        positions[normalize_axis(call.attr_int("axis", 0), data.ndim)] = whole
    result[tuple(positions)] = updates
    return [result]


def _one_hot(call: Call) -> list[ValueInfo]:
    # indices [..] with a new axis of size `depth`
    indices, depth = call.shape(0), call.one(1)
    check_shape(call, 2, 2)
    axis = normalize_axis(call.attr_int("axis", -1), len(indices) + 1)
    dim = depth if isinstance(depth, Unknown) else int(depth)
    return [tensor(call.dtype(2), (*indices[:axis], dim, *indices[axis:]))]


def _compress(call: Call) -> list[ValueInfo]:
    source, mask = call.shape(0), call.value(1)
    why = "Compress: the number of selected elements is data-dependent"
    count: Dim = Unknown(why) if mask is None or mask.dtype == object else int(np.count_nonzero(mask))
    if "axis" not in call.node.attributes:
        return [with_shape(call.input_info(0), (count,))]
    axis = call.axis(0)
    return [with_shape(call.input_info(0), (*source[:axis], count, *source[axis + 1 :]))]


def _unique(call: Call) -> list[ValueInfo]:
    source, count = call.shape(0), Unknown("Unique: the number of distinct elements is data-dependent")
    shape: Shape = (count,)
    inverse = size(source)
    if "axis" in call.node.attributes:
        axis = call.axis(0)
        shape, inverse = (*source[:axis], count, *source[axis + 1 :]), source[axis]
    return [with_shape(call.input_info(0), shape), *(tensor("int64", (dim,)) for dim in (count, inverse, count))]


def _arg(call: Call) -> list[ValueInfo]:
    source, axis = call.shape(0), call.axis(0)
    reduced = (1,) if keeps_dims(call) else ()
    return [tensor("int64", (*source[:axis], *reduced, *source[axis + 1 :]))]


def _scatter_cost(call: Call) -> Cost:
    """none: data movement; with a reduction, 1 FLOP per update"""
    return NO_COST if call.attr_text("reduction", "none") == "none" else Cost(other=size(call.shape(2)))


_SCATTER = Operator(
    _scatter_elements,
    _scatter_value,
    cost=_scatter_cost,
    traits={Trait.SCATTERS_ALONG_AXIS, Trait.TESTS_NUMBERS},
    overwrites=(0,),
    number_inputs=(0, 2),
    constraints={1: index_into(0, "axis")},
)
_ARG = Operator(_arg, cost=per_input_element(1, "comparison"), position_output=0, work=WorkClass.REDUCTION)

OPERATORS: dict[str, Operator] = of_class(
    WorkClass.LOOKUP,
    {
        "Gather": Operator(
            _gather,
            _gather_value,
            partial=True,
            cost=reads_picked_elements,
            traits={Trait.CROSSES_QUANTIZATION, Trait.MOVES, Trait.PICKS_ROWS, Trait.SHIFTS_AXES},
            index_input=1,
            constraints={1: index_into(0, "axis")},
        ),
        "GatherElements": Operator(
            _gather_elements,
            cost=reads_picked_elements,
            traits={Trait.PICKS_ROWS},
            number_inputs=(0,),
            constraints={1: index_into(0, "axis")},
        ),
        "GatherND": Operator(_gather_nd, cost=reads_picked_elements, number_inputs=(0,), constraints={1: nd_index}),
        "Scatter": replace(_SCATTER, deprecated=Deprecation(11, None, "ScatterElements")),
        "ScatterElements": _SCATTER,
        "ScatterND": Operator(
            _scatter_nd,
            _scatter_value,
            partial=True,
            cost=_scatter_cost,
            traits={Trait.TESTS_NUMBERS},
            overwrites=(0,),
            number_inputs=(0, 2),
            constraints={1: nd_index},
        ),
        "OneHot": Operator(
            _one_hot,
            cost=free,
            roles=constants(2),
            traits={Trait.TESTS_NUMBERS},
            size_inputs=(1,),
            constraints={0: one_hot_index},
        ),
        "Compress": Operator(_compress, cost=reads_picked_elements, number_inputs=(0,), traits={Trait.DATA_SIZED}),
    },
) | {
    "Unique": Operator(
        _unique,
        cost=unknown_arithmetic("the number of elements compared is data-dependent"),
        number_inputs=(0,),
        traits={Trait.DATA_SIZED},
    ),
    "ArgMax": _ARG,
    "ArgMin": _ARG,
}
