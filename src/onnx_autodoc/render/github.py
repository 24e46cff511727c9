"""GitHub Actions: annotations as workflow commands for the log, and a summary of the job as Markdown."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint import Severity
from onnx_autodoc.policy import Check, Outcome, Status, Verdict
from onnx_autodoc.render._escape import escaped
from onnx_autodoc.render._report import Report
from onnx_autodoc.render._verdict import counts, of_report, places, title
from onnx_autodoc.text import clean, count, plural, quiet

MOST_BYTES: Final = 1 << 20  # of a job's summary; GitHub shows none that is larger
_MOST: Final = 10  # annotations of one level; GitHub shows no more of a step
_LONGEST: Final = 1_000
_LEFT: Final = 400  # bytes for the sentence on what was cut off
_ROW: Final = "| "
_LEVELS: Final = {Severity.ERROR: "warning", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_github(report: Report) -> str:
    """The annotations. The summary is no part of a log."""
    return annotations(of_report(report))


def annotations(found: Outcome) -> str:
    """What failed as errors, what was found and may stay below that; where there is neither, that it passed."""
    lines: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for verdict in found.verdicts:
        for check in verdict.checks:
            level = _level(check)
            if level:
                lines[level].append(_command(level, verdict.model, check))
    if not any(lines.values()):
        lines["notice"] = [_nothing(verdict) for verdict in found.verdicts]
    return "".join(f"::{quiet(line[2:])}\n" for level, every in lines.items() for line in _cut(level, every))


def _nothing(verdict: Verdict) -> str:
    file = _property(clean(verdict.model, _LONGEST))
    return f"::notice file={file},title=onnx-autodoc::passed: {_data(counts(verdict))}"


def _level(check: Check) -> str:
    if check.status is Status.FAIL:
        return "error"
    return _LEVELS.get(check.severity or Severity.INFO, "") if check.found and check.status is Status.PASS else ""


def _cut(level: str, lines: list[str]) -> list[str]:
    if len(lines) <= _MOST:
        return lines
    left = len(lines) - _MOST + 1
    return [*lines[: _MOST - 1], f"::{level} title=onnx-autodoc::{count(left)} more; the job summary lists them"]


def _command(level: str, model: str, check: Check) -> str:
    heading = _property(f"onnx-autodoc: {title(check)}")
    where = f" (at {places(check)})" if check.evidence else ""
    do = f"\nTo do: {clean(check.do, _LONGEST)}" if check.do else ""
    text = f"{clean(check.message, _LONGEST)}{where}{do}"
    return f"::{level} file={_property(clean(model, _LONGEST))},title={heading}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def summary(found: Outcome, most: int = MOST_BYTES) -> str:
    """The job's summary, of fewer than `most` bytes: what does not fit is left out, and that is said."""
    left, lines = most - _LEFT, list[str]()
    for line in (line for verdict in found.verdicts for line in _verdict(verdict)):
        left -= len(line.encode()) + 1
        if left <= 0:
            every = sum(len(checks) for verdict in found.verdicts for checks in _shown(verdict).values())
            rest = every - sum(line.startswith(_ROW) for line in lines)
            cut = f"\n{plural(rest, 'row')} left out: a job summary ends at {count(MOST_BYTES)} bytes."
            return "\n".join([*lines, cut]) + "\n" if most > _LEFT else ""
        lines.append(line)
    return "\n".join(lines) + "\n"


def _shown(verdict: Verdict) -> dict[str, list[Check]]:
    """The checks under their headings. Rules that found nothing are not listed."""
    passed = [check for check in verdict.checks if check.status is Status.PASS]
    return {
        "Failed": list(verdict.failed),
        "Allowed by the policy": [check for check in verdict.checks if check.status is Status.ALLOWED],
        "Found, below what fails": [check for check in passed if check.found],
        "Passed": [check for check in passed if check.bound],
    }


def _verdict(verdict: Verdict) -> Iterator[str]:
    word = "passed" if verdict.passed else "failed"
    yield f"### onnx-autodoc: {escaped(clean(verdict.model))} {word}"
    yield ""
    yield f"{counts(verdict)}."
    yield ""
    for heading, checks in _shown(verdict).items():
        yield from _table(heading, checks)
    for entry in verdict.unneeded:
        yield f"Not needed: the policy allows {escaped(clean(entry))}, and nothing has it."
        yield ""


def _table(heading: str, checks: list[Check]) -> Iterator[str]:
    if not checks:
        return
    yield f"#### {heading}"
    yield ""
    yield "|Check|What|Where|To do|"
    yield "|---|---|---|---|"
    for check in checks:
        cells = (f"{check.kind}: {title(check)}", check.message, places(check), _then(check))
        yield _ROW + " | ".join(escaped(clean(cell, _LONGEST)) for cell in cells) + " |"
    yield ""


def _then(check: Check) -> str:
    return f"allowed: {check.reason}" if check.status is Status.ALLOWED else check.do
