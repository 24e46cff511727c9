"""Applying one operator's rule to one node: dims first, then the elements where they are few."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from onnx_autodoc.ir import is_float
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
    load_plugins,
    numpy_dtype,
    unknown_value,
)
from onnx_autodoc.text import quote_name

_NO_SIZE: Final = 1 << 128  # ONNX has 64 bits for a size; up to here we tell how far beyond them it is
MAX_LISTED: Final = 16  # more elements list no sizes
MAX_FLOATS: Final = 4096  # floating-point values that steer shapes are scales and bounds: few
_MOST_READ: Final = 1 << 22  # elements, for the elements of one node
_DEEPEST: Final = 3  # an optional sequence is two
# What Python raises when a file gives a rule attributes or inputs that the operator does not take. One malformed node
# must cost that node, not the card, so these become the node's gap.
RULE_ERRORS: Final = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)


def apply(operator: Operator, call: Call, most: int = MAX_ELEMENTS) -> list[ValueInfo]:
    """What is known of a node's outputs, with their elements where there are at most so many.

    Raises InferenceError where the rule cannot tell.
    """
    try:
        found = operator.infer(call)
    except RULE_ERRORS:
        raise rule_failure(call) from None
    outputs = [_checked(known, call) for known in found]
    if operator.value is None or not outputs or any(known.value is not None for known in outputs):
        return outputs
    return _with_values(operator, call, outputs, most)


def rule_failure(call: Call) -> InferenceError:
    """Not held against the file: what a rule of ours did not expect may be the rule's fault."""
    return InferenceError(f"the rule for {quote_name(call.node.op)} could not be applied to what this node has")


def _checked(known: ValueInfo, call: Call) -> ValueInfo:
    if known.kind != "tensor" and not _grows(known, call) and nests(known):
        raise Contradiction(f"{call.node.op} holds what holds what holds …: no runtime takes such a value")
    for dim in known.shape or ():
        if type(dim) is not int and not isinstance(dim, Unknown):
            raise Contradiction(f"{call.node.op} gives a size that is no whole number ({dim})")
        if type(dim) is int and not 0 <= dim < _NO_SIZE:
            raise Contradiction(f"{call.node.op} gives a size of {dim}{' and more' * (dim > 0)}")
    return known


def _grows(known: ValueInfo, call: Call) -> bool:
    """Whether it is the sequence that came in with a tensor put in or taken out: it may be long, and holds no other."""
    first, *others = call.inputs or (None,)
    if first is None or not first.items or not known.items or any(each and each.kind != "tensor" for each in others):
        return False
    return known.items[0] is first.items[0] or known.items[-1] is first.items[-1]


def nests(known: ValueInfo) -> bool:
    """Sequences and optionals in each other, deeper than ONNX has them: each node may wrap what the one before made."""
    level = [known]
    for _ in range(_DEEPEST):
        inner = (held for each in level for held in (each.element, *(each.items or ())))
        level = list({id(held): held for held in inner if held is not None and held.kind != "tensor"}.values())
    return bool(level)


def _with_values(operator: Operator, call: Call, outputs: list[ValueInfo], most: int) -> list[ValueInfo]:
    inputs = [known for known in call.inputs if known is not None]
    arrays = [_listed(known) if operator.partial else known.value for known in inputs]
    if any(array is None for array in arrays) or not all(_small(known, most) for known in outputs):
        return outputs
    if sum(array.size for array in arrays if array is not None) > _MOST_READ:
        return outputs
    if not operator.partial and any(array is not None and array.dtype == object for array in arrays):
        return outputs
    try:
        assert operator.value is not None
        values = operator.value(call, arrays)  # type: ignore[arg-type]
        if any(known.value is None for known in inputs) and not all(map(_says_something, values)):
            return outputs
        return [_valued(known, at, values) for at, known in enumerate(outputs)]
    except (InferenceError, *RULE_ERRORS):
        return outputs  # the dims stand; the elements are only known when the model runs


def _listed(known: ValueInfo) -> Array | None:
    """The elements of an input; a few integers that are not known are `Unknown` one by one, beside others that are."""
    dims = known.concrete
    if known.value is not None or dims is None or known.dtype not in ("int32", "int64"):
        return known.value
    if not is_array_size(dims) or math.prod(dims) > MAX_LISTED:
        return None
    array = np.empty(dims, object)
    why = known.why or "its elements are only known when the model runs"
    array.reshape(-1)[:] = [Unknown(why) for _ in range(array.size)]
    return array


def _says_something(array: Array) -> bool:
    return array.dtype != object or not all(isinstance(item, Unknown) for item in array.flat)


def _small(known: ValueInfo, most: int) -> bool:
    dims = known.concrete
    if dims is None:
        return False
    return is_array_size(dims) and math.prod(dims) <= (min(most, MAX_FLOATS) if is_float(known.dtype) else most)


def _valued(known: ValueInfo, at: int, values: Sequence[Array]) -> ValueInfo:
    kind = numpy_dtype(known.dtype)
    dims = known.concrete
    if at >= len(values) or dims is None:
        return known
    array = values[at]
    if array.shape != dims:
        array = array.reshape(dims) if array.size == math.prod(dims) else np.broadcast_to(array, dims)
    if array.dtype == object and any(isinstance(item, Unknown) for item in array.flat):
        return ValueInfo(known.dtype, known.shape, array)
    return ValueInfo(known.dtype, known.shape, array.astype(kind)) if kind is not None else known


def missing(call: Call) -> list[ValueInfo]:
    """The outputs of an operator that the tool has no rule for."""
    domain = call.node.domain or "ai.onnx"
    why = f"there is no rule for the operator {quote_name(call.node.op)} of {quote_name(domain)}"
    why = "; ".join((why, *load_plugins()))
    return [unknown_value(why) for _ in call.node.outputs]
