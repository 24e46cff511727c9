"""What a device must offer, whichever it is."""

from typing import Final

from onnx_autodoc.document import Card
from onnx_autodoc.render._blocks import Items, Paragraph, Picture, Section, Strong
from onnx_autodoc.render.sections import _figures as figures

_BALANCE: Final = "; a device that can do more than that for each byte of its bandwidth waits for its memory"


def hardware(card: Card) -> Section:
    """Facts of the model alone: memory to hold it, and how much it computes for each byte it moves."""
    known = card.compute.arithmetic_intensity is not None
    rows = (
        (Strong("Memory: "), figures.together(card), " for weights and activations, before what a runtime adds"),
        (Strong("Arithmetic: "), figures.flops(card), " for one run"),
        (Strong("Traffic: "), figures.moved(card), " read and written, if nothing stays in a cache"),
        (Strong("Balance: "), figures.intensity(card), _BALANCE if known else ""),
    )
    at = Paragraph(("For one run at ", figures.sizes(card), "."))
    return Section("hardware", "Hardware", (at, Items(rows), Picture("roofline")))
