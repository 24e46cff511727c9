"""Findings, the worst first."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Finding, Severity
from onnx_autodoc.render import content as doc
from onnx_autodoc.render.card_text import EVIDENCE, RECOMMENDATION, SEVERITY_WORDS, capitalize, count_findings
from onnx_autodoc.text import format_count, pluralize, sanitize

_MAX_TEXT_LENGTH: Final = 600
_MAX_EVIDENCE: Final = 5
_MAX_OPEN_REMARKS: Final = 3


def findings(card: Card) -> doc.Section:
    if not card.findings:
        return doc.Section("findings", "Findings", (doc.Paragraph("None: no rule found anything to say."),))
    serious = [finding for finding in card.findings if finding.severity is not Severity.INFO]
    remarks = [finding for finding in card.findings if finding.severity is Severity.INFO]
    counts = capitalize(count_findings(card.findings))
    intro = doc.Paragraph((f"{counts}. ", "What a rule looks for: ", doc.Name("onnx-autodoc explain RULE"), "."))
    details = (block for finding in serious for block in _finding_blocks(finding))
    return doc.Section("findings", "Findings", (intro, *details, *_remark_table(remarks)))


def _finding_blocks(finding: Finding) -> Iterator[doc.Block]:
    severity = SEVERITY_WORDS[finding.severity][0].capitalize()
    yield doc.Heading(f"{severity}: {sanitize(finding.message, _MAX_TEXT_LENGTH)}")
    confidence = "" if finding.confidence == "high" else f" Confidence: {finding.confidence}."
    yield doc.Paragraph((doc.Strong(f"{RECOMMENDATION}: "), _recommendation(finding), confidence))
    where = _evidence(finding)
    yield doc.Paragraph(
        (*((doc.Strong(f"{EVIDENCE}: "), *where, " · ") if where else ()), doc.Strong("Rule: "), doc.Name(finding.rule))
    )


def _recommendation(finding: Finding) -> str:
    return sanitize(capitalize(finding.recommendation).rstrip(".") + ".", _MAX_TEXT_LENGTH)


def _evidence(finding: Finding) -> tuple[doc.Span, ...]:
    left = finding.count - min(len(finding.evidence), _MAX_EVIDENCE)
    names = doc.join_names(finding.evidence[:_MAX_EVIDENCE])
    return (*names, f" and {format_count(left)} more") if left else names


def _remark_table(remarks: list[Finding]) -> Iterator[doc.Block]:
    if remarks:
        rows = tuple(
            (sanitize(each.message, _MAX_TEXT_LENGTH), _evidence(each), _recommendation(each), doc.Name(each.rule))
            for each in remarks
        )
        summary = pluralize(len(rows), *SEVERITY_WORDS[Severity.INFO]) if len(rows) > _MAX_OPEN_REMARKS else None
        yield doc.Table(doc.columns("Good to know", EVIDENCE, RECOMMENDATION, "Rule"), rows, None, summary)
