"""Check cards against a policy, and against a baseline where the policy limits changes.

Checks fail closed: an unknown figure or a rule that could not be checked fails, unless the policy allows gaps.
"""

from collections.abc import Sequence

from onnx_autodoc.card import Card, Generated
from onnx_autodoc.lint import RULES, RUNTIMES
from onnx_autodoc.policy.limits import change_checks, limit_checks
from onnx_autodoc.policy.paths import list_figures
from onnx_autodoc.policy.reading import read_policy
from onnx_autodoc.policy.rules import gap_checks, rule_checks, runtime_checks, unused_allowances
from onnx_autodoc.policy.types import (
    FAIL_ON,
    VERDICT_VERSION,
    Allow,
    Change,
    Check,
    Kind,
    Limit,
    Outcome,
    Policy,
    Rules,
    Runtimes,
    Status,
    Verdict,
)
from onnx_autodoc.policy.validation import parse_policy

__all__ = [
    "FAIL_ON",
    "RULES",
    "RUNTIMES",
    "VERDICT_VERSION",
    "Allow",
    "Change",
    "Check",
    "Kind",
    "Limit",
    "NamedCard",
    "Outcome",
    "Policy",
    "Rules",
    "Runtimes",
    "Status",
    "Verdict",
    "check_card",
    "check_cards",
    "list_figures",
    "parse_policy",
    "read_policy",
]

NamedCard = tuple[str, Card]


def check_card(
    card: Card, policy: Policy, baseline: Card | None = None, model: str = "", version: str | None = None
) -> Verdict:
    """Check one card. `model` is its name in the verdict; `version` is that of the lint rules, if known."""
    if policy.needs_baseline and baseline is None:
        raise ValueError("this policy limits changes and requires a baseline")
    checks = (
        *limit_checks(card, policy),
        *(change_checks(card, policy, baseline) if baseline is not None and policy.changes else ()),
        *runtime_checks(card, policy),
        *gap_checks(card, policy, version),
        *rule_checks(card, policy, baseline),
    )
    passed = all(check.status is not Status.FAIL for check in checks)
    return Verdict(model or card.model.name, passed, checks, tuple(unused_allowances(card, policy)))


def check_cards(
    cards: Sequence[NamedCard],
    policy: Policy,
    file: str | None = None,
    baseline: NamedCard | None = None,
    generated: Generated | None = None,
) -> Outcome:
    """Check several cards. `file` is that of the policy; `generated` is by default that of the first card."""
    run = generated or cards[0][1].generated
    verdicts = tuple(
        check_card(card, policy, baseline[1] if baseline else None, name, run.version) for name, card in cards
    )
    return Outcome(
        schema_version=VERDICT_VERSION,
        tool=run.tool,
        version=run.version,
        at=run.at,
        passed=all(verdict.passed for verdict in verdicts),
        policy=file,
        baseline=baseline[0] if baseline else None,
        verdicts=verdicts,
    )
