"""The outcome of a policy check as text and JSON, and the texts that its other formats share.

CI machines parse logs, so no text of a model may look like a workflow command.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.policy import Check, Kind, Outcome, Policy, Status, Verdict, check_cards
from onnx_autodoc.render.content import Report
from onnx_autodoc.render.json import format_json
from onnx_autodoc.text import display_name, format_count, pluralize, sanitize, sanitize_json, sanitize_text

_MAX_EVIDENCE: Final = 3
MAX_MESSAGE_LENGTH: Final = 1_000
STATUS_WORDS: Final = {
    Status.PASS: "passed",
    Status.FAIL: "failed",
    Status.ALLOWED: "allowed",
    Status.SKIPPED: "not requested",
}


def check_report(report: Report) -> Outcome:
    """Check a card against the default policy, under which findings of severity error fail."""
    return check_cards([(report.card.model.name, report.card)], Policy())


def render_outcome_text(result: Outcome) -> str:
    shown_recommendations: set[str] = set()
    lines = [line for verdict in result.verdicts for line in _verdict_lines(verdict, shown_recommendations)]
    first, *others = (verdict.unneeded for verdict in result.verdicts)
    unneeded = [entry for entry in first if all(entry in other for other in others)]
    lines += [f"unused: the policy allows {sanitize(entry)}, which no finding matches" for entry in unneeded]
    if len(result.verdicts) > 1:
        failed = format_count(sum(not verdict.passed for verdict in result.verdicts))
        models = pluralize(len(result.verdicts), "model")
        lines.insert(0, f"{'PASS' if result.passed else 'FAIL'} {models}, {failed} failed")
    return sanitize_text("\n".join(lines) + "\n")


def render_outcome_json(result: Outcome) -> str:
    return sanitize_json(format_json(result))


def _verdict_lines(verdict: Verdict, shown_recommendations: set[str]) -> Iterator[str]:
    """Yield the failed checks; a recommendation is printed once for all models."""
    yield f"{'PASS' if verdict.passed else 'FAIL'} {sanitize(verdict.model)}: {count_checks(verdict)}"
    for check in verdict.failed:
        title = "" if check.bound else f"{check_title(check)}: "  # the message on a limit starts with its path
        yield f"  {check.kind:<7}  {title}{sanitize(check.message, MAX_MESSAGE_LENGTH)}"
        details = check_details(replace(check, do="") if check.do in shown_recommendations else check)
        yield from (f"           {line}" for line in details)
        shown_recommendations.add(check.do)


def check_details(check: Check) -> Iterator[str]:
    """Yield the evidence and the recommendation of a check."""
    if check.evidence:
        yield f"evidence: {format_evidence(check)}"
    if check.do:
        yield f"recommendation: {sanitize(check.do, MAX_MESSAGE_LENGTH)}"


def count_checks(verdict: Verdict) -> str:
    counts = Counter(check.status for check in verdict.checks)
    parts = [f"{format_count(counts[status])} {word}" for status, word in STATUS_WORDS.items() if counts[status]]
    return f"{pluralize(len(verdict.checks), 'check')}" + (f", {', '.join(parts)}" if parts else "")


def check_title(check: Check) -> str:
    """Return what was checked: a figure with its bound, or a rule with its subject."""
    bound = f" {check.bound}" if check.bound else ""
    about = f" ({sanitize(check.about, 60)})" if check.about and check.kind is not Kind.RUNTIME else ""
    return f"{sanitize(check.id)}{bound}{about}"


def format_evidence(check: Check) -> str:
    left = max(check.count, len(check.evidence)) - _MAX_EVIDENCE
    shown = ", ".join(display_name(name, 200) for name in check.evidence[:_MAX_EVIDENCE])
    return f"{shown} and {format_count(left)} more" if left > 0 else shown
