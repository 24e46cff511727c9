"""Sequences, optionals and control flow. `shapes` infers control flow, so its rows have traits alone."""

import numpy as np

from onnx_autodoc.ir import Type, dtype_name
from onnx_autodoc.ops.call import Call, integer_element, normalize_axis, size_element, sizes, sizes_differ
from onnx_autodoc.ops.cost import free, view
from onnx_autodoc.ops.input_constraints import ONE, ZERO
from onnx_autodoc.ops.operator import FLAG, Operator, Trait, WorkClass
from onnx_autodoc.ops.values import (
    Contradiction,
    Dim,
    InferenceError,
    Shape,
    Unknown,
    ValueInfo,
    merge_dims,
    sequence,
    tensor,
)

_MAX_ITEMS = 4096  # tensors of one sequence that are inferred one by one
_COUNT = "the number of tensors in the sequence is data-dependent"
_DIFFERENT = "the tensors of the sequence differ in size"
_RANKS = "the tensors of the sequence differ in rank"
_SQUEEZED = "whether the parts keep the split axis: the specification and onnxruntime disagree"
_EMPTY = "the sequence is empty"
_OPTIONAL = "an optional value has no shape"
_DECLARED = "the declared type of the optional value does not define it"


def _sequence_of(items: tuple[ValueInfo, ...], dtype: str | None = None) -> ValueInfo:
    return sequence(_common(items) if items else ValueInfo(dtype, why=_EMPTY), items=items)


def _common(items: tuple[ValueInfo, ...]) -> ValueInfo:
    """Return the type and shape that all tensors share."""
    first, *rest = items
    dtype, shape, why = first.dtype, first.shape, first.why
    for item in rest:
        dtype = dtype if dtype == item.dtype else None
        if shape is not None and item.shape is not None and len(shape) == len(item.shape):
            shape = tuple(merge_dims(*pair, _DIFFERENT) for pair in zip(shape, item.shape, strict=True))
        else:
            shape, why = None, why or item.why or _RANKS
    return ValueInfo(dtype, shape, why=why)


def _sequence(call: Call) -> ValueInfo:
    """Return the first input: a sequence, or the one in an optional."""
    known = call.input_info(0)
    return known.element or known if known.kind == "optional" else known


def _element(known: ValueInfo) -> ValueInfo:
    """Return the common type of the tensors of a sequence."""
    return known.element or ValueInfo(known.dtype, why=known.why)


def _position(call: Call, at: int, count: int) -> int | None:
    """Return a position counted from the front; None if it depends on the data."""
    position = integer_element(call, at)
    if isinstance(position, Unknown):
        return None
    if not -count <= position < count:
        raise Contradiction(f"{call.node.op} has position {position}, out of range for a sequence of length {count}")
    return position + count if position < 0 else position


def _sequence_insert(call: Call) -> list[ValueInfo]:
    known, new = _sequence(call), call.input_info(1)
    if known.dtype and new.dtype and known.dtype != new.dtype:
        raise Contradiction(f"{call.node.op} inserts {new.dtype} into a sequence of {known.dtype}")
    if known.items is None:
        return [sequence(_common((_element(known), new)))]
    # `count` appends; -1 inserts before the last tensor.
    count = len(known.items)
    position = integer_element(call, 2) if call.has(2) else count
    at = count if isinstance(position, int) and position == count else _position(call, 2, count)
    if at is None or count >= _MAX_ITEMS:
        return [sequence(_common((*known.items, new)))]
    common = _common((_element(known), new)) if known.items else new
    return [sequence(common, items=(*known.items[:at], new, *known.items[at:]))]


def _sequence_erase(call: Call) -> list[ValueInfo]:
    known = _sequence(call)
    if known.items is None:
        return [sequence(_element(known))]
    if not known.items:
        raise Contradiction("SequenceErase requires a non-empty sequence")
    at = _position(call, 1, len(known.items)) if call.has(1) else len(known.items) - 1
    if at is None:
        return [sequence(_element(known))]
    return [_sequence_of((*known.items[:at], *known.items[at + 1 :]), known.dtype)]


def _sequence_at(call: Call) -> list[ValueInfo]:
    known = _sequence(call)
    at = None if known.items is None else _position(call, 1, len(known.items))
    return [_element(known) if known.items is None or at is None else known.items[at]]


def _sequence_length(call: Call) -> list[ValueInfo]:
    items = _sequence(call).items
    if items is None:
        return [ValueInfo("int64", (), why=_COUNT)]
    return [ValueInfo("int64", (), np.array(len(items), np.int64))]


def _split_to_sequence(call: Call) -> list[ValueInfo]:
    x = call.shape(0)
    axis = normalize_axis(call.attr_int("axis", 0), len(x))
    if call.has(1) and call.rank(1) == 1:
        parts = sizes(call, 1)
        total = sum(parts)
        if sizes_differ(total, x[axis]):
            raise Contradiction(f"sizes of SplitToSequence sum to {total}, not {x[axis]}")
        return [_sequence_of(tuple(tensor(call.dtype(0), _with_dim(x, axis, part)) for part in parts))]
    whole, part = x[axis], size_element(call, 1) if call.has(1) else 1  # the last part may be smaller
    if type(part) is int and part < 1:
        raise Contradiction(f"SplitToSequence requires a positive size, got {part}")
    if isinstance(whole, Unknown) or isinstance(part, Unknown) or whole > part * _MAX_ITEMS:
        return [sequence(_part(call, x, axis, 1 if part == 1 else Unknown(_DIFFERENT)))]
    lengths = (min(part, whole - start) for start in range(0, whole, part))
    return [_sequence_of(tuple(_part(call, x, axis, length) for length in lengths), call.dtype(0))]


def _part(call: Call, x: Shape, axis: int, length: Dim) -> ValueInfo:
    if call.attr_int("keepdims", 1):
        return tensor(call.dtype(0), _with_dim(x, axis, length))
    # The specification drops the dimension only if there is no size input; onnxruntime also if it is one number.
    return ValueInfo(call.dtype(0), why=_SQUEEZED) if call.has(1) else tensor(call.dtype(0), x[:axis] + x[axis + 1 :])


def _with_dim(x: Shape, axis: int, dim: Dim) -> Shape:
    return (*x[:axis], dim, *x[axis + 1 :])


def _concat_from_sequence(call: Call) -> list[ValueInfo]:
    known = _sequence(call)
    shapes = _item_shapes(known)
    stacks = call.attr_int("new_axis", 0)
    axis = normalize_axis(call.attr_required("axis"), len(shapes[0]) + stacks)
    count: Dim = len(shapes) if known.items is not None else Unknown(_COUNT)
    if stacks:
        common = _common_dims(shapes, None)
        return [tensor(known.dtype, (*common[:axis], count, *common[axis:]))]
    total = sum(shape[axis] for shape in shapes) if known.items is not None else count
    return [tensor(known.dtype, _with_dim(_common_dims(shapes, axis), axis, total))]


def _item_shapes(known: ValueInfo) -> list[Shape]:
    """Return the shape of each tensor of a sequence; only their common shape if the tensors are unknown."""
    items = (_element(known),) if known.items is None else known.items
    if not items:
        raise Contradiction("ConcatFromSequence requires a non-empty sequence")
    shapes = [item.shape for item in items if item.shape is not None]
    if len(shapes) < len(items):
        raise InferenceError(next(item.reason for item in items if item.shape is None))
    if len({len(shape) for shape in shapes}) > 1:
        raise Contradiction(_RANKS)
    return shapes


def _common_dims(shapes: list[Shape], free_axis: int | None) -> Shape:
    """Return the dims of all tensors, which may differ only along `free_axis`; known sizes come before unknown ones."""
    common = []
    for axis, column in enumerate(zip(*shapes, strict=True)):
        known = {dim for dim in column if type(dim) is int}
        if len(known) > 1 and axis != free_axis:
            raise Contradiction(
                f"ConcatFromSequence inputs differ along another axis: sizes {' and '.join(map(str, sorted(known)))}"
            )
        common.append(known.pop() if known else column[0])
    return tuple(common)


def _optional(call: Call) -> list[ValueInfo]:
    if call.has(0):
        element = call.input_info(0)
        return [ValueInfo(element.dtype, why=_OPTIONAL, kind="optional", element=element, items=(element,))]
    declared = call.attr_type("type")
    if declared is None:
        raise Contradiction("Optional has neither a value nor a type")
    empty = _from_declared_type(declared)
    return [ValueInfo(empty.dtype, why=_OPTIONAL, kind="optional", element=empty, items=())]


def _from_declared_type(declared: Type) -> ValueInfo:
    element = None if declared.element is None else _from_declared_type(declared.element)
    shape: Shape | None = None
    if declared.dims is not None:
        shape = tuple(dim if isinstance(dim, int) else Unknown(_DECLARED) for dim in declared.dims)
    dtype = declared.dtype or (element.dtype if element else None)
    return ValueInfo(dtype, shape, why=_DECLARED if shape is None else "", kind=declared.kind, element=element)


def _optional_get_element(call: Call) -> list[ValueInfo]:
    known = call.input_info(0)
    if known.kind != "optional":
        return [known]  # since opset 18 a plain value passes through
    if known.items == ():
        raise Contradiction("OptionalGetElement requires a non-empty optional")
    return [known.element or ValueInfo(known.dtype, why=known.why)]


def _optional_has_element(call: Call) -> list[ValueInfo]:
    if not call.has(0):
        return [ValueInfo("bool", (), np.array(False))]
    known = call.input_info(0)
    if known.kind == "optional" and known.items is None:
        return [ValueInfo("bool", (), why="whether the optional has a value is known only at run time")]
    return [ValueInfo("bool", (), np.array(known.kind != "optional" or bool(known.items)))]


# A sequence refers to its tensors: inserting or removing one moves no data.
OPERATORS: dict[str, Operator] = {
    "SequenceEmpty": Operator(lambda call: [_sequence_of((), dtype_name(call.attr_int("dtype", 1)))], cost=view),
    "SequenceConstruct": Operator(
        lambda call: [_sequence_of(tuple(call.input_info(at) for at in range(len(call.inputs))))],
        cost=view,
        traits={Trait.JOINS},
    ),
    "SequenceInsert": Operator(_sequence_insert, cost=view, number_inputs=None, constraints={2: ZERO}),
    "SequenceErase": Operator(_sequence_erase, cost=view),
    "SequenceAt": Operator(_sequence_at, cost=view, number_inputs=(0,), constraints={1: ZERO}),
    "SequenceLength": Operator(_sequence_length, cost=view),
    "SplitToSequence": Operator(_split_to_sequence, cost=free, number_inputs=(0,), work=WorkClass.MOVE),
    "ConcatFromSequence": Operator(_concat_from_sequence, cost=free, traits={Trait.JOINS}, work=WorkClass.MOVE),
    "Optional": Operator(_optional, cost=view, traits={Trait.FORWARDS}),
    "OptionalGetElement": Operator(_optional_get_element, cost=view, traits={Trait.FORWARDS}),
    "OptionalHasElement": Operator(_optional_has_element, cost=view),
}


CONTROL_FLOW: dict[str, Operator] = {
    "If": Operator(traits={Trait.CONTROL_FLOW, Trait.BRANCH}),
    "Loop": Operator(traits={Trait.CONTROL_FLOW, Trait.LOOP}, constraints={0: ONE}),
    "Scan": Operator(
        traits={Trait.CONTROL_FLOW, Trait.LOOP},
        choices=dict.fromkeys(("directions", "scan_input_directions", "scan_output_directions"), FLAG),
    ),
    "SequenceMap": Operator(traits={Trait.CONTROL_FLOW, Trait.LOOP}),
}
