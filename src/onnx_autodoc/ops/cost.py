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
    """none: moves, casts or creates data"""
    return NO_COST


def view(call: Call) -> Cost:
    """none, and no bytes moved: a view of the same data, or its shape"""
    return Cost(read=0, written=0)


def reads_picked_elements(call: Call) -> Cost:
    """none: reads only the selected elements of the first input, and the other inputs"""
    taken = [nbytes(known) for known in call.outputs]
    others = [nbytes(known) for known in call.inputs[1:] if known is not None]
    return Cost(read=sum(taken + others, start=0))


def documented(doc: str, rule: CostRule) -> CostRule:
    """Set the line of a rule in docs/costs.md."""
    rule.__doc__ = doc
    return rule


def _flops(count: int) -> str:
    return f"{count} FLOP{'s' * (count != 1)}"


def per_output_element(count: int, parts: str) -> CostRule:
    """Return a rule that counts `count` operations per element of the first output."""
    return documented(
        f"{_flops(count)} per output element: {parts}", lambda call: Cost(other=count * size(call.output()))
    )


def per_input_element(count: int, parts: str, per_output: int = 0) -> CostRule:
    """Return a rule that counts operations per element of the first input and per element of the first output."""

    def rule(call: Call) -> Cost:
        return Cost(other=count * size(call.shape(0)) + (per_output * size(call.output()) if per_output else 0))

    outputs = f", {per_output} per output element" if per_output else ""
    return documented(f"{_flops(count)} per input element{outputs}: {parts}", rule)


def unknown_arithmetic(why: str) -> CostRule:
    """Return the rule of an operator without multiply-adds whose other arithmetic depends on the data."""
    return documented(
        f"no MACs; other arithmetic is unknown: {why}", lambda call: Cost(other=Unknown(f"{call.node.op}: {why}"))
    )


def uncounted(why: str) -> CostRule:
    """Return the rule of an operator whose cost does not follow from shapes; its nodes are gaps."""

    def rule(call: Call) -> NoReturn:
        raise InferenceError(f"{call.node.op}: {why}")

    return documented(f"unknown: {why}", rule)


def nbytes(known: ValueInfo) -> Dim:
    """Return the size of a value in bytes, or `Unknown` with the reason."""
    if known.kind != "tensor" and known.items is None:
        return Unknown(known.why or f"the length of the {known.kind} is data-dependent")
    if known.kind != "tensor":
        return sum(map(nbytes, known.items or ()), start=0)
    if known.shape is None or known.dtype is None:
        return Unknown(known.reason or "its element type is unknown")
    count = size(known.shape)
    if isinstance(count, Unknown):
        return count
    stored = stored_bytes(known.dtype, count)
    return Unknown("strings have no fixed size") if stored is None else stored


def generated(call: Call) -> Cost:
    """none, and reads nothing: data generated from a shape or a few numbers"""
    return Cost(read=0)


def standardization_cost(elements: Dim, rows: Dim, more: int = 0) -> Cost:
    """Return the cost of (x - mean) / sqrt(variance + epsilon) per row, followed by `more` operations per element.

    5 per element: mean, difference, square, mean, quotient. 4 per row: two divisions for the means, epsilon, root.
    """
    return Cost(other=elements * (5 + more) + 4 * rows)


def interpolation_ops(taps: int) -> int:
    """Return the operations of one interpolated element: a product per tap, and their sum."""
    return 2 * taps - 1 if taps > 1 else 0


# index of an input or output -> the axis along which a part is accessed, and the greatest number of elements there
PartialAccess = Mapping[int, tuple[int, Dim]]


def bytes_read(call: Call, parts: PartialAccess) -> Dim:
    """Return the bytes that a node reads, if it reads only a part of some inputs."""
    return _count_bytes(call.node.inputs, call.inputs, parts)


def bytes_written(call: Call, parts: PartialAccess) -> Dim:
    """Return the bytes that a node writes, if it writes only a part of some outputs."""
    return _count_bytes(call.node.outputs, call.outputs, parts)


def _count_bytes(names: Sequence[str], values: Sequence[ValueInfo | None], parts: PartialAccess) -> Dim:
    """Count each value once, however often the node names it."""
    accessed: dict[str, ValueInfo] = {}
    for at, (name, known) in enumerate(zip(names, values)):
        if not name or known is None:
            continue
        if at in parts and known.shape is not None and parts[at][0] < len(known.shape):
            axis, limit = parts[at]
            whole = known.shape[axis]
            part = limit if isinstance(whole, Unknown) or isinstance(limit, Unknown) else max(0, min(whole, limit))
            known = with_shape(known, (*known.shape[:axis], part, *known.shape[axis + 1 :]))
        accessed[name] = known
    return sum(map(nbytes, accessed.values()), start=0)
