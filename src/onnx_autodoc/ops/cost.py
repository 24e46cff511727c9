"""The cost of one node, and the convention that all costs follow.

One multiply-add is one MAC and two FLOPs. `macs` are the multiply-adds of matrix products, convolutions, recurrent
cells and attention, as the operator defines them: padding is multiplied, masked scores are computed; adding a bias is
none. `other` is all other arithmetic: one for each addition, multiplication, division, comparison, rounding and
elementary function (exp, log, sqrt, tanh, erf, sigmoid ...) of one element. A fused operator costs what its parts cost
where an exporter writes them out. Moving, picking, casting and shaping data is no arithmetic.

The docstring of a cost rule is its line in docs/costs.md.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NoReturn

from msgspec import Struct

from onnx_autodoc.ir import stored_bytes
from onnx_autodoc.ops.call import Call, size
from onnx_autodoc.ops.values import Dim, InferenceError, Unknown, ValueInfo, with_shape


class Cost(Struct, frozen=True):
    """Arithmetic and memory traffic of a node. A number that depends on the data is an `Unknown`."""

    macs: Dim = 0
    other: Dim = 0
    read: Dim | None = None  # bytes; None: all its inputs
    written: Dim | None = None  # bytes; None: all its outputs

    @property
    def flops(self) -> Dim:
        return 2 * self.macs + self.other


CostRule = Callable[[Call], Cost]
NO_COST: Final = Cost()


def free(call: Call) -> Cost:
    """none: data are moved, cast or made"""
    return NO_COST


def view(call: Call) -> Cost:
    """none, and no bytes: the same data under another shape, or the shape itself"""
    return Cost(read=0, written=0)


def reads_picked_elements(call: Call) -> Cost:
    """none: reads only the elements that it hands on, and the other inputs"""
    taken = [nbytes(known) for known in call.outputs]
    others = [nbytes(known) for known in call.inputs[1:] if known is not None]
    return Cost(read=sum(taken + others, start=0))


def per_output_element(count: int, parts: str) -> CostRule:
    """Return a rule that counts `count` operations per element of the first output."""

    def rule(call: Call) -> Cost:
        return Cost(other=count * size(call.output(0)))

    rule.__doc__ = f"{count} per element of the output: {parts}"
    return rule


def per_input_element(count: int, parts: str) -> CostRule:
    """Return a rule that counts `count` operations per element of the first input."""

    def rule(call: Call) -> Cost:
        return Cost(other=count * size(call.shape(0)))

    rule.__doc__ = f"{count} per element of the input: {parts}"
    return rule


def unknown_arithmetic(why: str) -> CostRule:
    """Return the rule of an operator without multiply-adds whose other arithmetic depends on the data."""

    def rule(call: Call) -> Cost:
        return Cost(other=Unknown(f"{call.node.op}: {why}"))

    rule.__doc__ = f"no multiply-adds; the rest is not counted: {why}"
    return rule


def uncounted(why: str) -> CostRule:
    """Return the rule of an operator whose cost does not follow from shapes; its nodes are gaps."""

    def rule(call: Call) -> NoReturn:
        raise InferenceError(f"{call.node.op}: {why}")

    rule.__doc__ = f"not counted: {why}"
    return rule


def nbytes(known: ValueInfo) -> Dim:
    """Return the size of a value in bytes, or `Unknown` with the reason."""
    if known.kind != "tensor":
        return _sequence_bytes(known)
    if known.shape is None or known.dtype is None:
        return Unknown(known.reason or "its element type is not known")
    count = size(known.shape)
    if isinstance(count, Unknown):
        return count
    stored = stored_bytes(known.dtype, count)
    return Unknown("strings have no fixed size") if stored is None else stored


def _sequence_bytes(known: ValueInfo) -> Dim:
    if known.items is None:
        return Unknown(known.why or f"how long the {known.kind} is, the data decide")
    return sum((nbytes(item) for item in known.items), start=0)


def generated(call: Call) -> Cost:
    """none, and nothing is read: data are made by a shape or a few numbers"""
    return Cost(read=0)


def reduction_cost(every: int, once: int, parts: str) -> CostRule:
    """Return a rule with `every` operations per element of the input and `once` per element of the output."""

    def rule(call: Call) -> Cost:
        return Cost(other=every * size(call.shape(0)) + (once * size(call.output()) if once else 0))

    left = f", {once} per element of the output" if once else ""
    rule.__doc__ = f"{every} per element of the input{left}: {parts}"
    return rule


def standardization_cost(elements: Dim, rows: Dim, more: int = 0) -> Cost:
    """Return the cost of (x - mean) / sqrt(variance + epsilon) per row, with `more` operations per element after it.

    5 per element: mean, difference, square, mean, quotient. 4 per row: two divisions for the means, epsilon, root.
    """
    return Cost(other=elements * (5 + more) + 4 * rows)


def interpolation_ops(taps: int) -> int:
    """Return the operations of one interpolated element: a product per tap, and their sum."""
    return 2 * taps - 1 if taps > 1 else 0


# index of an input or output -> the axis along which a part is accessed, and the greatest number of elements there
PartialAccess = Mapping[int, tuple[int, Dim]]


def bytes_read(call: Call, cuts: PartialAccess) -> Dim:
    """Return the bytes that a node reads, if it reads only a part of some inputs."""
    return _bytes(call.node.inputs, call.inputs, cuts)


def bytes_written(call: Call, cuts: PartialAccess) -> Dim:
    """Return the bytes that a node writes, if it writes only a part of some outputs."""
    return _bytes(call.node.outputs, call.outputs, cuts)


def _bytes(names: Sequence[str], values: Sequence[ValueInfo | None], cuts: PartialAccess) -> Dim:
    """Count each value once, however often the node names it."""
    found = {
        name: _cut(known, *cuts[at]) if at in cuts else known
        for at, (name, known) in enumerate(zip(names, values))
        if name and known is not None
    }
    return sum(map(nbytes, found.values()), start=0)


def _cut(known: ValueInfo, axis: int, most: Dim) -> ValueInfo:
    if known.shape is None or axis >= len(known.shape):
        return known
    whole = known.shape[axis]
    kept = most if isinstance(whole, Unknown) or isinstance(most, Unknown) else max(0, min(whole, most))
    return with_shape(known, (*known.shape[:axis], kept, *known.shape[axis + 1 :]))
