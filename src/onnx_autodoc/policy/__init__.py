"""The CI gate: a card, a policy and perhaps a baseline go in; what passed and what did not comes out.

It fails closed: what is not known, a rule that could not be checked or a figure that is missing fails what asks for it,
unless the policy says otherwise beside it.
"""

from collections.abc import Iterator, Sequence

from onnx_autodoc.card import Card, Generated
from onnx_autodoc.lint import RUNTIMES
from onnx_autodoc.policy._findings import gap_checks, rule_checks, runtime_checks, unneeded
from onnx_autodoc.policy._known import RULE_IDS
from onnx_autodoc.policy._limits import limit_checks
from onnx_autodoc.policy._paths import listed as figures
from onnx_autodoc.policy._policy import FAIL_ON, Allow, Change, Limit, Policy, Rules, Runtimes
from onnx_autodoc.policy._read import read_policy
from onnx_autodoc.policy._verdict import VERDICT_VERSION, Check, Kind, Outcome, Status, Verdict

__all__ = [
    "FAIL_ON",
    "RULE_IDS",
    "RUNTIMES",
    "VERDICT_VERSION",
    "Allow",
    "Change",
    "Check",
    "Kind",
    "Limit",
    "Named",
    "Outcome",
    "Policy",
    "Rules",
    "Runtimes",
    "Status",
    "Verdict",
    "figures",
    "gate",
    "outcome",
    "read_policy",
]


def gate(
    card: Card, policy: Policy, baseline: Card | None = None, model: str = "", version: str | None = None
) -> Verdict:
    """Whether a card passes. `model` is what the verdict calls it; `version` is that of the rules, if it is known."""
    if policy.needs_baseline and baseline is None:
        raise ValueError("this policy asks about changes: there is no baseline to measure them against")
    checks = (
        *limit_checks(card, policy),
        *(_moved(card, policy, baseline) if baseline is not None and policy.changes else ()),
        *runtime_checks(card, policy),
        *gap_checks(card, policy, version),
        *rule_checks(card, policy, baseline),
    )
    passed = all(check.status is not Status.FAIL for check in checks)
    return Verdict(model or card.model.name, passed, checks, tuple(unneeded(card, policy)))


def _moved(card: Card, policy: Policy, baseline: Card) -> Iterator[Check]:
    from onnx_autodoc.policy._changes import change_checks  # with rooms that other policies need not wait for

    return change_checks(card, policy, baseline)


Named = tuple[str, Card]


def outcome(
    cards: Sequence[Named],
    policy: Policy,
    file: str | None = None,
    baseline: Named | None = None,
    generated: Generated | None = None,
) -> Outcome:
    """The verdicts on some cards, each with what it is called. `file` is that of the policy.

    `generated` is when and by what it is judged; else all is taken to be of one version.
    """
    was = baseline[1] if baseline else None
    made = generated or cards[0][1].generated
    verdicts = tuple(gate(card, policy, was, name, made.version) for name, card in cards)
    return Outcome(
        schema_version=VERDICT_VERSION,
        tool=made.tool,
        version=made.version,
        at=made.at,
        passed=all(verdict.passed for verdict in verdicts),
        policy=file,
        baseline=baseline[0] if baseline else None,
        verdicts=verdicts,
    )
