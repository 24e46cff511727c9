"""The sections of a comparison, independent of the output format, and its Markdown document."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from onnx_autodoc.compare import Comparison, CountChange, Diff, FactChange, FindingChange, NumberChange, key_measures
from onnx_autodoc.render import content as doc
from onnx_autodoc.render.card_text import capitalize
from onnx_autodoc.render.comparison import text as shared
from onnx_autodoc.render.markdown import escape_markdown, write_sections
from onnx_autodoc.text import format_count, pluralize, sanitize

_MAX_OPEN_ROWS: Final = 12
_MAX_ROWS: Final = 500  # of each table and list; `--format json` has all
_COMPLETE: Final = "JSON comparison"
_TENSOR_CHANGES: Final = {
    "changed": "Values changed",
    "retyped": "Type changed",
    "reshaped": "Shape changed",
    "gone": "Removed",
    "added": "Added",
    "unread": "Not read",
}


def render_markdown(comparison: Comparison) -> str:
    title = escape_markdown(shared.format_headline(comparison))
    return f"# {title}\n\n{write_sections(comparison_sections(comparison))}"


def comparison_sections(comparison: Comparison) -> tuple[doc.Section, ...]:
    """Return the sections with content."""
    sections = (doc.Section(name, title, tuple(make(comparison))) for name, title, make in _SECTIONS)
    return tuple(section for section in sections if section.blocks)


def _per_model(make: Callable[[Diff], Iterator[doc.Block]]) -> Callable[[Comparison], Iterator[doc.Block]]:
    """Repeat blocks for every model, under its name where there are several."""

    def make_all(comparison: Comparison) -> Iterator[doc.Block]:
        for diff, name in zip(comparison.diffs, shared.model_names(comparison)[1:]):
            blocks = list(make(diff))
            if blocks and len(comparison.diffs) > 1:
                yield doc.Heading(name)
            yield from blocks

    return make_all


def _summary(diff: Diff) -> Iterator[doc.Block]:
    yield doc.Paragraph(doc.Strong(diff.relation.text))
    evidence = shared.format_evidence(diff)
    if evidence:
        yield doc.Paragraph(evidence)
    if diff.sizes is not None:
        yield doc.Note(diff.sizes.text)


def _numbers(comparison: Comparison) -> Iterator[doc.Block]:
    """Compare the key figures side by side, then list all others that differ."""
    if comparison.empty:
        return
    names = shared.model_names(comparison)
    yield _model_table("Metric", names, shared.number_rows(comparison))
    shown = {measure.path for measure in key_measures([side.measures for side in comparison.models])}
    for diff, name in zip(comparison.diffs, names[1:]):
        others = [change for change in diff.numbers if change.path not in shown]
        if others:
            summary = f"{pluralize(len(others), 'more changed metric')} in {name}"
            yield from _table(doc.columns("Metric", "Before#", "After#", "Change#"), others, _number_row, summary)


def _number_row(change: NumberChange) -> tuple[doc.Spans, ...]:
    return (
        change.label,
        shared.format_value(change.path, change.unit, change.was, change.was_least),
        shared.format_value(change.path, change.unit, change.now, change.is_least),
        shared.format_change(change),
    )


def _table(
    titles: tuple[doc.Column, ...],
    items: Sequence[doc.Item],
    make_row: Callable[[doc.Item], tuple[doc.Spans, ...]],
    summary: str | None = None,
) -> Iterator[doc.Block]:
    """Yield a table of the first items, and a note on the others."""
    yield doc.Table(titles, tuple(map(make_row, items[:_MAX_ROWS])), summary=summary)
    yield from doc.note_truncation(len(items), _MAX_ROWS, _COMPLETE)


def _bullets(items: Sequence[doc.Spans]) -> Iterator[doc.Block]:
    yield doc.Bullets(tuple(items[:_MAX_ROWS]))
    yield from doc.note_truncation(len(items), _MAX_ROWS, _COMPLETE)


def _figures(comparison: Comparison) -> Iterator[doc.Block]:
    if comparison.figures:
        yield doc.Paragraph("Supplied by the user, not measured by this tool.")
        rows = ((doc.Name(name), cells, changes) for name, cells, changes in shared.figure_rows(comparison))
        yield _model_table("Figure", shared.model_names(comparison), rows)


def _model_table(title: str, names: list[str], rows: Iterable[tuple[doc.Span, list[str], list[str]]]) -> doc.Table:
    """Return a table with a column per model, each change after its number."""
    cells = tuple(
        (label, *((f"{text} ", doc.Strong(change)) if change else text for text, change in zip(texts, changes)))
        for label, texts, changes in rows
    )
    return doc.Table((doc.Column(title), *(doc.Column(name, True) for name in names)), cells)


def _interface(diff: Diff) -> Iterator[doc.Block]:
    rows = shared.port_rows(diff)
    if rows:
        yield doc.Paragraph(f"{shared.count_port_changes(diff)}.".capitalize())
        yield from _table(doc.columns("Breaking", "Input or output", "Change", "Effect"), rows, _port_row)


def _port_row(row: shared.PortRow) -> tuple[doc.Spans, ...]:
    return (
        *(doc.Strong("breaking") if row.first.breaking else "no", shared.port_spans(row)),
        *(shared.format_port_change(row), row.first.reason),
    )


def _blocks(comparison: Comparison) -> Iterator[doc.Block]:
    yield from _per_model(_block_changes)(comparison)
    names, first = shared.model_names(comparison), comparison.models[0].tree
    for diff, side, name in zip(comparison.diffs, comparison.models[1:], names[1:]):
        if (diff.marks_was or diff.marks_is) and first is not None and side.tree is not None:
            yield from (doc.Heading(names[0]), doc.Diagram(first), doc.Heading(name), doc.Diagram(side.tree))


def _block_changes(diff: Diff) -> Iterator[doc.Block]:
    if diff.blocks:
        yield from _bullets(shared.block_lines(diff))
    if diff.kinds:
        yield doc.Paragraph(f"Block counts in the whole graph: {shared.format_block_counts(diff)}.")


def _precision(diff: Diff) -> Iterator[doc.Block]:
    line = shared.format_precision_change(diff)
    if line is not None and diff.precision is not None:
        yield doc.Paragraph(line + ".")
        if diff.precision.stayed:
            yield doc.Paragraph(capitalize(diff.precision.stayed) + ".")


def _weights(diff: Diff) -> Iterator[doc.Block]:
    change = diff.weights
    if change is None:
        return
    yield doc.Paragraph(capitalize(change.text) + ".")
    rows: list[tuple[doc.Spans, ...]] = [
        (label, doc.Name(name)) for kind, label in _TENSOR_CHANGES.items() for name in change.names.get(kind, ())
    ]
    rows += [("Renamed", (doc.Name(pair.was), " → ", doc.Name(pair.now))) for pair in change.pairs]
    if rows:
        total = change.renamed + sum(getattr(change, kind) for kind in _TENSOR_CHANGES)
        more = f", {format_count(len(rows))} listed" if len(rows) < total else ""
        yield doc.Table(doc.columns("Change", "Tensor"), tuple(rows), summary=f"{pluralize(total, 'tensor')}{more}")


def _findings(diff: Diff) -> Iterator[doc.Block]:
    groups = {"New": diff.findings.new, "Removed": diff.findings.gone, "Changed": diff.findings.changed}
    for title, findings in groups.items():
        if findings:
            yield doc.Heading(f"{title} ({format_count(len(findings))})")
            yield from _bullets([_finding(change) for change in findings])


def _finding(change: FindingChange) -> doc.Spans:
    about = (" (", doc.Name(change.about), ")") if change.about else ()
    is_counted = change.was is not None and change.now is not None and change.was != change.now
    places = f" Occurrences: {shared.format_counts(change.was or 0, change.now or 0)}." if is_counted else ""
    message = sanitize(change.message, 300).rstrip(".")
    return (f"{change.severity}: ", doc.Name(change.rule), *about, f": {message}.{places}")


def _operators(diff: Diff) -> Iterator[doc.Block]:
    count = len(diff.operators)
    if count:
        summary = f"{pluralize(count, 'operator')} with a different number of nodes" if count > _MAX_OPEN_ROWS else None
        titles = doc.columns("Operator", "Before#", "After#", "Change#")
        yield from _table(titles, diff.operators, _operator_row, summary)


def _operator_row(change: CountChange) -> tuple[doc.Spans, ...]:
    domain = (" of ", doc.Name(change.domain)) if change.domain and change.domain != "ai.onnx" else ()
    was, now = format_count(change.was), format_count(change.now)
    return (doc.Name(change.name), *domain), was, now, f"{change.now - change.was:+,}".replace("-", "−")


def _facts(diff: Diff) -> Iterator[doc.Block]:
    if diff.facts:
        summary = pluralize(len(diff.facts), "change") if len(diff.facts) > _MAX_OPEN_ROWS else None
        yield from _table(doc.columns("Field", "Before", "After"), diff.facts, _fact_row, summary)


def _fact_row(fact: FactChange) -> tuple[doc.Spans, ...]:
    return (sanitize(fact.label, 80), *(shared.format_fact(side, fact.path) for side in (fact.was, fact.now)))


def _others(diff: Diff) -> Iterator[doc.Block]:
    if diff.also:
        intro = "Further fields of the cards that differ (see the cards for their values): "
        yield doc.Paragraph((intro, *doc.join_names(diff.also[:_MAX_ROWS]), "."))
        yield from doc.note_truncation(len(diff.also), _MAX_ROWS, _COMPLETE)


_SECTIONS: Final = (
    ("summary", "Summary", _per_model(_summary)),
    ("numbers", "Metrics", _numbers),
    ("figures", "User-supplied figures", _figures),
    ("interface", "Interface", _per_model(_interface)),
    ("blocks", "Blocks", _blocks),
    ("precision", "Precision", _per_model(_precision)),
    ("weights", "Weights", _per_model(_weights)),
    ("findings", "Findings", _per_model(_findings)),
    ("operators", "Operators", _per_model(_operators)),
    ("facts", "Other changes", _per_model(_facts)),
    ("also", "Other fields", _per_model(_others)),
)
