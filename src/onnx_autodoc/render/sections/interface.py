"""Inputs and outputs."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Port
from onnx_autodoc.render import content as doc
from onnx_autodoc.render.card_text import format_dtype
from onnx_autodoc.text import pluralize, sanitize

_MAX_OPEN_ROWS: Final = 12
_MAX_ROWS: Final = 200
_MAX_DIMS: Final = 12
_COLUMNS: Final = doc.columns("Name", "Type", "Shape", "Resolved shape", "Role")


def interface(card: Card) -> doc.Section:
    blocks = (
        doc.Heading("Inputs"),
        *_port_tables(card.interface.inputs, "input"),
        doc.Heading("Outputs"),
        *_port_tables(card.interface.outputs, "output"),
        doc.Paragraph("The figures of this card hold for the resolved shapes."),
    )
    return doc.Section("interface", "Inputs and outputs", blocks)


def _port_tables(ports: tuple[Port, ...], noun: str) -> Iterator[doc.Block]:
    if not ports:
        yield doc.Paragraph("none")
        return
    rows = tuple(map(_port_row, ports[:_MAX_ROWS]))
    yield doc.Table(_COLUMNS, rows[:_MAX_OPEN_ROWS])
    if len(ports) > _MAX_OPEN_ROWS:
        more = f" ({len(ports):,} in total, all in the JSON card)" if len(ports) > _MAX_ROWS else ""
        summary = f"{pluralize(len(rows) - _MAX_OPEN_ROWS, f'more {noun}')}{more}"
        yield doc.Table(_COLUMNS, rows[_MAX_OPEN_ROWS:], summary=summary)


def _port_row(port: Port) -> tuple[doc.Spans, ...]:
    bound = doc.UNKNOWN
    if port.bound is not None:
        bound = " × ".join(f"{size:,}" for size in port.bound[:_MAX_DIMS]) or "scalar"
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
