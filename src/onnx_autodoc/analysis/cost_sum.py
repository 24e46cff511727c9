"""The cost of one node, by the rule of its operator, and sums of costs with the nodes whose cost is unknown."""

import heapq
from collections import Counter
from typing import Final

from msgspec import Struct, field

from onnx_autodoc.ops import Call, Cost, Dim, InferenceError, Unknown, find, nbytes
from onnx_autodoc.shapes import RULE_ERRORS, Step, rule_failure
from onnx_autodoc.text import quote_name

MAX_NAMED_NODES: Final = 10  # nodes named for one gap, and nodes listed as the most expensive


class PricedStep(Struct, frozen=True):
    """A step's cost, once. `gap` is the reason why its arithmetic is unknown."""

    cost: Cost
    gap: str = ""


_FREE: Final = PricedStep(Cost(0, 0, 0, 0))


class PriceCache:
    """The price of each step, once for equal calls."""

    def __init__(self) -> None:
        # A step without a call id is identified by its address, so it must stay alive.
        self._prices: dict[tuple[int, bool], tuple[PricedStep, Step | None]] = {}

    def of(self, step: Step, bookkeeping: bool) -> PricedStep:
        key = (step.call_id or -id(step), bookkeeping)
        cached = self._prices.get(key)
        if cached is None:
            cached = self._prices[key] = _price(step, bookkeeping), None if step.call_id else step
        return cached[0]


def _price(step: Step, bookkeeping: bool) -> PricedStep:
    if step.bodies:
        return _FREE  # the nodes of its bodies have the cost
    try:
        cost = _apply_rule(step)
    except InferenceError as reason:
        cost = Cost(Unknown(str(reason)), Unknown(str(reason)))
    other = 0 if bookkeeping else cost.other
    read, written = cost.read, cost.written
    if read is None:  # each input once, however often the node names it
        inputs = dict(zip(step.node.inputs, step.inputs))
        read = sum((nbytes(known) for known in inputs.values() if known is not None), start=0)
    if written is None:
        written = sum((nbytes(known) for name, known in zip(step.node.outputs, step.outputs) if name), start=0)
    reasons = (number.why for number in (cost.macs, other) if isinstance(number, Unknown) and number.why)
    return PricedStep(Cost(cost.macs, other, read, written), next(reasons, ""))


def _apply_rule(step: Step) -> Cost:
    node = step.node
    entry = find(node.domain, node.op)
    if entry is None or entry.cost is None:
        raise InferenceError(step.gap or "no cost rule for " + quote_name(f"{node.domain or 'ai.onnx'}.{node.op}"))
    if step.gap and any(node.inputs) and not any(step.inputs):
        raise InferenceError(step.gap)  # shape inference stopped before this node
    call = Call(node, step.inputs, step.version, step.outputs)
    try:
        cost = entry.cost(call)
    except RULE_ERRORS:
        raise rule_failure(call) from None
    if any(type(number) is int and number < 0 for number in (cost.macs, cost.other, cost.read, cost.written)):
        raise InferenceError(f"{quote_name(node.op)} has attributes that give a negative cost")
    return cost


def known_or_zero(number: Dim | None) -> int:
    """Return a number for a sum; 0 where it is unknown, which is listed separately."""
    return number if type(number) is int else 0


class UncountedNodes(Struct):
    """Nodes of one operator whose cost is unknown for one reason."""

    count: int = 0
    macs: bool = False  # whether multiply-adds are among the unknown numbers
    nodes: list[str] = field(default_factory=list)


class _Work(Struct):
    macs: int = 0
    other: int = 0  # FLOPs that are no multiply-adds
    read: int = 0  # bytes
    written: int = 0

    @property
    def flops(self) -> int:
        return 2 * self.macs + self.other

    def add_work(self, more: "_Work", times: int) -> None:
        self.macs += more.macs * times
        self.other += more.other * times
        self.read += more.read * times
        self.written += more.written * times


class OperatorCost(_Work):
    unmoved: int = 0  # nodes whose bytes are unknown
    more_macs: bool = False  # these run an unknown number of times: the count is a lower bound
    more_other: bool = False


class CostSum(_Work):
    """The cost of a list of steps with all that runs inside them. `counted` of `nodes` have a known cost."""

    spared_macs: int = 0  # the difference to a run of the least expensive data-dependent branches
    spared_other: int = 0
    nodes: int = 0
    counted: int = 0
    operators: dict[tuple[str, str], OperatorCost] = field(default_factory=dict)
    missing: dict[tuple[str, str], UncountedNodes] = field(default_factory=dict)  # (operator, reason)
    unmoved: Counter[str] = field(default_factory=Counter)  # nodes whose bytes are unknown, by reason
    top: list[tuple[int, str, str]] = field(default_factory=list)  # (macs, node, operator), the most expensive
    notes: dict[str, None] = field(default_factory=dict)
    sized: bool = False  # whether sizes select a branch somewhere: at other sizes another one may run

    def add_step(self, step: Step, priced: PricedStep) -> None:
        cost, node = priced.cost, step.node
        macs, other, read, written = (
            known_or_zero(cost.macs),
            known_or_zero(cost.other),
            known_or_zero(cost.read),
            known_or_zero(cost.written),
        )
        self.nodes += 1
        self.counted += not priced.gap
        operator = self.operators.setdefault((node.domain, node.op), OperatorCost())
        for work in (self, operator):
            work.macs += macs
            work.other += other
            work.read += read
            work.written += written
        if macs:
            self.top.append((macs, node.label(step.at), node.op))
        if priced.gap:
            self.add_uncounted(node.op, priced.gap, node.label(step.at), isinstance(cost.macs, Unknown))
        for number in (cost.read, cost.written):
            if isinstance(number, Unknown):
                self.unmoved[number.why] += 1
                operator.unmoved += 1
                break

    def add_uncounted(self, op: str, why: str, name: str, macs: bool) -> None:
        uncounted = self.missing.setdefault((op, why), UncountedNodes())
        uncounted.count += 1
        uncounted.macs |= macs
        if len(uncounted.nodes) < MAX_NAMED_NODES:
            uncounted.nodes.append(name)

    def add_runs(self, inner: "CostSum", times: int, path: str) -> None:
        """Add the cost of a body that runs `times` times."""
        self.add_work(inner, times)
        self.spared_macs += inner.spared_macs * times
        self.spared_other += inner.spared_other * times
        for key, work in inner.operators.items():
            self.operators.setdefault(key, OperatorCost()).add_work(work, times)
        self.top.extend((macs * times, f"{path}/{name}", op) for macs, name, op in inner.most_expensive() if times)

    def add_nodes(self, inner: "CostSum", path: str) -> None:
        """Add the nodes of a body, and the unknown numbers among their costs."""
        self.nodes += inner.nodes
        self.counted += inner.counted
        self.notes |= inner.notes
        self.sized |= inner.sized
        self.unmoved += inner.unmoved
        for key, cost in inner.operators.items():
            total = self.operators.setdefault(key, OperatorCost())
            total.unmoved += cost.unmoved
            total.more_macs |= cost.more_macs
            total.more_other |= cost.more_other
        for (op, why), missing in inner.missing.items():
            uncounted = self.missing.setdefault((op, why), UncountedNodes())
            uncounted.count += missing.count
            uncounted.macs |= missing.macs
            uncounted.nodes += [f"{path}/{name}" for name in missing.nodes][: MAX_NAMED_NODES - len(uncounted.nodes)]

    def mark_lower_bounds(self, inner: "CostSum", why: str) -> None:
        """Mark the cost of a body that runs an unknown number of times as a lower bound."""
        if inner.read or inner.written:
            self.unmoved[why] += 1
        for key, cost in inner.operators.items():
            total = self.operators.setdefault(key, OperatorCost())
            total.unmoved += int(bool(cost.read or cost.written))
            total.more_macs |= bool(cost.macs)
            total.more_other |= bool(cost.other)

    def most_expensive(self) -> list[tuple[int, str, str]]:
        """Return the nodes with the most multiply-adds, the first ones first among equals."""
        self.top = heapq.nlargest(MAX_NAMED_NODES, self.top, key=lambda row: row[0])
        return self.top
