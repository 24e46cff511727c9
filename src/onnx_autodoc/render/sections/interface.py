"""Inputs and outputs."""

from typing import Final

from onnx_autodoc.card import Card, Port
from onnx_autodoc.render import content as doc
from onnx_autodoc.render.card_text import format_dtype
from onnx_autodoc.text import pluralize, sanitize

_MAX_OPEN_ROWS: Final = 12
_MAX_ROWS: Final = 200
_MAX_DIMS: Final = 12
_COLUMNS: Final = doc.columns("Name", "Type", "Shape", "Here", "Role")


def interface(card: Card) -> doc.Section:
    inputs, outputs = card.interface.inputs, card.interface.outputs
    note = doc.Paragraph("“Here” is the size that the numbers of this card hold for.")
    blocks = (
        doc.Heading("Inputs"),
        *_port_tables(inputs, "input"),
        doc.Heading("Outputs"),
        *_port_tables(outputs, "output"),
    )
    return doc.Section("interface", "Inputs and outputs", (*blocks, note))


def _port_tables(ports: tuple[Port, ...], noun: str) -> tuple[doc.Block, ...]:
    if not ports:
        return (doc.Paragraph("none"),)
    rows = tuple(map(_row, ports[:_MAX_ROWS]))
    if len(ports) <= _MAX_OPEN_ROWS:
        return (doc.Table(_COLUMNS, rows),)
    more = f" of {len(ports):,}; the rest is in the JSON card" if len(ports) > _MAX_ROWS else ""
    summary = f"the other {pluralize(len(rows) - _MAX_OPEN_ROWS, noun)}{more}"
    return (doc.Table(_COLUMNS, rows[:_MAX_OPEN_ROWS]), doc.Table(_COLUMNS, rows[_MAX_OPEN_ROWS:], summary=summary))


def _row(port: Port) -> tuple[doc.Spans, ...]:
    bound = (
        doc.UNKNOWN if port.bound is None else " × ".join(f"{size:,}" for size in port.bound[:_MAX_DIMS]) or "scalar"
    )
    role = sanitize(port.role, 40) if port.role else "—"
    return (doc.Name(port.name), format_dtype(port), shape_span(port), bound, role)


def shape_span(port: Port) -> doc.Span:
    """Return the shape that the file declares, dynamic dimensions by name."""
    if port.shape is None:
        return "not declared"
    return doc.Name(format_dims(port.shape)) if port.shape else "scalar"


def format_dims(shape: tuple[int | str | None, ...]) -> str:
    dims = ["?" if dim is None else sanitize(str(dim), 40) for dim in shape[:_MAX_DIMS]]
    return "[" + ", ".join([*dims, *(["…"] if len(shape) > _MAX_DIMS else [])]) + "]"
