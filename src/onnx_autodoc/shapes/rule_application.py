"""Application of an operator's rules to one node: the dims first, then the elements if they are few."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from onnx_autodoc.ir import MAX_INT64, is_float
from onnx_autodoc.ops import (
    MAX_ELEMENTS,
    Array,
    Call,
    Contradiction,
    InferenceError,
    Operator,
    Unknown,
    ValueInfo,
    is_array_size,
    numpy_dtype,
)
from onnx_autodoc.text import quote_name

_MAX_LISTED_ELEMENTS: Final = 16  # more elements list no sizes
_MAX_FLOATS: Final = 4096  # floating-point values that steer shapes are scales and bounds: few
_MAX_READ_ELEMENTS: Final = 1 << 22  # of all inputs, for the elements of one node
_MAX_NESTED_CONTAINERS: Final = 3  # an optional sequence is two
# Python's errors where a node has attributes or inputs that its operator does not accept. One malformed node
# must cost that node, not the card, so these become the node's gap.
RULE_ERRORS: Final = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)


def apply_rules(operator: Operator, call: Call, max_elements: int = MAX_ELEMENTS) -> list[ValueInfo]:
    """Return the outputs of a node, with the elements of those that have at most `max_elements`.

    Raises InferenceError if the rule cannot infer them.
    """
    try:
        inferred = operator.infer(call)
    except RULE_ERRORS:
        raise rule_failure(call) from None
    outputs = [_check_output(known, call) for known in inferred]
    if operator.value is None or not outputs or any(known.value is not None for known in outputs):
        return outputs
    return _add_elements(operator, call, outputs, max_elements)


def rule_failure(call: Call) -> InferenceError:
    """Return the gap of a node whose rule failed. It is no contradiction: the fault may be the rule's."""
    return InferenceError(f"the rule for {quote_name(call.node.op)} failed on this node's inputs or attributes")


def _check_output(known: ValueInfo, call: Call) -> ValueInfo:
    if known.kind != "tensor" and not _extends_input(known, call) and _nests_too_deep(known):
        raise Contradiction(f"{call.node.op} nests sequences or optionals too deeply: no runtime accepts such a value")
    for dim in known.shape or ():
        if type(dim) is not int and not isinstance(dim, Unknown):
            raise Contradiction(f"{call.node.op} produces a non-integer size ({dim})")
        if type(dim) is int and not 0 <= dim <= MAX_INT64:
            raise Contradiction(f"{call.node.op} produces a size {f'of {dim}' if dim < 0 else 'beyond 64 bits'}")
    return known


def _extends_input(known: ValueInfo, call: Call) -> bool:
    """Whether it is the input sequence with a tensor inserted or removed: it may be long, but nests no deeper."""
    first, *others = call.inputs or (None,)
    if first is None or not first.items or not known.items or any(item and item.kind != "tensor" for item in others):
        return False
    return known.items[0] is first.items[0] or known.items[-1] is first.items[-1]


def _nests_too_deep(known: ValueInfo) -> bool:
    """Whether sequences and optionals nest deeper than ONNX allows: each node may wrap the value of the one before."""
    level = [known]
    for _ in range(_MAX_NESTED_CONTAINERS):
        inner = (item for container in level for item in (container.element, *(container.items or ())))
        level = list({id(item): item for item in inner if item is not None and item.kind != "tensor"}.values())
    return bool(level)


def _add_elements(operator: Operator, call: Call, outputs: list[ValueInfo], max_elements: int) -> list[ValueInfo]:
    inputs = [known for known in call.inputs if known is not None]
    arrays = [_list_elements(known) if operator.partial else known.value for known in inputs]
    if any(array is None for array in arrays) or not all(_is_small(known, max_elements) for known in outputs):
        return outputs
    if sum(array.size for array in arrays if array is not None) > _MAX_READ_ELEMENTS:
        return outputs
    if not operator.partial and any(array is not None and array.dtype == object for array in arrays):
        return outputs
    try:
        assert operator.value is not None
        values = operator.value(call, arrays)  # type: ignore[arg-type]
        has_unlisted = any(known.value is None for known in inputs)
        if has_unlisted and any(array.dtype == object and all(map(_is_unknown, array.flat)) for array in values):
            return outputs
        return [_with_elements(known, at, values) for at, known in enumerate(outputs)]
    except (InferenceError, *RULE_ERRORS):
        return outputs  # the dims are valid; the elements are known only at run time


def _list_elements(known: ValueInfo) -> Array | None:
    """Return the elements of an input. Each of a few unknown integers becomes an `Unknown`."""
    dims = known.concrete
    if known.value is not None or dims is None or known.dtype not in ("int32", "int64"):
        return known.value
    if not is_array_size(dims) or math.prod(dims) > _MAX_LISTED_ELEMENTS:
        return None
    array = np.empty(dims, object)
    why = known.why or "its elements are known only at run time"
    array.reshape(-1)[:] = [Unknown(why) for _ in range(array.size)]
    return array


def _is_unknown(item: object) -> bool:
    return isinstance(item, Unknown)


def _is_small(known: ValueInfo, max_elements: int) -> bool:
    dims = known.concrete
    if dims is None:
        return False
    most = min(max_elements, _MAX_FLOATS) if is_float(known.dtype) else max_elements
    return is_array_size(dims) and math.prod(dims) <= most


def _with_elements(known: ValueInfo, at: int, values: Sequence[Array]) -> ValueInfo:
    dtype, dims = numpy_dtype(known.dtype), known.concrete
    if at >= len(values) or dims is None:
        return known
    array = values[at]
    if array.shape != dims:
        array = array.reshape(dims) if array.size == math.prod(dims) else np.broadcast_to(array, dims)
    if array.dtype == object and any(map(_is_unknown, array.flat)):
        return ValueInfo(known.dtype, known.shape, array)
    return ValueInfo(known.dtype, known.shape, array.astype(dtype)) if dtype is not None else known
