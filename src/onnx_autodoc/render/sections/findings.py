"""Findings, most severe first."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Card, Finding, Severity
from onnx_autodoc.render import content as doc
from onnx_autodoc.render.card_text import EVIDENCE, RECOMMENDATION, SEVERITY_WORDS, capitalize, count_findings
from onnx_autodoc.text import format_count, pluralize, sanitize

_MAX_TEXT_LENGTH: Final = 600
_MAX_EVIDENCE: Final = 5
_MAX_OPEN_INFO: Final = 3


def findings(card: Card) -> doc.Section:
    if not card.findings:
        return doc.Section("findings", "Findings", (doc.Paragraph("None: no rule reported a finding."),))
    counts = capitalize(count_findings(card.findings))
    intro = doc.Paragraph((f"{counts}. ", "Documentation of a rule: ", doc.Name("onnx-autodoc explain RULE"), "."))
    blocks: list[doc.Block] = [intro]
    for finding in card.findings:
        if finding.severity is not Severity.INFO:
            blocks += _finding_blocks(finding)
    info = tuple(
        (
            *(sanitize(finding.message, _MAX_TEXT_LENGTH), _evidence(finding)),
            *(_recommendation(finding), doc.Name(finding.rule)),
        )
        for finding in card.findings
        if finding.severity is Severity.INFO
    )
    if info:
        summary = pluralize(len(info), *SEVERITY_WORDS[Severity.INFO]) if len(info) > _MAX_OPEN_INFO else None
        titles = doc.columns("Message", EVIDENCE, RECOMMENDATION, "Rule")
        blocks.append(doc.Table(titles, info, None, summary))
    return doc.Section("findings", "Findings", tuple(blocks))


def _finding_blocks(finding: Finding) -> Iterator[doc.Block]:
    severity = SEVERITY_WORDS[finding.severity][0].capitalize()
    yield doc.Heading(f"{severity}: {sanitize(finding.message, _MAX_TEXT_LENGTH)}")
    confidence = "" if finding.confidence == "high" else f" Confidence: {finding.confidence}."
    yield doc.Paragraph((doc.Strong(f"{RECOMMENDATION}: "), _recommendation(finding), confidence))
    names = _evidence(finding)
    evidence = (doc.Strong(f"{EVIDENCE}: "), *names, " · ") if names else ()
    yield doc.Paragraph((*evidence, doc.Strong("Rule: "), doc.Name(finding.rule)))


def _recommendation(finding: Finding) -> str:
    return sanitize(capitalize(finding.recommendation).rstrip(".") + ".", _MAX_TEXT_LENGTH)


def _evidence(finding: Finding) -> tuple[doc.Span, ...]:
    left = finding.count - min(len(finding.evidence), _MAX_EVIDENCE)
    names = doc.join_names(finding.evidence[:_MAX_EVIDENCE])
    return (*names, f" and {format_count(left)} more") if left else names
