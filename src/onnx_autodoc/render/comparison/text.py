"""Names, numbers and lines of a comparison that all output formats share."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from msgspec import Struct

from onnx_autodoc.compare import Comparison, Diff, FigureChange, NumberChange, PortChange, key_measures
from onnx_autodoc.render.card_text import NO_WEIGHTS
from onnx_autodoc.render.content import UNKNOWN, Name, Span, join_names
from onnx_autodoc.text import (
    display_name,
    format_bytes,
    format_count,
    format_number,
    format_percent,
    format_short,
    format_time,
    pluralize,
    sanitize,
)

_MAX_NAME_LENGTH: Final = 60
MAX_LISTED: Final = 3
_MAX_SHARES: Final = 4
# Paths of collections, where a missing value means that the entry is absent.
_COLLECTIONS: Final = ("model.opsets.", "model.metadata.", "model.file.external.", "gaps.")
_DECLARED: Final = "model."
_NOT_DECLARED: Final = "not declared"
_FACTOR_PERCENT: Final = 1_000  # above which a factor is printed
_MIN_PERCENT: Final = 0.005
_NEARLY_ALL_PERCENT: Final = -99.95  # "−100%" is printed for all only
_DIAGRAM_CHANGES: Final = {
    "relabeled": "have the same parameter count and MACs but are labeled differently",
    "spelling": "have the same name and sizes but a different kind",
}

# Name of a change, and of a missing value, where they differ from those of the comparison's data.
_PORT_CHANGES: Final = {
    "opened": ("made dynamic,", "unnamed"),
    "fixed": ("made fixed,", "unnamed"),
    "dimension name": ("dimension name", "unnamed"),
}

NumberRow = tuple[str, list[str], list[str]]  # label, number of each model, change of each against the first


def model_names(comparison: Comparison) -> list[str]:
    """Return as much of the end of each path as distinguishes the models; equal paths get a number."""
    paths = [PurePath(side.name).parts or (side.name,) for side in comparison.models]
    distinct, deepest = len(set(paths)), max(map(len, paths))
    depth = next(deep for deep in range(1, deepest + 1) if len({path[-deep:] for path in paths}) == distinct)
    names = ["/".join(path[-depth:]).replace("//", "/") for path in paths]
    numbered = [f"{name} ({at})" if names.count(name) > 1 else name for at, name in enumerate(names, 1)]
    return [sanitize(name, _MAX_NAME_LENGTH) for name in numbered]


def format_headline(comparison: Comparison) -> str:
    first, *others = model_names(comparison)
    return f"{first} → {others[0]}" if len(others) == 1 else f"{first} and {pluralize(len(others), 'other model')}"


def format_value(path: str, unit: str, value: int | float | None, lower_bound: bool = False) -> str:
    """Format a number in the unit that is usual for it."""
    if value is None:
        return UNKNOWN
    if not value:
        text = "none"
    elif unit == "seconds":
        text = format_time(value)
    elif isinstance(value, float):
        text = f"{format_number(value)} {unit}".rstrip()
    elif unit == "bytes":
        text = format_bytes(value)
    else:
        text = format_short(value, unit if unit in ("MACs", "FLOPs") else "") if unit else format_count(value)
    return "at least " * lower_bound + text


def number_rows(comparison: Comparison) -> Iterator[NumberRow]:
    """Yield precision and key figures of all models."""
    yield "Precision", [side.precision or NO_WEIGHTS for side in comparison.models], [""] * len(comparison.models)
    sides = [{measure.path: measure for measure in side.measures} for side in comparison.models]
    changes = [{}, *({change.path: format_change(change) for change in diff.numbers} for diff in comparison.diffs)]
    for key in key_measures([side.measures for side in comparison.models]):
        cells = []
        for side in sides:
            measure = side.get(key.path)
            cells.append(
                "none" if measure is None else format_value(measure.path, measure.unit, measure.value, measure.least)
            )
        yield key.label, cells, [texts.get(key.path, "") for texts in changes]


def figure_rows(comparison: Comparison) -> Iterator[NumberRow]:
    """Yield the figures that the user supplied."""
    figures = comparison.figures
    changes = [{}, *({change.name: format_change(change) for change in diff.figures} for diff in comparison.diffs)]
    for name in dict.fromkeys(name for row in figures.values() for name in row):
        values = [figures.get(side.name, {}).get(name) for side in comparison.models]
        cells = [
            UNKNOWN if value is None else format_count(value) if isinstance(value, int) else f"{value:,.10g}"
            for value in values
        ]
        yield name, cells, [texts.get(name, "") for texts in changes]


def format_change(change: NumberChange | FigureChange) -> str:
    """Format a change in percent, or the reason why there is none."""
    if isinstance(change, NumberChange) and change.note is not None:
        return change.note
    if change.percent is not None:
        return format_percent_change(change.percent)
    return "" if change.change is None else "new" if change.change > 0 else "removed"


def format_percent_change(percent: float) -> str:
    """Format as "−74.9%", "+0.12%", or "×4.83" for large increases."""
    if percent > _FACTOR_PERCENT:
        return f"×{format_number(1 + percent / 100)}"
    if -100 < percent < _NEARLY_ALL_PERCENT:
        return "−>99.9%"
    sign = "+" if percent > 0 else "−" if percent < 0 else "±"
    if 0 < abs(percent) < _MIN_PERCENT:
        return f"{sign}<0.01%"
    return f"{sign}{format_number(abs(percent))}%"


def format_precision_change(diff: Diff) -> str | None:
    """Format as "fp32 → int8-dynamic (int8 weights …); weights: float32 100% → 0%, int8 0% → 47%"."""
    change = diff.precision
    if change is None:
        return None
    label = f"{change.was or NO_WEIGHTS} → {change.now or NO_WEIGHTS}" if change.was != change.now else f"{change.was}"
    scheme = f" ({change.scheme_is})" if change.scheme_is and change.scheme_is != change.scheme_was else ""
    shares = []
    for weights in change.weights[:_MAX_SHARES]:
        was, now = (format_percent(share or 0) for share in (weights.was, weights.now))
        shares.append(f"{sanitize(weights.dtype, 20)} {was} → {now}")
    return f"{label}{scheme}" + (f"; weights: {', '.join(shares)}" if shares else "")


def format_counts(was: int, now: int) -> str:
    return f"{format_count(was)} → {format_count(now)}"


def format_fact(value: str | int | float | bool | None, path: str = "") -> str:
    """Format a value of a card on one line."""
    if value is None:
        return "none" if path.startswith(_COLLECTIONS) else _NOT_DECLARED if path.startswith(_DECLARED) else UNKNOWN
    return format_count(value) if isinstance(value, int) and not isinstance(value, bool) else sanitize(str(value), 200)


def block_lines(diff: Diff) -> list[str]:
    """Return changes of blocks; many changes of the diagram alone become one line per kind."""
    lines = [change.text for change in diff.blocks if change.kind not in _DIAGRAM_CHANGES]
    for kind, text in _DIAGRAM_CHANGES.items():
        texts = [change.text for change in diff.blocks if change.kind == kind]
        if len(texts) > MAX_LISTED:
            texts = [f"{pluralize(len(texts), 'block')} {text}; first: {texts[0]}"]
        lines += texts
    return lines


def format_block_counts(diff: Diff) -> str:
    return ", ".join(f"{change.name} {format_counts(change.was, change.now)}" for change in diff.kinds)


def format_evidence(diff: Diff) -> str:
    """State the evidence for the relation, then the caveats; "" where there is neither."""
    evidence, against = "; ".join(diff.relation.evidence), "; ".join(diff.relation.against)
    parts = {"Evidence": evidence, "Caveats": against}
    return " ".join(f"{label}: {text}." for label, text in parts.items() if text)


class PortRow(Struct, frozen=True):
    """Equal changes of several inputs or outputs."""

    first: PortChange
    ports: tuple[str, ...]


def port_rows(diff: Diff) -> list[PortRow]:
    """Group equal changes of inputs and outputs, breaking ones first."""
    groups: dict[tuple[object, ...], list[PortChange]] = {}
    for change in sorted(diff.interface, key=lambda change: not change.breaking):
        single = change.port if change.what in ("added", "removed", "renamed") else None
        key = (change.kind, change.what, change.breaking, change.was, change.now, change.reason, single)
        groups.setdefault(key, []).append(change)
    return [PortRow(changes[0], tuple(change.port for change in changes)) for changes in groups.values()]


def port_spans(row: PortRow) -> tuple[Span, ...]:
    """Return "input `ids`" or "60 inputs: `a`, `b`, `c` …"."""
    if not row.ports[0]:
        return (f"{row.first.kind}s",)
    if len(row.ports) == 1:
        return (f"{row.first.kind} ", Name(row.ports[0]))
    more = " …" if len(row.ports) > MAX_LISTED else ""
    return (f"{pluralize(len(row.ports), row.first.kind)}: ", *join_names(row.ports[:MAX_LISTED]), more)


def format_port_change(row: PortRow) -> str:
    """Format as "size 224 → 256" or "renamed to pixels"."""
    change = row.first
    was, now = (None if side is None else sanitize(side, 120) for side in (change.was, change.now))
    if change.what == "renamed":
        return f"renamed to {display_name(change.now or '', 120)}"
    if change.what == "order":
        return "order changed"
    if change.what in ("added", "removed"):
        return f"{change.what}: {now or was}"
    what, missing = _PORT_CHANGES.get(change.what, (change.what, _NOT_DECLARED))
    return f"{what} {was or missing} → {now or missing}"


def count_port_changes(diff: Diff) -> str:
    """Format as "2 breaking changes, 60 non-breaking changes"."""
    breaking = sum(change.breaking for change in diff.interface)
    counts = {"breaking": breaking, "non-breaking": len(diff.interface) - breaking}
    parts = [pluralize(count, f"{word} change") for word, count in counts.items() if count]
    return ", ".join(parts) or "unchanged"
