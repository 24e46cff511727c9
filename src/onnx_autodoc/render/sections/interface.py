"""How to run it, and what goes in and comes out."""

from typing import Final

from onnx_autodoc.card import Card, Port
from onnx_autodoc.render._blocks import Block, Code, Column, Heading, Name, Paragraph, Section, Table, Text
from onnx_autodoc.render._snippet import snippet
from onnx_autodoc.render.sections._ports import bound_of, shape_of, type_of
from onnx_autodoc.text import clean, plural

_FEW: Final = 12
_MOST: Final = 200
_COLUMNS: Final = (Column("Name"), Column("Type"), Column("Shape"), Column("Here"), Column("Role"))


def run_it(card: Card) -> Section:
    said = "Needs onnxruntime and numpy. The inputs are made up, of the right types, sizes and ranges."
    return Section("run", "Run it", (Paragraph((said,)), Code("python", snippet(card))))


def inputs_and_outputs(card: Card) -> Section:
    ends = card.interface
    here = "“Here” is the size that the numbers of this card hold for."
    return Section(
        "interface",
        "Inputs and outputs",
        (
            *(Heading("Inputs"), *_ports(ends.inputs, "inputs")),
            *(Heading("Outputs"), *_ports(ends.outputs, "outputs")),
            Paragraph((here,)),
        ),
    )


def _ports(ports: tuple[Port, ...], word: str) -> tuple[Block, ...]:
    if not ports:
        return (Paragraph(("none",)),)
    rows = tuple(_row(port) for port in ports[:_MOST])
    more = f" of {len(ports):,}; the rest is in the JSON card" if len(ports) > _MOST else ""
    if len(ports) <= _FEW:
        return (Table(_COLUMNS, rows),)
    title = f"the other {plural(len(rows) - _FEW, word.removesuffix('s'))}{more}"
    return (Table(_COLUMNS, rows[:_FEW]), Table(_COLUMNS, rows[_FEW:], folded=title))


def _row(port: Port) -> tuple[Text, ...]:
    role = clean(port.role, 40) if port.role else "—"
    return ((Name(port.name),), (type_of(port),), shape_of(port.shape), (bound_of(port),), (role,))
