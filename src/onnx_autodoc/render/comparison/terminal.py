"""The comparison for a terminal: 80 columns, the relation first, plain text when piped."""

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from onnx_autodoc.compare import Comparison, Diff, FactChange
from onnx_autodoc.render._blocks import Name
from onnx_autodoc.render._console import WIDTH, TextConsole
from onnx_autodoc.render.comparison import _ports as ports
from onnx_autodoc.render.comparison import _words as words
from onnx_autodoc.text import clean, count, named, plural

_LABEL: Final = 12
_NAMES: Final = 21  # for what the numbers are called
_COLUMN: Final = 20  # letters of a model's name in one line
_BESIDE: Final = 3  # models beside the first, in one table
_FEW: Final = 6
_GLANCE: Final = 2  # of what a number format does to the drawing
_OPSETS: Final = "model.opsets."
_MORE: Final = "all of them in --format json"
Line = tuple[str, str | Text]


def render_terminal(comparison: Comparison, color: bool = False) -> str:
    console = TextConsole(color)
    for diff, name in zip(comparison.diffs, words.names(comparison)[1:]):
        if len(comparison.diffs) > 1:
            console.print(Text(f"{words.names(comparison)[0]} → {name}", style="bold cyan"))
        _relation(console, diff)
        if len(comparison.diffs) > 1:
            console.print()
    if not comparison.empty or comparison.figures:
        for at, table in enumerate(_tables(comparison)):
            console.print(*([""] if at or len(comparison.diffs) == 1 else []), table, sep="\n")
    for diff, name in zip(comparison.diffs, words.names(comparison)[1:]):
        _details(console, diff, name if len(comparison.diffs) > 1 else "")
    return console.written()


def _relation(console: Console, diff: Diff) -> None:
    """Where nothing differs, what was not looked at is all there is to add."""
    console.print(Text(diff.relation.text, style="bold"))
    told = "; ".join(diff.relation.against) if diff.empty else words.evidence(diff)
    if told:
        begin = told[:1].upper() + told[1:] if diff.empty else f"Told from: {told}"
        console.print(Text(f"{begin}.", style="dim"))


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


def _tables(comparison: Comparison) -> Iterator[Table]:
    """The first model beside the others; a few at a time, so that numbers are not cut to pieces."""
    for at in range(1, len(comparison.models), _BESIDE):
        yield _numbers(comparison, [0, *range(at, min(at + _BESIDE, len(comparison.models)))])


def _numbers(comparison: Comparison, shown: list[int]) -> Table:
    """Key numbers in columns, with the change below the number where there is more than one other model."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", style="bold", overflow="fold", max_width=20)
    several = len(comparison.diffs) > 1
    names = words.names(comparison)
    wide = min(_COLUMN, (WIDTH - _NAMES) // len(shown) - 2)
    for at in shown:
        table.add_column(Text("\n".join(_wrapped(names[at], wide))), justify="right", overflow="fold")
    if not several:
        table.add_column("change", justify="right", min_width=14)
    for label, cells, told in _rows(comparison):
        row = [f"{cells[at]}\n{told[at]}" if told[at] and several else cells[at] for at in shown]
        table.add_row(label, *row, *([] if several else [told[-1]]))
    return table


def _wrapped(name: str, wide: int) -> list[str]:
    """A long name in lines, broken where it has a mark to break at: "yolov8_hand.ts17", ".onnx"."""
    lines = [""]
    for part in (part for word in re.split(r"(?=[-_./@ ])", name) for part in textwrap.wrap(word, wide)):
        if len(lines[-1] + part) > wide:
            lines.append("")
        lines[-1] += part
    return [line for line in lines if line]


def _rows(comparison: Comparison) -> Iterator[tuple[str, list[str], list[str]]]:
    yield from _labels(comparison)
    yield from words.key_rows(comparison)
    figures = comparison.figures
    for name in dict.fromkeys(name for row in figures.values() for name in row):
        cells = [words.figure(figures.get(side.name, {}).get(name)) for side in comparison.models]
        found = [{each.name: words.change_of(each) for each in diff.figures} for diff in comparison.diffs]
        yield f"{clean(name, 18)} *", cells, ["", *(each.get(name, "") for each in found)]
    if figures:
        yield "* brought by you", ["" for _ in comparison.models], ["" for _ in comparison.models]


def _labels(comparison: Comparison) -> Iterator[tuple[str, list[str], list[str]]]:
    labels = [side.precision or "no weights" for side in comparison.models]
    yield "Precision", labels, ["" for _ in labels]


def _lines(diff: Diff) -> Iterator[Line]:
    if diff.sizes is not None:
        yield "Sizes", Text(diff.sizes.text, style="yellow")
    yield from _interface(diff)
    yield from _some("Blocks", words.block_lines(diff), _GLANCE if diff.relation.kind == "other-precision" else _FEW)
    if diff.kinds:
        yield "" if diff.blocks else "Blocks", f"counted in the whole graph: {words.kinds(diff)}"
    line = words.precision_line(diff)
    if line is not None:
        yield "Precision", line
    if diff.weights is not None and not diff.empty:
        yield "Weights", words.weights_line(diff.weights)
    yield from _findings(diff)
    yield from _counts(diff)
    yield from _some("Besides", [*_facts(diff)])
    if diff.also and not (diff.numbers or diff.facts or diff.operators):
        yield "Also", f"these parts of the cards differ: {', '.join(diff.also)}"


def _facts(diff: Diff) -> Iterator[str]:
    """Opsets that only one of the files imports are one line: converters declare all they know."""
    imports = [change for change in diff.facts if change.path.startswith(_OPSETS) and None in (change.was, change.now)]
    yield from (clean(_fact(change), 200) for change in diff.facts if change not in imports)
    for title, some in (
        ("Also imports", [change for change in imports if change.was is None]),
        ("Imports no more", [change for change in imports if change.now is None]),
    ):
        shown = [f"{named(change.path.removeprefix(_OPSETS), 40)} {change.now or change.was}" for change in some]
        if shown:
            yield f"{title}: {', '.join(shown[:_FEW])}" + (
                f" and {count(len(shown) - _FEW)} more" * (len(shown) > _FEW)
            )


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
        where = "".join(named(part.text, 40) if isinstance(part, Name) else str(part) for part in ports.port_names(row))
        style = "red" if row.first.breaking else ""
        yield "", Text(f"{row.verdict}: {where}: {ports.change_words(row)} ({row.first.reason})", style=style)
    if len(rows) > _FEW:
        yield "", f"… {count(len(rows) - _FEW)} more, {_MORE}"


def _some(label: str, texts: list[str], few: int = _FEW) -> Iterator[Line]:
    shown = texts if len(texts) <= few + 1 else texts[:few]
    for at, text in enumerate(shown):
        yield label if at == 0 else "", text
    if len(shown) < len(texts):
        yield "", f"… {count(len(texts) - len(shown))} more, {_MORE}"


def _findings(diff: Diff) -> Iterator[Line]:
    """The grave ones first; what runtimes take is a number here, and in full in the other formats."""
    found = diff.findings
    sorts = (("new", found.new), ("gone", found.gone), ("changed", found.changed))
    told = [(word, one) for word, some in sorts for one in some if not words.is_remark(one)]
    told.sort(key=lambda pair: -words.rank(pair[1]))
    remarks = [(word, sum(map(words.is_remark, some))) for word, some in sorts]
    shown = [f"{count(many)} {word}" for word, many in remarks if many]
    lines = list(_some("Findings", [f"{word}: {words.finding_line(one)}" for word, one in told]))
    yield from lines
    if shown:
        yield "" if lines else "Findings", f"remarks on runtimes: {', '.join(shown)}"


def _counts(diff: Diff) -> Iterator[Line]:
    rows = diff.operators[:_FEW]
    shown = [f"{named(words.operator(change), 60)} {words.counted(change.was, change.now)}" for change in rows]
    more = len(diff.operators) - len(rows)
    if shown:
        yield "Operators", ", ".join(shown) + (f", {plural(more, 'more type')}" if more else "")
