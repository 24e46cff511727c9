"""The sections of a comparison, independent of the output format, and its Markdown document."""

from collections.abc import Callable, Iterator
from typing import Final

from onnx_autodoc.compare import Comparison, Diff, FindingChange, key_measures
from onnx_autodoc.render import content as doc
from onnx_autodoc.render.card_text import EVIDENCE, capitalize
from onnx_autodoc.render.comparison.text import (
    block_lines,
    count_port_changes,
    figure_rows,
    format_block_counts,
    format_change,
    format_counts,
    format_evidence,
    format_fact,
    format_headline,
    format_port_change,
    format_precision_change,
    format_value,
    model_names,
    number_rows,
    port_rows,
    port_spans,
)
from onnx_autodoc.render.markdown import escape_markdown, write_sections
from onnx_autodoc.text import format_count, pluralize, sanitize

_MAX_OPEN_ROWS: Final = 12
_TENSOR_CHANGES: Final = {
    "changed": "With other numbers",
    "retyped": "In another type",
    "reshaped": "Of another shape",
    "gone": "Gone",
    "added": "Added",
    "unread": "Not read",
}


def render_markdown(comparison: Comparison) -> str:
    return f"# {escape_markdown(format_headline(comparison))}\n\n{write_sections(comparison_sections(comparison))}"


def comparison_sections(comparison: Comparison) -> tuple[doc.Section, ...]:
    """Return the sections with content."""
    sections = (doc.Section(name, title, tuple(make(comparison))) for name, title, make in _SECTIONS)
    return tuple(section for section in sections if section.blocks)


def _per_model(make: Callable[[Diff], Iterator[doc.Block]]) -> Callable[[Comparison], Iterator[doc.Block]]:
    """Repeat blocks for every model, under its name where there are several."""

    def make_all(comparison: Comparison) -> Iterator[doc.Block]:
        for diff, name in zip(comparison.diffs, model_names(comparison)[1:]):
            blocks = list(make(diff))
            if blocks and len(comparison.diffs) > 1:
                yield doc.Heading(name)
            yield from blocks

    return make_all


def _summary(diff: Diff) -> Iterator[doc.Block]:
    yield doc.Paragraph(doc.Strong(diff.relation.text))
    evidence = format_evidence(diff)
    if evidence:
        yield doc.Paragraph(evidence)
    if diff.sizes is not None:
        yield doc.Note(diff.sizes.text)


def _numbers(comparison: Comparison) -> Iterator[doc.Block]:
    """Compare the key numbers side by side, then list all others that differ."""
    if comparison.empty:
        return
    names = model_names(comparison)
    rows = tuple((label, *map(_changed_cell, cells, changes)) for label, cells, changes in number_rows(comparison))
    yield doc.Table((doc.Column("What"), *(doc.Column(name, True) for name in names)), rows)
    shown = {measure.path for measure in key_measures([side.measures for side in comparison.models])}
    for diff, name in zip(comparison.diffs, names[1:]):
        others = tuple(
            (
                change.label,
                format_value(change.path, change.unit, change.was, change.was_least),
                format_value(change.path, change.unit, change.now, change.is_least),
                format_change(change),
            )
            for change in diff.numbers
            if change.path not in shown
        )
        if others:
            summary = f"{pluralize(len(others), 'more number')} that differ in {name}"
            yield doc.Table(doc.columns("What", "Was#", "Is#", "Change#"), others, summary=summary)


def _changed_cell(cell: str, change: str) -> doc.Spans:
    return (f"{cell} ", doc.Strong(change)) if change else cell


def _figures(comparison: Comparison) -> Iterator[doc.Block]:
    if comparison.figures:
        figures = figure_rows(comparison)
        rows = tuple((doc.Name(name), *map(_changed_cell, cells, changes)) for name, cells, changes in figures)
        yield doc.Paragraph("Brought by the user; this tool did not measure them.")
        yield doc.Table((doc.Column("Figure"), *(doc.Column(name, True) for name in model_names(comparison))), rows)


def _interface(diff: Diff) -> Iterator[doc.Block]:
    rows = tuple(
        (
            doc.Strong("breaking") if row.first.breaking else "no",
            port_spans(row),
            format_port_change(row),
            row.first.reason,
        )
        for row in port_rows(diff)
    )
    if rows:
        yield doc.Paragraph(f"{count_port_changes(diff)}.".capitalize())
        yield doc.Table(doc.columns("Breaking", EVIDENCE, "What", "Whom it concerns"), rows)


def _blocks(comparison: Comparison) -> Iterator[doc.Block]:
    yield from _per_model(_block_changes)(comparison)
    names, first = model_names(comparison), comparison.models[0].tree
    for diff, side, name in zip(comparison.diffs, comparison.models[1:], names[1:]):
        if (diff.marks_was or diff.marks_is) and first is not None and side.tree is not None:
            yield from (doc.Heading(names[0]), doc.Diagram(first), doc.Heading(name), doc.Diagram(side.tree))


def _block_changes(diff: Diff) -> Iterator[doc.Block]:
    if diff.blocks:
        yield doc.Bullets(tuple(block_lines(diff)))
    if diff.kinds:
        yield doc.Paragraph(f"Blocks counted in the whole graph: {format_block_counts(diff)}.")


def _precision(diff: Diff) -> Iterator[doc.Block]:
    line = format_precision_change(diff)
    if line is not None and diff.precision is not None:
        yield doc.Paragraph(line + ".")
        if diff.precision.stayed:
            yield doc.Paragraph(capitalize(diff.precision.stayed) + ".")


def _weights(diff: Diff) -> Iterator[doc.Block]:
    found = diff.weights
    if found is None:
        return
    yield doc.Paragraph(capitalize(found.text) + ".")
    rows: list[tuple[doc.Spans, ...]] = [
        (label, doc.Name(name)) for kind, label in _TENSOR_CHANGES.items() for name in found.names.get(kind, ())
    ]
    rows += [("Renamed", (doc.Name(pair.was), " → ", doc.Name(pair.now))) for pair in found.pairs]
    if rows:
        total = found.changed + found.retyped + found.reshaped + found.renamed + found.gone + found.added + found.unread
        more = f", {format_count(len(rows))} of them listed" if len(rows) < total else ""
        yield doc.Table(doc.columns("How", "Tensor"), tuple(rows), summary=f"{pluralize(total, 'tensor')}{more}")


def _findings(diff: Diff) -> Iterator[doc.Block]:
    groups = {"New": diff.findings.new, "Gone": diff.findings.gone, "Changed": diff.findings.changed}
    for title, findings in groups.items():
        if findings:
            yield doc.Heading(f"{title} ({format_count(len(findings))})")
            yield doc.Bullets(tuple(map(_finding, findings)))


def _finding(change: FindingChange) -> doc.Spans:
    about = (" (", doc.Name(change.about), ")") if change.about else ()
    is_counted = change.was is not None and change.now is not None and change.was != change.now
    places = f" Places: {format_counts(change.was or 0, change.now or 0)}." if is_counted else ""
    message = sanitize(change.message, 300).rstrip(".")
    return (f"{change.severity}: ", doc.Name(change.rule), *about, f": {message}.{places}")


def _operators(diff: Diff) -> Iterator[doc.Block]:
    rows: list[tuple[doc.Spans, ...]] = []
    for change in diff.operators:
        domain = (" of ", doc.Name(change.domain)) if change.domain and change.domain != "ai.onnx" else ()
        was, now = (format_count(count) if count else "none" for count in (change.was, change.now))
        rows.append(((doc.Name(change.name), *domain), was, now, f"{change.now - change.was:+,}".replace("-", "−")))
    if rows:
        summary = f"{pluralize(len(rows), 'operator')} that come more or less often"
        titles = doc.columns("Operator", "Was#", "Is#", "Change#")
        yield doc.Table(titles, tuple(rows), summary=summary if len(rows) > _MAX_OPEN_ROWS else None)


def _facts(diff: Diff) -> Iterator[doc.Block]:
    rows = tuple(
        (sanitize(fact.label, 80), format_fact(fact.was, fact.path), format_fact(fact.now, fact.path))
        for fact in diff.facts
    )
    if rows:
        summary = pluralize(len(rows), "statement") if len(rows) > _MAX_OPEN_ROWS else None
        yield doc.Table(doc.columns("What", "Was", "Is"), rows, summary=summary)


def _others(diff: Diff) -> Iterator[doc.Block]:
    if diff.also:
        intro = "These parts of the cards differ, too; they are in full in the cards: "
        yield doc.Paragraph((intro, *doc.join_names(diff.also), "."))


_SECTIONS: Final = (
    ("in-short", "In short", _per_model(_summary)),
    ("numbers", "Numbers", _numbers),
    ("figures", "Figures", _figures),
    ("interface", "Interface", _per_model(_interface)),
    ("blocks", "Blocks", _blocks),
    ("precision", "Precision", _per_model(_precision)),
    ("weights", "Weights", _per_model(_weights)),
    ("findings", "Findings", _per_model(_findings)),
    ("operators", "Operators", _per_model(_operators)),
    ("facts", "What else the cards say", _per_model(_facts)),
    ("also", "Also different", _per_model(_others)),
)
