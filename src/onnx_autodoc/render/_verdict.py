"""A gate's outcome in words and as JSON, and what all formats of it share.

On a CI machine the log is read by a machine, too: no text of a model may look like a command to it.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.policy import Check, Kind, Outcome, Policy, Status, Verdict, outcome
from onnx_autodoc.render._report import Report
from onnx_autodoc.render._within import pretty
from onnx_autodoc.text import clean, count, named, plural, quiet, quiet_json

_MOST_PLACES: Final = 3
_LONGEST: Final = 1_000  # letters of a message
_WORDS: Final = {
    Status.PASS: "passed",
    Status.FAIL: "failed",
    Status.ALLOWED: "allowed",
    Status.SKIPPED: "not asked for",
}


def of_report(report: Report) -> Outcome:
    """A card by itself, held against a policy that says nothing: findings that are errors fail."""
    return outcome([(report.card.model.name, report.card)], Policy())


def render_text(found: Outcome) -> str:
    given: set[str] = set()
    lines = [line for verdict in found.verdicts for line in _verdict(verdict, given)]
    lines += [f"not needed: the policy allows {clean(entry)}, and nothing has it" for entry in _unneeded(found)]
    if len(found.verdicts) > 1:
        failed = sum(not verdict.passed for verdict in found.verdicts)
        lines.insert(0, f"{_word(found.passed)} {plural(len(found.verdicts), 'model')}, {count(failed)} failed")
    return quiet("\n".join(lines) + "\n")


def _word(passed: bool) -> str:
    return "PASS" if passed else "FAIL"


def _verdict(verdict: Verdict, given: set[str]) -> Iterator[str]:
    """What to do is said once; `given` is what was."""
    yield f"{_word(verdict.passed)} {clean(verdict.model)}: {counts(verdict)}"
    for check in verdict.failed:
        named = "" if check.bound else f"{title(check)}: "  # a figure's message begins with its path
        yield f"  {check.kind:<7}  {named}{clean(check.message, _LONGEST)}"
        once = replace(check, do="") if check.do in given else check
        yield from (f"           {line}" for line in details(once))
        given.add(check.do)


def details(check: Check) -> Iterator[str]:
    """What to do, and where."""
    if check.evidence:
        yield f"at: {places(check)}"
    if check.do:
        yield f"to do: {clean(check.do, _LONGEST)}"


def counts(verdict: Verdict) -> str:
    found = Counter(check.status for check in verdict.checks)
    parts = [f"{count(found[status])} {word}" for status, word in _WORDS.items() if found[status]]
    return f"{plural(len(verdict.checks), 'check')}" + (f", {', '.join(parts)}" if parts else "")


def title(check: Check) -> str:
    """What was asked: a figure with its bound, or a rule with what it speaks of."""
    asked = f" {check.bound}" if check.bound else ""
    about = f" ({clean(check.about, 60)})" if check.about and check.kind is not Kind.RUNTIME else ""
    return f"{clean(check.id)}{asked}{about}"


def places(check: Check, most: int = _MOST_PLACES) -> str:
    more = max(check.count, len(check.evidence)) - most
    shown = ", ".join(named(place, 200) for place in check.evidence[:most])
    return f"{shown} and {count(more)} more" if more > 0 else shown


def _unneeded(found: Outcome) -> list[str]:
    """What no model needed."""
    first, *others = (verdict.unneeded for verdict in found.verdicts)
    return [entry for entry in first if all(entry in other for other in others)]


def render_json(found: Outcome) -> str:
    return quiet_json(pretty(found))
