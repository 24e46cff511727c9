"""Checks of findings against the rules and runtimes of a policy."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from onnx_autodoc.card import Card, Finding, Severity
from onnx_autodoc.lint import RULES, Rule
from onnx_autodoc.policy.figures import has_weights
from onnx_autodoc.policy.types import NEVER, Allow, Check, Kind, Policy, Status
from onnx_autodoc.text import sanitize

_UNSUPPORTED: Final = "unsupported-operator"  # `about` is the runtime
_CUSTOM_DOMAIN: Final = "custom-domain"  # operators that no runtime supports
_READ_WEIGHTS: Final = "Check with --weights, or accept it with allow_gaps = true under [rules]."
_NEW_CARD: Final = "Check the model itself, or build its card again."
_REPORT: Final = (
    "Report it with the model; until it is fixed, allow_gaps = true under [rules] accepts rules that were not checked."
)


def rule_checks(card: Card, policy: Policy, baseline: Card | None) -> Iterator[Check]:
    """Yield one check for every finding, and one for every other rule that was checked."""
    known = baseline.findings if baseline is not None and policy.rules.only_new else ()
    for finding in card.findings:
        severity, fail_on = policy.rules.severity.get(finding.rule, finding.severity), policy.rules.fail_on
        if fail_on == NEVER or severity.rank < Severity(fail_on).rank:
            yield _finding_check(Kind.RULE, finding.rule, finding, policy, Status.PASS)
        elif any(_includes(earlier, finding) for earlier in known):
            yield _finding_check(Kind.RULE, finding.rule, finding, policy, Status.ALLOWED, "also in the baseline")
        else:
            status, reason, _ = _find_allowance(finding, policy)
            yield _finding_check(Kind.RULE, finding.rule, finding, policy, status, reason)
    reported = {finding.rule for finding in card.findings}
    for rule in RULES.values():
        if rule.id not in reported and not _is_unchecked(card, rule.id):
            yield _check_silent_rule(rule, card, policy)


def _finding_check(
    kind: Kind, name: str, finding: Finding, policy: Policy, status: Status, reason: str | None = None
) -> Check:
    return Check(
        kind=kind,
        id=name,
        status=status,
        message=finding.message,
        do=finding.recommendation,
        found=True,
        severity=policy.rules.severity.get(finding.rule, finding.severity),
        about=name if kind is Kind.RUNTIME else finding.about,
        evidence=finding.evidence,
        count=finding.count,
        reason=reason,
    )


def _includes(earlier: Finding, finding: Finding) -> bool:
    """Whether a finding of the baseline has the same rule and subject, is no less severe, and has all the locations."""
    return (
        (earlier.rule, earlier.about) == (finding.rule, finding.about)
        and earlier.severity.rank >= finding.severity.rank
        and earlier.count >= finding.count
        and set(finding.evidence) <= set(earlier.evidence)
    )


def _is_unchecked(card: Card, rule: str) -> bool:
    return f"findings.{rule}" in card.uncertain or "findings.*" in card.uncertain


def _check_silent_rule(rule: Rule, card: Card, policy: Policy) -> Check:
    """Check a rule without findings: it passes, unless it needs weights that were not read."""
    if not rule.needs_weights or has_weights(card):
        return Check(Kind.RULE, rule.id, Status.PASS, f"no findings: {rule.title}", severity=rule.severity)
    text = f"{rule.id} was not checked: it inspects weight values, and not all of them were read"
    if rule.id not in policy.rules.rule_ids:
        return Check(Kind.RULE, rule.id, Status.SKIPPED, text, _READ_WEIGHTS, severity=rule.severity)
    status, reason = _gap_status(policy)
    return Check(Kind.RULE, rule.id, status, text, _READ_WEIGHTS, severity=rule.severity, reason=reason)


def _gap_status(policy: Policy) -> tuple[Status, str | None]:
    return (Status.ALLOWED, "allow_gaps under [rules]") if policy.rules.allow_gaps else (Status.FAIL, None)


def _find_allowance(finding: Finding, policy: Policy) -> tuple[Status, str | None, tuple[Allow, ...]]:
    """Return whether the policy allows a finding, its reason, and the entries of the allow-list that match.

    One entry matches the whole finding, or several together match every location.
    """
    entries = [
        entry for entry in policy.rules.allow if entry.rule == finding.rule and entry.about in (None, finding.about)
    ]
    whole = [entry for entry in entries if entry.evidence is None]
    if whole:
        return Status.ALLOWED, whole[0].reason, (whole[0],)
    used = tuple(entry for entry in entries if any(_matches(entry, location) for location in finding.evidence))
    matched = [any(_matches(entry, location) for entry in used) for location in finding.evidence]
    if matched and all(matched) and finding.count == len(finding.evidence):
        return Status.ALLOWED, "; ".join(dict.fromkeys(entry.reason for entry in used)), used
    return Status.FAIL, None, used


def _matches(entry: Allow, location: str) -> bool:
    return fnmatchcase(location, entry.evidence or "*")


def unused_allowances(card: Card, policy: Policy) -> Iterator[str]:
    """Yield the entries of the allow-list that no finding matches."""
    used = [entry for finding in card.findings for entry in _find_allowance(finding, policy)[2]]
    for entry in policy.rules.allow:
        if entry not in used:
            about = f" about {entry.about}" if entry.about else ""
            location = f" at {entry.evidence}" if entry.evidence else ""
            yield f"{entry.rule}{about}{location} ({sanitize(entry.reason, 80)})"


def gap_checks(card: Card, policy: Policy, version: str | None) -> Iterator[Check]:
    """Yield a check for every rule that failed to run, and for a card built by another version of the tool."""
    status, reason = _gap_status(policy)
    for gap in card.gaps:
        if gap.section == "findings":
            yield Check(Kind.GAP, "findings", status, gap.reason, _REPORT, reason=reason)
    if version is not None and card.generated.version != version:
        card_version = sanitize(card.generated.version, 40)
        text = f"the card was built by version {card_version}, whose rules may differ from those of {version}"
        yield Check(Kind.GAP, "findings", status, text, _NEW_CARD, reason=reason)


def runtime_checks(card: Card, policy: Policy) -> Iterator[Check]:
    """Yield the findings that keep a required runtime from running the model, or one passed check without any."""
    unchecked = _is_unchecked(card, _UNSUPPORTED) or _is_unchecked(card, _CUSTOM_DOMAIN)
    for runtime in policy.runtimes.require:
        if unchecked:
            text = f"could not check whether {runtime} supports every operator"
            yield Check(Kind.RUNTIME, runtime, Status.FAIL, text, _REPORT, about=runtime)
            continue
        missing = [
            finding
            for finding in card.findings
            if finding.rule == _CUSTOM_DOMAIN or (finding.rule, finding.about) == (_UNSUPPORTED, runtime)
        ]
        if not missing:
            yield Check(Kind.RUNTIME, runtime, Status.PASS, f"no operator is known to be unsupported by {runtime}")
        for finding in missing:
            status, reason, _ = _find_allowance(finding, policy)
            yield _finding_check(Kind.RUNTIME, runtime, finding, policy, status, reason)
