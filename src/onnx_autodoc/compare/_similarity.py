"""What two cards share: sizes, boxes, names of nodes with weights, and what of that speaks for one model or against."""

from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Card
from onnx_autodoc.compare._facts import SIZES
from onnx_autodoc.compare._types import Diff
from onnx_autodoc.compare._units import parts
from onnx_autodoc.text import count, percent, plural, short

UNKNOWN: Final = "unknown"  # of two such families nobody knows whether they are one
_ALL: Final = 0.97  # of the weights: some are folded into others
_NEARLY: Final = 0.01  # of the parameters: folded norms and tied tables move that much
_CHANCE: Final = 1_000
_MOST_UNITS: Final = 400
_MOST_ORDERED: Final = 1_000  # boxes
_LOOSE: Final = "context"  # the longest of several tables: which ones are seen is the exporter's matter
_WORDS: Final = {"family": "family", "hidden": "width", "kv_heads": "heads for keys and values"} | {
    "head_dim": "head width",
    "vocab": "vocabulary",
    "patch": "patch size",
}


class Likeness(Struct, frozen=True):
    """What two cards share: sizes known in both that are equal, those that differ, and the design of the drawing."""

    equal: tuple[str, ...]
    other: tuple[str, ...]
    boxes: bool
    likeness: float
    near: bool  # parameters
    exact: bool  # as many of them, and more than chance would make equal
    macs: bool | None  # None: not to be compared
    names: float  # share of the weights at nodes that have a namesake

    @property
    def pinned(self) -> bool:
        """As much work, and as much weight at the same nodes or to the last parameter: stronger than what is drawn."""
        return self.macs is True and (self.exact or (self.near and self.names >= _ALL))


def likeness(was: Card, now: Card, diff: Diff) -> Likeness:
    equal: list[str] = []
    other: list[str] = []
    for name in (name for name in SIZES if name != _LOOSE):
        old, new = getattr(was.structure, name), getattr(now.structure, name)
        if {None, UNKNOWN} & {old, new} or (name == "kv_heads" and _ungrouped(was, now)):
            continue
        (equal if old == new else other).append(f"{_WORDS.get(name, name)} {_size(old)}" + _became(old, new))
    macs = was.compute.macs, now.compute.macs
    exact = not any(gap.macs for card in (was, now) for gap in card.compute.coverage.gaps) and None not in macs
    row = _labels(was), _labels(now)
    return Likeness(
        equal=tuple(equal),
        other=tuple(other),
        boxes=Counter(row[0]) == Counter(row[1]),
        likeness=_ratio(*row),
        near=_near(was.parameters.total, now.parameters.total),
        exact=_CHANCE < was.parameters.total == now.parameters.total,
        macs=macs[0] == macs[1] if exact and diff.sizes is None else None,
        names=_namesakes(was, now),
    )


def _ratio(one: list[str], other: list[str]) -> float:
    """In their order; of very many, whose order takes the square of their number, only how many are the same."""
    if max(len(one), len(other)) <= _MOST_ORDERED:
        return SequenceMatcher(None, one, other, autojunk=False).ratio()
    return 2 * (Counter(one) & Counter(other)).total() / (len(one) + len(other))


def _namesakes(was: Card, now: Card) -> float:
    """The share of the weights at nodes that the other model has by the same name; of either model, the smaller one.

    Tools that quantize keep names, or add an ending to them.
    """
    old, new = ({row.node: row.params for row in card.parameters.by_layer} for card in (was, now))
    return min(_known(old, new), _known(new, old))


def _known(rows: dict[str, int], others: dict[str, int]) -> float:
    stems = {name.rpartition("_")[0] for name in others}
    kept = (size for name, size in rows.items() if name in others or name in stems or name.rpartition("_")[0] in others)
    return sum(kept) / max(sum(rows.values()), 1)


def _ungrouped(was: Card, now: Card) -> bool:
    return all(card.structure.heads == card.structure.kv_heads for card in (was, now))


def _size(value: object) -> str:
    return (
        count(value)
        if isinstance(value, int)
        else "×".join(map(str, value))
        if isinstance(value, tuple)
        else str(value)
    )


def _became(old: object, new: object) -> str:
    return "" if old == new else f" → {_size(new)}"


def _near(was: int, now: int) -> bool:
    return abs(was - now) <= _NEARLY * max(was, now)


def _labels(card: Card) -> list[str]:
    """What the boxes with weights or work are called: the same however an exporter wrote them."""
    boxes = parts(card.structure.tree.children) if card.structure.tree is not None else []
    boxes = [box for box in boxes if box.params or box.macs] or boxes
    return [box.label for box in boxes for _ in range(min(box.count, _MOST_UNITS))][: _MOST_UNITS * 10]


def evidence(was: Card, now: Card, diff: Diff, like: Likeness) -> Iterator[str]:
    if not diff.interface:
        yield "the same inputs and outputs"
    elif not diff.breaking:
        yield "an interface that breaks no caller"
    if like.equal:
        yield ", ".join(like.equal)
    if like.boxes and was.structure.tree is not None:
        yield f"the same {plural(len(_labels(was)), 'box', 'boxes')} with weights or work"
    if like.names:
        yield f"{percent(like.names)} of the weights are at nodes of the same names"
    if was.parameters.total == now.parameters.total:
        yield f"{count(was.parameters.total)} parameters in both"
    elif like.near:
        yield f"nearly as many parameters ({count(was.parameters.total)} and {count(now.parameters.total)})"
    if like.macs and was.compute.macs is not None:
        yield f"{short(was.compute.macs, 'MACs')} in both, to the last one"


def against(diff: Diff) -> Iterator[str]:
    breaking = sum(change.breaking for change in diff.interface)
    if breaking:
        yield f"{plural(breaking, 'breaking change')} of the interface"


def unlike(like: Likeness) -> Iterator[str]:
    if not like.near:
        yield "another number of parameters"
    if like.macs is False:
        yield "another number of MACs at the same sizes"
