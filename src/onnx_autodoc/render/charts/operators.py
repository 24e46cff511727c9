"""How often each type of operator stands in the file: bodies and functions counted once, as the card counts them.

No chart of fewer than three types: their numbers are a sentence.
"""

from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._bars import Panel, drawn, height_of
from onnx_autodoc.render.charts._chart import Chart, framed
from onnx_autodoc.render.charts._parts import Amount, bars, operator, shortened
from onnx_autodoc.text import clean, count, percent, plural

_MOST: Final = 15
_LEAST: Final = 3


def operators(card: Card) -> Chart | None:
    rows = card.graph.operators
    total = sum(row.count for row in rows)
    if len(rows) < _LEAST or not total:
        return None
    found = [Amount(operator(row.op, row.domain), row.count) for row in rows]
    found.sort(key=lambda amount: -(amount.value or 0))
    first = found[0]
    note = f"{plural(total, 'node')} of {plural(len(rows), 'type')}"
    panel = Panel("Operators", note, bars(shortened(found, _MOST, "types"), total, "nodes"))
    often = first.value or 0
    alt = f"{note}; the most frequent is {clean(first.name, 40)}: {count(often)}, {percent(often / total)}."
    return framed("operators", "Operators by count", alt, height_of((panel,)), drawn((panel,)))
