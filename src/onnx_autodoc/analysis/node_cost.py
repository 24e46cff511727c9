"""The cost of one node, by the rule of its operator."""

from msgspec import Struct

from onnx_autodoc.ops import Call, Cost, Dim, InferenceError, Unknown, find, nbytes
from onnx_autodoc.shapes import RULE_ERRORS, Step, rule_failure
from onnx_autodoc.text import quote_name

_NONE = Cost(0, 0, 0, 0)


class PricedStep(Struct, frozen=True):
    """A step's cost, once. `gap` says why its arithmetic is not known."""

    cost: Cost
    gap: str = ""


_FREE = PricedStep(_NONE)


class PriceCache:
    """The price of each step, once for equal calls."""

    def __init__(self) -> None:
        self._by_call: dict[tuple[int, bool], PricedStep] = {}
        self._others: dict[tuple[int, bool], tuple[Step, PricedStep]] = {}  # by the id of a step, which is kept alive

    def of(self, step: Step, bookkeeping: bool) -> PricedStep:
        if step.call_id:
            key = (step.call_id, bookkeeping)
            found = self._by_call.get(key)
            if found is None:
                found = self._by_call[key] = price(step, bookkeeping)
            return found
        other = self._others.get((id(step), bookkeeping))
        if other is None:
            other = self._others[id(step), bookkeeping] = step, price(step, bookkeeping)
        return other[1]


def price(step: Step, bookkeeping: bool) -> PricedStep:
    if step.bodies:
        return _FREE  # what runs inside is counted there
    try:
        cost = _by_rule(step)
    except InferenceError as reason:
        cost = Cost(Unknown(str(reason)), Unknown(str(reason)))
    if bookkeeping:
        cost = Cost(cost.macs, 0, cost.read, cost.written)
    read = _read(step) if cost.read is None else cost.read
    written = _written(step) if cost.written is None else cost.written
    return PricedStep(Cost(cost.macs, cost.other, read, written), _why(cost.macs) or _why(cost.other))


def _by_rule(step: Step) -> Cost:
    node = step.node
    entry = find(node.domain, node.op)
    if entry is None or entry.cost is None:
        raise InferenceError(step.gap or "there is no rule for " + quote_name(f"{node.domain or 'ai.onnx'}.{node.op}"))
    if step.gap and any(node.inputs) and not any(step.inputs):
        raise InferenceError(step.gap)  # left alone: its inputs are there, and were not looked at
    call = Call(node, step.inputs, step.version, step.outputs)
    try:
        cost = entry.cost(call)
    except RULE_ERRORS:
        raise rule_failure(call) from None
    if any(type(number) is int and number < 0 for number in (cost.macs, cost.other, cost.read, cost.written)):
        raise InferenceError(f"{quote_name(node.op)} has attributes by which it would cost less than nothing")
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
