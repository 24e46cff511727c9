"""Checks of figures against limits, and of their changes against a baseline. Unknown figures fail, unless allowed.

Numbers are compared exactly: 1% of 1,000 allows 1,010 and not 1,011.
"""

from collections.abc import Callable, Iterator
from math import ceil, floor
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Card, UncertaintyKind
from onnx_autodoc.compare import interface_changes, same_sizes
from onnx_autodoc.policy.figures import Figure, find_figure, format_value, is_equal, to_fraction
from onnx_autodoc.policy.types import Change, Check, Kind, Number, Policy, Status
from onnx_autodoc.text import pluralize, sanitize

_HOLDS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "max": lambda value, limit: to_fraction(value) <= to_fraction(limit),
    "min": lambda value, limit: to_fraction(value) >= to_fraction(limit),
    "equals": is_equal,
    "one_of": lambda value, limit: any(is_equal(value, allowed) for allowed in limit),
}
_LIMIT_WORDS: Final = {"max": "at most", "min": "at least", "equals": "exactly", "one_of": "one of"}
_DECREASES: Final = ("max_drop_percent", "max_decrease")
_PERCENTAGES: Final = ("max_percent", "max_drop_percent")
_MAX_EVIDENCE: Final = 20
_MAX_LISTED_CHANGES: Final = 5
# Figures that depend on the dimensions of a card: whole sections, and fields of any section.
_SIZED_SECTIONS: Final = ("compute", "scaling", "assumptions")
_SIZED_FIELDS: Final = frozenset(
    (
        *("macs", "flops", "bytes_moved", "written_bytes", "peak_activation_bytes", "run_bytes", "peak_node"),
        *("timeline", "unsized", "bound", "resolved", "work"),
    )
)

_SET_SIZES: Final = "Set the missing sizes (--dim, --value), or accept the gap with allow_gaps = true next to "
_SAME_SIZES: Final = (
    "Build the baseline at the sizes of this card, or check at the sizes of the baseline (--dim, --batch, --seq)."
)
_CHANGE_MODEL: Final = "Change the model, or build the baseline again if the change is intended."


def limit_checks(card: Card, policy: Policy) -> Iterator[Check]:
    for path, limit in policy.limits.items():
        figure = find_figure(card, path)
        # Rows of a list that is too long, by name
        rows = figure.content if isinstance(figure.content, tuple) else ()
        names = [
            getattr(row, "reason", None) or getattr(row, "name", None) or getattr(row, "rule", None) for row in rows
        ]
        listed = tuple(name for name in names if isinstance(name, str))[:_MAX_EVIDENCE]
        shown = "unknown" if figure.value is None else f"{figure.qualifier}{format_value(figure.value)}{figure.note}"
        for bound, value in limit.bounds.items():
            certain, holds = _is_decided(figure, bound, value), _holds(bound, figure.value, value)
            text = f"{path} is {shown}, the policy requires {_LIMIT_WORDS[bound]} {format_value(value)}"
            check = Check(Kind.LIMIT, path, Status.PASS, text, "", bound, value, figure.value)
            if not certain and not limit.allow_gaps:
                text, advice = f"{text}: {figure.reason}", f"{_SET_SIZES}the limit."
                yield replace(check, status=Status.FAIL, message=text, do=advice, evidence=listed)
            elif not holds:
                advice = "Change the model, or the limit in the policy."
                yield replace(check, status=Status.FAIL, do=advice, evidence=listed)
            elif not certain:
                yield replace(check, status=Status.ALLOWED, reason=f"allow_gaps: {figure.reason}")
            else:
                yield check


def _holds(bound: str, value: Any, limit: Any) -> bool:
    """Whether the known part of the value is within the limit."""
    if value is None:
        return True
    if bound in ("max", "min") and isinstance(value, bool | str):
        return False
    return _HOLDS[bound](value, limit)


def _is_decided(figure: Figure, bound: str, limit: Any) -> bool:
    """Whether the unknown part of the figure cannot change the result."""
    if figure.value is None or figure.uncertainty is UncertaintyKind.UNKNOWN:
        return False
    if figure.uncertainty is None:
        return True
    return bound in ("max", "min") and _holds(bound, figure.value, limit) == (bound == "min")


def change_checks(card: Card, policy: Policy, baseline: Card) -> Iterator[Check]:
    same = same_sizes(baseline, card)
    for path, change in policy.changes.items():
        old, new = find_figure(baseline, path), find_figure(card, path)
        obstacle = _find_obstacle(old, new, change, same)
        for bound, value in change.numbers.items():
            yield _check_number(path, old, new, bound, value, obstacle)
        if change.equal:
            yield _check_equal(path, old, new, obstacle)
        if change.breaking is False:
            yield _check_interface(baseline, card)


_Obstacle = tuple[Status, str, str]


def _find_obstacle(old: Figure, new: Figure, change: Change, same: bool) -> _Obstacle | None:
    """Return why the two figures cannot be compared, if so: status, text and what to do."""
    if not same and _is_sized(new.path.pattern):
        text = "the baseline was built at other sizes, so the figures are not comparable"
        return Status.FAIL, text, _SAME_SIZES
    for side, figure in (("the baseline", old), ("this card", new)):
        if figure.content is None or figure.uncertainty is not None:
            text = f"{side} has no exact figure: {figure.reason}"
            return (Status.ALLOWED, text, "") if change.allow_gaps else (Status.FAIL, text, f"{_SET_SIZES}it.")
    return None


def _is_sized(pattern: str) -> bool:
    if pattern.startswith(("compute.formula", "memory.kv_cache")):
        return pattern == "memory.kv_cache.bytes"
    section, _, rest = pattern.partition(".")
    sized_field = bool(_SIZED_FIELDS & set(rest.split("."))) or pattern.endswith("tree.share")
    return section in _SIZED_SECTIONS or sized_field


def _check_number(path: str, old: Figure, new: Figure, bound: str, value: Number, obstacle: _Obstacle | None) -> Check:
    status, text, do = obstacle or (Status.PASS, "", "")
    if status is not Status.FAIL and isinstance(old.value, int | float) and isinstance(new.value, int | float):
        base, step = to_fraction(old.value), to_fraction(value)
        step = abs(base) * step / 100 if bound in _PERCENTAGES else step
        is_whole = isinstance(old.value, int) and isinstance(new.value, int)
        if bound in _DECREASES:
            limit, words, exceeded = base - step, "at least", to_fraction(new.value) < base - step
            allowed = format_value(ceil(limit) if is_whole else limit)
        else:
            limit, words, exceeded = base + step, "at most", to_fraction(new.value) > base + step
            allowed = format_value(floor(limit) if is_whole else limit)
        status, do = (Status.FAIL, _CHANGE_MODEL) if exceeded else (status, do)
        text = f"{bound} = {value} allows {words} {allowed}"
    message = f"{path} was {_format_figure(old)} and is {_format_figure(new)}" + (f"; {text}" if text else "")
    reason = _allowed_reason(status, old, new)
    return Check(Kind.CHANGE, path, status, message, do, bound, value, new.value, old.value, reason=reason)


def _allowed_reason(status: Status, old: Figure, new: Figure) -> str | None:
    return f"allow_gaps: {old.reason or new.reason}" if status is Status.ALLOWED else None


def _check_equal(path: str, old: Figure, new: Figure, obstacle: _Obstacle | None) -> Check:
    """Compare a figure with the baseline; a list or section that both have is compared even if it is not exact."""
    section = "section" in new.path.kinds
    missing = old.content is None or new.content is None
    applies = new.is_scalar or (missing and not section)
    status, text, do = (obstacle if applies else None) or (Status.PASS, "", "")
    if status is not Status.FAIL and (section or not missing) and not is_equal(old.content, new.content):
        status, do = Status.FAIL, _CHANGE_MODEL
    message = f"{_describe_change(path, old, new)}; {text or 'the policy allows no change'}"
    reason = _allowed_reason(status, old, new)
    return Check(Kind.CHANGE, path, status, message, do, "equal", True, new.value, old.value, reason=reason)


def _describe_change(path: str, old: Figure, new: Figure) -> str:
    if isinstance(old.content, Struct) and isinstance(new.content, Struct):
        names = new.content.__struct_fields__
        fields = [name for name in names if getattr(old.content, name) != getattr(new.content, name)]
        return f"{path} differs in {', '.join(fields)}" if fields else f"{path} is unchanged"
    content_differs = not new.is_scalar and old.value == new.value and old.content != new.content
    inside = "; its content differs" if content_differs else ""
    return f"{path} was {_format_figure(old)} and is {_format_figure(new)}{inside}"


def _format_figure(figure: Figure) -> str:
    if not figure.is_scalar:
        length = pluralize(figure.value, "entry", "entries") if isinstance(figure.value, int) else "unknown"
        return "a section" if isinstance(figure.content, Struct) else length
    return f"{'' if figure.value is None else figure.qualifier}{format_value(figure.value)}"


def _check_interface(baseline: Card, card: Card) -> Check:
    changes = [change for change in interface_changes(baseline, card) if change.breaking]
    if not changes:
        text = "no breaking change of the interface"
        return Check(Kind.CHANGE, "interface", Status.PASS, text, "", "breaking", False, False)
    parts = []
    for change in changes[:_MAX_LISTED_CHANGES]:
        old, new = (None if value is None else sanitize(value) for value in (change.was, change.now))
        values = f" from {old} to {new}" if old is not None and new is not None else ""
        values = values or (f" ({old})" if old is not None else f" ({new})" if new is not None else "")
        parts.append(f"{change.kind} {sanitize(change.port, 60)} {change.what}{values}".replace("  ", " "))
    if len(changes) > _MAX_LISTED_CHANGES:
        parts.append(f"{len(changes) - _MAX_LISTED_CHANGES} more")
    text = f"{pluralize(len(changes), 'breaking change')} of the interface: {'; '.join(parts)}"
    ports = tuple(dict.fromkeys(change.port for change in changes if change.port))
    check = Check(Kind.CHANGE, "interface", Status.FAIL, text, _CHANGE_MODEL, "breaking", False, True)
    return replace(check, evidence=ports, count=len(changes))
