"""Sums of costs over many nodes, with the nodes whose cost is unknown listed by reason."""

import heapq
from collections import Counter
from typing import Final

from msgspec import Struct, field

from onnx_autodoc.analysis.node_cost import PricedStep
from onnx_autodoc.ops import Dim, Unknown
from onnx_autodoc.shapes import Step

MAX_NAMED_NODES: Final = 10  # nodes named for one gap, and nodes listed as the most expensive


class UncountedNodes(Struct):
    """Nodes of one operator whose cost is not known for one reason."""

    count: int = 0
    macs: bool = False  # multiply-adds are among what is not known
    nodes: list[str] = field(default_factory=list)


class OperatorCost(Struct):
    macs: int = 0
    other: int = 0
    read: int = 0
    written: int = 0
    unmoved: int = 0  # nodes whose bytes are not known
    more_macs: bool = False  # they run nobody knows how often: what is counted is the least of it
    more_other: bool = False

    @property
    def flops(self) -> int:
        return 2 * self.macs + self.other

    def add(self, more: "OperatorCost", times: int) -> None:
        self.macs += more.macs * times
        self.other += more.other * times
        self.read += more.read * times
        self.written += more.written * times

    def enlist(self, inner: "OperatorCost") -> None:
        """What is not known of it."""
        self.unmoved += inner.unmoved
        self.more_macs |= inner.more_macs
        self.more_other |= inner.more_other


class CostSum(Struct):
    """The cost of a list of steps with all that runs inside them. `counted` of `nodes` have a known cost."""

    macs: int = 0
    other: int = 0
    spared_macs: int = 0  # by how much less it is where the data pick the cheapest of all branches
    spared_other: int = 0
    read: int = 0
    written: int = 0
    nodes: int = 0
    counted: int = 0
    operators: dict[tuple[str, str], OperatorCost] = field(default_factory=dict)
    missing: dict[tuple[str, str], UncountedNodes] = field(default_factory=dict)  # (operator, reason)
    unmoved: Counter[str] = field(default_factory=Counter)  # nodes whose bytes are not known, by reason
    top: list[tuple[int, str, str]] = field(default_factory=list)  # (macs, node, operator), the most expensive
    notes: dict[str, None] = field(default_factory=dict)
    sized: bool = False  # sizes pick a branch somewhere: at other sizes another one may run

    @property
    def flops(self) -> int:
        return 2 * self.macs + self.other

    def add_step(self, step: Step, priced: PricedStep) -> None:
        cost, node = priced.cost, step.node
        macs, other = known(cost.macs), known(cost.other)
        self.nodes += 1
        self.counted += not priced.gap
        self.macs += macs
        self.other += other
        self.read += known(cost.read)
        self.written += known(cost.written)
        spent = self.operators.setdefault((node.domain, node.op), OperatorCost())
        spent.macs += macs
        spent.other += other
        spent.read += known(cost.read)
        spent.written += known(cost.written)
        if macs:
            self.top.append((macs, node.label(step.at), node.op))
        if priced.gap:
            self.miss(node.op, priced.gap, node.label(step.at), isinstance(cost.macs, Unknown))
        for number in (cost.read, cost.written):
            if isinstance(number, Unknown):
                self.unmoved[number.why] += 1
                spent.unmoved += 1
                break

    def miss(self, op: str, why: str, name: str, macs: bool) -> None:
        found = self.missing.setdefault((op, why), UncountedNodes())
        found.count += 1
        found.macs |= macs
        if len(found.nodes) < MAX_NAMED_NODES:
            found.nodes.append(name)

    def add(self, inner: "CostSum", times: int, path: str) -> None:
        """The cost of what runs inside a node, so many times."""
        self.macs += inner.macs * times
        self.other += inner.other * times
        self.spared_macs += inner.spared_macs * times
        self.spared_other += inner.spared_other * times
        self.read += inner.read * times
        self.written += inner.written * times
        for key, spent in inner.operators.items():
            self.operators.setdefault(key, OperatorCost()).add(spent, times)
        self.top.extend((macs * times, f"{path}/{name}", op) for macs, name, op in inner.most_expensive() if times)

    def enlist(self, inner: "CostSum", path: str) -> None:
        """The nodes that run inside a node, and what is not known of them."""
        self.nodes += inner.nodes
        self.counted += inner.counted
        self.notes |= inner.notes
        self.sized |= inner.sized
        self.unmoved += inner.unmoved
        for key, spent in inner.operators.items():
            self.operators.setdefault(key, OperatorCost()).enlist(spent)
        for (op, why), missing in inner.missing.items():
            mine = self.missing.setdefault((op, why), UncountedNodes())
            mine.count += missing.count
            mine.macs |= missing.macs
            mine.nodes += [f"{path}/{name}" for name in missing.nodes][: MAX_NAMED_NODES - len(mine.nodes)]

    def leave_open(self, inner: "CostSum", why: str) -> None:
        """What runs inside a node runs nobody knows how often: all of it is "at least"."""
        if inner.read or inner.written:
            self.unmoved[why] += 1
        for key, spent in inner.operators.items():
            mine = self.operators.setdefault(key, OperatorCost())
            mine.unmoved += int(bool(spent.read or spent.written))
            mine.more_macs |= bool(spent.macs)
            mine.more_other |= bool(spent.other)

    def most_expensive(self) -> list[tuple[int, str, str]]:
        """The nodes with the most multiply-adds, the first ones first among equals."""
        self.top = heapq.nlargest(MAX_NAMED_NODES, self.top, key=lambda row: row[0])
        return self.top


def known(number: Dim | None) -> int:
    """A number for a sum: what is not known adds nothing, and is listed."""
    return number if type(number) is int else 0
