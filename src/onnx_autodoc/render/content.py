"""The content model of text outputs: sections of blocks of inline spans.

`sections/` decides what a document contains; one renderer per output format decides how a block looks. Only renderers
escape, so text of a model file stays data until it is written: `Name` marks it, and plain strings are escaped too.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from msgspec import Struct

from onnx_autodoc.card import Box, Card, NodeRow
from onnx_autodoc.text import format_count

UNKNOWN: Final = "unknown"
Item = TypeVar("Item")


class ChartLinks(Struct, frozen=True):
    """The folder of the charts, relative to the text, and their file suffix."""

    folder: str
    suffix: str


class Report(Struct, frozen=True):
    """The input of a renderer. `nodes` makes the rows of the formats that list nodes."""

    card: Card
    nodes: Callable[[], Iterator[NodeRow]]
    charts: ChartLinks | None = None  # None: the text has no charts


class Name(Struct, frozen=True):
    """An identifier of the model file, set as code: `input_ids`."""

    text: str


class Number(Struct, frozen=True):
    """A rounded number as text, with the exact value and its origin for tooltips."""

    text: str  # "1.43 GMACs"
    exact: int | float | None = None  # 1433272320; None where the text states that it is unknown
    unit: str = ""  # of the exact value: "MACs", "bytes"
    formula: str | None = None
    sizes: str | None = None  # the sizes it is valid for: "batch_size 1, sequence_length 128"
    basis: str = ""  # how it is known
    quantity: str | None = None  # the card's formula that gives it at other sizes


class Strong(Struct, frozen=True):
    text: str


Span = str | Name | Number | Strong
Spans = Span | tuple[Span, ...]


class Paragraph(Struct, frozen=True):
    text: Spans


class Note(Struct, frozen=True):
    """A paragraph that explains or warns."""

    text: Spans


class Bullets(Struct, frozen=True):
    items: tuple[Spans, ...]


class Column(Struct, frozen=True):
    title: str
    numeric: bool = False


class Table(Struct, frozen=True):
    """With a `total`, the numeric columns sum up to it. A `summary` collapses the table behind this line."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Spans, ...], ...]
    total: tuple[Spans, ...] | None = None
    summary: str | None = None


class Code(Struct, frozen=True):
    language: str
    text: str


class ChartRef(Struct, frozen=True):
    """A chart of the card, by its name in `charts.CHARTS`."""

    name: str


class Diagram(Struct, frozen=True):
    """The block diagram: mermaid in Markdown, interactive in HTML."""

    tree: Box


class Heading(Struct, frozen=True):
    text: str


class Question(Struct, frozen=True):
    """A question to the model's owner, with room for the answer."""

    text: str


class KeyValue(Struct, frozen=True):
    """A labelled line of a terminal card. `style` is a rich style; a `clipped` line is cut rather than wrapped."""

    key: str
    value: str
    style: str = ""
    clipped: bool = False


Block = Paragraph | Note | Bullets | Table | Code | ChartRef | Diagram | Heading | Question


class Section(Struct, frozen=True):
    id: str
    title: str
    blocks: tuple[Block, ...]


def to_spans(text: Spans) -> tuple[Span, ...]:
    return text if isinstance(text, tuple) else (text,)


def columns(*titles: str) -> tuple[Column, ...]:
    """Return the columns of a table; a title that ends in "#" marks a numeric one."""
    return tuple(Column(title.removesuffix("#"), title.endswith("#")) for title in titles)


def join_names(names: Sequence[str]) -> tuple[Span, ...]:
    """Return identifiers separated by commas."""
    return tuple(span for name in names for span in (", ", Name(name)))[1:]


def note_truncation(count: int, limit: int, document: str = "JSON card") -> tuple[Block, ...]:
    """Return a paragraph on the rows that a list of `limit` leaves out; () where it has all. `document` has them."""
    left = count - limit
    is_or_are = "is" if left == 1 else "are"
    return (Paragraph(f"{format_count(left)} more {is_or_are} in the {document}."),) if left > 0 else ()


def limited_table(
    titles: tuple[Column, ...],
    items: Sequence[Item],
    make_row: Callable[[Item], tuple[Spans, ...]],
    limit: int,
    total: tuple[Spans, ...] | None = None,
    summary: str | None = None,
) -> tuple[Block, ...]:
    """Return a table of the first `limit` items and a note on the others; the total only where all are listed."""
    rows = tuple(map(make_row, items[:limit]))
    table = Table(titles, rows, total if len(items) <= limit else None, summary)
    return (table, *note_truncation(len(items), limit))
