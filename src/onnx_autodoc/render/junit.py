"""JUnit XML: a suite per model and a case per check, in the form that Ant's and Jenkins' schemas share."""

from collections import Counter
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from onnx_autodoc.policy import Check, Outcome, Status, Verdict
from onnx_autodoc.render.outcome import MAX_MESSAGE_LENGTH, STATUS_WORDS, check_details, check_title
from onnx_autodoc.text import sanitize, sanitize_text

_TIME: Final = "0"  # constant, so that the same model gives the same bytes


def render_outcome_junit(result: Outcome) -> str:
    root = Element("testsuites")
    for index, verdict in enumerate(result.verdicts):
        _add_suite(root, index, verdict, result)
    for element in root.iter():  # escapes what XML has no character for, and workflow commands
        element.text = element.text and sanitize_text(element.text)
        for key, text in element.items():
            element.set(key, sanitize_text(text))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _add_suite(root: Element, index: int, verdict: Verdict, result: Outcome) -> None:
    counts = Counter(check.status for check in verdict.checks)
    attributes = {
        "name": sanitize(verdict.model) or "model",
        "package": "onnx-autodoc",
        "id": str(index),
        "timestamp": result.at.removesuffix("Z"),
        "hostname": "localhost",
        "tests": str(len(verdict.checks)),
        "failures": str(counts[Status.FAIL]),
        "errors": "0",
        "skipped": str(counts[Status.ALLOWED] + counts[Status.SKIPPED]),
        "time": _TIME,
    }
    suite = SubElement(root, "testsuite", attributes)
    properties = SubElement(suite, "properties")
    for name, value in (("version", result.version), ("policy", result.policy), ("baseline", result.baseline)):
        if value is not None:
            SubElement(properties, "property", name=name, value=sanitize(value))
    seen = Counter[tuple[str, str]]()
    for check in verdict.checks:  # case names are unique: a rule with several findings has several cases
        name = check_title(check)
        seen[check.kind, name] += 1
        repetition = seen[check.kind, name]
        _add_case(suite, check, f"{name} #{repetition}" if repetition > 1 else name)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")


def _add_case(suite: Element, check: Check, name: str) -> None:
    case = SubElement(suite, "testcase", classname=f"onnx-autodoc.{check.kind}", name=name, time=_TIME)
    message = sanitize(check.message, MAX_MESSAGE_LENGTH)
    if check.status is Status.FAIL:
        failure = SubElement(case, "failure", type=str(check.kind), message=message)
        failure.text = "\n".join([message, *check_details(check)])
    elif check.status is not Status.PASS:
        reason = sanitize(check.reason or STATUS_WORDS[Status.SKIPPED], MAX_MESSAGE_LENGTH)
        SubElement(case, "skipped").text = f"{check.status}: {reason}; {message}"
