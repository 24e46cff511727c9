"""Lint: rules that report what a user of a model should know, and the operator tables of runtimes."""

from typing import NamedTuple

from onnx_autodoc.card import Finding
from onnx_autodoc.errors import AutodocError
from onnx_autodoc.lint.context import LintContext
from onnx_autodoc.lint.rule import Rule
from onnx_autodoc.lint.rules import RULES
from onnx_autodoc.lint.runtimes import RUNTIMES, runtimes

__all__ = ["RULES", "RUNTIMES", "LintContext", "LintResult", "Rule", "UncheckedRule", "check", "runtimes"]


class UncheckedRule(NamedTuple):
    """A rule that failed to run, by its id."""

    rule: str
    reason: str


LintResult = tuple[tuple[Finding, ...], tuple[UncheckedRule, ...]]


def check(context: LintContext) -> LintResult:
    """Run all rules. Findings are sorted by severity, errors first."""
    findings: list[Finding] = []
    unchecked: list[UncheckedRule] = []
    for rule in RULES.values():
        if rule.needs_weights and context.weights is None:
            continue
        try:
            findings += rule.findings(context)
        except (AutodocError, MemoryError):
            raise
        except Exception as error:  # a rule that fails on an unexpected file must not cost the card
            unchecked.append(UncheckedRule(rule.id, f"{error!r:.200}"))
    return tuple(sorted(findings, key=lambda finding: -finding.severity.rank)), tuple(unchecked)
