"""The parts of a comparison that are lists: weights, findings, operators, and what else the cards say."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.compare import Diff, FindingChange
from onnx_autodoc.render._blocks import Block, Column, Heading, Items, Name, Paragraph, Table, Text
from onnx_autodoc.render.comparison import _words as words
from onnx_autodoc.text import clean, count, plural

_MANY: Final = 12  # rows, from which on a table is folded
_SORTS: Final = {
    "changed": "With other numbers",
    "retyped": "In another type",
    "reshaped": "Of another shape",
    "gone": "Gone",
    "added": "Added",
    "unread": "Not read",
}


def weights(diff: Diff) -> Iterator[Block]:
    found = diff.weights
    if found is None:
        return
    yield Paragraph((f"{found.text[:1].upper()}{found.text[1:]}.",))
    rows = [(sort, name) for sort in _SORTS for name in found.names.get(sort, ())]
    rows_text: list[tuple[Text, ...]] = [((_SORTS[sort],), (Name(name),)) for sort, name in rows]
    rows_text += [(("Renamed",), (Name(pair.was), " → ", Name(pair.now))) for pair in found.pairs]
    if rows_text:
        total = found.changed + found.retyped + found.reshaped + found.renamed + found.gone + found.added + found.unread
        more = f", {count(len(rows_text))} of them listed" if len(rows_text) < total else ""
        yield Table((Column("How"), Column("Tensor")), tuple(rows_text), folded=f"{plural(total, 'tensor')}{more}")


def findings(diff: Diff) -> Iterator[Block]:
    for title, found in (("New", diff.findings.new), ("Gone", diff.findings.gone), ("Changed", diff.findings.changed)):
        if found:
            yield Heading(f"{title} ({count(len(found))})")
            yield Items(tuple(_finding(each) for each in found))


def _finding(change: FindingChange) -> Text:
    about = (" (", Name(change.about), ")") if change.about else ()
    both = change.was is not None and change.now is not None and change.was != change.now
    places = f" Places: {words.counted(change.was or 0, change.now or 0)}." if both else ""
    return (f"{change.severity}: ", Name(change.rule), *about, f": {clean(change.message, 300).rstrip('.')}.{places}")


def operators(diff: Diff) -> Iterator[Block]:
    rows = tuple(
        (
            (Name(change.name), *((" of ", Name(change.domain)) if change.domain not in ("", "ai.onnx", None) else ())),
            (count(change.was) if change.was else "none",),
            (count(change.now) if change.now else "none",),
            (f"{change.now - change.was:+,}".replace("-", "−"),),
        )
        for change in diff.operators
    )
    if rows:
        columns = (Column("Operator"), Column("Was", True), Column("Is", True), Column("Change", True))
        folded = f"{plural(len(rows), 'operator')} that come more or less often" if len(rows) > _MANY else None
        yield Table(columns, rows, folded=folded)


def facts(diff: Diff) -> Iterator[Block]:
    rows = tuple(
        ((clean(change.label, 80),), (words.value(change.was, change.path),), (words.value(change.now, change.path),))
        for change in diff.facts
    )
    if rows:
        folded = f"{plural(len(rows), 'statement')}" if len(rows) > _MANY else None
        yield Table((Column("What"), Column("Was"), Column("Is")), rows, folded=folded)


def leftovers(diff: Diff) -> Iterator[Block]:
    if diff.also:
        named = [part for path in diff.also for part in (", ", Name(path))][1:]
        yield Paragraph(("These parts of the cards differ, too; they are in full in the cards: ", *named, "."))
