"""What one node costs, and the convention that all costs follow.

One multiply-add is one MAC and two FLOPs. `macs` are the multiply-adds of matrix products, convolutions, recurrent
cells and attention, as the operator defines them: padding is multiplied, masked scores are computed; adding a bias is
none. `other` is all other arithmetic: one for each addition, multiplication, division, comparison, rounding and
elementary function (exp, log, sqrt, tanh, erf, sigmoid ...) of one element. A fused operator costs what its parts cost
where an exporter writes them out. Moving, picking, casting and shaping data is no arithmetic.

A price's docstring is its line in docs/costs.md.
"""

from collections.abc import Callable
from typing import Final, NoReturn

from msgspec import Struct

from onnx_autodoc.ir import stored_bytes
from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._known import Dim, Known, NotKnown, Unknown


class Cost(Struct, frozen=True):
    """Of a node, or of many: costs add up. A number that only the data decides is an `Unknown`."""

    macs: Dim = 0
    other: Dim = 0
    read: Dim | None = None  # bytes; None: all its inputs
    written: Dim | None = None  # bytes; None: all its outputs

    @property
    def flops(self) -> Dim:
        return 2 * self.macs + self.other


Price = Callable[[Call], Cost]
NOTHING: Final = Cost()


def free(call: Call) -> Cost:
    """none: data are moved, cast or made"""
    return NOTHING


def view(call: Call) -> Cost:
    """none, and no bytes: the same data under another shape, or the shape itself"""
    return Cost(read=0, written=0)


def picked(call: Call) -> Cost:
    """none: reads only the elements that it hands on, and the other inputs"""
    taken = [nbytes(known) for known in call.outputs]
    others = [nbytes(known) for known in call.inputs[1:] if known is not None]
    return Cost(read=sum(taken + others, start=0))


def each(count: int, parts: str) -> Price:
    """So many operations for each element of the first output."""

    def price(call: Call) -> Cost:
        return Cost(other=count * size(call.output(0)))

    price.__doc__ = f"{count} per element of the output: {parts}"
    return price


def each_input(count: int, parts: str) -> Price:
    """So many operations for each element of the first input."""

    def price(call: Call) -> Cost:
        return Cost(other=count * size(call.shape(0)))

    price.__doc__ = f"{count} per element of the input: {parts}"
    return price


def untold(why: str) -> Price:
    """An operator without multiply-adds, whose other arithmetic the shapes do not tell: listed with the reason."""

    def price(call: Call) -> Cost:
        return Cost(other=Unknown(f"{call.node.op}: {why}"))

    price.__doc__ = f"no multiply-adds; the rest is not counted: {why}"
    return price


def uncounted(why: str) -> Price:
    """An operator whose cost is not told by the shapes: listed on the card, with the reason."""

    def price(call: Call) -> NoReturn:
        raise NotKnown(f"{call.node.op}: {why}")

    price.__doc__ = f"not counted: {why}"
    return price


def nbytes(known: Known) -> Dim:
    """The bytes that a value takes, or `Unknown` with the reason."""
    if known.kind != "tensor":
        return _of_many(known)
    if known.shape is None or known.dtype is None:
        return Unknown(known.reason or "its element type is not known")
    count = size(known.shape)
    if isinstance(count, Unknown):
        return count
    stored = stored_bytes(known.dtype, count)
    return Unknown("strings have no fixed size") if stored is None else stored


def _of_many(known: Known) -> Dim:
    """A sequence takes what its tensors take, where it is known which those are."""
    if known.items is None:
        return Unknown(known.why or f"how long the {known.kind} is, the data decide")
    return sum((nbytes(item) for item in known.items), start=0)
