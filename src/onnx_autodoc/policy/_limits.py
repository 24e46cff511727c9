"""Limits on the figures of a card. What is not known, or only in part, fails unless the policy allows it."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from onnx_autodoc.card import Card
from onnx_autodoc.policy._bounds import Standing
from onnx_autodoc.policy._exact import alike, exact, said
from onnx_autodoc.policy._figure import Figure, figure
from onnx_autodoc.policy._policy import Limit, Policy
from onnx_autodoc.policy._verdict import Check, Kind, Status

_HOLDS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "max": lambda value, limit: exact(value) <= exact(limit),
    "min": lambda value, limit: exact(value) >= exact(limit),
    "equals": alike,
    "one_of": lambda value, limit: any(alike(value, each) for each in limit),
}
_WORDS: Final = {"max": "at most", "min": "at least", "equals": "exactly", "one_of": "one of"}
_MOST_NAMED: Final = 20
_GIVE: Final = "Give the sizes that are missing (--dim, --value), or accept it with allow_gaps = true beside the limit."
_CHANGE: Final = "Change the model, or the limit in the policy."


def limit_checks(card: Card, policy: Policy) -> Iterator[Check]:
    for path, limit in policy.limits.items():
        found = figure(card, path)
        yield from (_check(path, found, limit, bound, value) for bound, value in limit.bounds.items())


def _check(path: str, found: Figure, limit: Limit, bound: str, value: Any) -> Check:
    certain, holds = _is_certain(found, bound, value), _holds(bound, found.value, value)
    asked = f"the policy asks for {_WORDS[bound]} {said(value)}"
    what = "not known" if found.value is None else f"{_more(found)}{said(found.value)}{found.note}"
    text, status, do, reason = f"{path} is {what}, {asked}", Status.PASS, "", None
    if not certain and not limit.allow_gaps:
        text, status, do = f"{text}: {found.why}", Status.FAIL, _GIVE
    elif not holds:
        status, do = Status.FAIL, _CHANGE
    elif not certain:
        status, reason = Status.ALLOWED, f"allow_gaps: {found.why}"
    listed = _listed(found) if status is Status.FAIL else ()
    return Check(Kind.LIMIT, path, status, text, do, bound, value, found.value, evidence=listed, reason=reason)


def _listed(found: Figure) -> tuple[str, ...]:
    """What is in a list that is too long, for a reader to see which."""
    rows = found.whole if isinstance(found.whole, tuple) else ()
    names = (getattr(row, "reason", None) or getattr(row, "name", None) or getattr(row, "rule", None) for row in rows)
    return tuple(name for name in names if isinstance(name, str))[:_MOST_NAMED]


def _more(found: Figure) -> str:
    return "" if found.standing is Standing.EXACT else f"{found.standing} "


def _holds(bound: str, value: Any, limit: Any) -> bool:
    """As far as it is known. What is not known at all breaks no limit by itself."""
    if value is None:
        return True
    if bound in ("max", "min") and isinstance(value, bool | str):
        return False
    return _HOLDS[bound](value, limit)


def _is_certain(found: Figure, bound: str, limit: Any) -> bool:
    """Whether what is missing of the figure could not change the answer."""
    if found.value is None or found.standing is Standing.UNSURE:
        return False
    if found.standing is Standing.EXACT:
        return True
    holds = _holds(bound, found.value, limit)
    return bound in ("max", "min") and holds == (bound == "min")
