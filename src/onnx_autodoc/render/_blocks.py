"""What a document is made of, whatever it is written in: sections of paragraphs, lists, tables, code and pictures.

Sections say what stands where (render/sections/); Markdown and HTML say how it looks. Only they escape, so a word of a
model file is data until the last moment: `Name` marks it, and plain strings are escaped all the same.
"""

from msgspec import Struct

from onnx_autodoc.card import Box


class Name(Struct, frozen=True):
    """A word of the model file, shown as such: `input_ids`."""

    text: str


class Figure(Struct, frozen=True):
    """A number as people read it, and what stands behind it."""

    shown: str  # "1.43 GMACs"
    exact: int | float | None = None  # 1433272320; None where only the words are known
    unit: str = ""  # of the exact number: "MACs", "bytes"
    formula: str | None = None
    holds: str | None = None  # the sizes it holds for: "batch_size 1, sequence_length 128"
    basis: str = ""  # how it is known: "exact", "at least", "assumed" …, in words
    quantity: str | None = None  # the formula of the card that gives it at other sizes


class Strong(Struct, frozen=True):
    text: str


Inline = str | Name | Figure | Strong
Text = tuple[Inline, ...]


class Paragraph(Struct, frozen=True):
    text: Text


class Note(Struct, frozen=True):
    """A paragraph that explains or warns, set apart."""

    text: Text


class Items(Struct, frozen=True):
    rows: tuple[Text, ...]


class Column(Struct, frozen=True):
    title: str
    numeric: bool = False


class Table(Struct, frozen=True):
    """With a `total`, each numeric column that has one sums up to it. `folded` is the line behind which it hides."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Text, ...], ...]
    total: tuple[Text, ...] | None = None
    folded: str | None = None


class Code(Struct, frozen=True):
    language: str
    text: str


class Picture(Struct, frozen=True):
    """A chart of the card, by its name (render/charts/)."""

    chart: str


class Diagram(Struct, frozen=True):
    """The drawing of the model: mermaid in Markdown, to click on in HTML."""

    tree: Box


class Heading(Struct, frozen=True):
    """Of a part of a section."""

    text: str


class Blank(Struct, frozen=True):
    """What only people know: a question for them, with room for the answer."""

    question: str


Block = Paragraph | Note | Items | Table | Code | Picture | Diagram | Heading | Blank


class Section(Struct, frozen=True):
    id: str
    title: str
    blocks: tuple[Block, ...]
