"""Provenance: the file and its metadata, assumptions, limitations, and questions to the model's owner."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render import content as doc
from onnx_autodoc.render import numbers
from onnx_autodoc.text import format_count, pluralize, sanitize

_MAX_ROWS: Final = 100
_MAX_OPEN_ROWS: Final = 8
_MAX_TEXT_LENGTH: Final = 300
_QUESTIONS: Final = {
    "Intended use": "What is the model for, and who developed it? What should it not be used for?",
    "Training data": "Which data was it trained on? Which gaps and biases in the data are known?",
    "Evaluation": "Which results does it achieve, on which data, by which metrics?",
    "License": "Under which license may the weights be used?",
    "Contact": "Who answers questions about the model?",
}


def provenance(card: Card) -> doc.Section:
    facts = doc.Table(doc.columns("Field", "Value"), tuple(_facts(card)))
    blocks = (facts, *_external_files(card), *_metadata(card), *_assumptions(card))
    return doc.Section("provenance", "Provenance", blocks)


def _facts(card: Card) -> Iterator[tuple[str, doc.Spans]]:
    model, generated = card.model, card.generated
    producer = " ".join(filter(None, (model.producer.name, model.producer.version)))
    yield "File", (doc.Name(model.name), " (", numbers.file_size(model.file.bytes), ")")
    not_hashed = "not computed (--sha256 computes it and reads every weight)"
    yield "SHA-256", doc.Name(model.file.sha256) if model.file.sha256 else not_hashed
    yield "Producer", doc.Name(producer) if producer else "not declared"
    yield "Format", f"ONNX, IR version {model.ir_version}" if model.ir_version is not None else "ONNX"
    opsets = [f"{domain} {version}" for domain, version in model.opsets.items()]
    left = len(opsets) - _MAX_ROWS
    more = (f" and {format_count(left)} more in the JSON card",) if left > 0 else ()
    yield "Opsets", (*doc.join_names(opsets[:_MAX_ROWS]), *more) or "none declared"
    if model.domain or model.version:
        yield "Domain and version", doc.Name(f"{model.domain or '—'} {model.version or ''}".strip())
    if model.doc:
        yield "Documentation string", sanitize(model.doc, _MAX_TEXT_LENGTH)
    yield "Card", f"{generated.tool} {generated.version}, {generated.at}, schema {card.schema_version}"


def _external_files(card: Card) -> Iterator[doc.Block]:
    external = card.model.file.external
    if external:
        summary = pluralize(len(external), "file") if len(external) > _MAX_OPEN_ROWS else None
        yield doc.Heading("External files")
        yield from doc.limited_table(
            doc.columns("File", "Size#"),
            external,
            lambda file: (doc.Name(file.path), numbers.file_size(file.bytes)),
            _MAX_ROWS,
            summary=summary,
        )


def _metadata(card: Card) -> Iterator[doc.Block]:
    metadata = card.model.metadata
    if metadata:
        summary = pluralize(len(metadata), "entry", "entries") if len(metadata) > _MAX_OPEN_ROWS else None
        yield doc.Heading("Metadata")
        yield from doc.limited_table(
            doc.columns("Key", "Value"),
            list(metadata.items()),
            lambda entry: (doc.Name(sanitize(entry[0], 80)), sanitize(entry[1], _MAX_TEXT_LENGTH)),
            _MAX_ROWS,
            summary=summary,
        )


def _assumptions(card: Card) -> Iterator[doc.Block]:
    dims, values, notes = card.assumptions.dims, card.assumptions.values, card.assumptions.notes
    yield doc.Heading("Assumptions")
    if not dims and not values:
        yield doc.Paragraph("No assumed sizes: the file fixes every dimension.")
    else:
        rows = [(doc.Name(name), doc.Number(format_count(size), size)) for name, size in list(dims.items())[:_MAX_ROWS]]
        rows += [(doc.Name(name), doc.Number(str(value))) for name, value in list(values.items())[:_MAX_ROWS]]
        yield doc.Table(doc.columns("Dimension or input", "Assumed value#"), tuple(rows))
        yield from doc.note_truncation(len(dims) + len(values), len(rows))
    if notes:
        yield doc.Bullets(tuple(sanitize(note, _MAX_TEXT_LENGTH) for note in notes[:_MAX_ROWS]))
        yield from doc.note_truncation(len(notes), _MAX_ROWS)
    yield doc.Heading("Limitations")
    if card.gaps:
        gaps = (
            (doc.Strong(f"{gap.section}: "), sanitize(gap.reason, _MAX_TEXT_LENGTH)) for gap in card.gaps[:_MAX_ROWS]
        )
        yield doc.Bullets(tuple(gaps))
        yield from doc.note_truncation(len(card.gaps), _MAX_ROWS)
    else:
        yield doc.Paragraph("None.")


def owner_questions(card: Card) -> doc.Section:
    intro = doc.Paragraph("The model file does not contain this information.")
    questions = [block for title, text in _QUESTIONS.items() for block in (doc.Heading(title), doc.Question(text))]
    return doc.Section("to-be-completed", "To be completed by the owner", (intro, *questions))
