"""What stands where in a comparison as a document. Markdown and HTML say how it looks."""

from collections.abc import Callable, Iterator
from typing import Final

from onnx_autodoc.compare import Comparison, Diff, FigureChange, key_measures
from onnx_autodoc.render._blocks import (
    Block,
    Column,
    Diagram,
    Heading,
    Items,
    Name,
    Note,
    Paragraph,
    Section,
    Strong,
    Table,
    Text,
)
from onnx_autodoc.render.comparison import _ports as ports
from onnx_autodoc.render.comparison import _words as words
from onnx_autodoc.render.comparison._rest import facts, findings, leftovers, operators, weights
from onnx_autodoc.text import plural

_NOT_BY_US: Final = "Brought by the user; this tool did not measure them."


def sections(comparison: Comparison) -> tuple[Section, ...]:
    """Those that have something to say."""
    found = (Section(name, title, tuple(make(comparison))) for name, title, make in _SECTIONS)
    return tuple(section for section in found if section.blocks)


def _each(make: Callable[[Diff], Iterator[Block]]) -> Callable[[Comparison], Iterator[Block]]:
    """A part for every model, under its name where there are several."""

    def made(comparison: Comparison) -> Iterator[Block]:
        for diff, name in zip(comparison.diffs, words.names(comparison)[1:]):
            blocks = list(make(diff))
            if blocks and len(comparison.diffs) > 1:
                yield Heading(name)
            yield from blocks

    return made


def _short(diff: Diff) -> Iterator[Block]:
    yield Paragraph((Strong(diff.relation.text),))
    if words.evidence(diff):
        yield Paragraph((f"Told from: {words.evidence(diff)}.",))
    if diff.sizes is not None:
        yield Note((diff.sizes.text,))


def _numbers(comparison: Comparison) -> Iterator[Block]:
    """Key numbers side by side; then all that differ. Numbers that are all equal tell nothing."""
    if comparison.empty:
        return
    yield side_by_side(comparison)
    shown = {measure.path for measure in key_measures([side.measures for side in comparison.models])}
    for diff, name in zip(comparison.diffs, words.names(comparison)[1:]):
        rows = [change for change in diff.numbers if change.path not in shown]
        if rows:
            yield Table(
                (Column("What"), Column("Was", True), Column("Is", True), Column("Change", True)),
                tuple(
                    (
                        (change.label,),
                        (words.number(change.path, change.unit, change.was, change.was_least),),
                        (words.number(change.path, change.unit, change.now, change.is_least),),
                        (words.change_of(change),),
                    )
                    for change in rows
                ),
                folded=f"{plural(len(rows), 'more number')} that differ in {name}",
            )


def side_by_side(comparison: Comparison) -> Table:
    """A column for each model; a change stands beside the number."""
    columns = [Column("What"), *(Column(name, True) for name in words.names(comparison))]
    rows: list[tuple[Text, ...]] = [_texts("Precision", [side.precision or "no weights" for side in comparison.models])]
    for label, cells, told in words.key_rows(comparison):
        rows.append(((label,), *(changed(cell, word) for cell, word in zip(cells, told))))
    return Table(tuple(columns), tuple(rows))


def changed(cell: str, word: str) -> Text:
    """A number, and how it changed beside it."""
    return (f"{cell} ", Strong(word)) if word else (cell,)


def _texts(label: str, cells: list[str]) -> tuple[Text, ...]:
    return ((label,), *((cell,) for cell in cells))


def _interface(diff: Diff) -> Iterator[Block]:
    rows = ports.port_rows(diff)
    if rows:
        yield Paragraph((f"{ports.verdicts(diff)}.".capitalize(),))
        columns = (Column("Breaking"), Column("Where"), Column("What"), Column("Whom it concerns"))
        yield Table(
            columns,
            tuple(
                (
                    (Strong("breaking") if row.first.breaking else "no",),
                    ports.port_names(row),
                    (ports.change_words(row),),
                    (row.first.reason,),
                )
                for row in rows
            ),
        )


def _blocks(comparison: Comparison) -> Iterator[Block]:
    yield from _each(_changes)(comparison)
    for diff, side, name in zip(comparison.diffs, comparison.models[1:], words.names(comparison)[1:]):
        first = comparison.models[0].tree
        if (diff.marks_was or diff.marks_is) and first is not None and side.tree is not None:
            yield from (Heading(words.names(comparison)[0]), Diagram(first), Heading(name), Diagram(side.tree))


def _changes(diff: Diff) -> Iterator[Block]:
    if diff.blocks:
        yield Items(tuple((line,) for line in words.block_lines(diff)))
    if diff.kinds:
        yield Paragraph((f"Blocks counted in the whole graph: {words.kinds(diff)}.",))


def _precision(diff: Diff) -> Iterator[Block]:
    line = words.precision_line(diff)
    if line is not None and diff.precision is not None:
        yield Paragraph((line + ".",))
        if diff.precision.stayed:
            yield Paragraph((diff.precision.stayed[:1].upper() + diff.precision.stayed[1:] + ".",))


def _figures(comparison: Comparison) -> Iterator[Block]:
    if not comparison.figures:
        return
    titles = list(dict.fromkeys(name for row in comparison.figures.values() for name in row))
    rows = [(name, [comparison.figures.get(side.name, {}).get(name) for side in comparison.models]) for name in titles]
    changes: list[dict[str, FigureChange]] = [
        {},
        *({change.name: change for change in diff.figures} for diff in comparison.diffs),
    ]
    yield Paragraph((_NOT_BY_US,))
    yield Table(
        (Column("Figure"), *(Column(name, True) for name in words.names(comparison))),
        tuple(((Name(name),), *_brought(name, values, changes)) for name, values in rows),
    )


def _brought(name: str, values: list[int | float | None], changes: list[dict[str, FigureChange]]) -> Iterator[Text]:
    for value, found in zip(values, changes):
        yield changed(words.figure(value), words.change_of(found[name]) if name in found else "")


_SECTIONS: Final = (
    ("in-short", "In short", _each(_short)),
    ("numbers", "Numbers", _numbers),
    ("figures", "Figures", _figures),
    ("interface", "Interface", _each(_interface)),
    ("blocks", "Blocks", _blocks),
    ("precision", "Precision", _each(_precision)),
    ("weights", "Weights", _each(weights)),
    ("findings", "Findings", _each(findings)),
    ("operators", "Operators", _each(operators)),
    ("facts", "What else the cards say", _each(facts)),
    ("also", "Also different", _each(leftovers)),
)
