"""Where the multiply-adds are: by kind of work, by block in the order of the data, and by operator.

A panel of one bar is left out, since that is a sentence, and so is the chart where no panel is left or nothing is
known. Where some are not counted, the bars are shares of what was, and the head says "at least".
"""

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._bars import drawn, height_of
from onnx_autodoc.render.charts._chart import Chart, framed, holds
from onnx_autodoc.render.charts._macs import macs_said, missing, whole
from onnx_autodoc.render.charts._parts import Amount, Quantity, by_box, largest, operator, several


def work(card: Card) -> Chart | None:
    spent = Quantity(card.compute.macs or 0, "MACs", whole(card))
    kinds = spent.of([Amount(_capital(part.part), part.macs) for part in card.structure.work], "Elsewhere")
    blocks = spent.of(by_box(card, lambda box: box.macs), "Not in the drawing")
    found = spent.of(_operators(card), "Elsewhere")
    panels = several(
        _total(card),
        spent.panel("MACs by kind of work", "", kinds, "kinds"),
        spent.panel("MACs by block", "in the order of the data", blocks, "blocks"),
        spent.panel("MACs by operator", "", found, "types", most=8),
    )
    if not panels:
        return None
    alt = f"MACs: {_total(card)}; {largest(kinds or blocks or found, spent.total)}."
    return framed("work", "Where the multiply-adds are", alt, height_of(panels), drawn(panels))


def _total(card: Card) -> str:
    shares = f", shares of {whole(card)}" if missing(card) else ""
    return f"{macs_said(card)} {holds(card)}".rstrip() + shares


def _operators(card: Card) -> list[Amount]:
    amounts = [Amount(operator(row.op, row.domain), row.macs) for row in card.graph.operators if row.macs != 0]
    return sorted(amounts, key=lambda amount: -(amount.value or 0))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
