"""How much of a figure is known: all of it, at least what is said, or not for certain; and what is missing.

What follows from a total with gaps (its rows, shares, other sizes of the batch) is no better known than the total.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.lint import RULES
from onnx_autodoc.policy._paths import Reading
from onnx_autodoc.text import clean, plural

_MOST: Final = 3  # reasons that are named
_COUNTS: Final = frozenset(("count", "params", "macs", "weight_bytes", "nodes", "residuals", "dtypes"))
_PEAKS: Final = frozenset(("peak_activation_bytes", "run_bytes", "memory_bytes"))
_MOVED: Final = frozenset(("bytes_moved", "written_bytes"))
_OF_WEIGHTS: Final = frozenset(("params", "weight_bytes", "weights_bytes"))
_APART: Final = ("compute.coverage", "compute.formula")  # these say how much is known, and are exact themselves


class Standing(StrEnum):
    EXACT = "exact"
    LEAST = "at least"
    UNSURE = "not certain"


Judged = tuple[Standing, str]
_EXACT: Final[Judged] = (Standing.EXACT, "")


def standing(card: Card, way: Reading, absent: bool) -> Judged:
    """Of a figure that is `absent`, why it is not known."""
    top = way.steps[0].name
    if top == "findings":
        judged = _of_findings(card, way)
        return (judged[0], judged[1] or _unknown(card, way)) if absent else judged
    if way.pattern.startswith(_APART):
        judged = _EXACT
    elif top in ("structure", "task") and any(gap.section == "structure" for gap in card.gaps):
        judged = Standing.LEAST if way.last in _COUNTS else Standing.UNSURE, _reasons(card, "structure")
    elif top == "parameters" or way.last in _OF_WEIGHTS:
        judged = _least(any(gap.section == "parameters" for gap in card.gaps), _reasons(card, "parameters"))
    else:
        judged = _of_costs(card, way)
    return judged if judged[1] or not absent else (Standing.EXACT, _unknown(card, way))


def _of_costs(card: Card, way: Reading) -> Judged:
    gaps, unmoved = card.compute.coverage.gaps, card.compute.coverage.unmoved
    uncounted = [gap for gap in gaps if gap.macs]
    last, bytes_ = way.last, way.pattern == "memory.timeline.*.bytes"
    if last == "macs":
        return _least(bool(uncounted), _costs(card))
    if last == "flops":
        return _least(bool(gaps), _costs(card))
    if last in _MOVED:
        return _least(bool(unmoved), f"the bytes that {plural(unmoved, 'node')} move are not known")
    if last in _PEAKS or bytes_:
        return _least(bool(card.memory.unsized), f"the size of {plural(card.memory.unsized, 'value')} is not known")
    if last == "arithmetic_intensity":
        return _unsure(bool(gaps or unmoved), _costs(card) or "the bytes that some nodes move are not known")
    if last == "share" and way.pattern.startswith(("compute.", "structure.")):
        return _unsure(bool(uncounted), _costs(card))
    return _unsure(last == "peak_node" and bool(card.memory.unsized), "the sizes of some values are not known")


def _least(more: bool, why: str) -> Judged:
    return (Standing.LEAST, why) if more else _EXACT


def _unsure(more: bool, why: str) -> Judged:
    return (Standing.UNSURE, why) if more else _EXACT


def _of_findings(card: Card, way: Reading) -> Judged:
    """A rule that was not checked found nothing, and there may be something."""
    rule = RULES.get(way.steps[1].name) if len(way.steps) > 1 else None
    if rule is not None and rule.weights and not has_weights(card):
        return Standing.LEAST, f"{rule.id} looks at the numbers in the weights, which were not all read (--weights)"
    return _least(any(gap.section == "findings" for gap in card.gaps), _reasons(card, "findings"))


def has_weights(card: Card) -> bool:
    """Whether the numbers in the weights were read for it, all of them."""
    return card.weights is not None and not card.weights.unread


def _costs(card: Card) -> str:
    gaps = card.compute.coverage.gaps
    return _joined(f"{plural(gap.count, f'{clean(gap.op, 60)} node')}: {clean(gap.reason, 120)}" for gap in gaps)


def _unknown(card: Card, way: Reading) -> str:
    top = way.steps[0].name  # gaps of `model` are files that are missing, which nothing else in it hangs on
    return (
        "" if top == "model" else _reasons(card, top)
    ) or "the card does not have it: it does not apply, or is not known"


def _reasons(card: Card, section: str) -> str:
    return _joined(clean(gap.reason) for gap in card.gaps if gap.section == section)


def _joined(every: Iterable[str]) -> str:
    reasons = list(every)
    more = [f"{len(reasons) - _MOST} more"] if len(reasons) > _MOST else []
    return "; ".join([*reasons[:_MOST], *more])
