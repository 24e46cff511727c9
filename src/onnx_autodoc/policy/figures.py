"""The value of a figure of a card by its path, and how certain it is."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Card, UncertaintyKind, describe_uncertainty, find_uncertainty, gap_reasons
from onnx_autodoc.lint import RULES
from onnx_autodoc.policy.paths import FigurePath, PathStep, is_named_by_number, names_of, parse_path
from onnx_autodoc.text import format_count, sanitize

_MAX_LISTED_NAMES: Final = 5
_MAX_NAME_CHARS: Final = 60

# Fields that are summed over rows of one name, and are 0 without such a row.
_ADDITIVE: Final = frozenset(
    ("count", "share", "params", "weight_bytes", "macs", "flops", "bytes_moved", "written_bytes")
)
_SUMMED: Final = _ADDITIVE | {"bytes", "nodes"}
# Complete tables: a missing row counts as 0.
_COMPLETE_LISTS: Final = (
    *("graph.operators.*.", "memory.by_op.*.", "structure.blocks.*.", "compute.coverage.gaps.*.", "findings.*."),
)
_COMPLETE_TABLES: Final = ("parameters.by_dtype.*", "model.precision.weights.*", "structure.residuals.*")
_UNCERTAIN_WORDS: Final = {UncertaintyKind.LOWER_BOUND: "at least", UncertaintyKind.UNKNOWN: "an uncertain"}


class Figure(Struct, frozen=True):
    """`value` is None where it is unknown. `content` is the list, table or section itself, not its length.

    `uncertainty` is None where the figure is exact; `reason` says why it is unknown or not exact.
    """

    value: bool | int | float | str | None
    content: Any
    uncertainty: UncertaintyKind | None
    reason: str
    path: FigurePath
    note: str = ""

    @property
    def is_scalar(self) -> bool:
        return not self.path.kinds & {"list", "table", "section"}

    @property
    def qualifier(self) -> str:
        """The words in front of a value that is not exact."""
        return "" if self.uncertainty is None else f"{_UNCERTAIN_WORDS[self.uncertainty]} "


def find_figure(card: Card, path: str) -> Figure:
    """Return the figure at `path`, read with the longest names that the card has."""
    readings = parse_path(path)
    for reading in readings:
        values = list(_values(card, reading.steps))
        if values:
            return _figure(card, reading, _combine(values, reading))
    first = readings[0]
    in_list = first.pattern.startswith(_COMPLETE_LISTS) and first.field in _ADDITIVE
    by_place = any(step.how == "row" and step.name.isdecimal() for step in first.steps)
    if (first.pattern in _COMPLETE_TABLES or in_list) and not by_place:
        return replace(_figure(card, first, 0), note=" (not on the card)")
    return replace(_figure(card, first, None), reason=_describe_missing_name(card, first))


def _figure(card: Card, path: FigurePath, content: Any) -> Figure:
    value = len(content) if isinstance(content, tuple | Mapping) else content
    scalar = value if isinstance(value, bool | int | float | str) else None
    section = path.steps[0].name
    rule = RULES.get(path.steps[1].name) if section == "findings" and len(path.steps) > 1 else None
    entry = find_uncertainty(card, path.pattern)
    uncertainty, reason = None, ""
    if rule is not None and rule.needs_weights and not has_weights(card):
        uncertainty = UncertaintyKind.LOWER_BOUND
        reason = f"{rule.id} inspects weight values, and not all of them were read (--weights)"
    elif entry is not None:
        uncertainty, reason = entry.kind, describe_uncertainty(card, entry)
    elif scalar is None:
        # Gaps of `model` are missing files, on which no other figure of the section depends.
        reasons = "" if section == "model" else gap_reasons(card, section)
        reason = reasons or "not on the card: not applicable or unknown"
    return Figure(scalar, content, uncertainty, reason, path)


def has_weights(card: Card) -> bool:
    """Whether the values of all weights were read for the card."""
    return card.weights is not None and not card.weights.unread


def _describe_missing_name(card: Card, path: FigurePath) -> str:
    ends = (at for at in range(1, len(path.steps)) if not list(_values(card, path.steps[:at])))
    at = next(ends, len(path.steps)) - 1
    step, table = path.steps[at], next(_values(card, path.steps[:at]), None) or ()
    rows = table if step.how in ("row", "key") else ()
    names = [_row_names(row)[0] if isinstance(row, Struct) else row for row in rows]
    shown = [sanitize(name, _MAX_NAME_CHARS) for name in names[:_MAX_LISTED_NAMES]]
    more = [f"{len(names) - _MAX_LISTED_NAMES} more"] if len(names) > _MAX_LISTED_NAMES else []
    present = f"; it has {', '.join([*shown, *more])}" if names else ""
    return f"the card has no entry named {sanitize(step.name, _MAX_NAME_CHARS)}{present}"


def _values(value: Any, steps: tuple[PathStep, ...]) -> Iterator[Any]:
    """Yield the values at the end of a path: none without such a row or key, several where rows share a name."""
    if not steps or value is None:
        yield value
        return
    first, rest = steps[0], steps[1:]
    if first.how == "field":
        yield from _values(getattr(value, first.name), rest)
    elif first.how == "key":
        yield from _values(value[first.name], rest) if first.name in value else ()
    else:
        for row in _rows(value, first):
            yield from _values(row, rest)


def _rows(rows: tuple[Any, ...], step: PathStep) -> list[Any]:
    named = [row for row in rows if step.name in _row_names(row)] if step.how == "row" else []
    if named or not step.name.isdecimal() or (rows and step.how == "row" and is_named_by_number(type(rows[0]))):
        return named
    return list(rows[int(step.name) : int(step.name) + 1])


def _row_names(row: Any) -> tuple[str, ...]:
    """Return the names of a row; an operator has one with its domain, too."""
    kind: Any = type(row)
    fields = names_of(kind)
    name = ".".join(str(getattr(row, field)) for field in fields)
    domain = getattr(row, "domain", None) if fields == ("op",) else None
    return (name, f"{domain}.{name}") if domain else (name,)


def _combine(values: list[Any], path: FigurePath) -> Any:
    """Add the values of rows of one name where they add up; None where they differ otherwise."""
    if len(values) == 1 or (path.field not in _SUMMED and all(value == values[0] for value in values[1:])):
        return values[0]
    numbers = [value for value in values if isinstance(value, int | float)]
    return sum(numbers) if path.field in _SUMMED and len(numbers) == len(values) else None


def to_fraction(number: int | float) -> Fraction:
    """Return the exact value of the decimal text of a number: 0.1 is a tenth."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


def is_equal(left: object, right: object) -> bool:
    """Whether two values are the same: a flag is not a number, and 5e9 is 5,000,000,000."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, int | float) and isinstance(right, int | float):
        return to_fraction(left) == to_fraction(right)
    return left == right


def format_value(value: object) -> str:
    """Format a value of a card or a policy without rounding."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, int):
        return format_count(value)
    if isinstance(value, Fraction):
        return format_value(value.numerator if value.denominator == 1 else float(value))
    if isinstance(value, tuple | list):
        return ", ".join(map(format_value, value))
    return "unknown" if value is None else sanitize(str(value))
