"""The comparison for a terminal: 80 columns, the relation first, plain text when piped."""

import re
import textwrap
from collections.abc import Iterator
from typing import Final

from rich.table import Table
from rich.text import Text

from onnx_autodoc.compare import Comparison, Diff, FactChange
from onnx_autodoc.render.card_text import capitalize
from onnx_autodoc.render.comparison.text import (
    NumberRow,
    block_lines,
    count_port_changes,
    figure_rows,
    format_block_counts,
    format_counts,
    format_evidence,
    format_fact,
    format_finding,
    format_port_change,
    format_precision_change,
    format_weights_change,
    is_runtime_remark,
    model_names,
    number_rows,
    operator_name,
    port_rows,
    port_spans,
    severity_rank,
)
from onnx_autodoc.render.content import KeyValue, Name
from onnx_autodoc.render.terminal import WIDTH, TextConsole, label_rows
from onnx_autodoc.text import display_name, format_count, pluralize, sanitize

_KEY_WIDTH: Final = 12
_LABEL_WIDTH: Final = 21  # of the numbers' names
_MAX_COLUMN_WIDTH: Final = 20
_MODELS_PER_TABLE: Final = 3  # besides the first
_MAX_LINES: Final = 6
_MAX_BLOCK_LINES_OF_PRECISION: Final = 2  # where only the precision differs
_OPSET_PATHS: Final = "model.opsets."
_MORE: Final = "all of them in --format json"


def render_terminal(comparison: Comparison, color: bool = False) -> str:
    console, names, is_single = TextConsole(color), model_names(comparison), len(comparison.diffs) == 1
    for diff, name in zip(comparison.diffs, names[1:]):
        if not is_single:
            console.print(Text(f"{names[0]} → {name}", style="bold cyan"))
        _print_relation(console, diff)
        if not is_single:
            console.print()
    if not comparison.empty or comparison.figures:
        for start in range(1, len(comparison.models), _MODELS_PER_TABLE):
            shown = [0, *range(start, min(start + _MODELS_PER_TABLE, len(comparison.models)))]
            blank = [""] if start > 1 or is_single else []
            console.print(*blank, _number_table(comparison, shown), sep="\n")
    for diff, name in zip(comparison.diffs, names[1:]):
        rows = list(_detail_rows(diff))
        if rows:
            console.print()
            if not is_single:
                console.print(Text(name, style="bold cyan"))
            console.print_rows(rows, _KEY_WIDTH)
    return console.written()


def _print_relation(console: TextConsole, diff: Diff) -> None:
    """Print the relation and its evidence; where nothing differs, only what was not compared."""
    console.print(Text(diff.relation.text, style="bold"))
    against = capitalize("; ".join(diff.relation.against))
    evidence = (f"{against}." if against else "") if diff.empty else format_evidence(diff)
    if evidence:
        console.print(Text(evidence, style="dim"))


def _number_table(comparison: Comparison, shown: list[int]) -> Table:
    """Return numbers by model, with the changes as a column, or below the numbers of several models."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", style="bold", overflow="fold", max_width=20)
    is_single, names = len(comparison.diffs) == 1, model_names(comparison)
    width = min(_MAX_COLUMN_WIDTH, (WIDTH - _LABEL_WIDTH) // len(shown) - 2)
    for model in shown:
        table.add_column(Text("\n".join(_wrap_name(names[model], width))), justify="right", overflow="fold")
    if is_single:
        table.add_column("change", justify="right", min_width=14)
    for label, cells, changes in _table_rows(comparison):
        if is_single:
            table.add_row(label, *(cells[model] for model in shown), changes[-1])
        else:
            table.add_row(label, *("\n".join(filter(None, (cells[model], changes[model]))) for model in shown))
    return table


def _wrap_name(name: str, width: int) -> list[str]:
    """Break a long name into lines before its separators: "yolov8_hand.ts17", ".onnx"."""
    lines = [""]
    for part in (part for word in re.split(r"(?=[-_./@ ])", name) for part in textwrap.wrap(word, width)):
        if len(lines[-1] + part) > width:
            lines.append("")
        lines[-1] += part
    return [line for line in lines if line]


def _table_rows(comparison: Comparison) -> Iterator[NumberRow]:
    yield from number_rows(comparison)
    yield from ((f"{sanitize(name, 18)} *", cells, changes) for name, cells, changes in figure_rows(comparison))
    if comparison.figures:
        empty = ["" for _ in comparison.models]
        yield "* brought by you", empty, empty


def _detail_rows(diff: Diff) -> Iterator[KeyValue]:
    if diff.sizes is not None:
        yield KeyValue("Sizes", diff.sizes.text, "yellow")
    yield from _interface_rows(diff)
    is_precision = diff.relation.kind == "other-precision"
    yield from _limited_rows("Blocks", block_lines(diff), _MAX_BLOCK_LINES_OF_PRECISION if is_precision else _MAX_LINES)
    if diff.kinds:
        counts = f"counted in the whole graph: {format_block_counts(diff)}"
        yield KeyValue("" if diff.blocks else "Blocks", counts)
    precision = format_precision_change(diff)
    if precision is not None:
        yield KeyValue("Precision", precision)
    if diff.weights is not None and not diff.empty:
        yield KeyValue("Weights", format_weights_change(diff.weights))
    yield from _finding_rows(diff)
    if diff.operators:
        shown = diff.operators[:_MAX_LINES]
        counts = ", ".join(f"{display_name(operator_name(op), 60)} {format_counts(op.was, op.now)}" for op in shown)
        left = len(diff.operators) - len(shown)
        yield KeyValue("Operators", counts + (f", {pluralize(left, 'more type')}" if left else ""))
    yield from _limited_rows("Besides", list(_fact_lines(diff)))
    if diff.also and not (diff.numbers or diff.facts or diff.operators):
        yield KeyValue("Also", f"these parts of the cards differ: {', '.join(diff.also)}")


def _interface_rows(diff: Diff) -> Iterator[KeyValue]:
    if diff.empty:
        return
    yield KeyValue("Interface", count_port_changes(diff))
    rows = port_rows(diff)
    for row in rows[:_MAX_LINES]:
        spans = (display_name(span.text, 40) if isinstance(span, Name) else str(span) for span in port_spans(row))
        verdict = "breaking" if row.first.breaking else "not breaking"
        text = f"{verdict}: {''.join(spans)}: {format_port_change(row)} ({row.first.reason})"
        yield KeyValue("", text, "red" if row.first.breaking else "")
    if len(rows) > _MAX_LINES:
        yield KeyValue("", f"… {format_count(len(rows) - _MAX_LINES)} more, {_MORE}")


def _limited_rows(label: str, lines: list[str], most: int = _MAX_LINES) -> Iterator[KeyValue]:
    shown = lines if len(lines) <= most + 1 else lines[:most]
    yield from label_rows(label, shown)
    if len(shown) < len(lines):
        yield KeyValue("", f"… {format_count(len(lines) - len(shown))} more, {_MORE}")


def _finding_rows(diff: Diff) -> Iterator[KeyValue]:
    """List findings, the worst first; remarks on runtimes are only counted."""
    groups = {"new": diff.findings.new, "gone": diff.findings.gone, "changed": diff.findings.changed}
    listed = [(word, each) for word, group in groups.items() for each in group if not is_runtime_remark(each)]
    listed.sort(key=lambda pair: -severity_rank(pair[1]))
    yield from _limited_rows("Findings", [f"{word}: {format_finding(each)}" for word, each in listed])
    remarks = {word: sum(map(is_runtime_remark, group)) for word, group in groups.items()}
    counts = [f"{format_count(count)} {word}" for word, count in remarks.items() if count]
    if counts:
        yield KeyValue("" if listed else "Findings", f"remarks on runtimes: {', '.join(counts)}")


def _fact_lines(diff: Diff) -> Iterator[str]:
    """List changed facts; opsets that only one file imports share a line, since converters declare many."""
    imports = [fact for fact in diff.facts if fact.path.startswith(_OPSET_PATHS) and None in (fact.was, fact.now)]
    yield from (sanitize(_format_fact_change(fact), 200) for fact in diff.facts if fact not in imports)
    for title, is_new in (("Also imports", True), ("Imports no more", False)):
        changes = [fact for fact in imports if (fact.was is None if is_new else fact.now is None)]
        names = [f"{display_name(fact.path.removeprefix(_OPSET_PATHS), 40)} {fact.now or fact.was}" for fact in changes]
        if names:
            left = len(names) - _MAX_LINES
            more = f" and {format_count(left)} more" if left > 0 else ""
            yield f"{title}: {', '.join(names[:_MAX_LINES])}{more}"


def _format_fact_change(fact: FactChange) -> str:
    was, now = (sanitize(format_fact(side, fact.path), 60) for side in (fact.was, fact.now))
    if fact.path.startswith("gaps."):
        return f"{fact.label}: {now if fact.was is None else was}"
    return f"{fact.label}: {was} → {now}"
