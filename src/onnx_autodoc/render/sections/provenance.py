"""Where it comes from, what was assumed, what is not known, and what only people know."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render._blocks import (
    Blank,
    Block,
    Column,
    Figure,
    Heading,
    Inline,
    Items,
    Name,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
)
from onnx_autodoc.render.sections import _figures as figures
from onnx_autodoc.render.sections._rest import rest
from onnx_autodoc.text import clean, count, plural

_MOST: Final = 100
_LONGEST: Final = 300
_QUESTIONS: Final = (
    ("Intended use", "What was the model made for, and by whom? What should it not be used for?"),
    ("Training data", "What was it trained on? What is known to be missing or skewed in it?"),
    ("Evaluation", "How good is it, on which data, by which measure?"),
    ("Licence", "Under which terms may the weights be used?"),
    ("Contact", "Who answers questions about it?"),
)


def provenance(card: Card) -> Section:
    blocks = (*_file(card), *_assumed(card), *_unknown(card))
    return Section("provenance", "Provenance", blocks)


def _file(card: Card) -> Iterator[Block]:
    rows = tuple(((name,), text) for name, text in _facts(card))
    yield Table((Column("What"), Column("Value")), rows)
    external = card.model.file.external
    if external:
        beside = tuple(((Name(item.path),), (figures.file_bytes(item.bytes),)) for item in external[:_MOST])
        yield Heading("Files beside it")
        yield Table((Column("File"), Column("Size", True)), beside, None, _few(len(external), "file"))
        yield from rest(len(external), _MOST)
    held = card.model.metadata
    if held:
        pairs = tuple(((Name(clean(key, 80)),), (clean(text, _LONGEST),)) for key, text in list(held.items())[:_MOST])
        yield Heading("Metadata")
        yield Table((Column("Key"), Column("Value")), pairs, None, _few(len(held), "entry", "entries"))
        yield from rest(len(held), _MOST)


def _few(number: int, word: str, words: str = "") -> str | None:
    """The line behind which a long table hides; a short one does not."""
    return plural(number, word, words) if number > 8 else None


def _facts(card: Card) -> Iterator[tuple[str, Text]]:
    model, made = card.model, card.generated
    yield "File", (Name(model.name), " (", figures.file_bytes(model.file.bytes), ")")
    asked = "not computed; --sha256 does, reading every weight"
    yield "SHA-256", (Name(model.file.sha256) if model.file.sha256 else asked,)
    producer = " ".join(filter(None, (model.producer.name, model.producer.version)))
    yield "Producer", (Name(producer) if producer else "not stated",)
    yield "Format", (f"ONNX, IR version {model.ir_version}" if model.ir_version is not None else "ONNX",)
    yield "Opsets", tuple(_opsets(model.opsets))
    if model.domain or model.version:
        yield "Domain and version", (Name(f"{model.domain or '—'} {model.version or ''}".strip()),)
    if model.doc:
        yield "The file's own words", (clean(model.doc, _LONGEST),)
    yield "Card", (f"{made.tool} {made.version}, {made.at}, schema {card.schema_version}",)


def _opsets(opsets: dict[str, int]) -> Iterator[Inline]:
    if not opsets:
        yield "none stated"
    for at, (domain, version) in enumerate(opsets.items()):
        yield from ((", ",) if at else ())
        yield Name(f"{domain} {version}")


def _assumed(card: Card) -> Iterator[Block]:
    given = card.assumptions
    yield Heading("Assumptions")
    if not given.dims and not given.values:
        yield Paragraph(("None on sizes: the file fixes every dimension.",))
    else:
        rows = [((Name(name),), (Figure(count(size), size),)) for name, size in list(given.dims.items())[:_MOST]]
        rows += [((Name(name),), (Figure(str(value)),)) for name, value in list(given.values.items())[:_MOST]]
        yield Table((Column("Dimension or input"), Column("Taken as", True)), tuple(rows))
        yield from rest(len(given.dims) + len(given.values), len(rows))
    if given.notes:
        yield Items(tuple((clean(note, _LONGEST),) for note in given.notes[:_MOST]))
        yield from rest(len(given.notes), _MOST)


def _unknown(card: Card) -> Iterator[Block]:
    yield Heading("Not known")
    if not card.gaps:
        yield Paragraph(("Nothing was left open.",))
        return
    yield Items(tuple((Strong(f"{gap.section}: "), clean(gap.reason, _LONGEST)) for gap in card.gaps[:_MOST]))
    yield from rest(len(card.gaps), _MOST)


def for_people(card: Card) -> Section:
    said = "A file does not hold these. Whoever knows the model may fill them in."
    parts = [block for title, question in _QUESTIONS for block in (Heading(title), Blank(question))]
    return Section("for-people", "For people to fill in", (Paragraph((said,)), *parts))
