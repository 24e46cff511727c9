"""The comparison for a terminal: 80 columns, the relation first, plain text when piped."""

import io
import textwrap
from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from onnx_autodoc.diff import KEYS, Comparison, Diff, FactChange
from onnx_autodoc.render._blocks import Name
from onnx_autodoc.render.comparison import _ports as ports
from onnx_autodoc.render.comparison import _words as words
from onnx_autodoc.say import clean, count, plural

WIDTH: Final = 80
_LABEL: Final = 12
_COLUMN: Final = 20  # letters of a model's name in one line
_FEW: Final = 6
_MORE: Final = "all of them in --format json"
Line = tuple[str, str | Text]


def render_terminal(comparison: Comparison, color: bool = False) -> str:
    text = io.StringIO()
    console = Console(file=text, width=WIDTH, force_terminal=color, no_color=not color, highlight=False, markup=False)
    for diff, name in zip(comparison.diffs, words.names(comparison)[1:]):
        if len(comparison.diffs) > 1:
            console.print(Text(f"{words.names(comparison)[0]} → {name}", style="bold cyan"))
        console.print(Text(diff.relation.text, style="bold"))
        if words.evidence(diff):
            console.print(Text(f"Told from: {words.evidence(diff)}.", style="dim"))
        console.print()
    console.print(_numbers(comparison))
    for diff, name in zip(comparison.diffs, words.names(comparison)[1:]):
        _details(console, diff, name if len(comparison.diffs) > 1 else "")
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _details(console: Console, diff: Diff, name: str) -> None:
    lines = list(_lines(diff))
    if not lines:
        return
    console.print()
    if name:
        console.print(Text(name, style="bold cyan"))
    table = Table.grid(padding=(0, 0), expand=True)
    table.add_column(width=_LABEL, style="bold", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for label, line in lines:
        table.add_row(label, line)
    console.print(table)


def _numbers(comparison: Comparison) -> Table:
    """Key numbers in columns, with the change below the number where there is more than one other model."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", style="bold", no_wrap=True, max_width=20)
    several = len(comparison.diffs) > 1
    for name in words.names(comparison):
        table.add_column(Text("\n".join(textwrap.wrap(name, _COLUMN))), justify="right", overflow="fold")
    if not several:
        table.add_column("change", justify="right", min_width=14)
    for label, cells, told in _rows(comparison):
        row = [f"{cell}\n{word}" if word and several else cell for cell, word in zip(cells, told)]
        table.add_row(label, *row, *([] if several else [told[-1]]))
    return table


def _rows(comparison: Comparison) -> Iterator[tuple[str, list[str], list[str]]]:
    sides = [{measure.path: measure for measure in side.measures} for side in comparison.models]
    changes = [{}, *({change.path: change for change in diff.numbers} for diff in comparison.diffs)]
    yield from _labels(comparison)
    for path in KEYS:
        known = next((side[path] for side in sides if path in side), None)
        if known is not None:
            cells = [words.measured(side.get(path)) for side in sides]
            told = [words.change_of(found[path]) if path in found else "" for found in changes]
            yield known.label, cells, told
    figures = comparison.figures
    for name in dict.fromkeys(name for row in figures.values() for name in row):
        cells = [words.figure(figures.get(side.name, {}).get(name)) for side in comparison.models]
        told = [words.change_of(each) for diff in comparison.diffs for each in diff.figures if each.name == name]
        yield f"{clean(name, 18)} *", cells, ["", *told]
    if figures:
        yield "* brought by you", ["" for _ in comparison.models], ["" for _ in comparison.models]


def _labels(comparison: Comparison) -> Iterator[tuple[str, list[str], list[str]]]:
    labels = [side.precision or "no weights" for side in comparison.models]
    yield "Precision", labels, ["" for _ in labels]


def _lines(diff: Diff) -> Iterator[Line]:
    if diff.sizes is not None:
        yield "Sizes", Text(diff.sizes.text, style="yellow")
    yield from _interface(diff)
    yield from _some("Blocks", words.block_lines(diff))
    line = words.precision_line(diff)
    if line is not None:
        yield "Precision", line
    if diff.weights is not None:
        yield "Weights", diff.weights.text
    yield from _findings(diff)
    yield from _counts(diff)
    yield from _some("Besides", [clean(_fact(change), 200) for change in diff.facts])
    if diff.also and not (diff.numbers or diff.facts or diff.operators):
        yield "Also", f"these parts of the cards differ: {', '.join(diff.also)}"


def _fact(change: FactChange) -> str:
    was, now = (clean(words.value(side, change.path), 60) for side in (change.was, change.now))
    if change.path.startswith("gaps."):
        return f"{change.label}: {now if change.was is None else was}"
    return f"{change.label}: {was} → {now}"


def _interface(diff: Diff) -> Iterator[Line]:
    if diff.empty:
        return
    yield "Interface", ports.verdicts(diff)
    rows = ports.port_rows(diff)
    for row in rows[:_FEW]:
        where = "".join(clean(part.text, 40) if isinstance(part, Name) else str(part) for part in ports.port_names(row))
        style = "red" if row.first.breaking else ""
        yield "", Text(f"{row.verdict}: {where}: {ports.change_words(row)} ({row.first.reason})", style=style)
    if len(rows) > _FEW:
        yield "", f"… {count(len(rows) - _FEW)} more, {_MORE}"


def _some(label: str, texts: list[str]) -> Iterator[Line]:
    shown = texts if len(texts) <= _FEW + 1 else texts[:_FEW]
    for at, text in enumerate(shown):
        yield label if at == 0 else "", text
    if len(shown) < len(texts):
        yield "", f"… {count(len(texts) - len(shown))} more, {_MORE}"


def _findings(diff: Diff) -> Iterator[Line]:
    found = diff.findings
    sorts = (("new", found.new), ("gone", found.gone), ("changed", found.changed))
    told = [(word, each) for word, some in sorts for each in some]
    yield from _some(
        "Findings", [f"{word}: {one.severity} {one.rule}: {clean(one.message, 120)}" for word, one in told]
    )


def _counts(diff: Diff) -> Iterator[Line]:
    rows = diff.operators[:_FEW]
    shown = [f"{clean(change.name, 40)} {words.counted(change.was, change.now)}" for change in rows]
    more = len(diff.operators) - len(rows)
    if shown:
        yield "Operators", ", ".join(shown) + (f", {plural(more, 'more type')}" if more else "")
