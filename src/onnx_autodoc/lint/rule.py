"""A lint rule, and what it reports of one model."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Confidence, Finding, Severity
from onnx_autodoc.lint.context import LintContext

__all__ = ["Confidence", "Rule", "Severity", "Violation", "rule"]

MAX_EVIDENCE: Final = 50  # names listed under one finding; `count` has their number


class Violation(Struct, frozen=True):
    """What a rule reports of one model. Fields that are not set take the rule's value."""

    message: str
    evidence: tuple[str, ...] = ()
    recommendation: str = ""
    severity: Severity | None = None
    confidence: Confidence | None = None
    about: str | None = None


Check = Callable[[LintContext], Iterable[Violation]]


class Rule(Struct, frozen=True):
    """A lint rule. `page` is its whole documentation: title, why it matters, what to do."""

    id: str
    title: str
    page: str
    recommendation: str
    severity: Severity
    confidence: Confidence
    check: Check
    needs_weights: bool  # whether it reads the elements of weights, which are only read on request

    def findings(self, context: LintContext) -> Iterator[Finding]:
        for violation in self.check(context):
            yield Finding(
                rule=self.id,
                severity=violation.severity or self.severity,
                confidence=violation.confidence or self.confidence,
                message=violation.message,
                recommendation=violation.recommendation or self.recommendation,
                evidence=violation.evidence[:MAX_EVIDENCE],
                count=len(violation.evidence),
                about=violation.about,
            )


def rule(
    severity: Severity, page: str, *, confidence: Confidence = Confidence.HIGH, needs_weights: bool = False
) -> Callable[[Check], Rule]:
    """Declare a rule by its check, whose name is the id of the rule.

    The page is a title, "Why it matters: …", "What to do: …" (the recommendation), and details.
    """
    text = page.strip()
    match = re.search(r"^What to do: (.+?)(?:\n\n|\Z)", text, re.M | re.S)
    assert match is not None, text
    title = text.partition("\n")[0].rstrip(".")
    recommendation = " ".join(f"{match[1][0].upper()}{match[1][1:]}".split())

    def declare(check: Check) -> Rule:
        rule_id = check.__name__.replace("_", "-")
        return Rule(rule_id, title, text, recommendation, severity, confidence, check, needs_weights)

    return declare
