"""How the card's MACs are said where not all of them are known: "at least", and shares of what was counted."""

from onnx_autodoc.card import Card
from onnx_autodoc.text import short


def missing(card: Card) -> bool:
    """Whether some multiply-adds are not known."""
    return any(gap.macs for gap in card.compute.coverage.gaps)


def whole(card: Card) -> str:
    """What shares of MACs are shares of."""
    return "the MACs that were counted" if missing(card) else "all MACs"


def macs_said(card: Card) -> str:
    if card.compute.macs is None:
        return "not known"
    return ("at least " if missing(card) else "") + short(card.compute.macs)
