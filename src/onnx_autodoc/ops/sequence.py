"""Sequences of tensors, and values that may be absent.

A sequence is followed tensor by tensor as long as its length is known. Where it is not (it grows in a loop, it is an
input of the model), what its tensors have in common is still said.
"""

import numpy as np

from onnx_autodoc.ir import Type, dtype_name
from onnx_autodoc.ops._call import Call, axis_of
from onnx_autodoc.ops._cost import free, view
from onnx_autodoc.ops._known import Contradiction, Dim, Known, NotKnown, Shape, Unknown, merge_dims, sequence, tensor
from onnx_autodoc.ops._operator import Operator
from onnx_autodoc.ops._sizes import one_integer, one_size, sizes
from onnx_autodoc.ops._window import differ

_MOST = 4096  # tensors of one sequence that are followed singly
_COUNT = "how many tensors are in the sequence is only known when the model runs"
_DIFFERENT = "the tensors of the sequence differ in size"
_RANKS = "the tensors of the sequence differ in their number of dimensions"
_SQUEEZED = "whether parts lose their dimension: the specification and onnxruntime disagree"
_EMPTY = "the sequence is empty"
_OPTIONAL = "an optional value has no shape of its own"
_DECLARED = "the declared type of the optional value leaves it open"


def _of(items: tuple[Known, ...], dtype: str | None = None) -> Known:
    return sequence(_common(items) if items else Known(dtype, why=_EMPTY), items=items)


def _common(items: tuple[Known, ...]) -> Known:
    """What is true of each of the tensors."""
    first, *rest = items
    dtype, shape, why = first.dtype, first.shape, first.why
    for item in rest:
        dtype = dtype if dtype == item.dtype else None
        if shape is not None and item.shape is not None and len(shape) == len(item.shape):
            shape = tuple(merge_dims(one, two, _DIFFERENT) for one, two in zip(shape, item.shape, strict=True))
        else:
            shape, why = None, why or item.why or _RANKS
    return Known(dtype, shape, why=why)


def _sequence(call: Call) -> Known:
    known = call.known(0)
    if known.kind == "optional":
        return known.element or known
    return known


def _element(known: Known) -> Known:
    """One tensor of a sequence, whichever."""
    return known.element or Known(known.dtype, why=known.why)


def _position(call: Call, at: int, count: int) -> int | None:
    """A place in the sequence, counted from the front; None where the data decides."""
    place = one_integer(call, at)
    if isinstance(place, Unknown):
        return None
    if not -count <= place < count:
        raise Contradiction(f"{call.node.op} at {place} of {count} tensors")
    return place + count if place < 0 else place


def _sequence_empty(call: Call) -> list[Known]:
    return [_of((), dtype_name(call.attr_int("dtype", 1)))]


def _sequence_construct(call: Call) -> list[Known]:
    return [_of(tuple(call.known(at) for at in range(len(call.inputs))))]


def _sequence_insert(call: Call) -> list[Known]:
    known, new = _sequence(call), call.known(1)
    if known.dtype and new.dtype and known.dtype != new.dtype:
        raise Contradiction(f"{call.node.op} of {new.dtype} into a sequence of {known.dtype}")
    if known.items is None:
        return [sequence(_common((_element(known), new)))]
    # One place more than there are tensors: after the last one. From the back, -1 is before the last one.
    count = len(known.items)
    at = _insert_position(call, count) if call.has(2) else count
    if at is None or count >= _MOST:
        return [sequence(_common((*known.items, new)))]
    common = _common((_element(known), new)) if known.items else new
    return [sequence(common, items=(*known.items[:at], new, *known.items[at:]))]


def _insert_position(call: Call, count: int) -> int | None:
    place = one_integer(call, 2)
    return count if isinstance(place, int) and place == count else _position(call, 2, count)


def _sequence_erase(call: Call) -> list[Known]:
    known = _sequence(call)
    if known.items is None:
        return [sequence(_element(known))]
    if not known.items:
        raise Contradiction("SequenceErase of an empty sequence")
    at = _position(call, 1, len(known.items)) if call.has(1) else len(known.items) - 1
    if at is None:
        return [sequence(_element(known))]
    return [_of((*known.items[:at], *known.items[at + 1 :]), known.dtype)]


def _sequence_at(call: Call) -> list[Known]:
    known = _sequence(call)
    at = None if known.items is None else _position(call, 1, len(known.items))
    return [_element(known) if known.items is None or at is None else known.items[at]]


def _sequence_length(call: Call) -> list[Known]:
    items = _sequence(call).items
    if items is None:
        return [Known("int64", (), why=_COUNT)]
    return [Known("int64", (), np.array(len(items), np.int64))]


def _split_to_sequence(call: Call) -> list[Known]:
    x = call.shape(0)
    axis = axis_of(call.attr_int("axis", 0), len(x))
    if call.has(1) and call.rank(1) == 1:
        parts = sizes(call, 1)
        total = sum(parts)
        if differ(total, x[axis]):
            raise Contradiction(f"SplitToSequence of {x[axis]} elements into {total}")
        return [_of(tuple(tensor(call.dtype(0), _with(x, axis, part)) for part in parts))]
    return [_even_split(call, x, axis, one_size(call, 1) if call.has(1) else 1)]


def _even_split(call: Call, x: Shape, axis: int, part: Dim) -> Known:
    """Parts of one size, the last one of what is left."""
    whole = x[axis]
    if type(part) is int and part < 1:
        raise Contradiction(f"SplitToSequence into parts of {part}")
    if isinstance(whole, Unknown) or isinstance(part, Unknown) or whole > part * _MOST:
        return sequence(_part(call, x, axis, 1 if part == 1 else Unknown(_DIFFERENT)))
    lengths = (min(part, whole - start) for start in range(0, whole, part))
    return _of(tuple(_part(call, x, axis, size) for size in lengths), call.dtype(0))


def _part(call: Call, x: Shape, axis: int, size: Dim) -> Known:
    if call.attr_int("keepdims", 1):
        return tensor(call.dtype(0), _with(x, axis, size))
    # The specification drops the dimension only where no size is given; onnxruntime also where one number is.
    return Known(call.dtype(0), why=_SQUEEZED) if call.has(1) else tensor(call.dtype(0), x[:axis] + x[axis + 1 :])


def _with(x: Shape, axis: int, dim: Dim) -> Shape:
    return (*x[:axis], dim, *x[axis + 1 :])


def _concat_from_sequence(call: Call) -> list[Known]:
    known = _sequence(call)
    each = _each(known)
    stack = call.attr_int("new_axis", 0)
    axis = axis_of(call.attr_required("axis"), len(each[0]) + stack)
    count: Dim = len(each) if known.items is not None else Unknown(_COUNT)
    if stack:
        common = _agreed(each, None)
        return [tensor(known.dtype, (*common[:axis], count, *common[axis:]))]
    total = sum(shape[axis] for shape in each) if known.items is not None else count
    return [tensor(known.dtype, _with(_agreed(each, axis), axis, total))]


def _each(known: Known) -> list[Shape]:
    """The dims of each tensor; of those that they have in common, where the tensors are not followed singly."""
    items = (_element(known),) if known.items is None else known.items
    if not items:
        raise Contradiction("ConcatFromSequence of an empty sequence")
    shapes = [item.shape for item in items if item.shape is not None]
    if len(shapes) < len(items):
        raise NotKnown(next(item.reason for item in items if item.shape is None))
    if len({len(shape) for shape in shapes}) > 1:
        raise Contradiction(_RANKS)
    return shapes


def _agreed(each: list[Shape], but: int | None) -> Shape:
    """The dims that must be the same in all tensors (all but one axis), by those that know them."""
    agreed = []
    for axis, column in enumerate(zip(*each, strict=True)):
        known = {dim for dim in column if type(dim) is int}
        if len(known) > 1 and axis != but:
            raise Contradiction(f"ConcatFromSequence of sizes {' and '.join(map(str, sorted(known)))}")
        agreed.append(known.pop() if known else column[0])
    return tuple(agreed)


def _optional(call: Call) -> list[Known]:
    if call.has(0):
        held = call.known(0)
        return [Known(held.dtype, why=_OPTIONAL, kind="optional", element=held, items=(held,))]
    declared = call.attr_type("type")
    if declared is None:
        raise Contradiction("Optional has neither a value nor a type")
    empty = _typed(declared)
    return [Known(empty.dtype, why=_OPTIONAL, kind="optional", element=empty, items=())]


def _typed(declared: Type) -> Known:
    element = None if declared.element is None else _typed(declared.element)
    shape: Shape | None = None
    if declared.dims is not None:
        shape = tuple(dim if isinstance(dim, int) else Unknown(_DECLARED) for dim in declared.dims)
    dtype = declared.dtype or (element.dtype if element else None)
    return Known(dtype, shape, why=_DECLARED if shape is None else "", kind=declared.kind, element=element)


def _optional_get_element(call: Call) -> list[Known]:
    known = call.known(0)
    if known.kind != "optional":
        return [known]  # since opset 18 a plain value passes through
    if known.items == ():
        raise Contradiction("OptionalGetElement of an empty optional")
    return [known.element or Known(known.dtype, why=known.why)]


def _optional_has_element(call: Call) -> list[Known]:
    if not call.has(0):
        return [Known("bool", (), np.array(False))]
    known = call.known(0)
    if known.kind == "optional" and known.items is None:
        return [Known("bool", (), why="whether the optional has a value is only known when the model runs")]
    return [Known("bool", (), np.array(known.kind != "optional" or bool(known.items)))]


# A sequence refers to its tensors: to put one in or take one out moves no data.
OPERATORS: dict[str, Operator] = {
    "SequenceEmpty": Operator(_sequence_empty, cost=view),
    "SequenceConstruct": Operator(_sequence_construct, cost=view),
    "SequenceInsert": Operator(_sequence_insert, cost=view),
    "SequenceErase": Operator(_sequence_erase, cost=view),
    "SequenceAt": Operator(_sequence_at, cost=view),
    "SequenceLength": Operator(_sequence_length, cost=view),
    "SplitToSequence": Operator(_split_to_sequence, cost=free),
    "ConcatFromSequence": Operator(_concat_from_sequence, cost=free),
    "Optional": Operator(_optional, cost=view),
    "OptionalGetElement": Operator(_optional_get_element, cost=view),
    "OptionalHasElement": Operator(_optional_has_element, cost=view),
}
