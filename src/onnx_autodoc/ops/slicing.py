"""Concat, Slice, Split, Pad, TopK."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from onnx_autodoc.ops.call import Call, normalize_axis, size
from onnx_autodoc.ops.cost import Cost, free, reads_picked_elements
from onnx_autodoc.ops.input_constraints import ZERO, distinct_axes, equal_parts
from onnx_autodoc.ops.operator import Identity, Operator, Trait, WorkClass, constants, of_class, with_traits, words
from onnx_autodoc.ops.values import Array, Contradiction, Dim, InferenceError, Unknown, ValueInfo, tensor, with_shape

_MAX_INTEGERS = ((1 << 31) - 1, (1 << 63) - 1)
_SPLIT_BY_NUMBER = 18  # since this version Split requires `num_outputs` or sizes, and the last part may be smaller
_TO_THE_END = 1 << 31  # onnxruntime and exporters write "to the end" as a number at least this large


def _concat(call: Call) -> list[ValueInfo]:
    shapes = [call.shape(at) for at in range(len(call.inputs))]
    if not shapes:
        raise Contradiction("Concat requires at least one input")
    axis = normalize_axis(call.attr_int("axis", 1), len(shapes[0]))  # the axis had a default in opset 1
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        raise Contradiction("Concat requires inputs of equal rank")
    total = sum((shape[axis] for shape in shapes), start=0)
    joined: list[Dim] = []
    for at, column in enumerate(zip(*shapes, strict=True)):
        sizes = {dim for dim in column if type(dim) is int}
        if len(sizes) > 1 and at != axis:
            raise Contradiction(
                f"Concat inputs differ along another axis: sizes {' and '.join(map(str, sorted(sizes)))}"
            )
        joined.append(total if at == axis else sizes.pop() if sizes else column[0])
    return [tensor(next((known.dtype for known in call.inputs if known and known.dtype), None), tuple(joined))]


def _concat_value(call: Call, arrays: list[Array]) -> list[Array]:
    return [np.concatenate(arrays, call.attr_int("axis", 1))]


class _Cut(NamedTuple):
    """Start, end and step of a Slice along one axis."""

    start: Dim
    end: Dim
    step: Dim

    def length(self, dim: Dim) -> Dim:
        """Return how many elements of `dim` remain; exact bounds are clamped into the dimension."""
        from_start = self.start == 0 and self.step == 1
        for bound in self:
            if isinstance(bound, Unknown):
                return dim if from_start and self.end is dim else Unknown(bound.why)
        if isinstance(dim, Unknown):
            return dim if from_start and type(self.end) is int and self.end >= _TO_THE_END - 1 else Unknown(dim.why)
        return len(range(*self.indices(dim)))

    def indices(self, dim: int) -> tuple[int, int, int]:
        if self.step == 0:
            raise Contradiction("Slice has a step of 0")
        start, end, step = slice(self.start, self.end, self.step).indices(dim)
        if step > 0 or dim == 0:
            return start, end, step
        # Backwards, a start below the dimension is the first element, and the largest integers also mean the end.
        return max(start, 0), (-1 if self.end in _MAX_INTEGERS else end), step


def _cuts(call: Call, rank: int) -> dict[int, _Cut]:
    starts: Sequence[Dim] | None = call.attr_ints("starts")
    ends: Sequence[Dim] | None = call.attr_ints("ends")
    axes: Sequence[Dim] | None
    steps: Sequence[Dim] | None
    if starts is not None and ends is not None:  # before opset 10
        axes, steps = call.attr_ints("axes"), None
    else:
        starts, ends = call.ints(1), call.ints(2)
        axes, steps = (call.ints(at) if call.has(at) else None for at in (3, 4))
    axes = axes if axes is not None else range(len(starts))
    steps = steps if steps is not None else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Contradiction("starts, ends, axes and steps of Slice differ in length")
    bounds = zip(starts, ends, steps, strict=True)
    cuts = {normalize_axis(axis, rank): _Cut(*bound) for axis, bound in zip(axes, bounds, strict=True)}
    if len(cuts) != len(axes):
        raise Contradiction("Slice has a duplicate axis")
    return cuts


def _slice(call: Call) -> list[ValueInfo]:
    source = call.shape(0)
    try:
        cuts = _cuts(call, len(source))
    except InferenceError as gap:
        if isinstance(gap, Contradiction):
            raise
        # Data-dependent bounds: the sliced axes are unknown, the others unchanged.
        axes = call.ints(3) if call.has(3) and call.value(3) is not None else list(range(len(source)))
        sliced = {normalize_axis(axis, len(source)) for axis in axes}
        shape = tuple(Unknown(str(gap)) if at in sliced else dim for at, dim in enumerate(source))
        return [with_shape(call.input_info(0), shape)]
    return [
        with_shape(
            call.input_info(0), tuple(cuts[at].length(dim) if at in cuts else dim for at, dim in enumerate(source))
        )
    ]


def _slice_value(call: Call, arrays: list[Array]) -> list[Array]:
    array = arrays[0]
    cuts = _cuts(call, array.ndim)
    for at, cut in cuts.items():
        array = np.take(array, range(*cut.indices(array.shape[at])), at)
    return [array]


def _split_sizes(call: Call, dim: Dim) -> list[Dim]:
    """Return the listed sizes, or those of equal parts (the last one smaller, from opset 18 on)."""
    declared = call.attr_ints("split")
    is_listed, counted = declared is not None or call.has(1), call.attribute("num_outputs") is not None
    by_number = call.version is not None and call.version >= _SPLIT_BY_NUMBER
    if by_number and is_listed == counted:
        raise Contradiction(f"Split has {'both split sizes and' if counted else 'neither split sizes nor'} num_outputs")
    sizes: list[Dim] = [] if not is_listed else list(declared) if declared is not None else call.ints(1)
    parts = len(sizes) if is_listed else call.attr_int("num_outputs", len(call.node.outputs))
    if parts < 1 and not is_listed:
        raise Contradiction("Split requires at least one part")
    if parts > len(call.node.outputs):
        raise Contradiction(
            f"the number of parts of Split ({parts:,}) exceeds that of its outputs ({len(call.node.outputs):,})"
        )
    if is_listed:
        return sizes
    if isinstance(dim, Unknown):
        return [dim // parts for _ in range(parts)]
    chunk = -(-dim // parts)
    last = dim - chunk * (parts - 1)
    if dim and last < (1 if by_number or call.version is None else chunk):
        raise Contradiction(f"Split cannot divide {dim} into {parts:,} equal parts")
    return [*[chunk] * (parts - 1), last]


def _split(call: Call) -> list[ValueInfo]:
    source, axis = call.shape(0), call.axis(0)
    sizes = _split_sizes(call, source[axis])
    total = sum(dim for dim in sizes if type(dim) is int)
    if type(source[axis]) is int and all(type(dim) is int for dim in sizes) and total != source[axis]:
        raise Contradiction(f"split sizes of Split sum to {total}, not {source[axis]}")
    return [with_shape(call.input_info(0), (*source[:axis], part, *source[axis + 1 :])) for part in sizes]


def _split_value(call: Call, arrays: list[Array]) -> list[Array]:
    axis = normalize_axis(call.attr_int("axis", 0), arrays[0].ndim)
    sizes = _split_sizes(call, arrays[0].shape[axis])
    return list(np.split(arrays[0], np.cumsum(np.array(sizes[:-1], np.int64)), axis))


def _exceeds(count: Dim, limit: Dim) -> bool:
    return type(count) is int and type(limit) is int and count > limit


def _pad(call: Call) -> list[ValueInfo]:
    # pads = [begin of each axis ..., end of each axis ...]; negative ones cut off
    source = call.shape(0)
    declared = call.attr_ints("pads") or call.attr_ints("paddings")
    pads: list[Dim] = list(declared) if declared is not None else call.ints(1)
    axes = [normalize_axis(axis, len(source)) for axis in call.ints(3)] if call.has(3) else list(range(len(source)))
    if len(pads) != 2 * len(axes):
        raise Contradiction(f"pads of Pad have length {len(pads)}, not {2 * len(axes)}")
    padded, mirrored = list(source), call.attr_text("mode", "constant") == "reflect"
    for at, axis in enumerate(axes):
        if mirrored and any(_exceeds(pad, source[axis] - 1) for pad in (pads[at], pads[at + len(axes)])):
            raise Contradiction(f"reflect pads of Pad are not smaller than the axis size {source[axis]}")
        padded[axis] = padded[axis] + pads[at] + pads[at + len(axes)]
    return [with_shape(call.input_info(0), tuple(padded))]


def _top_k(call: Call) -> list[ValueInfo]:
    source, axis = call.shape(0), call.axis(-1)
    k = call.one(1) if call.has(1) else call.attr_required("k")
    if _exceeds(k, source[axis]):
        raise Contradiction(f"TopK requires k of at most {source[axis]}, got {k}")
    shape = (*source[:axis], k, *source[axis + 1 :])
    return [with_shape(call.input_info(0), shape), tensor("int64", shape)]


def _top_k_cost(call: Call) -> Cost:
    """1 + log2 k comparisons per input element, rounded down: the bound for a heap of the best k"""
    shape = call.output()
    k = int(shape[normalize_axis(call.attr_int("axis", -1), len(shape))])  # an unknown one raises its reason
    return Cost(other=k.bit_length() * size(call.shape(0)))


_MOVES = with_traits(
    {Trait.CROSSES_QUANTIZATION},
    {
        "Concat": Operator(
            _concat,
            _concat_value,
            partial=True,
            cost=free,
            traits={Trait.JOINS, Trait.PRECEDES_SCORES, Trait.TESTS_NUMBERS},
            identity=Identity.ONE_INPUT,
        ),
        "Slice": Operator(
            _slice,
            _slice_value,
            partial=True,
            cost=reads_picked_elements,
            traits={Trait.MOVES},
            position_shift=0,
            size_inputs=(1, 2, 3, 4),
            identity=Identity.WHOLE,
            constraints={1: ZERO, 3: distinct_axes},
        ),
        "Split": Operator(
            _split,
            _split_value,
            partial=True,
            cost=reads_picked_elements,
            traits={Trait.MOVES},
            size_inputs=(1,),
            identity=Identity.ONE_OUTPUT,
            constraints={1: equal_parts},
        ),
        "Pad": Operator(
            _pad,
            cost=free,
            roles=constants(2),
            traits={Trait.TESTS_NUMBERS},
            size_inputs=(1,),
            identity=Identity.NO_PADDING,
            number_inputs=(0,),
            choices={"mode": words("constant edge reflect wrap")},
            constraints={1: ZERO},
        ),
    },
)
OPERATORS: dict[str, Operator] = {
    **of_class(WorkClass.MOVE, _MOVES),
    "TopK": Operator(
        _top_k, cost=_top_k_cost, size_inputs=(1,), position_output=1, work=WorkClass.LOOKUP, kernel="sort"
    ),
}
