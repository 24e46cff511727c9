"""Operators that pick or place elements by index."""

import numpy as np

from onnx_autodoc.ops.call import Call, check_shape, normalize_axis, size
from onnx_autodoc.ops.cost import NO_COST, Cost, free, per_input_element, reads_picked_elements, unknown_arithmetic
from onnx_autodoc.ops.input_constraints import ONE, index_into, nd_index, one_hot_index
from onnx_autodoc.ops.operator import Deprecation, Operator, Trait, WorkClass, constants, of_class
from onnx_autodoc.ops.reduction import keeps_dims
from onnx_autodoc.ops.shape_rules import same
from onnx_autodoc.ops.values import Array, Contradiction, Dim, InferenceError, Unknown, ValueInfo, tensor, with_shape


def _gather(call: Call) -> list[ValueInfo]:
    # data [.., n, ..] at indices [i...] = [.., i..., ..]
    source = call.shape(0)
    axis = normalize_axis(call.attr_int("axis", 0), len(source))
    _check_indices(call, source[axis])
    return [with_shape(call.known(0), (*source[:axis], *call.shape(1), *source[axis + 1 :]))]


def _check_indices(call: Call, *sizes: Dim) -> None:
    """Raise if a stored index is out of bounds; with several sizes, each has a column of indices.

    Computed indices are not checked: they depend on assumed sizes.
    """
    known = call.known(1)
    if known.value is None or not known.is_stored or known.value.dtype.kind not in "iu":
        return
    for column, count in zip(known.value.reshape(-1, len(sizes)).T if sizes else (), sizes):
        if type(count) is int and column.size and not -count <= column.min() <= column.max() < count:
            wrong = column.min() if column.max() < count else column.max()
            raise Contradiction(f"{call.node.op} at {wrong} of {count} elements")


def _gather_value(call: Call, arrays: list[Array]) -> list[Array]:
    axis = normalize_axis(call.attr_int("axis", 0), arrays[0].ndim)
    indices = arrays[1]
    if indices.dtype == object:
        raise InferenceError("an index is not known")
    length = arrays[0].shape[axis]
    if indices.size and not (-length <= indices.min() and indices.max() < length):
        raise Contradiction(f"Gather at {int(indices.max())} of {length} elements")
    return [np.asarray(np.take(arrays[0], indices, axis))]  # of an array of objects, one index takes the bare object


def _gather_elements(call: Call) -> list[ValueInfo]:
    _check_elements(call)
    return [with_shape(call.known(0), call.shape(1))]


def _gather_nd(call: Call) -> list[ValueInfo]:
    # indices [batch..., i..., k] pick slices data[batch..., k indices] = [batch..., i..., rest of data]
    source, indices = call.shape(0), call.shape(1)
    batch = call.attr_int("batch_dims", 0)
    depth = indices[-1] if indices else 0
    if isinstance(depth, Unknown):
        raise InferenceError(depth.why)
    if not indices or batch + depth > len(source):
        raise Contradiction(f"GatherND of {len(source)} dimensions by {batch + depth}")
    _check_indices(call, *source[batch : batch + depth])
    return [with_shape(call.known(0), (*indices[:-1], *source[batch + depth :]))]


def _check_elements(call: Call) -> None:
    """Indices are as many dimensions as the data, each along one axis."""
    source, indices = call.known(0).shape, call.known(1).shape
    if source is None or indices is None:
        return
    if len(source) != len(indices):
        raise Contradiction(f"{call.node.op} of {len(source)} dimensions by indices of {len(indices)}")
    _check_indices(call, source[normalize_axis(call.attr_int("axis", 0), len(source))])


def _scatter_elements(call: Call) -> list[ValueInfo]:
    _check_elements(call)
    if (indices := call.known(1).shape) is not None:
        check_shape(call, 2, *indices)
    return same(call)


def _scatter_nd(call: Call) -> list[ValueInfo]:
    # indices [i..., k] place updates [i..., rest of data]
    source, indices = call.shape(0), call.known(1).shape
    depth = indices[-1] if indices else None
    if indices and type(depth) is int:
        if depth > len(source):
            raise Contradiction(f"ScatterND of {len(source)} dimensions by {depth}")
        check_shape(call, 2, *indices[:-1], *source[depth:])
        _check_indices(call, *source[:depth])
    return same(call)


def _scatter_nd_value(call: Call, arrays: list[Array]) -> list[Array]:
    if call.attr_text("reduction", "none") != "none":
        raise InferenceError("elements are combined")
    data, indices, updates = arrays
    if not indices.ndim or updates.shape != indices.shape[:-1] + data.shape[indices.shape[-1] :]:
        raise Contradiction("ScatterND has other updates than places")
    result = data.copy()
    result[tuple(np.moveaxis(_as_integers(indices), -1, 0))] = updates
    return [result]


def _as_integers(indices: Array) -> Array:
    if indices.dtype.kind not in "iuO":
        raise Contradiction("an index is no whole number")
    return indices.astype(np.int64)  # stops at one that is not known


def _scatter_elements_value(call: Call, arrays: list[Array]) -> list[Array]:
    if call.attr_text("reduction", "none") != "none":
        raise InferenceError("elements are combined")
    data, indices, updates = arrays
    if indices.ndim != data.ndim or updates.shape != indices.shape:
        raise Contradiction(f"{call.node.op} has other updates than places")
    result = data.copy()
    positions: list[Array] = [*np.indices(indices.shape)]  # the indices may cover less than the data, along every axis
    positions[normalize_axis(call.attr_int("axis", 0), data.ndim)] = _as_integers(indices)
    result[tuple(positions)] = updates
    return [result]


def _one_hot(call: Call) -> list[ValueInfo]:
    # indices [..] with a new axis of `depth` sizes
    indices, depth = call.shape(0), call.one(1)
    check_shape(call, 2, 2)
    axis = normalize_axis(call.attr_int("axis", -1), len(indices) + 1)
    number: Dim = depth if isinstance(depth, Unknown) else int(depth)
    return [tensor(call.dtype(2), (*indices[:axis], number, *indices[axis:]))]


def _compress(call: Call) -> list[ValueInfo]:
    source, kept = call.shape(0), call.value(1)
    why = "Compress: how many elements are kept depends on the data"
    count: Dim = Unknown(why) if kept is None or kept.dtype == object else int(np.count_nonzero(kept))
    if "axis" not in call.node.attributes:
        return [with_shape(call.known(0), (count,))]
    axis = normalize_axis(call.attr_int("axis", 0), len(source))
    return [with_shape(call.known(0), (*source[:axis], count, *source[axis + 1 :]))]


def _unique(call: Call) -> list[ValueInfo]:
    why = "Unique: how many elements differ depends on the data"
    source = call.shape(0)
    count = Unknown(why)
    if "axis" in call.node.attributes:
        axis = normalize_axis(call.attr_int("axis", 0), len(source))
        found, inverse = (*source[:axis], count, *source[axis + 1 :]), source[axis]
    else:
        found, inverse = (count,), size(source)
    return [
        with_shape(call.known(0), found),
        tensor("int64", (count,)),
        tensor("int64", (inverse,)),
        tensor("int64", (count,)),
    ]


def _arg(call: Call) -> list[ValueInfo]:
    source = call.shape(0)
    axis = normalize_axis(call.attr_int("axis", 0), len(source))
    kept = (1,) if keeps_dims(call) else ()
    return [tensor("int64", (*source[:axis], *kept, *source[axis + 1 :]))]


def _scatter_cost(call: Call) -> Cost:
    """none: data are moved; 1 per update where it is combined with what it meets"""
    return NO_COST if call.attr_text("reduction", "none") == "none" else Cost(other=size(call.shape(2)))


_compared = per_input_element(1, "comparison")

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
            constraints={1: index_into(0, "axis")},
        ),
        "GatherND": Operator(_gather_nd, cost=reads_picked_elements, constraints={1: nd_index}),
        # scattering writes into a copy of the data
        "Scatter": Operator(
            _scatter_elements,
            _scatter_elements_value,
            cost=_scatter_cost,
            traits={Trait.SCATTERS_ALONG_AXIS, Trait.TESTS_NUMBERS},
            overwrites=(0,),
            deprecated=Deprecation(11, None, "ScatterElements"),
            constraints={1: index_into(0, "axis")},
        ),
        "ScatterElements": Operator(
            _scatter_elements,
            _scatter_elements_value,
            cost=_scatter_cost,
            traits={Trait.SCATTERS_ALONG_AXIS, Trait.TESTS_NUMBERS},
            overwrites=(0,),
            constraints={1: index_into(0, "axis")},
        ),
        "ScatterND": Operator(
            _scatter_nd,
            _scatter_nd_value,
            partial=True,
            cost=_scatter_cost,
            traits={Trait.TESTS_NUMBERS},
            overwrites=(0,),
            constraints={1: nd_index},
        ),
        "OneHot": Operator(
            _one_hot,
            cost=free,
            roles=constants(2),
            traits={Trait.TESTS_NUMBERS},
            size_inputs=(1,),
            constraints={0: one_hot_index, 1: ONE},
        ),
        "Compress": Operator(_compress, cost=reads_picked_elements, traits={Trait.DATA_SIZED}),
    },
) | {
    "Unique": Operator(
        _unique, cost=unknown_arithmetic("how many elements are compared, the data decide"), traits={Trait.DATA_SIZED}
    ),
    "ArgMax": Operator(_arg, cost=_compared, position_output=0, work=WorkClass.REDUCTION),
    "ArgMin": Operator(_arg, cost=_compared, position_output=0, work=WorkClass.REDUCTION),
}
