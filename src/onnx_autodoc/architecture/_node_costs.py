"""What each node of the file costs and holds, by its row: for adding up blocks and boxes."""

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.limits import limits
from onnx_autodoc.ops import kinds
from onnx_autodoc.patterns import Net, Term, words

_USUAL: Final = 100_000  # rows, and
_EACH: Final = 8  # more for each node of the file


def most_rows(facts: Facts) -> int:
    """Nodes that are held at once: functions that call functions can ask for any number."""
    return limits().rows or _USUAL + _EACH * facts.nodes_total


class Spent(Struct, frozen=True):
    """`macs` is None where nothing of it is known."""

    params: int = 0
    macs: int | None = 0
    nodes: int = 0
    dtypes: dict[str, int] = {}  # the parameters by the type that they are kept in
    stored: int = 0  # bytes of weights, as in the file


class Ledger:
    """Multiply-adds by row, and (once it is settled with a net) weights by the row that puts them to use there."""

    def __init__(self, facts: Facts) -> None:
        most = most_rows(facts)
        rows = list(islice(facts.costs.rows(), most + 1))
        self.whole = len(rows) <= most
        self.runs = [row.cost is not None for row in rows]
        total = facts.costs.total
        unknown = not total.macs and any(each.macs for each in total.missing.values())
        self.total = None if unknown else total.macs
        self._macs = [_known(row.cost.macs) if row.cost is not None else None for row in rows]
        self._params: dict[int, Counter[str]] = {}  # by row and type
        self._stored = Counter[int]()  # bytes by row
        self._places = [(row.owner, row.step.at) for row in rows]

    def settle(self, facts: Facts, net: Net) -> None:
        """A weight goes to its first reader; where that is not on the net (a call, another branch), to one that is."""
        leaves = [term for term in net.everything() if not term.parts]
        drawn = {row for term in leaves for row in term.rows}
        rows: dict[object, int] = {}
        for row, place in enumerate(self._places):
            if place not in rows or (rows[place] not in drawn and row in drawn):
                rows[place] = row
        named, homes = _readers(net, leaves), dict(rows)
        for weight in facts.parameters.held:
            first = rows.get(weight.place)
            home = first if first in drawn else named.get(weight.name, first)
            if home is not None:
                self._params.setdefault(home, Counter())[weight.dtype] += weight.elements
                homes[weight.place] = home
        for place, share in facts.parameters.nodes.items():
            if place in homes:
                self._stored[_passed(net, homes[place])] += share.nbytes

    def spent(self, terms: Iterable[Term]) -> Spent:
        rows = list(dict.fromkeys(row for term in terms for row in term.rows))
        known = [self._macs[row] for row in rows]
        macs = sum(macs for macs in known if macs is not None)
        dtypes = sum((self._params[row] for row in rows if row in self._params), Counter[str]())
        stored = sum(self._stored[row] for row in rows)
        return Spent(dtypes.total(), None if None in known and not macs else macs, len(rows), dict(dtypes), stored)


def _passed(net: Net, row: int) -> int:
    """The row that made what this one only passes on: scales of data go with what made the data."""
    maker = net.makers[net.aside[row]] if row in net.aside else None
    return maker.row if maker is not None else row


def _readers(net: Net, leaves: list[Term]) -> dict[str, int]:
    """By the name of a constant, the row on the net that reads it first, turned and dequantized as it may be."""
    found: dict[str, int] = {}
    seen: set[int] = set()
    for term in sorted(leaves, key=lambda term: term.at):
        waiting = [value for value in term.inputs if net.fixed[value] and value not in seen]
        while waiting:
            value = waiting.pop()
            seen.add(value)
            made = net.makers[value]
            if value in net.weights or (made is not None and made.op == kinds.CONSTANT):
                found.setdefault(net.names[value], term.row)
            waiting.extend(given for given in (made.inputs if made is not None else ()) if given not in seen)
    return found


def _known(number: object) -> int | None:
    return number if isinstance(number, int) else None


def by_block(net: Net, ledger: Ledger, kinds: Iterable[str]) -> dict[str, tuple[int, Spent]]:
    """How many blocks there are of each kind, and what they cost together; blocks within blocks count too."""
    found: dict[str, list[Term]] = {}
    for term in net.everything():
        found.setdefault(words.NAMED.get(term.op, term.op), []).append(term)
    return {kind: (len(found[kind]), ledger.spent(found[kind])) for kind in kinds if kind in found}
