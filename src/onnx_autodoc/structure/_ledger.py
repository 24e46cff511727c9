"""What each node of the file costs and holds, by its row: for adding up blocks and boxes."""

from collections.abc import Iterable
from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.blocks import Net, Term
from onnx_autodoc.facts import Facts, Share

MOST_ROWS: Final = 100_000  # and eight for each node of the file: functions that call functions can ask for any number


class Spent(Struct, frozen=True):
    """`macs` is None where nothing of it is known."""

    params: int = 0
    macs: int | None = 0
    nodes: int = 0


class Ledger:
    def __init__(self, facts: Facts) -> None:
        weights = dict(facts.parameters.nodes)
        most = MOST_ROWS + 8 * facts.nodes_total
        rows = list(islice(facts.costs.rows(), most + 1))
        self.whole = len(rows) <= most
        self.runs = [row.cost is not None for row in rows]
        total = facts.costs.total
        unknown = not total.macs and any(each.macs for each in total.missing.values())
        self.total = None if unknown else total.macs
        self._macs = [_known(row.cost.macs) if row.cost is not None else None for row in rows]
        self._params = [weights.pop((row.owner, row.step.at), Share()).elements for row in rows]

    def spent(self, terms: Iterable[Term]) -> Spent:
        rows = list(dict.fromkeys(row for term in terms for row in term.rows))
        known = [self._macs[row] for row in rows]
        macs = sum(macs for macs in known if macs is not None)
        return Spent(sum(self._params[row] for row in rows), None if None in known and not macs else macs, len(rows))


def _known(number: object) -> int | None:
    return number if isinstance(number, int) else None


def by_block(net: Net, ledger: Ledger, kinds: Iterable[str]) -> dict[str, tuple[int, Spent]]:
    """How many blocks there are of each kind, and what they cost together; blocks within blocks count too."""
    found: dict[str, list[Term]] = {}
    for term in net.everything():
        found.setdefault(term.op, []).append(term)
    return {kind: (len(found[kind]), ledger.spent(found[kind])) for kind in kinds if kind in found}
