"""SARIF 2.1.0 for code scanning: rules with their pages, findings with their locations, suppressions with reasons."""

import hashlib
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from onnx_autodoc.card import Severity
from onnx_autodoc.lint import RULES, Rule
from onnx_autodoc.policy import Check, Kind, Outcome, Status
from onnx_autodoc.render.content import Report
from onnx_autodoc.render.json import format_json
from onnx_autodoc.render.outcome import check_report, check_title
from onnx_autodoc.text import sanitize, sanitize_json

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MAX_TEXT_LENGTH: Final = 2_000
_LEVELS: Final = {"error": "error", "warning": "warning", "note": "note", "info": "none"}
_POLICY_RULES: Final = {
    Kind.LIMIT: "A figure of the card is not what the policy asks for",
    Kind.CHANGE: "The model is further from the baseline than the policy allows",
    Kind.RUNTIME: "A runtime that the policy requires does not know an operator",
    Kind.GAP: "A rule could not be checked",
}


def render_sarif(report: Report) -> str:
    return render_outcome_sarif(check_report(report))


def render_outcome_sarif(result: Outcome) -> str:
    rules = [*map(_lint_rule, RULES.values()), *(_policy_rule(kind, text) for kind, text in _POLICY_RULES.items())]
    indices = {rule["id"]: index for index, rule in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": result.tool, "version": result.version, "rules": rules}},
        "invocations": [{"executionSuccessful": True, "exitCode": 0 if result.passed else 1}],
        "results": list(_results(result, indices)),
    }
    return sanitize_json(format_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}))


def _lint_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": f"{rule.title}."},
        "fullDescription": {"text": " ".join(rule.page.split())},
        "help": {"text": rule.page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"precision": rule.confidence.value, "tags": ["onnx"]},
    }


def _policy_rule(kind: Kind, text: str) -> dict[str, Any]:
    description = {"text": f"{text}. The message says which, and what to do."}
    return {
        "id": kind.value,
        "shortDescription": {"text": f"{text}."},
        "fullDescription": description,
        "help": description,
        "defaultConfiguration": {"level": "error"},
        "properties": {"precision": "high", "tags": ["onnx"]},
    }


def _results(result: Outcome, indices: dict[str, int]) -> Iterator[dict[str, Any]]:
    fingerprints: set[str] = set()
    for verdict in result.verdicts:
        for check in verdict.checks:
            if check.found or check.status is Status.FAIL:
                yield _result(verdict.model, check, indices, fingerprints)


def _result(model: str, check: Check, indices: dict[str, int], fingerprints: set[str]) -> dict[str, Any]:
    rule = check.id if check.kind is Kind.RULE else check.kind.value
    level = _LEVELS[check.severity or Severity.ERROR] if check.kind is Kind.RULE else "error"
    if level == "none" and check.status is Status.FAIL:
        level = "note"  # a failure is more than information, whatever its severity
    entry = {
        "ruleId": rule,
        "ruleIndex": indices.get(rule, -1),
        "kind": "informational" if level == "none" else "fail",
        "level": level,
        "message": {"text": _format_message(check)},
        "locations": [_location(model, check)],
        "partialFingerprints": _fingerprints(model, check, fingerprints),
    }
    if check.count > 1:
        entry["occurrenceCount"] = check.count
    if check.status is Status.ALLOWED:
        entry["suppressions"] = [{"kind": "external", "status": "accepted", "justification": check.reason or "allowed"}]
    return entry


def _format_message(check: Check) -> str:
    """Return message and recommendation on one line, without links."""
    recommendation = f" {sanitize(check.do, _MAX_TEXT_LENGTH)}" if check.do else ""
    stop = "" if check.message.endswith((".", "!", "?")) else "."
    return f"{sanitize(check.message, _MAX_TEXT_LENGTH)}{stop}{recommendation}".replace("](", "] (")


def _location(model: str, check: Check) -> dict[str, Any]:
    """Return the file with line 1: a binary has no lines, but code scanning requires one."""
    location: dict[str, Any] = {
        "physicalLocation": {"artifactLocation": {"uri": to_uri(model)}, "region": {"startLine": 1}}
    }
    names = dict.fromkeys(sanitize(name, _MAX_TEXT_LENGTH) for name in check.evidence)
    if names:
        location["logicalLocations"] = [{"fullyQualifiedName": name} for name in names]
    return location


def to_uri(path: str) -> str:
    pure = PurePath(path)
    return pure.as_uri() if pure.is_absolute() else quote(pure.as_posix(), errors="surrogateescape")


def _fingerprints(model: str, check: Check, known: set[str]) -> dict[str, str]:
    """Return fingerprints that are stable between runs: of the rule and its first evidence, not of counts."""
    parts = (model, check.kind, check_title(check), *check.evidence[:1])
    repetition = 0
    while (digest := _digest(*parts, str(repetition))) in known:
        repetition += 1
    known.add(digest)
    return {"onnxAutodoc/v1": digest, "primaryLocationLineHash": f"{digest[:16]}:1"}


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode(errors="replace")).hexdigest()[:32]
