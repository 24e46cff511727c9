"""SARIF 2.1.0, for code scanning: every rule with its page, every finding with its places, what is allowed with why."""

import hashlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from onnx_autodoc.lint import RULES, Rule, Severity
from onnx_autodoc.policy import Check, Kind, Outcome, Status
from onnx_autodoc.render._report import Report
from onnx_autodoc.render._verdict import of_report, title
from onnx_autodoc.render._within import pretty
from onnx_autodoc.text import clean, quiet_json

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LONGEST: Final = 2_000
_LEVELS: Final = {"error": "error", "warning": "warning", "note": "note", "info": "none"}
_POLICY: Final = {
    Kind.LIMIT: "A figure of the card is not what the policy asks for",
    Kind.CHANGE: "The model is further from the baseline than the policy allows",
    Kind.RUNTIME: "A runtime that the policy requires does not know an operator",
    Kind.GAP: "A rule could not be checked",
}


def render_sarif(report: Report) -> str:
    return sarif(of_report(report))


def sarif(found: Outcome) -> str:
    rules = [*map(_rule, RULES.values()), *_own_rules()]
    places = {rule["id"]: at for at, rule in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": found.tool, "version": found.version, "rules": rules}},
        "invocations": [{"executionSuccessful": True, "exitCode": 0 if found.passed else 1}],
        "results": list(_results(found, places)),
    }
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return quiet_json(pretty(document))


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": f"{rule.title}."},
        "fullDescription": {"text": " ".join(rule.page.split())},
        "help": {"text": rule.page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"precision": rule.confidence.value, "tags": ["onnx"]},
    }


def _own_rules() -> Iterator[dict[str, Any]]:
    """Those of the policy, which are no rules on models."""
    for kind, text in _POLICY.items():
        full = {"text": f"{text}. The message says which, and what to do."}
        yield {
            "id": kind.value,
            "shortDescription": {"text": f"{text}."},
            "fullDescription": full,
            "help": full,
            "defaultConfiguration": {"level": "error"},
            "properties": {"precision": "high", "tags": ["onnx"]},
        }


def _results(found: Outcome, places: dict[str, int]) -> Iterator[dict[str, Any]]:
    seen: set[str] = set()
    for verdict in found.verdicts:
        for check in verdict.checks:
            if check.found or check.status is Status.FAIL:
                yield _result(verdict.model, check, places, seen)


def _result(model: str, check: Check, places: dict[str, int], seen: set[str]) -> dict[str, Any]:
    rule = check.id if check.kind is Kind.RULE else check.kind.value
    level = _level(check)
    made = {
        "ruleId": rule,
        "ruleIndex": places.get(rule, -1),
        "kind": "informational" if level == "none" else "fail",
        "level": level,
        "message": {"text": _text(check)},
        "locations": [_location(model, check)],
        "partialFingerprints": _fingerprints(model, check, seen),
    }
    if check.count > 1:
        made["occurrenceCount"] = check.count
    if check.status is Status.ALLOWED:
        made["suppressions"] = [{"kind": "external", "status": "accepted", "justification": check.reason or "allowed"}]
    return made


def _level(check: Check) -> str:
    """As bad as it is; what fails is no mere information, whatever its severity."""
    level = _LEVELS[check.severity or Severity.ERROR] if check.kind is Kind.RULE else "error"
    return "note" if level == "none" and check.status is Status.FAIL else level


def _text(check: Check) -> str:
    """In one line. What looks like a link is none."""
    do = f" {clean(check.do, _LONGEST)}" if check.do else ""
    stop = "" if check.message.endswith((".", "!", "?")) else "."
    return f"{clean(check.message, _LONGEST)}{stop}{do}".replace("](", "] (")


def _location(model: str, check: Check) -> dict[str, Any]:
    """The file; a binary has no lines, but code scanning shows nothing without one."""
    place: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": uri_of(model)}, "region": {"startLine": 1}}
    }
    names = dict.fromkeys(clean(name, _LONGEST) for name in check.evidence)
    return {**place, "logicalLocations": [{"fullyQualifiedName": name} for name in names]} if names else place


def uri_of(path: str) -> str:
    given = PurePath(path)
    return given.as_uri() if given.is_absolute() else quote(given.as_posix(), errors="surrogateescape")


def _fingerprints(model: str, check: Check, seen: set[str]) -> dict[str, str]:
    """The same from run to run: by what is wrong and the first place, not by how many there are."""
    parts = (model, check.kind, title(check), *check.evidence[:1])
    again = 0
    while (mark := hashlib.sha256("\0".join((*parts, str(again))).encode(errors="replace")).hexdigest()[:32]) in seen:
        again += 1
    seen.add(mark)
    return {"onnxAutodoc/v1": mark, "primaryLocationLineHash": f"{mark[:16]}:1"}
