"""How far a card may be from the baseline's, exactly: a limit of 1 % of 1,000 is met by 1,010 and broken by 1,011."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil, floor
from typing import Any, Final

from msgspec import Struct

from onnx_autodoc.card import Card
from onnx_autodoc.compare import interface_changes, same_sizes
from onnx_autodoc.policy._bounds import Standing
from onnx_autodoc.policy._exact import alike, exact, said
from onnx_autodoc.policy._figure import Figure, figure
from onnx_autodoc.policy._policy import Change, Number, Policy
from onnx_autodoc.policy._verdict import Check, Kind, Status
from onnx_autodoc.text import clean, plural

_MOST: Final = 5  # changes of the interface that a message names
_FALLS: Final = ("max_drop_percent", "max_decrease")
_PERCENT: Final = ("max_percent", "max_drop_percent")
_GIVE: Final = "Give the sizes that are missing (--dim, --value), or accept it with allow_gaps = true beside it."
_SIZES: Final = (
    "Make the baseline at the sizes of this card, or give the sizes that it was made at (--dim and the like)."
)
_CHANGE: Final = "Change the model, or make the baseline anew if this is meant."
# What holds only for the sizes that a card was made for.
_SIZED_TOPS: Final = ("compute", "scaling", "assumptions")
_SIZED: Final = frozenset(("macs", "flops", "bytes_moved", "written_bytes", "peak_activation_bytes", "run_bytes")) | {
    *("peak_node", "timeline", "unsized", "bound", "resolved", "work"),
}


def change_checks(card: Card, policy: Policy, baseline: Card) -> Iterator[Check]:
    same = same_sizes(baseline, card)
    for path, change in policy.changes.items():
        was, now = figure(baseline, path), figure(card, path)
        for bound, value in change.numbers.items():
            yield _number(path, was, now, change, bound, value, same)
        if change.equal:
            yield _equal(path, was, now, change, same)
        if change.breaking is False:
            yield _interface(baseline, card)


def _number(path: str, was: Figure, now: Figure, change: Change, bound: str, value: Number, same: bool) -> Check:
    status, text, do = _obstacle(was, now, change, same) or (Status.PASS, "", "")
    if status is not Status.FAIL and isinstance(was.value, int | float) and isinstance(now.value, int | float):
        most = _bound(was.value, bound, value)
        broken = exact(now.value) < most if bound in _FALLS else exact(now.value) > most
        status, do = (Status.FAIL, _CHANGE) if broken else (status, do)
        allows = "at least" if bound in _FALLS else "at most"
        text = f"{bound} = {value} allows {allows} {_rounded(most, bound, was, now)}"
    message = f"{path} was {_said(was)} and is {_said(now)}" + (f"; {text}" if text else "")
    reason = f"allow_gaps: {was.why or now.why}" if status is Status.ALLOWED else None
    return Check(Kind.CHANGE, path, status, message, do, bound, value, now.value, was.value, reason=reason)


def _bound(was: Number, bound: str, value: Number) -> Fraction:
    """The most, or of falls the least, that a figure may be now."""
    old, by = exact(was), exact(value)
    step = abs(old) * by / 100 if bound in _PERCENT else by
    return old - step if bound in _FALLS else old + step


def _rounded(most: Fraction, bound: str, was: Figure, now: Figure) -> str:
    """Of whole numbers the last whole one within the bound."""
    whole = isinstance(was.value, int) and isinstance(now.value, int)
    return said((ceil(most) if bound in _FALLS else floor(most)) if whole else most)


def _obstacle(was: Figure, now: Figure, change: Change, same: bool) -> tuple[Status, str, str] | None:
    """Why the two cannot be held against each other, if they cannot."""
    if not same and _is_sized(now.pattern):
        return Status.FAIL, "the baseline was made at other sizes, so the two are no measures of the same", _SIZES
    for side, found in (("the baseline", was), ("this card", now)):
        if found.whole is None or found.standing is not Standing.EXACT:
            text = f"{side} does not know all of it: {found.why}"
            return (Status.ALLOWED, text, "") if change.allow_gaps else (Status.FAIL, text, _GIVE)
    return None


def _is_sized(pattern: str) -> bool:
    if pattern.startswith(("compute.formula", "memory.kv_cache")):
        return pattern == "memory.kv_cache.bytes"
    top, _, rest = pattern.partition(".")
    return top in _SIZED_TOPS or bool(_SIZED & set(rest.split("."))) or pattern.endswith("tree.share")


def _equal(path: str, was: Figure, now: Figure, change: Change, same: bool) -> Check:
    status, text, do = (_obstacle(was, now, change, same) if _counts(was, now) else None) or (Status.PASS, "", "")
    known = "section" in now.kinds or (was.whole is not None and now.whole is not None)
    if status is not Status.FAIL and known and not alike(was.whole, now.whole):
        status, do = Status.FAIL, _CHANGE
    message = f"{_between(path, was, now)}; {text or 'the policy asks for no change'}"
    reason = f"allow_gaps: {was.why or now.why}" if status is Status.ALLOWED else None
    return Check(Kind.CHANGE, path, status, message, do, "equal", True, now.value, was.value, reason=reason)


def _between(path: str, was: Figure, now: Figure) -> str:
    """What became of it. Of a section: which parts of it differ."""
    if isinstance(was.whole, Struct) and isinstance(now.whole, Struct):
        fields = now.whole.__struct_fields__
        parts = [name for name in fields if getattr(was.whole, name) != getattr(now.whole, name)]
        return f"{path} differs in {', '.join(parts)}" if parts else f"{path} is as it was"
    inside = "" if now.is_plain or was.value != now.value or was.whole == now.whole else "; what is in it differs"
    return f"{path} was {_said(was)} and is {_said(now)}{inside}"


def _counts(was: Figure, now: Figure) -> bool:
    """Whether a gap in it matters: of a list or a section that both have, all that is in it is held together."""
    missing = was.whole is None or now.whole is None
    return now.is_plain or (missing and "section" not in now.kinds)


def _said(found: Figure) -> str:
    if not found.is_plain:
        return "a section" if isinstance(found.whole, Struct) else f"{said(found.value)} long"
    least = "" if found.standing is Standing.EXACT else f"{found.standing} "
    return f"{least}{said(found.value)}"


def _interface(baseline: Card, card: Card) -> Check:
    changes = [change for change in interface_changes(baseline, card) if change.breaking]
    named = [_change_words(change) for change in changes[:_MOST]]
    more = [f"{len(changes) - _MOST} more"] if len(changes) > _MOST else []
    text = f"{plural(len(changes), 'change')} of the interface would break callers: {'; '.join([*named, *more])}"
    status = Status.FAIL if changes else Status.PASS
    return Check(
        kind=Kind.CHANGE,
        id="interface",
        status=status,
        message=text if changes else "no change of the interface breaks callers",
        do=_CHANGE if changes else "",
        bound="breaking",
        limit=False,
        measured=bool(changes),
        evidence=tuple(dict.fromkeys(change.port for change in changes if change.port)),
        count=len(changes),
    )


def _change_words(change: Any) -> str:
    was, now = (clean(str(each)) for each in (change.was, change.now))
    between = {(True, True): f" from {was} to {now}", (True, False): f" ({was})", (False, True): f" ({now})"}
    ends = between.get((change.was is not None, change.now is not None), "")
    return f"{change.kind} {clean(change.port, 60)} {change.what}{ends}".replace("  ", " ")
