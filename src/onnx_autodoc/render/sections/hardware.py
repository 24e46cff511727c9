"""What a device must offer, whichever it is; and what those that were asked for can do with it."""

from typing import Final

from onnx_autodoc.card import Card, HardwareSection
from onnx_autodoc.render._blocks import Block, Heading, Items, Paragraph, Picture, Section, Strong
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.sections._hardware_devices import devices, operators
from onnx_autodoc.render.sections._hardware_needs import prices, requirements
from onnx_autodoc.render.sections._hardware_runs import batches, tokens

_BALANCE: Final = "; a device that can do more than that for each byte of its bandwidth waits for its memory"


def hardware(card: Card) -> Section:
    found = card.hardware
    if found is None or not found.devices:
        return Section("hardware", "Hardware", (*_any(card), Picture("roofline")))
    blocks = (*devices(card, found), *_needs(found), *batches(card, found), *tokens(card, found), *_plane(card, found))
    return Section("hardware", "Hardware", blocks)


def _needs(found: HardwareSection) -> tuple[Block, ...]:
    return (*requirements(found), *prices(found))


def _plane(card: Card, found: HardwareSection) -> tuple[Block, ...]:
    return (Heading("Arithmetic and traffic"), *_any(card), Picture("roofline"), *operators(card, found))


def _any(card: Card) -> tuple[Block, ...]:
    """Facts of the model alone: memory to hold it, and how much it computes for each byte it moves."""
    known = card.compute.arithmetic_intensity is not None
    rows = (
        (Strong("Memory: "), figures.together(card), " for weights and activations, before what a runtime adds"),
        (Strong("Arithmetic: "), figures.flops(card), " for one run"),
        (Strong("Traffic: "), figures.moved(card), " read and written, if nothing stays in a cache"),
        (Strong("Balance: "), figures.intensity(card), _BALANCE if known else ""),
    )
    return Paragraph(("Whichever the device, one run at ", figures.sizes(card), " takes:")), Items(rows)
