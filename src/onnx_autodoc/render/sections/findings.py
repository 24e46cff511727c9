"""What to know and what to do: findings, the worst first."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.card import Card, Finding, Severity
from onnx_autodoc.render._blocks import Block, Column, Heading, Inline, Name, Paragraph, Section, Strong, Table
from onnx_autodoc.text import clean, count, plural

_LONGEST: Final = 600
_NAMED: Final = 5  # places that are named below a finding
_WORDS: Final = {
    Severity.ERROR: ("error", "errors"),
    Severity.WARNING: ("warning", "warnings"),
    Severity.NOTE: ("note", "notes"),
    Severity.INFO: ("remark", "remarks"),
}


def findings(card: Card) -> Section:
    serious = [finding for finding in card.findings if finding.severity is not Severity.INFO]
    remarks = [finding for finding in card.findings if finding.severity is Severity.INFO]
    said = tally(card.findings)
    if not card.findings:
        return Section("findings", "Findings", (Paragraph(("None: no rule found anything to say.",)),))
    head = Paragraph(
        (f"{said[0].upper()}{said[1:]}. ", "What a rule looks for: ", Name("onnx-autodoc explain RULE"), ".")
    )
    return Section(
        "findings", "Findings", (head, *(block for one in serious for block in _told(one)), *_table(remarks))
    )


def tally(found: Sequence[Finding]) -> str:
    """ "1 warning, 2 notes", the worst first."""
    counts = Counter(finding.severity for finding in found)
    return ", ".join(plural(counts[each], *_WORDS[each]) for each in _WORDS if counts[each]) or "none"


def _told(finding: Finding) -> Iterator[Block]:
    yield Heading(f"{_WORDS[finding.severity][0].capitalize()}: {clean(finding.message, _LONGEST)}")
    sure = "" if finding.confidence == "high" else f" Confidence: {finding.confidence}."
    yield Paragraph((Strong("What to do: "), clean(_sentence(finding.recommendation), _LONGEST), sure))
    where = tuple(_where(finding))
    yield Paragraph((*((Strong("Where: "), *where, " · ") if where else ()), Strong("Rule: "), Name(finding.rule)))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".rstrip(".") + "."


def _where(finding: Finding) -> Iterator[Inline]:
    """The first places, by name."""
    for at, name in enumerate(finding.evidence[:_NAMED]):
        yield from (", ",) if at else ()
        yield Name(name)
    left = finding.count - min(len(finding.evidence), _NAMED)
    if left:
        yield f" and {count(left)} more"


def _table(remarks: list[Finding]) -> Iterator[Block]:
    if not remarks:
        return
    columns = (Column("Good to know"), Column("Where"), Column("What to do"), Column("Rule"))
    rows = tuple(
        (
            (clean(one.message, _LONGEST),),
            tuple(_where(one)),
            (clean(_sentence(one.recommendation), _LONGEST),),
            (Name(one.rule),),
        )
        for one in remarks
    )
    yield Table(columns, rows, None, plural(len(rows), *_WORDS[Severity.INFO]) if len(rows) > 3 else None)
