"""GitHub Actions: annotations as workflow commands for the log, and a job summary in Markdown."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.card import Severity
from onnx_autodoc.policy import Check, Outcome, Status, Verdict
from onnx_autodoc.render.markdown import escape_markdown
from onnx_autodoc.render.outcome import MAX_MESSAGE_LENGTH, check_title, count_checks, format_evidence
from onnx_autodoc.text import format_count, pluralize, sanitize, sanitize_text

MAX_SUMMARY_BYTES: Final = 1 << 20  # GitHub shows no larger job summary
_MAX_ANNOTATIONS: Final = 10  # per level; GitHub shows no more of a step
_TRUNCATION_BYTES: Final = 400  # reserved for the sentence on what was cut off
_ROW_START: Final = "| "
_LEVELS: Final = {Severity.ERROR: "warning", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_annotations(result: Outcome) -> str:
    """Return failed checks as errors and other findings below that; a notice where there are neither."""
    lines: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for verdict in result.verdicts:
        for check in verdict.checks:
            level = "error" if check.status is Status.FAIL else ""
            if check.found and check.status is Status.PASS:
                level = _LEVELS.get(check.severity or Severity.INFO, "")
            if level:
                lines[level].append(_annotation(level, verdict.model, check))
    if not any(lines.values()):
        for verdict in result.verdicts:
            file = _escape_property(sanitize(verdict.model, MAX_MESSAGE_LENGTH))
            text = f"passed: {_escape_data(count_checks(verdict))}"
            lines["notice"].append(f"::notice file={file},title=onnx-autodoc::{text}")
    for level, entries in lines.items():
        if len(entries) > _MAX_ANNOTATIONS:
            left = format_count(len(entries) - _MAX_ANNOTATIONS + 1)
            more = f"::{level} title=onnx-autodoc::{left} more, listed in the job summary"
            entries[_MAX_ANNOTATIONS - 1 :] = [more]
    return "".join(f"::{sanitize_text(line[2:])}\n" for entries in lines.values() for line in entries)


def _annotation(level: str, model: str, check: Check) -> str:
    title = _escape_property(f"onnx-autodoc: {check_title(check)}")
    where = f" (at {format_evidence(check)})" if check.evidence else ""
    recommendation = f"\nRecommendation: {sanitize(check.do, MAX_MESSAGE_LENGTH)}" if check.do else ""
    text = f"{sanitize(check.message, MAX_MESSAGE_LENGTH)}{where}{recommendation}"
    return f"::{level} file={_escape_property(sanitize(model, MAX_MESSAGE_LENGTH))},title={title}::{_escape_data(text)}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def render_job_summary(result: Outcome, max_bytes: int = MAX_SUMMARY_BYTES) -> str:
    """Return the job summary in fewer than `max_bytes`, with a sentence on the rows that do not fit."""
    left, lines = max_bytes - _TRUNCATION_BYTES, list[str]()
    for line in (line for verdict in result.verdicts for line in _summary_lines(verdict)):
        left -= len(line.encode()) + 1
        if left <= 0:
            total = sum(len(checks) for verdict in result.verdicts for checks in _group_checks(verdict).values())
            omitted = total - sum(line.startswith(_ROW_START) for line in lines)
            limit = format_count(MAX_SUMMARY_BYTES)
            cut = f"\n{pluralize(omitted, 'row')} omitted: a job summary is limited to {limit} bytes."
            return "\n".join([*lines, cut]) + "\n" if max_bytes > _TRUNCATION_BYTES else ""
        lines.append(line)
    return "\n".join(lines) + "\n"


def _group_checks(verdict: Verdict) -> dict[str, list[Check]]:
    """Return the checks by heading, without rules that found nothing."""
    passed = [check for check in verdict.checks if check.status is Status.PASS]
    return {
        "Failed": list(verdict.failed),
        "Allowed by the policy": [check for check in verdict.checks if check.status is Status.ALLOWED],
        "Reported, below the failing severity": [check for check in passed if check.found],
        "Passed": [check for check in passed if check.bound],
    }


def _summary_lines(verdict: Verdict) -> Iterator[str]:
    status = "passed" if verdict.passed else "failed"
    yield from (f"### onnx-autodoc: {escape_markdown(sanitize(verdict.model))} {status}", "")
    yield from (f"{count_checks(verdict)}.", "")
    for heading, checks in _group_checks(verdict).items():
        if checks:
            yield from (f"#### {heading}", "", "|Check|Message|Evidence|Recommendation|", "|---|---|---|---|")
        for check in checks:
            action = f"allowed: {check.reason}" if check.status is Status.ALLOWED else check.do
            cells = (f"{check.kind}: {check_title(check)}", check.message, format_evidence(check), action)
            yield _ROW_START + " | ".join(escape_markdown(sanitize(cell, MAX_MESSAGE_LENGTH)) for cell in cells) + " |"
        if checks:
            yield ""
    for entry in verdict.unneeded:
        yield from (f"Unused: the policy allows {escape_markdown(sanitize(entry))}, which no finding matches.", "")
