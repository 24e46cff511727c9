"""What one step costs, by its operator's entry."""

from msgspec import Struct

from onnx_autodoc.ops import Call, Cost, Dim, NotKnown, Unknown, find, nbytes
from onnx_autodoc.shapes import SLIPS, Step, unfit
from onnx_autodoc.text import told

_NONE = Cost(0, 0, 0, 0)


class Priced(Struct, frozen=True):
    """A step's cost, once. `gap` says why its arithmetic is not known."""

    cost: Cost
    gap: str = ""


_FREE = Priced(_NONE)


def price(step: Step, bookkeeping: bool) -> Priced:
    if step.bodies:
        return _FREE  # what runs inside is counted there
    try:
        cost = _by_rule(step)
    except NotKnown as reason:
        cost = Cost(Unknown(str(reason)), Unknown(str(reason)))
    if bookkeeping:
        cost = Cost(cost.macs, 0, cost.read, cost.written)
    read = _read(step) if cost.read is None else cost.read
    written = _written(step) if cost.written is None else cost.written
    return Priced(Cost(cost.macs, cost.other, read, written), _why(cost.macs) or _why(cost.other))


def _by_rule(step: Step) -> Cost:
    node = step.node
    entry = find(node.domain, node.op)
    if entry is None or entry.cost is None:
        raise NotKnown(step.gap or "there is no rule for " + told(f"{node.domain or 'ai.onnx'}.{node.op}"))
    if step.gap and any(node.inputs) and not any(step.inputs):
        raise NotKnown(step.gap)  # left alone: its inputs are there, and were not looked at
    call = Call(node, step.inputs, step.version, step.outputs)
    try:
        cost = entry.cost(call)
    except SLIPS:
        raise unfit(call) from None
    if any(type(number) is int and number < 0 for number in (cost.macs, cost.other, cost.read, cost.written)):
        raise NotKnown(f"{told(node.op)} has attributes by which it would cost less than nothing")
    return cost


def _why(number: Dim) -> str:
    return number.why if isinstance(number, Unknown) else ""


def _read(step: Step) -> Dim:
    """Each input once, however often the node names it."""
    inputs = dict(zip(step.node.inputs, step.inputs))
    return sum((nbytes(known) for known in inputs.values() if known is not None), start=0)


def _written(step: Step) -> Dim:
    made = zip(step.node.outputs, step.outputs)
    return sum((nbytes(known) for name, known in made if name), start=0)
