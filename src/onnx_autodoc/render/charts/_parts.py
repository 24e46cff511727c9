"""What a model is made of, as rows that sum to its totals: the boxes of its drawing, and its operators.

What the drawing does not hold (weights of a branch that does not run) is a row too, so the bars of a panel are all
there is. Where boxes hold more than the total, they are no shares of it, and there are no rows.
"""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Box, Card
from onnx_autodoc.render._palette import family
from onnx_autodoc.render.charts._bars import Bar, Panel
from onnx_autodoc.text import clean, count, percent, short

_DEFAULT: Final = ("", "ai.onnx")
_LONGEST: Final = 90  # letters of a name
_PORTS: Final = ("input", "output")


class Amount(Struct, frozen=True):
    """How much of one quantity a part has; `value` is None where that is not known."""

    name: str
    value: int | None
    kind: str = "bar"
    detail: str = ""
    more: str = ""  # said behind the number


def boxes(card: Card) -> tuple[Box, ...]:
    """Of the drawing's first level, in the order of the data; inputs and outputs hold and cost nothing."""
    tree = card.structure.tree
    return tuple(box for box in tree.children if box.kind not in _PORTS) if tree is not None else ()


def named(box: Box) -> str:
    return f"{count(box.count)} × {box.label}" if box.count > 1 else box.label


def by_box(card: Card, value: Callable[[Box], int | None]) -> list[Amount]:
    found = [Amount(named(box), value(box), f"of-{family(box.kind)}", box.detail or "") for box in boxes(card)]
    return [amount for amount in found if amount.value != 0]


def operator(op: str, domain: str) -> str:
    return op if domain in _DEFAULT else f"{op} ({domain})"


def completed(amounts: list[Amount], total: int, rest: str) -> list[Amount]:
    """With what is missing to the total as a row; nothing where the rows are more than it."""
    left = total - sum(amount.value or 0 for amount in amounts)
    if left < 0:
        return []
    return [*amounts, Amount(rest, left, "rest")] if left and amounts else amounts


def shortened(amounts: list[Amount], most: int, what: str) -> list[Amount]:
    """At most so many rows, in their order: the smallest are one row. What has no name stays last."""
    if len(amounts) <= most:
        return amounts
    parts, nameless = ([each for each in amounts if (each.kind == "rest") is rest] for rest in (False, True))
    kept = most - 1 - len(nameless)
    ranked = sorted(range(len(parts)), key=lambda at: (-(parts[at].value or 0), at))
    folded = [parts[at] for at in ranked[kept:]]
    known = [each.value for each in folded if each.value is not None]
    more = Amount(f"{count(len(folded))} more {what}", sum(known) if known else None, "rest")
    return [*(parts[at] for at in sorted(ranked[:kept])), more, *nameless]


def bars(amounts: Sequence[Amount], total: int, unit: str, of: str = "all") -> tuple[Bar, ...]:
    """With their numbers and shares of the total."""
    return tuple(_bar(amount, total, unit, of) for amount in amounts)


def _bar(amount: Amount, total: int, unit: str, of: str) -> Bar:
    name, detail = clean(amount.name, _LONGEST), clean(amount.detail, _LONGEST)
    if not amount.value:
        return Bar(name, amount.value, "not known" if amount.value is None else "none", "", amount.kind, detail)
    share = percent(amount.value / total)
    shown = " · ".join(filter(None, (short(amount.value), share, amount.more)))
    exact = f"{told(amount)}: {count(amount.value)} {unit}, {share} of {of}"
    return Bar(name, amount.value, shown, exact, amount.kind, detail)


def told(amount: Amount) -> str:
    """Its name and detail in a sentence."""
    return " ".join(filter(None, (clean(amount.name, _LONGEST), clean(amount.detail, _LONGEST))))


class Quantity(Struct, frozen=True):
    """What is shared out among parts, and its unit."""

    total: int
    unit: str
    whole: str = "all"

    def of(self, amounts: list[Amount], rest: str) -> list[Amount]:
        """The parts, and what is missing to the total; nothing where there is nothing to share."""
        return completed(amounts, self.total, rest) if self.total else []

    def panel(self, head: str, note: str, amounts: list[Amount], what: str, most: int = 14) -> Panel:
        return Panel(head, note, bars(shortened(amounts, most, what), self.total, self.unit, self.whole))


def several(total: str, *panels: Panel) -> tuple[Panel, ...]:
    """Those with more than one bar, since one is a sentence; the first says the total that all of them share out."""
    found = [panel for panel in panels if len(panel.bars) > 1]
    first = [replace(panel, note=", ".join(filter(None, (total, panel.note)))) for panel in found[:1]]
    return tuple(first + found[1:])


def rank(amount: Amount) -> tuple[bool, int]:
    """By how much it is; a part with a name is told before all that have none."""
    return amount.kind != "rest", amount.value or 0


def largest(amounts: Sequence[Amount], total: int) -> str:
    """ "most in Embedding: 11.9 M, 53 %"."""
    most = max(amounts, key=rank)
    return f"most in {told(most)}: {short(most.value or 0)}, {percent((most.value or 0) / total)}"
