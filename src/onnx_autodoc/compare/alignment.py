"""Alignment of two architecture diagrams: layers as rows of units, and the cheapest edit from one row to the other."""

from collections import Counter
from itertools import groupby, takewhile, zip_longest
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Box
from onnx_autodoc.text import sanitize

MAX_UNFOLDED_UNITS: Final = 2_000  # longer rows of equal layers stay folded
_PORT_KINDS: Final = ("input", "output")
_MAX_TABLE_CELLS: Final = 1_000_000

# Costs of the edits.
_INSERT_OR_DELETE: Final = 10
_CHANGE: Final = 8  # into a unit of the same kind: cheaper than a deletion and an insertion
_CHANGE_KIND: Final = 14  # into a unit of another kind with the same label or size
_NEVER: Final = 21

Signature = tuple[object, ...]


class Unit(Struct, frozen=True):
    """One of the `count` layers that a box stands for; a folded unit stands for `times` of them."""

    box: Box
    signature: Signature  # equal for equal boxes
    prefix: str  # the name of the parent: "Encoder layer 7, "
    number: int  # among the units with its label
    numbered: bool  # whether others have its label
    times: int = 1

    @property
    def name(self) -> str:
        return self.prefix + label_of(self.box) + (f" {self.number}" if self.numbered else "")


Pair = tuple[Unit | None, Unit | None]


def unfold(boxes: tuple[Box, ...], prefix: str = "") -> list[Unit]:
    """Return the boxes in order, without inputs and outputs, repeated layers one by one."""
    inner = without_ports(boxes)
    folded = sum(box.count for box in inner) > MAX_UNFOLDED_UNITS
    totals, numbers = Counter[str](), Counter[str]()
    for box in inner:
        totals[box.label] += box.count
    units: list[Unit] = []
    for box in inner:
        signature = (*signature_of(box), box.count) if folded else signature_of(box)
        times = box.count if folded else 1
        for _ in range(1 if folded else box.count):
            numbers[box.label] += 1
            units.append(Unit(box, signature, prefix, numbers[box.label], totals[box.label] > 1, times))
    return units


def leaf_units(units: list[Unit]) -> list[Unit]:
    """Return the innermost units, in any grouping of the diagram."""
    leaves: list[Unit] = []
    for unit in units:
        inner = unfold(unit.box.children, f"{unit.name}, ") if unit.times == 1 else []
        leaves += leaf_units(inner) if inner else [unit]
    return leaves


def without_ports(boxes: tuple[Box, ...]) -> list[Box]:
    return [box for box in boxes if box.kind not in _PORT_KINDS]


def label_of(box: Box) -> str:
    return sanitize(box.label.strip() or box.kind, 60)


def signature_of(box: Box) -> Signature:
    """Kind, label, contents and connections: equal boxes have equal signatures."""
    inner = tuple((signature_of(child), child.count) for child in without_ports(box.children))
    return box.kind, box.label, box.detail, inner, connections(box)


def connections(box: Box, without_outer: bool = False) -> tuple[tuple[int, int, str], ...]:
    """Connections between the children by position, since ids carry no meaning. -1 is an input or output."""
    positions = {child.id: index for index, child in enumerate(without_ports(box.children))}
    ends = ((positions.get(edge.source, -1), positions.get(edge.target, -1), edge.kind) for edge in box.edges)
    return tuple(sorted(end for end in ends if not (without_outer and -1 in end)))


def has_same_children(was: Box, now: Box) -> bool:
    """Whether both have equal children in any order: parallel branches have none."""
    return _unordered(was.children) == _unordered(now.children)


def _unordered(boxes: tuple[Box, ...]) -> frozenset[tuple[object, int]]:
    counts = Counter[object]()
    for box in without_ports(boxes):
        counts[box.kind, box.label, box.detail, _unordered(box.children)] += box.count
    return frozenset(counts.items())


class ChangedRun(Struct, frozen=True):
    """Consecutive pairs that differ. `last` is the equal unit before them."""

    pairs: list[Pair]
    last: Unit | None

    @property
    def was(self) -> list[Unit]:
        return [old for old, _ in self.pairs if old is not None]

    @property
    def now(self) -> list[Unit]:
        return [new for _, new in self.pairs if new is not None]


def is_equal(pair: Pair) -> bool:
    old, new = pair
    return old is not None and new is not None and old.signature == new.signature


def changed_runs(pairs: list[Pair], last: Unit | None = None) -> list[ChangedRun]:
    """Return the runs of unequal pairs. `last` is the equal unit before all pairs."""
    runs: list[ChangedRun] = []
    for equal, group in groupby(pairs, key=is_equal):
        run = list(group)
        if equal:
            last = run[-1][0]
        else:
            runs.append(ChangedRun(run, last))
    return runs


def align(was: list[Unit], now: list[Unit]) -> list[Pair]:
    """Return pairs in order; one side is None where the other has no counterpart."""
    head = list(takewhile(is_equal, zip(was, now)))
    old, new = was[len(head) :], now[len(head) :]
    tail = list(takewhile(is_equal, zip(reversed(old), reversed(new))))
    middle = _align_middle(old[: len(old) - len(tail)], new[: len(new) - len(tail)])
    return [*head, *middle, *reversed(tail)]


def _align_middle(was: list[Unit], now: list[Unit]) -> list[Pair]:
    if len(was) * len(now) > _MAX_TABLE_CELLS:
        return list(zip_longest(was, now))  # by position
    table = _cost_table(was, now)
    pairs: list[Pair] = []
    i = j = 0
    while i < len(was) and j < len(now):
        if table[i][j] == table[i + 1][j + 1] + _change_cost(was[i], now[j]):
            pairs.append((was[i], now[j]))
            i, j = i + 1, j + 1
        elif table[i][j] == table[i + 1][j] + _INSERT_OR_DELETE:
            pairs.append((was[i], None))
            i += 1
        else:
            pairs.append((None, now[j]))
            j += 1
    return [*pairs, *((unit, None) for unit in was[i:]), *((None, unit) for unit in now[j:])]


def _cost_table(was: list[Unit], now: list[Unit]) -> list[list[int]]:
    """table[i][j] is the least cost of turning was[i:] into now[j:]."""
    rows = [[_INSERT_OR_DELETE * rest for rest in range(len(now), -1, -1)]]
    for old in reversed(was):
        below, row = rows[-1], [0] * (len(now) + 1)
        row[-1] = below[-1] + _INSERT_OR_DELETE
        for j in range(len(now) - 1, -1, -1):
            row[j] = min(
                below[j + 1] + _change_cost(old, now[j]),
                below[j] + _INSERT_OR_DELETE,
                row[j + 1] + _INSERT_OR_DELETE,
            )
        rows.append(row)
    return rows[::-1]


def _change_cost(old: Unit, new: Unit) -> int:
    if old.signature == new.signature:
        return 0
    was, now = old.box, new.box
    if was.kind == now.kind:
        return _CHANGE - (was.detail == now.detail) - (was.label == now.label) - (old.number == new.number)
    same_size = was.params and was.params * now.count == now.params * was.count
    return _CHANGE_KIND if was.label == now.label or same_size else _NEVER
