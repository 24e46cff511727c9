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
# Figures that hold only for the dimensions that a card assumes: whole sections, and fields of any section.
_SIZED_SECTIONS: Final = ("compute", "scaling", "assumptions")
_SIZED_FIELDS: Final = frozenset(
    (
        *("macs", "flops", "bytes_moved", "written_bytes", "peak_activation_bytes", "run_bytes", "peak_node"),
        *("timeline", "unsized", "bound", "resolved", "work"),
    )
)

_GIVE_SIZES: Final = "Give the sizes that are missing (--dim, --value), or accept it with allow_gaps = true beside "
_SAME_SIZES: Final = (
    "Make the baseline at the sizes of this card, or give the sizes that it was made at (--dim and the like)."
)
_CHANGE_MODEL: Final = "Change the model, or make the baseline anew if this is meant."


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
            text = f"{path} is {shown}, the policy asks for {_LIMIT_WORDS[bound]} {format_value(value)}"
            check = Check(Kind.LIMIT, path, Status.PASS, text, "", bound, value, figure.value)
            if not certain and not limit.allow_gaps:
                text, advice = f"{text}: {figure.reason}", f"{_GIVE_SIZES}the limit."
                yield replace(check, status=Status.FAIL, message=text, do=advice, evidence=listed)
            elif not holds:
                advice = "Change the model, or the limit in the policy."
                yield replace(check, status=Status.FAIL, do=advice, evidence=listed)
            elif not certain:
                yield replace(check, status=Status.ALLOWED, reason=f"allow_gaps: {figure.reason}")
            else:
                yield check


def _holds(bound: str, value: Any, limit: Any) -> bool:
    """Whether the value is within the limit, as far as it is known."""
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
        was, now = find_figure(baseline, path), find_figure(card, path)
        obstacle = _find_obstacle(was, now, change, same)
        for bound, value in change.numbers.items():
            yield _check_number(path, was, now, bound, value, obstacle)
        if change.equal:
            yield _check_equal(path, was, now, obstacle)
        if change.breaking is False:
            yield _check_interface(baseline, card)


_Obstacle = tuple[Status, str, str]


def _find_obstacle(was: Figure, now: Figure, change: Change, same: bool) -> _Obstacle | None:
    """Return why the two figures cannot be compared, if so: status, text and what to do."""
    if not same and _is_sized(now.path.pattern):
        text = "the baseline was made at other sizes, so the two are no measures of the same"
        return Status.FAIL, text, _SAME_SIZES
    for side, figure in (("the baseline", was), ("this card", now)):
        if figure.content is None or figure.uncertainty is not None:
            text = f"{side} does not know all of it: {figure.reason}"
            return (Status.ALLOWED, text, "") if change.allow_gaps else (Status.FAIL, text, f"{_GIVE_SIZES}it.")
    return None


def _is_sized(pattern: str) -> bool:
    if pattern.startswith(("compute.formula", "memory.kv_cache")):
        return pattern == "memory.kv_cache.bytes"
    section, _, rest = pattern.partition(".")
    sized_field = bool(_SIZED_FIELDS & set(rest.split("."))) or pattern.endswith("tree.share")
    return section in _SIZED_SECTIONS or sized_field


def _check_number(path: str, was: Figure, now: Figure, bound: str, value: Number, obstacle: _Obstacle | None) -> Check:
    status, text, do = obstacle or (Status.PASS, "", "")
    if status is not Status.FAIL and isinstance(was.value, int | float) and isinstance(now.value, int | float):
        old, step = to_fraction(was.value), to_fraction(value)
        step = abs(old) * step / 100 if bound in _PERCENTAGES else step
        is_whole = isinstance(was.value, int) and isinstance(now.value, int)
        if bound in _DECREASES:
            limit, words, exceeded = old - step, "at least", to_fraction(now.value) < old - step
            allowed = format_value(ceil(limit) if is_whole else limit)
        else:
            limit, words, exceeded = old + step, "at most", to_fraction(now.value) > old + step
            allowed = format_value(floor(limit) if is_whole else limit)
        status, do = (Status.FAIL, _CHANGE_MODEL) if exceeded else (status, do)
        text = f"{bound} = {value} allows {words} {allowed}"
    message = f"{path} was {_format_figure(was)} and is {_format_figure(now)}" + (f"; {text}" if text else "")
    reason = _allowed_reason(status, was, now)
    return Check(Kind.CHANGE, path, status, message, do, bound, value, now.value, was.value, reason=reason)


def _allowed_reason(status: Status, was: Figure, now: Figure) -> str | None:
    return f"allow_gaps: {was.reason or now.reason}" if status is Status.ALLOWED else None


def _check_equal(path: str, was: Figure, now: Figure, obstacle: _Obstacle | None) -> Check:
    """A list or section that both have is compared as it is, whether it is exact or not."""
    section = "section" in now.path.kinds
    missing = was.content is None or now.content is None
    applies = now.is_scalar or (missing and not section)
    status, text, do = (obstacle if applies else None) or (Status.PASS, "", "")
    if status is not Status.FAIL and (section or not missing) and not is_equal(was.content, now.content):
        status, do = Status.FAIL, _CHANGE_MODEL
    message = f"{_describe_change(path, was, now)}; {text or 'the policy asks for no change'}"
    reason = _allowed_reason(status, was, now)
    return Check(Kind.CHANGE, path, status, message, do, "equal", True, now.value, was.value, reason=reason)


def _describe_change(path: str, was: Figure, now: Figure) -> str:
    old, new = was.content, now.content
    if isinstance(old, Struct) and isinstance(new, Struct):
        fields = [name for name in new.__struct_fields__ if getattr(old, name) != getattr(new, name)]
        return f"{path} differs in {', '.join(fields)}" if fields else f"{path} is as it was"
    inside = "" if now.is_scalar or was.value != now.value or old == new else "; what is in it differs"
    return f"{path} was {_format_figure(was)} and is {_format_figure(now)}{inside}"


def _format_figure(figure: Figure) -> str:
    if not figure.is_scalar:
        return "a section" if isinstance(figure.content, Struct) else f"{format_value(figure.value)} long"
    return f"{'' if figure.value is None else figure.qualifier}{format_value(figure.value)}"


def _check_interface(baseline: Card, card: Card) -> Check:
    changes = [change for change in interface_changes(baseline, card) if change.breaking]
    if not changes:
        text = "no change of the interface breaks callers"
        return Check(Kind.CHANGE, "interface", Status.PASS, text, "", "breaking", False, False)
    parts = []
    for change in changes[:_MAX_LISTED_CHANGES]:
        was, now = (None if value is None else sanitize(value) for value in (change.was, change.now))
        values = f" from {was} to {now}" if was is not None and now is not None else ""
        values = values or (f" ({was})" if was is not None else f" ({now})" if now is not None else "")
        parts.append(f"{change.kind} {sanitize(change.port, 60)} {change.what}{values}".replace("  ", " "))
    if len(changes) > _MAX_LISTED_CHANGES:
        parts.append(f"{len(changes) - _MAX_LISTED_CHANGES} more")
    text = f"{pluralize(len(changes), 'change')} of the interface would break callers: {'; '.join(parts)}"
    ports = tuple(dict.fromkeys(change.port for change in changes if change.port))
    check = Check(Kind.CHANGE, "interface", Status.FAIL, text, _CHANGE_MODEL, "breaking", False, True)
    return replace(check, evidence=ports, count=len(changes))
