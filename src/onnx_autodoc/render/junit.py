"""JUnit's XML: a suite for each model, a case for each check; in the form that Ant's and Jenkins' schemas share."""

from collections import Counter
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from onnx_autodoc.policy import Check, Outcome, Status, Verdict
from onnx_autodoc.render._report import Report
from onnx_autodoc.render._verdict import details, of_report, title
from onnx_autodoc.text import clean, quiet

_LONGEST = 1_000
_NO_TIME = "0"  # cases take none of their own, and the same model gives the same bytes


def render_junit(report: Report) -> str:
    return junit(of_report(report))


def junit(found: Outcome) -> str:
    root = Element("testsuites")
    for at, verdict in enumerate(found.verdicts):
        _suite(root, at, verdict, found)
    _seen(root)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _seen(root: Element) -> None:
    """What XML has no letter for, and what is a command to a runner, is written as an escape."""
    for element in root.iter():
        element.text = element.text and quiet(element.text)
        for key, text in element.items():
            element.set(key, quiet(text))


def _suite(root: Element, at: int, verdict: Verdict, found: Outcome) -> None:
    tally = Counter(check.status for check in verdict.checks)
    suite = SubElement(root, "testsuite", name=clean(verdict.model) or "model", package="onnx-autodoc", id=str(at))
    suite.set("timestamp", found.at.removesuffix("Z"))
    suite.set("hostname", "localhost")
    suite.set("tests", str(len(verdict.checks)))
    suite.set("failures", str(tally[Status.FAIL]))
    suite.set("errors", "0")
    suite.set("skipped", str(tally[Status.ALLOWED] + tally[Status.SKIPPED]))
    suite.set("time", _NO_TIME)
    properties = SubElement(suite, "properties")
    for name, value in (("version", found.version), ("policy", found.policy), ("baseline", found.baseline)):
        if value is not None:
            SubElement(properties, "property", name=name, value=clean(value))
    for check, name in zip(verdict.checks, _names(verdict)):
        _case(suite, check, name)
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")


def _names(verdict: Verdict) -> list[str]:
    """Each its own: a rule that found several things has several cases."""
    seen = Counter[str]()
    names = []
    for check in verdict.checks:
        name = title(check)
        seen[f"{check.kind} {name}"] += 1
        times = seen[f"{check.kind} {name}"]
        names.append(f"{name} #{times}" if times > 1 else name)
    return names


def _case(suite: Element, check: Check, name: str) -> None:
    case = SubElement(suite, "testcase", classname=f"onnx-autodoc.{check.kind}", name=name, time=_NO_TIME)
    message = clean(check.message, _LONGEST)
    if check.status is Status.FAIL:
        failure = SubElement(case, "failure", type=str(check.kind), message=message)
        failure.text = "\n".join([message, *details(check)])
    elif check.status is not Status.PASS:
        reason = clean(check.reason or "not asked for", _LONGEST)
        SubElement(case, "skipped").text = f"{check.status}: {reason}; {message}"
