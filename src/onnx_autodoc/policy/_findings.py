"""What rules found, held against the policy: how bad it may be, what may stay and why, what the baseline had."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Card, Finding
from onnx_autodoc.lint import RULES, Rule, Severity
from onnx_autodoc.policy._bounds import has_weights
from onnx_autodoc.policy._known import STRANGE, UNSUPPORTED
from onnx_autodoc.policy._policy import NEVER, Allow, Policy
from onnx_autodoc.policy._verdict import Check, Kind, Status
from onnx_autodoc.text import clean

_READ: Final = "Check with --weights, or accept it with allow_gaps = true under [rules]."
_ANEW: Final = "Check the model itself, or write its card anew."
_TELL: Final = "Report it with the model; until then allow_gaps = true under [rules] accepts what was not checked."


class Pardon(Struct, frozen=True):
    """Whether the policy lets a finding stay, with whose words, and which entries of the list said so."""

    status: Status
    reason: str | None = None
    by: tuple[Allow, ...] = ()


def rule_checks(card: Card, policy: Policy, baseline: Card | None) -> Iterator[Check]:
    said = {finding.rule for finding in card.findings} | {rule for rule in RULES if _stumbled(card, rule)}
    old = baseline.findings if baseline is not None and policy.rules.only_new else ()
    for finding in card.findings:
        yield _found(finding, policy, old)
    yield from (_silent(rule, card, policy) for rule in RULES.values() if rule.id not in said)


def _found(finding: Finding, policy: Policy, old: tuple[Finding, ...]) -> Check:
    severity = policy.rules.severity.get(finding.rule, finding.severity)
    status, reason = Status.PASS, None
    if policy.rules.fail_on != NEVER and severity.rank >= Severity(policy.rules.fail_on).rank:
        given = Pardon(Status.ALLOWED, "the baseline has it") if _is_old(finding, old) else pardon(finding, policy)
        status, reason = given.status, given.reason
    return _check(Kind.RULE, finding.rule, finding, status, severity, reason)


def _check(kind: Kind, name: str, finding: Finding, status: Status, severity: Severity, reason: str | None) -> Check:
    return Check(
        kind=kind,
        id=name,
        status=status,
        message=finding.message,
        do=finding.recommendation,
        found=True,
        severity=severity,
        about=finding.about,
        evidence=finding.evidence,
        count=finding.count,
        reason=reason,
    )


def _stumbled(card: Card, rule: str) -> bool:
    """Whether a rule could not be checked: it found nothing, which means nothing."""
    return any(f"the rule {rule} " in gap.reason for gap in card.gaps if gap.section == "findings")


def _silent(rule: Rule, card: Card, policy: Policy) -> Check:
    """A rule that found nothing, if it looked."""
    if not rule.weights or has_weights(card):
        return Check(Kind.RULE, rule.id, Status.PASS, f"nothing found: {rule.title}", severity=rule.severity)
    text = f"{rule.id} was not checked: it looks at the numbers in the weights, which were not all read"
    if rule.id not in policy.rules.named:
        return Check(Kind.RULE, rule.id, Status.SKIPPED, text, _READ, severity=rule.severity)
    status = Status.ALLOWED if policy.rules.allow_gaps else Status.FAIL
    return Check(Kind.RULE, rule.id, status, text, _READ, severity=rule.severity, reason=_gaps_reason(policy))


def _gaps_reason(policy: Policy) -> str | None:
    return "allow_gaps under [rules]" if policy.rules.allow_gaps else None


def _is_old(finding: Finding, old: Iterable[Finding]) -> bool:
    """Whether the baseline had it: of the same rule, no worse, at no other place and at no more of them."""
    return any(
        (was.rule, was.about) == (finding.rule, finding.about)
        and was.severity.rank >= finding.severity.rank
        and was.count >= finding.count
        and set(finding.evidence) <= set(was.evidence)
        for was in old
    )


def pardon(finding: Finding, policy: Policy) -> Pardon:
    """Allowed where an entry takes all of it, or where entries together take every place."""
    entries = [entry for entry in policy.rules.allow if _speaks_of(entry, finding)]
    whole = [entry for entry in entries if entry.evidence is None]
    if whole:
        return Pardon(Status.ALLOWED, whole[0].reason, (whole[0],))
    used = tuple(entry for entry in entries if any(_takes(entry, place) for place in finding.evidence))
    taken = [any(_takes(entry, place) for entry in used) for place in finding.evidence]
    if taken and all(taken) and finding.count == len(finding.evidence):
        return Pardon(Status.ALLOWED, "; ".join(dict.fromkeys(entry.reason for entry in used)), used)
    return Pardon(Status.FAIL, None, used)


def _takes(entry: Allow, place: str) -> bool:
    return fnmatchcase(place, entry.evidence or "*")


def _speaks_of(entry: Allow, finding: Finding) -> bool:
    return entry.rule == finding.rule and entry.about in (None, finding.about)


def unneeded(card: Card, policy: Policy) -> Iterator[str]:
    """Entries of the allow-list that no finding needs."""
    used = [entry for finding in card.findings for entry in pardon(finding, policy).by]
    for entry in policy.rules.allow:
        if entry not in used:
            about = f" about {entry.about}" if entry.about else ""
            where = f" at {entry.evidence}" if entry.evidence else ""
            yield f"{entry.rule}{about}{where} ({clean(entry.reason, 80)})"


def gap_checks(card: Card, policy: Policy, version: str | None) -> Iterator[Check]:
    """Rules that could not be checked, or that the version which made the card may not have had."""
    status, reason = Status.ALLOWED if policy.rules.allow_gaps else Status.FAIL, _gaps_reason(policy)
    for gap in card.gaps:
        if gap.section == "findings":
            yield Check(Kind.GAP, "findings", status, gap.reason, _TELL, reason=reason)
    if version is not None and card.generated.version != version:
        made = clean(card.generated.version, 40)
        text = f"the card was made by version {made}, its findings are not those of the rules of {version}"
        yield Check(Kind.GAP, "findings", status, text, _ANEW, reason=reason)


def _keeps_from(runtime: str, finding: Finding) -> bool:
    return finding.rule == STRANGE or (finding.rule, finding.about) == (UNSUPPORTED, runtime)


def runtime_checks(card: Card, policy: Policy) -> Iterator[Check]:
    """A runtime that is required knows every operator, or the policy says why it need not."""
    unchecked = _stumbled(card, UNSUPPORTED) or _stumbled(card, STRANGE)
    for runtime in policy.runtimes.require:
        if unchecked:
            text = f"whether {runtime} knows every operator could not be checked"
            yield Check(Kind.RUNTIME, runtime, Status.FAIL, text, _TELL, about=runtime)
            continue
        missing = [finding for finding in card.findings if _keeps_from(runtime, finding)]
        if not missing:
            yield Check(Kind.RUNTIME, runtime, Status.PASS, f"no operator is known to be missing in {runtime}")
        for finding in missing:
            given = pardon(finding, policy)
            severity = policy.rules.severity.get(finding.rule, finding.severity)
            yield replace(_check(Kind.RUNTIME, runtime, finding, given.status, severity, given.reason), about=runtime)
