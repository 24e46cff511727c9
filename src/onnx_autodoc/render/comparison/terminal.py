"""The comparison for a terminal: 80 columns, the relation first, plain text when piped."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import Final

from rich.table import Table
from rich.text import Text

from onnx_autodoc.compare import Comparison, CountChange, Diff, FactChange, FindingChange, WeightsChange
from onnx_autodoc.render.card_text import capitalize
from onnx_autodoc.render.comparison import text as shared
from onnx_autodoc.render.content import KeyValue, Name
from onnx_autodoc.render.terminal import WIDTH, TextConsole, label_rows
from onnx_autodoc.text import display_name, format_count, pluralize, sanitize

_KEY_WIDTH: Final = 15
_LABEL_WIDTH: Final = 21  # of the metrics
_MAX_COLUMN_WIDTH: Final = 20
_MODELS_PER_TABLE: Final = 3  # in addition to the first
_MAX_LINES: Final = 6
_MAX_BLOCK_LINES_OF_PRECISION: Final = 2  # where only the precision differs
_OPSET_PATHS: Final = "model.opsets."
_MAX_MESSAGE_LENGTH: Final = 110
_RUNTIME_RULE: Final = "unsupported-operator"  # has one finding per runtime
_SEVERITIES: Final = ("info", "note", "warning", "error")


def render_terminal(comparison: Comparison, color: bool = False) -> str:
    console, names, is_single = TextConsole(color), shared.model_names(comparison), len(comparison.diffs) == 1
    for diff, name in zip(comparison.diffs, names[1:]):
        if not is_single:
            console.print(Text(f"{names[0]} → {name}", style="bold cyan"))
        console.print(Text(diff.relation.text, style="bold"))
        against = capitalize("; ".join(diff.relation.against))
        # Where nothing differs, the evidence is only what was not compared.
        evidence = (f"{against}." if against else "") if diff.empty else shared.format_evidence(diff)
        if evidence:
            console.print(Text(evidence, style="dim"))
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
    return console.to_text()


def _number_table(comparison: Comparison, shown: list[int]) -> Table:
    """Return numbers by model, with the changes as a column, or below the numbers of several models."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False)
    table.add_column("", style="bold", overflow="fold", max_width=20)
    is_single, names = len(comparison.diffs) == 1, shared.model_names(comparison)
    width = min(_MAX_COLUMN_WIDTH, (WIDTH - _LABEL_WIDTH) // len(shown) - 2)
    for model in shown:
        table.add_column(Text("\n".join(_wrap_name(names[model], width))), justify="right", overflow="fold")
    if is_single:
        table.add_column(Text("change".rjust(14)), justify="right")
    rows = list(shared.number_rows(comparison))
    rows += [(f"{sanitize(name, 18)} *", cells, changes) for name, cells, changes in shared.figure_rows(comparison)]
    if comparison.figures:
        empty = [""] * len(comparison.models)
        rows.append(("* user-supplied", empty, empty))
    for label, cells, changes in rows:
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


def _detail_rows(diff: Diff) -> Iterator[KeyValue]:
    if diff.sizes is not None:
        yield KeyValue("Sizes", diff.sizes.text, "yellow")
    if not diff.empty:
        yield KeyValue("Interface", shared.count_port_changes(diff))
        changes = shared.port_rows(diff)
        yield from map(_port_row, changes[:_MAX_LINES])
        if len(changes) > _MAX_LINES:
            yield _rest_row(len(changes) - _MAX_LINES)
    is_precision = diff.relation.kind == "other-precision"
    max_block_lines = _MAX_BLOCK_LINES_OF_PRECISION if is_precision else _MAX_LINES
    yield from _limited_rows("Blocks", shared.block_lines(diff), max_block_lines)
    if diff.kinds:
        counts = f"block counts in the whole graph: {shared.format_block_counts(diff)}"
        yield KeyValue("" if diff.blocks else "Blocks", counts)
    precision = shared.format_precision_change(diff)
    if precision is not None:
        yield KeyValue("Precision", precision)
    if diff.weights is not None and not diff.empty:
        yield KeyValue("Weights", format_weights_change(diff.weights))
    yield from _finding_rows(diff)
    if diff.operators:
        shown = diff.operators[:_MAX_LINES]
        names = [display_name(operator_name(change), 60) for change in shown]
        counts = ", ".join(f"{name} {shared.format_counts(op.was, op.now)}" for name, op in zip(names, shown))
        left = len(diff.operators) - len(shown)
        yield KeyValue("Operators", counts + (f", {pluralize(left, 'more operator type')}" if left else ""))
    yield from _limited_rows("Other changes", list(_fact_lines(diff)))
    if diff.also and not (diff.numbers or diff.facts or diff.operators):
        yield KeyValue("Other fields", f"these fields of the cards differ: {', '.join(diff.also)}")


def _port_row(row: shared.PortRow) -> KeyValue:
    spans = (display_name(span.text, 40) if isinstance(span, Name) else str(span) for span in shared.port_spans(row))
    verdict, style = ("breaking", "red") if row.first.breaking else ("non-breaking", "")
    colon = "" if row.first.what in ("added", "removed", "renamed") else ":"
    text = f"{verdict}: {''.join(spans)}{colon} {shared.format_port_change(row)} ({row.first.reason})"
    return KeyValue("", text, style)


def _limited_rows(label: str, lines: list[str], limit: int = _MAX_LINES) -> Iterator[KeyValue]:
    shown = lines if len(lines) <= limit + 1 else lines[:limit]
    yield from label_rows(label, shown)
    if len(shown) < len(lines):
        yield _rest_row(len(lines) - len(shown))


def _rest_row(left: int) -> KeyValue:
    return KeyValue("", f"… {format_count(left)} more (--format json lists all)")


def _finding_rows(diff: Diff) -> Iterator[KeyValue]:
    """List findings, the worst first; info findings on runtimes, which the reader may not use, are only counted."""
    listed: list[tuple[str, FindingChange]] = []
    counts = Counter[str]()
    groups = (("new", diff.findings.new), ("removed", diff.findings.gone), ("changed", diff.findings.changed))
    for word, group in groups:
        for change in group:
            if change.rule == _RUNTIME_RULE and change.severity == _SEVERITIES[0]:
                counts[word] += 1
            else:
                listed.append((word, change))
    listed.sort(key=lambda pair: -_severity_rank(pair[1]))
    yield from _limited_rows("Findings", [f"{word}: {_format_finding(change)}" for word, change in listed])
    if counts:
        infos = ", ".join(f"{format_count(count)} {word}" for word, count in counts.items())
        yield KeyValue("" if listed else "Findings", f"runtime support (info): {infos}")


def _severity_rank(change: FindingChange) -> int:
    return _SEVERITIES.index(change.severity) if change.severity in _SEVERITIES else 0


def _format_finding(change: FindingChange) -> str:
    """Format as "unused-weight (warning): 2 tensors are unused"."""
    severity = f" ({change.severity})" if _severity_rank(change) else ""
    message = sanitize(change.message, 400)
    if len(message) > _MAX_MESSAGE_LENGTH:
        message = message[:_MAX_MESSAGE_LENGTH].rsplit(" ", 1)[0].rstrip(",;:") + " …"
    return f"{sanitize(change.rule, 60)}{severity}: {message}"


def operator_name(change: CountChange) -> str:
    return change.name if change.domain in ("", "ai.onnx", None) else f"{change.domain}.{change.name}"


def format_weights_change(change: WeightsChange) -> str:
    """Return the summary of changed weights, with the names of the tensors where they are few."""
    names = ", ".join(display_name(name, 60) for name in change.names.get("changed", ()))
    return f"{change.text} ({names})" if 0 < change.changed <= shared.MAX_LISTED else change.text


def _is_import(fact: FactChange) -> bool:
    """Whether one of the files imports an opset that the other one does not."""
    return fact.path.startswith(_OPSET_PATHS) and None in (fact.was, fact.now)


def _fact_lines(diff: Diff) -> Iterator[str]:
    """List changed facts; opsets that only one file imports share a line, since converters declare many."""
    imports = [fact for fact in diff.facts if _is_import(fact)]
    for fact in diff.facts:
        if not _is_import(fact):
            was, now = (sanitize(shared.format_fact(side, fact.path), 60) for side in (fact.was, fact.now))
            text = f"{was} → {now}"
            if fact.path.startswith("gaps."):
                text = now if fact.was is None else was
            yield sanitize(f"{fact.label}: {text}", 200)
    for title, is_new in (("Opsets added", True), ("Opsets removed", False)):
        changes = [fact for fact in imports if (fact.was is None if is_new else fact.now is None)]
        names = [f"{display_name(fact.path.removeprefix(_OPSET_PATHS), 40)} {fact.now or fact.was}" for fact in changes]
        if names:
            left = len(names) - _MAX_LINES
            more = f" and {format_count(left)} more" if left > 0 else ""
            yield f"{title}: {', '.join(names[:_MAX_LINES])}{more}"
