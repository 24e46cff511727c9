"""One thing to know about a model: what was found, how bad it is, how sure that is, where, and what to do."""

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final

from msgspec import Struct

MOST_EVIDENCE: Final = 50  # names under one finding; `count` says how many there are


class Severity(StrEnum):
    """`info` is good to know, `note` is worth a change, `warning` will cost or surprise, `error` will not work."""

    INFO = "info"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class Confidence(StrEnum):
    """How sure it is that the finding is true of this model: `high` is read off the file."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Finding(Struct, frozen=True):
    """`about` is the one thing of several that a rule speaks of, a runtime for instance.

    `evidence` names places in the file: nodes as the node rows call them with their scope, inputs, tensors, files.
    `count` is how many places there are, of which the first ones are named.
    """

    rule: str
    severity: Severity
    confidence: Confidence
    message: str
    recommendation: str
    evidence: tuple[str, ...]
    count: int
    about: str | None = None


class Found(Struct, frozen=True):
    """What a rule says of one model. What is left out is as the rule's own file has it."""

    message: str
    evidence: tuple[str, ...] = ()
    do: str = ""  # else the rule's "What to do"
    severity: Severity | None = None
    confidence: Confidence | None = None
    about: str | None = None


class Rule(Struct, frozen=True):
    """An entry of the shelf. `page` is its whole documentation: title, why it matters, what to do."""

    id: str
    title: str
    page: str
    do: str
    severity: Severity
    confidence: Confidence
    check: "Callable[..., Iterator[Found]]"
    weights: bool  # whether it needs the numbers in the weights, which are only read if asked for

    def finding(self, found: Found) -> Finding:
        return Finding(
            rule=self.id,
            severity=found.severity or self.severity,
            confidence=found.confidence or self.confidence,
            message=found.message,
            recommendation=found.do or self.do,
            evidence=found.evidence[:MOST_EVIDENCE],
            count=len(found.evidence),
            about=found.about,
        )
