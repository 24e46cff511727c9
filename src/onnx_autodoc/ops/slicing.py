"""Operators that join, cut and pad tensors along their axes."""

import numpy as np

from onnx_autodoc.ops._call import Call, axis_of, size
from onnx_autodoc.ops._cost import Cost, free, picked
from onnx_autodoc.ops._known import Array, Contradiction, Dim, Known, NotKnown, Shape, Unknown, like, tensor
from onnx_autodoc.ops._operator import Operator, constants

_LARGEST = ((1 << 31) - 1, (1 << 63) - 1)
_SPLIT_BY_NUMBER = 18  # the version since which a Split must say into how many parts, and the last may be smaller
_TO_THE_END = 1 << 31  # onnxruntime and exporters write "to the end" as a number at least this large


def _concat(call: Call) -> list[Known]:
    shapes = [call.shape(at) for at in range(len(call.inputs))]
    if not shapes:
        raise Contradiction("Concat of nothing")
    axis = axis_of(call.attr_int("axis", 1), len(shapes[0]))  # the axis had a default in opset 1
    if any(len(shape) != len(shapes[0]) for shape in shapes):
        raise Contradiction("Concat of tensors of different ranks")
    total: Dim = 0
    for shape in shapes:
        total = total + shape[axis]
    columns = zip(*shapes, strict=True)
    joined = tuple(total if at == axis else _agreed(column) for at, column in enumerate(columns))
    return [tensor(next((known.dtype for known in call.inputs if known and known.dtype), None), joined)]


def _agreed(column: tuple[Dim, ...]) -> Dim:
    """The one size that all tensors must have along an axis."""
    sizes = {dim for dim in column if type(dim) is int}
    if len(sizes) > 1:
        raise Contradiction(f"Concat of sizes {' and '.join(map(str, sorted(sizes)))} along another axis")
    return sizes.pop() if sizes else column[0]


def _concat_value(call: Call, arrays: list[Array]) -> list[Array]:
    return [np.concatenate(arrays, call.attr_int("axis", 1))]


class _Cut:
    """Start, end and step of a Slice along one axis."""

    __slots__ = ("end", "start", "step")

    def __init__(self, start: Dim, end: Dim, step: Dim) -> None:
        self.start, self.end, self.step = start, end, step

    def length(self, dim: Dim) -> Dim:
        """How many elements of `dim` are left; exact bounds are clamped into the dimension."""
        for bound in (self.start, self.end, self.step):
            if isinstance(bound, Unknown):
                return dim if self._whole(dim) else Unknown(bound.why)
        if isinstance(dim, Unknown):
            return self._of_unknown(dim)
        return len(range(*self.indices(dim)))

    def indices(self, dim: int) -> tuple[int, int, int]:
        if self.step == 0:
            raise Contradiction("Slice with a step of 0")
        start, end, step = slice(self.start, self.end, self.step).indices(dim)
        if step > 0 or dim == 0:
            return start, end, step
        # Going backwards, to start too far down is to start at the first, and the largest number is the end as well.
        return max(start, 0), (-1 if self.end in _LARGEST else end), step

    def _whole(self, dim: Dim) -> bool:
        return self.start == 0 and self.step == 1 and self.end is dim

    def _of_unknown(self, dim: Unknown) -> Dim:
        whole = self.start == 0 and self.step == 1 and type(self.end) is int and self.end >= _TO_THE_END - 1
        return dim if whole else Unknown(dim.why)


def _cuts(call: Call, rank: int) -> dict[int, _Cut]:
    starts, ends, axes, steps = _bounds(call)
    axes = axes if axes is not None else list(range(len(starts)))
    steps = steps if steps is not None else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise Contradiction("Slice's bounds are not of one length")
    rows = zip(axes, starts, ends, steps, strict=True)
    cuts = {axis_of(axis, rank): _Cut(start, end, step) for axis, start, end, step in rows}
    if len(cuts) != len(axes):
        raise Contradiction("Slice names an axis twice")
    return cuts


def _bounds(call: Call) -> tuple[list[Dim], list[Dim], list[Dim] | None, list[Dim] | None]:
    starts, ends = call.attr_ints("starts"), call.attr_ints("ends")
    if starts is not None and ends is not None:  # before opset 10
        axes = call.attr_ints("axes")
        return list(starts), list(ends), list(axes) if axes is not None else None, None
    return (
        call.ints(1),
        call.ints(2),
        call.ints(3) if call.has(3) else None,
        call.ints(4) if call.has(4) else None,
    )


def _slice(call: Call) -> list[Known]:
    source = call.shape(0)
    try:
        cuts = _cuts(call, len(source))
    except NotKnown as gap:
        if isinstance(gap, Contradiction):
            raise
        return [like(call.known(0), _unknown_cut(call, source, str(gap)))]
    return [like(call.known(0), tuple(cuts[at].length(dim) if at in cuts else dim for at, dim in enumerate(source)))]


def _unknown_cut(call: Call, source: Shape, why: str) -> Shape:
    """Bounds that only the data decides: the sliced axes are unknown, the others stay."""
    axes = call.ints(3) if call.has(3) and call.value(3) is not None else list(range(len(source)))
    cut = {axis_of(axis, len(source)) for axis in axes}
    return tuple(Unknown(why) if at in cut else dim for at, dim in enumerate(source))


def _slice_value(call: Call, arrays: list[Array]) -> list[Array]:
    array = arrays[0]
    cuts = _cuts(call, array.ndim)
    for at, cut in cuts.items():
        array = np.take(array, range(*cut.indices(array.shape[at])), at)
    return [array]


def _split_sizes(call: Call, dim: Dim) -> list[Dim]:
    """The sizes are given, or the parts are equal (the last one smaller, from opset 18 on)."""
    given = call.attr_ints("split")
    if _is_listed(call, given is not None or call.has(1)):
        sizes: list[Dim] = list(given) if given is not None else call.ints(1)
        _check_parts(call, len(sizes))
        return sizes
    parts = call.attr_int("num_outputs", len(call.node.outputs))
    if parts < 1:
        raise Contradiction("Split into no parts")
    _check_parts(call, parts)
    return [dim // parts for _ in range(parts)] if isinstance(dim, Unknown) else _equal_parts(call, dim, parts)


def _is_listed(call: Call, listed: bool) -> bool:
    """Whether the sizes are listed; since a version, they or their number must be given."""
    counted = call.attribute("num_outputs") is not None
    if call.version is not None and call.version >= _SPLIT_BY_NUMBER and listed == counted:
        raise Contradiction(f"Split has {'both' if counted else 'neither'} of its sizes and their number")
    return listed


def _equal_parts(call: Call, dim: int, parts: int) -> list[Dim]:
    chunk = -(-dim // parts)
    last = dim - chunk * (parts - 1)
    if dim and last < (chunk if call.version is not None and call.version < _SPLIT_BY_NUMBER else 1):
        raise Contradiction(f"Split of {dim} into {parts:,} equal parts")
    return [*[chunk] * (parts - 1), last]


def _check_parts(call: Call, parts: int) -> None:
    if parts > len(call.node.outputs):
        raise Contradiction(f"Split into {parts:,} parts, of which {len(call.node.outputs):,} are taken")


def _split(call: Call) -> list[Known]:
    source = call.shape(0)
    axis = axis_of(call.attr_int("axis", 0), len(source))
    sizes = _split_sizes(call, source[axis])
    total = sum(dim for dim in sizes if type(dim) is int)
    if type(source[axis]) is int and all(type(dim) is int for dim in sizes) and total != source[axis]:
        raise Contradiction(f"Split of {source[axis]} into parts of together {total}")
    return [like(call.known(0), (*source[:axis], part, *source[axis + 1 :])) for part in sizes]


def _split_value(call: Call, arrays: list[Array]) -> list[Array]:
    axis = axis_of(call.attr_int("axis", 0), arrays[0].ndim)
    sizes = _split_sizes(call, arrays[0].shape[axis])
    ends = np.cumsum(np.array(sizes[:-1], np.int64))
    return list(np.split(arrays[0], ends, axis))


def _is_more(wanted: Dim, there: Dim, but: int = 0) -> bool:
    return type(wanted) is int and type(there) is int and wanted > there - but


def _pad(call: Call) -> list[Known]:
    # pads = [begin of each axis ..., end of each axis ...]; negative ones cut off
    source = call.shape(0)
    given = call.attr_ints("pads") or call.attr_ints("paddings")
    pads: list[Dim] = list(given) if given is not None else call.ints(1)
    axes = [axis_of(axis, len(source)) for axis in call.ints(3)] if call.has(3) else list(range(len(source)))
    if len(pads) != 2 * len(axes):
        raise Contradiction(f"Pad has {len(pads)} numbers for {len(axes)} dimensions")
    padded, mirrored = list(source), call.attr_text("mode", "constant") == "reflect"
    for at, axis in enumerate(axes):
        if mirrored and any(_is_more(pad, source[axis], 1) for pad in (pads[at], pads[at + len(axes)])):
            raise Contradiction(f"Pad mirrors more than the {source[axis]} there are, without the one at the edge")
        padded[axis] = padded[axis] + pads[at] + pads[at + len(axes)]
    return [like(call.known(0), tuple(padded))]


def _top_k(call: Call) -> list[Known]:
    source = call.shape(0)
    axis = axis_of(call.attr_int("axis", -1), len(source))
    k = call.one(1) if call.has(1) else call.attr_required("k")
    if _is_more(k, source[axis]):
        raise Contradiction(f"TopK takes {k} of {source[axis]}")
    found = (*source[:axis], k, *source[axis + 1 :])
    return [like(call.known(0), found), tensor("int64", found)]


def _top_k_cost(call: Call) -> Cost:
    """1 + log2 k comparisons per element of the input, rounded down: what keeping the best k in a heap may take"""
    found = call.output()
    k = found[axis_of(call.attr_int("axis", -1), len(found))]
    if isinstance(k, Unknown):
        raise NotKnown(k.why)
    return Cost(other=k.bit_length() * size(call.shape(0)))


OPERATORS: dict[str, Operator] = {
    "Concat": Operator(_concat, _concat_value, partial=True, cost=free),
    "Slice": Operator(_slice, _slice_value, partial=True, cost=picked),
    "Split": Operator(_split, _split_value, partial=True, cost=picked),
    "Pad": Operator(_pad, cost=free, parts=constants(2)),
    "TopK": Operator(_top_k, cost=_top_k_cost),
}
