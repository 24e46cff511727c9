"""A lint rule, its violations, and parts of messages that several rules share."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Confidence, Finding, Severity
from onnx_autodoc.lint.context import LintContext, NodeRef
from onnx_autodoc.text import display_name, quote_name, sanitize

__all__ = ["Confidence", "Rule", "Severity", "Violation", "rule"]

MAX_EVIDENCE: Final = 50  # names listed under one finding; `count` has their number
MAX_NAME_CHARS: Final = 100
MAX_SENTENCE_CHARS: Final = 200
_MAX_OPERATORS: Final = 5
_MAX_SIZES: Final = 6


class Violation(Struct, frozen=True):
    """A violation of a rule by one model. Fields that are not set default to those of the rule."""

    message: str
    evidence: Collection[str | NodeRef] = ()  # names; of a node, its path
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
            listed = islice(violation.evidence, MAX_EVIDENCE)
            yield Finding(
                rule=self.id,
                severity=violation.severity or self.severity,
                confidence=violation.confidence or self.confidence,
                message=violation.message,
                recommendation=violation.recommendation or self.recommendation,
                evidence=tuple(place.path if isinstance(place, NodeRef) else place for place in listed),
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


def report_problems(
    problems: Mapping[str, str],
    singular: str,
    plural: str,
    *,
    about: str | None = None,
    severity: Severity | None = None,
) -> Iterator[Violation]:
    """Yield one violation for all problems (name -> sentence), none without any. The names are its evidence."""
    if problems:
        message = first_problem(problems.values(), singular, plural)
        yield Violation(message, problems, severity=severity, about=about)


def first_problem(problems: Collection[str], singular: str, plural: str) -> str:
    """Return "a node is wrong: …" or "3 nodes are wrong, first: …"."""
    head = singular if len(problems) == 1 else f"{len(problems):,} {plural}, first"
    return f"{head}: {sanitize(next(iter(problems)), MAX_SENTENCE_CHARS)}"


def count_operators(refs: Iterable[NodeRef]) -> str:
    """Return "3 Cast, 2 Mul": the operators of some nodes with their counts, most frequent first."""
    counts = Counter(sanitize(quote_name(ref.node.op, 40)) for ref in refs)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    return list_names([f"{count:,} {op}" for op, count in rows], _MAX_OPERATORS, show=str)


def list_names(
    names: Sequence[str], limit: int, show: Callable[[str], str] = lambda name: display_name(name, 40)
) -> str:
    """Return the first `limit` names, each by `show`, and " …" if there are more."""
    return ", ".join(map(show, names[:limit])) + (" …" if len(names) > limit else "")


def describe_sizes(context: LintContext) -> str:
    """Return " at batch = 1, seq = 128": the dynamic sizes that a number holds for, "" without any."""
    sizes = [f"{display_name(key, 40)} = {size}" for key, size in context.facts.binding.chosen.items()]
    return f" at {list_names(sizes, _MAX_SIZES, show=str)}" if sizes else ""
