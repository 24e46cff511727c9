"""The sections of a card, independent of the output format.

A section is a function from a `Card` to a `Section`, or to None where it does not apply, and a row in `CARD_SECTIONS`.
"""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render.content import Section
from onnx_autodoc.render.sections.architecture import architecture, diagram
from onnx_autodoc.render.sections.contents import operators, parameters, precision, weight_values
from onnx_autodoc.render.sections.costs import batch_scaling, compute, kv_cache, memory
from onnx_autodoc.render.sections.findings import findings
from onnx_autodoc.render.sections.hardware import hardware
from onnx_autodoc.render.sections.interface import interface
from onnx_autodoc.render.sections.measured import measured
from onnx_autodoc.render.sections.provenance import owner_questions, provenance
from onnx_autodoc.render.sections.summary import at_a_glance, summary, usage

__all__ = ["CARD_SECTIONS", "card_sections"]

CARD_SECTIONS: Final[tuple[Callable[[Card], Section | None], ...]] = (
    summary,
    at_a_glance,
    diagram,
    usage,
    interface,
    compute,
    memory,
    kv_cache,
    architecture,
    precision,
    parameters,
    weight_values,
    operators,
    measured,
    hardware,
    batch_scaling,
    findings,
    provenance,
    owner_questions,
)


def card_sections(card: Card) -> tuple[Section, ...]:
    """Return the sections that apply, in the order of `CARD_SECTIONS`."""
    return tuple(section for make in CARD_SECTIONS if (section := make(card)) is not None)
