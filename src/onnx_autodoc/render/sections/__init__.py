"""What stands in a card, section by section, whatever it is written in. None where a section does not apply.

A section is a function here from a `Card` to a `Section`, and a line in `CARD`, in the order that a reader wants.
"""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render._blocks import Section
from onnx_autodoc.render.sections.compute import complexity
from onnx_autodoc.render.sections.findings import findings
from onnx_autodoc.render.sections.hardware import hardware
from onnx_autodoc.render.sections.holdings import operators, parameters, precision
from onnx_autodoc.render.sections.interface import inputs_and_outputs, run_it
from onnx_autodoc.render.sections.measured import measured
from onnx_autodoc.render.sections.memory import batch_scaling, kv_cache, memory_of
from onnx_autodoc.render.sections.overview import in_short, key_numbers
from onnx_autodoc.render.sections.provenance import for_people, provenance
from onnx_autodoc.render.sections.structure import architecture, structure
from onnx_autodoc.render.sections.weights import weights

__all__ = ["CARD", "card_sections"]

CARD: Final[tuple[Callable[[Card], Section | None], ...]] = (
    in_short,
    key_numbers,
    architecture,
    run_it,
    inputs_and_outputs,
    complexity,
    memory_of,
    kv_cache,
    structure,
    precision,
    parameters,
    weights,
    operators,
    measured,
    hardware,
    batch_scaling,
    findings,
    provenance,
    for_people,
)


def card_sections(card: Card) -> tuple[Section, ...]:
    return tuple(section for make in CARD if (section := make(card)) is not None)
