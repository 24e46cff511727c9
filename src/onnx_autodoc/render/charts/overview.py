"""What the model is made of: how much of its weights and of its work each part has, side by side.

The question is where to look: a part with half of the weights and none of the work (an embedding) wants other means
than one with the reverse (a convolution at full size). Parts are the boxes of the drawing, since both columns then sum
to the model's totals; a repeated layer that is most of the model is opened, or it would hide all there is to see. Bytes
are not among the columns: the card has them by operator, not by part. No chart where one of the columns is empty or not
known, or where there is only one part: a sentence says that.
"""

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._bars import HEAD, ROW, Panel, columns
from onnx_autodoc.render.charts._chart import WIDTH, Chart, framed, holds
from onnx_autodoc.render.charts._macs import macs_said, missing, whole
from onnx_autodoc.render.charts._made_of import Part, parts
from onnx_autodoc.render.charts._parts import Amount, bars, completed, rank, told
from onnx_autodoc.render.charts._svg import words
from onnx_autodoc.render.charts._text import SMALL, fit
from onnx_autodoc.text import count, percent, short

_REST = "Not in the drawing"


def overview(card: Card) -> Chart | None:
    found = _columns(card)
    if found is None or len(found[0]) < 2:
        return None
    params, macs = found
    held = Panel("Parameters", short(card.parameters.total), bars(params, card.parameters.total, "parameters"))
    spent = Panel("MACs", macs_said(card), bars(macs, card.compute.macs or 0, "MACs", whole(card)))
    high = HEAD + ROW * len(params)
    foot = [words(WIDTH, high + 12, note, "small", "end")] if (note := _note(card)) else []
    pieces = [*columns((held, spent)), *foot]
    return framed("overview", "Weights and work by part", _alt(card, params, macs), high + ROW * len(foot), pieces)


def _note(card: Card) -> str:
    """What both columns have no room to say: the sizes, and what shares are of where not all is known."""
    parts = (f"MACs {holds(card)}" if holds(card) else "", f"shares of {whole(card)}" if missing(card) else "")
    return fit("; ".join(filter(None, parts)), WIDTH, SMALL)


def _columns(card: Card) -> tuple[list[Amount], list[Amount]] | None:
    """The same parts twice: by what they hold, and by what they cost."""
    total, macs, found = card.parameters.total, card.compute.macs, parts(card)
    if not total or not macs or not found:
        return None
    held = completed([_amount(part, part.params) for part in found], total, _REST)
    spent = completed([_amount(part, part.macs) for part in found], macs, _REST)
    if not held or not spent:
        return None
    rows, nothing = max(len(held), len(spent)), Amount(_REST, 0, "rest")
    return held + [nothing] * (rows - len(held)), spent + [nothing] * (rows - len(spent))


def _amount(part: Part, value: int | None) -> Amount:
    name = f"{count(part.count)} × {part.label}" if part.count > 1 else part.label
    return Amount(name, value, part.kind, part.detail)


def _alt(card: Card, params: list[Amount], macs: list[Amount]) -> str:
    """The part with the most weights and the one with the most work, by both of their shares."""
    first = max(range(len(params)), key=lambda at: rank(params[at]))
    second = max(range(len(macs)), key=lambda at: rank(macs[at]))
    said = [_said(params[at], macs[at], card) for at in dict.fromkeys((first, second))]
    return "; ".join(said) + "."


def _said(held: Amount, spent: Amount, card: Card) -> str:
    weights = f"{percent((held.value or 0) / card.parameters.total)} of the parameters"
    if spent.value is None:
        return f"{told(held)}: {weights}, MACs not known"
    return f"{told(held)}: {weights}, {percent(spent.value / (card.compute.macs or 1))} of {whole(card)}"
