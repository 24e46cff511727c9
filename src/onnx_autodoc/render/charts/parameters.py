"""Where the weights are: by block, in the order of the data, and by the operator that puts them to use.

A panel of one bar is left out, since that is a sentence, and so is the chart where no panel is left.
"""

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._bars import drawn, height_of
from onnx_autodoc.render.charts._chart import Chart, framed
from onnx_autodoc.render.charts._parts import Amount, Quantity, by_box, largest, operator, several
from onnx_autodoc.text import memory, plural, short


def parameters(card: Card) -> Chart | None:
    held = Quantity(card.parameters.total, "parameters")
    blocks = held.of(by_box(card, lambda box: box.params), "Not in the drawing")
    found = held.of(_operators(card), "Used by no operator")
    panels = several(
        short(held.total),
        held.panel("Parameters by block", "in the order of the data", blocks, "blocks"),
        held.panel("Parameters by operator", "with their bytes", found, "types", most=8),
    )
    if not panels:
        return None
    tensors = plural(card.parameters.tensors, "tensor")
    alt = f"{short(held.total)} parameters in {tensors}; {largest(blocks or found, held.total)}."
    return framed("parameters", "Where the parameters are", alt, height_of(panels), drawn(panels))


def _operators(card: Card) -> list[Amount]:
    rows = sorted((row for row in card.graph.operators if row.params), key=lambda row: -row.params)
    return [Amount(operator(row.op, row.domain), row.params, more=memory(row.weight_bytes)) for row in rows]
