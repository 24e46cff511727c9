"""Constraints on integer inputs: an index below the rows of a table, a length, a size, an axis.

An index beyond its table stops a run, and a zero may do so where a size is required: inputs that are generated for a
model must respect these constraints. Rows of operators declare them by input.
"""

from collections.abc import Callable

from msgspec import Struct

from onnx_autodoc.ir import TruncatedList
from onnx_autodoc.ops.call import Call


class InputConstraint(Struct, frozen=True):
    """Numbers below `below`, one number that is always valid (`exactly`), or one of some categories (`among`)."""

    below: int | None = None
    exactly: int | float | None = None
    distinct: bool = False  # count up from `exactly`: no two numbers may be equal
    among: tuple[int | float | str, ...] = ()  # other categories stop the run


ConstraintRule = Callable[[Call], InputConstraint | None]


def _dims(call: Call, index: int) -> tuple[int | None, ...] | None:
    info = call.inputs[index] if index < len(call.inputs) else None
    if info is None or info.shape is None:
        return None
    return tuple(dim if type(dim) is int else None for dim in info.shape)


def _dim(call: Call, index: int, axis: int) -> int | None:
    dims = _dims(call, index)
    return dims[axis] if dims is not None and -len(dims) <= axis < len(dims) else None


def _int_attribute(call: Call, name: str, default: int) -> int:
    value = call.node.attributes.get(name)
    return value if isinstance(value, int) else default


def index_into(table: int, axis: str | int = 0) -> ConstraintRule:
    """An index along an axis of another input. `axis` is an axis or the attribute that has it."""

    def rule(call: Call) -> InputConstraint | None:
        rows = _dim(call, table, axis if isinstance(axis, int) else _int_attribute(call, axis, 0))
        return InputConstraint(below=rows) if rows else None

    return rule


def nd_index(call: Call) -> InputConstraint | None:
    """Indices of GatherND and ScatterND: one number for each of the first axes."""
    dims, count = _dims(call, 0), _dim(call, 1, -1)
    if dims is None or count is None:
        return None
    start = _int_attribute(call, "batch_dims", 0)
    sizes = [size for size in dims[start : start + count] if size]
    return InputConstraint(below=min(sizes)) if sizes else None


def axis_size(call: Call) -> InputConstraint | None:
    """The lengths of ReverseSequence: the size of the time axis."""
    size = _dim(call, 0, _int_attribute(call, "time_axis", 0))
    return InputConstraint(exactly=size) if size is not None else None


def time_steps(call: Call) -> InputConstraint | None:
    """The length of the sequence that a recurrent operator reads: its first axis, or the second after the batch."""
    size = _dim(call, 0, 1 if _int_attribute(call, "layout", 0) else 0)
    return InputConstraint(exactly=size) if size is not None else None


def total_tokens(minus: int) -> ConstraintRule:
    """The number of new and past tokens of GroupQueryAttention and SparseAttention."""

    def rule(call: Call) -> InputConstraint | None:
        new, past = _dim(call, 0, 1), _dim(call, 3, 2) or 0
        return InputConstraint(exactly=new + past - minus) if new is not None else None

    return rule


def rotary_position(table: int, index: int) -> ConstraintRule:
    """Positions below the rows of a table of angles. A single one is the position of the first token."""

    def rule(call: Call) -> InputConstraint | None:
        size = _dim(call, table, 0)
        if _dims(call, index) in ((1,), ()):
            return InputConstraint(exactly=0)
        return InputConstraint(below=size) if size else None

    return rule


def always(number: float) -> ConstraintRule:
    return lambda _: InputConstraint(exactly=number)


def one_hot_index(call: Call) -> InputConstraint | None:
    """An index below the depth of OneHot. Larger ones are valid but yield zeros."""
    info = call.inputs[1] if len(call.inputs) > 1 else None
    value = info.value if info is not None else None
    is_number = value is not None and value.size == 1 and value.dtype.kind in "iuf"
    return InputConstraint(below=int(value.reshape(-1)[0])) if value is not None and is_number else None


def same_shape(call: Call) -> InputConstraint | None:
    """A target shape of Reshape: 0 keeps a size, -1 is inferred."""
    dims, count = _dims(call, 0), _dim(call, 1, 0)
    return InputConstraint(exactly=-1 if count == 1 and dims != () else 0 if dims and count == len(dims) else 1)


def known_category(call: Call) -> InputConstraint | None:
    """A category that an encoder lists, if it rejects others."""
    for key in ("cats_int64s", "cats_strings"):
        value = call.node.attributes.get(key)
        items = value.first if isinstance(value, TruncatedList) else value
        if isinstance(items, tuple) and items and not _int_attribute(call, "zeros", 1):
            return InputConstraint(among=tuple(item for item in items if isinstance(item, int | str)))
    return None


def numeric_text(call: Call) -> InputConstraint | None:
    """Text that is cast to a number."""
    info = call.inputs[0]
    return InputConstraint(among=("1",)) if info is not None and info.dtype == "string" else None


def equal_parts(call: Call) -> InputConstraint | None:
    """Sizes that split an axis into equal parts."""
    size = _dim(call, 0, _int_attribute(call, "axis", 0))
    return InputConstraint(exactly=size // len(call.outputs)) if size and call.outputs else None


def distinct_axes(call: Call) -> InputConstraint:
    return InputConstraint(exactly=0, distinct=True)


ONE, ZERO = always(1), always(0)
