"""Names and numbers of a comparison for people, the same in every format."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from onnx_autodoc.compare import (
    Comparison,
    CountChange,
    Diff,
    FigureChange,
    FindingChange,
    Measure,
    NumberChange,
    WeightsChange,
    key_measures,
)
from onnx_autodoc.text import clean, count, duration, file_size, memory, named, percent, plural, short, three

UNKNOWN: Final = "not known"
_LONGEST: Final = 60
_FILES: Final = "model.file."
_LISTS: Final = (
    "model.opsets.",
    "model.metadata.",
    "model.file.external.",
    "gaps.",
)  # where what is missing is not there
_TIMES: Final = 1_000  # percent, from which on a factor reads better
_HARDLY: Final = 0.005
_NEARLY_ALL: Final = -99.95  # "−100 %" is said only of all


def names(comparison: Comparison) -> list[str]:
    """As much of the end of each path as tells the models apart; the same path twice gets a number."""
    given = [PurePath(side.name).parts or (side.name,) for side in comparison.models]
    apart = len(set(given))
    depth = next(deep for deep in range(1, max(map(len, given)) + 1) if len({path[-deep:] for path in given}) == apart)
    found = ["/".join(path[-depth:]).replace("//", "/") for path in given]
    shown = [f"{name} ({at})" if found.count(name) > 1 else name for at, name in enumerate(found, 1)]
    return [clean(name, _LONGEST) for name in shown]


def headline(comparison: Comparison) -> str:
    first, *others = names(comparison)
    return f"{first} → {others[0]}" if len(others) == 1 else f"{first} and {plural(len(others), 'other model')}"


def number(path: str, unit: str, value: int | float | None, least: bool = False) -> str:
    """In the unit that people use for it; nothing is a word."""
    if value is None:
        return UNKNOWN
    return ("at least " if least else "") + (_scaled(path, unit, value) if value else "none")


def _scaled(path: str, unit: str, value: int | float) -> str:
    if unit == "seconds":
        return duration(value)
    if isinstance(value, float):
        return f"{three(value)} {unit}".rstrip()
    if unit == "bytes":
        return file_size(value) if path.startswith(_FILES) else memory(value)
    if unit in ("MACs", "FLOPs"):
        return short(value, unit)
    return short(value) if unit else count(value)


def key_rows(comparison: Comparison) -> Iterator[tuple[str, list[str], list[str]]]:
    """Key numbers side by side: what it is, the number of each model, and how it changed against the first."""
    sides = [{measure.path: measure for measure in side.measures} for side in comparison.models]
    changes = [{}, *({change.path: change for change in diff.numbers} for diff in comparison.diffs)]
    for key in key_measures([side.measures for side in comparison.models]):
        cells = [measured(side.get(key.path)) for side in sides]
        yield key.label, cells, [change_of(found[key.path]) if key.path in found else "" for found in changes]


def measured(measure: Measure | None) -> str:
    return "none" if measure is None else number(measure.path, measure.unit, measure.value, measure.least)


def change_of(change: NumberChange | FigureChange) -> str:
    """By how much, or why that cannot be said."""
    if isinstance(change, NumberChange) and change.note is not None:
        return change.note
    if change.percent is not None:
        return signed(change.percent)
    return "" if change.change is None else "new" if change.change > 0 else "gone"


def signed(part: float) -> str:
    """A change in percent: "−74.9 %", "+0.12 %", "×4.83" where it is many times as much."""
    if part > _TIMES:
        return f"×{three(1 + part / 100)}"
    if -100 < part < _NEARLY_ALL:
        return "−99.9 % or more"
    sign = "+" if part > 0 else "−" if part < 0 else "±"
    if 0 < abs(part) < _HARDLY:
        return f"{sign}0.01 % or less"
    return f"{sign}{three(abs(part))} %"


def figure(value: int | float | None) -> str:
    """As the user brought it: their digits are their business."""
    return UNKNOWN if value is None else count(value) if isinstance(value, int) else f"{value:,.10g}"


def precision_line(diff: Diff) -> str | None:
    """ "fp32 → int8-dynamic (int8 weights …); of the weights: float32 100 % → none, int8 47 %"."""
    found = diff.precision
    if found is None:
        return None
    label = f"{found.was or 'no weights'} → {found.now or 'no weights'}" if found.was != found.now else f"{found.was}"
    scheme = f" ({found.scheme_is})" if found.scheme_is and found.scheme_is != found.scheme_was else ""
    shares = [f"{clean(each.dtype, 20)} {_share(each.was)} → {_share(each.now)}" for each in found.weights[:4]]
    more = f"; of the weights: {', '.join(shares)}" if shares else ""
    return f"{label}{scheme}{more}"


def _share(part: float | None) -> str:
    return "none" if not part else percent(part)


def counted(was: int, now: int) -> str:
    return f"{count(was) if was else 'none'} → {count(now) if now else 'none'}"


def value(said: str | int | float | bool | None, path: str = "") -> str:
    """What a card says of something, in one line."""
    if said is None:
        return "none" if path.startswith(_LISTS) else "not told"
    return count(said) if isinstance(said, int) and not isinstance(said, bool) else clean(str(said), 200)


def block_lines(diff: Diff) -> list[str]:
    """The sentences on blocks; those on mere drawing are one, if there are several of a kind."""
    found = [change.text for change in diff.blocks if change.kind not in _DRAWN]
    for kind, what in _DRAWN.items():
        texts = [change.text for change in diff.blocks if change.kind == kind]
        many = f"{plural(len(texts), 'place')} {what}; the first one is {texts[0]}" if len(texts) > _FEW else ""
        found += [many] if many else texts
    return found


_DRAWN: Final = {
    "retold": "with as many weights and as much work are told in other words",
    "spelling": "are another kind of block of the same name and sizes",
}
_FEW: Final = 3


def kinds(diff: Diff) -> str:
    return ", ".join(f"{change.name} {counted(change.was, change.now)}" for change in diff.kinds)


def evidence(diff: Diff) -> str:
    """What speaks for the relation, then what against."""
    found = "; ".join(diff.relation.evidence)
    if not diff.relation.against:
        return found
    return f"{found}; but {'; '.join(diff.relation.against)}" if found else "; ".join(diff.relation.against)


_RUNTIMES: Final = "unsupported-operator"  # the rule that speaks once for each runtime
_SEVERITIES: Final = ("info", "note", "warning", "error")
_MOST: Final = 110


def is_remark(change: FindingChange) -> bool:
    """Good to know of a runtime that the reader may not have: counted where there is little room."""
    return change.rule == _RUNTIMES and change.severity == _SEVERITIES[0]


def rank(change: FindingChange) -> int:
    return _SEVERITIES.index(change.severity) if change.severity in _SEVERITIES else 0


def finding_line(change: FindingChange) -> str:
    """ "unused-weight: 2 tensors are read by no node", with its severity where it is more than good to know."""
    grave = f" ({change.severity})" if rank(change) else ""
    message = clean(change.message, 400)
    if len(message) > _MOST:
        message = message[:_MOST].rsplit(" ", 1)[0].rstrip(",;:") + " …"
    return f"{clean(change.rule, 60)}{grave}: {message}"


def operator(change: CountChange) -> str:
    """With its domain, where that is not ONNX's own."""
    return change.name if change.domain in ("", "ai.onnx", None) else f"{change.domain}.{change.name}"


def weights_line(change: WeightsChange) -> str:
    """With the names of the tensors that hold other numbers, where these are few."""
    names = [named(name, 60) for name in change.names.get("changed", ())]
    few = 0 < change.changed <= _FEW
    return f"{change.text} ({', '.join(names)})" if few else change.text
