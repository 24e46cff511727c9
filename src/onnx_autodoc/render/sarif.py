"""SARIF 2.1.0 for code scanning: rules with their pages, findings with their locations, suppressions with reasons."""

import hashlib
from itertools import count
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from onnx_autodoc.card import Severity
from onnx_autodoc.lint import RULES
from onnx_autodoc.policy import Check, Kind, Outcome, Status
from onnx_autodoc.render.json import format_json
from onnx_autodoc.render.outcome import check_title
from onnx_autodoc.text import sanitize, sanitize_json

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_MAX_TEXT_LENGTH: Final = 2_000
_LEVELS: Final = {"error": "error", "warning": "warning", "note": "note", "info": "none"}
_POLICY_RULES: Final = {
    Kind.LIMIT: "A figure of the card violates a limit of the policy",
    Kind.CHANGE: "A change against the baseline exceeds the policy",
    Kind.RUNTIME: "A runtime required by the policy does not support an operator",
    Kind.GAP: "A rule could not be checked",
}


def render_outcome_sarif(result: Outcome) -> str:
    rules = [
        *(_rule(rule.id, rule.title, rule.page, rule.severity, rule.confidence) for rule in RULES.values()),
        *(
            _rule(kind.value, text, f"{text}. The message has the details and the recommendation.")
            for kind, text in _POLICY_RULES.items()
        ),
    ]
    indices = {rule["id"]: index for index, rule in enumerate(rules)}
    fingerprints: set[str] = set()
    run = {
        "tool": {"driver": {"name": result.tool, "version": result.version, "rules": rules}},
        "invocations": [{"executionSuccessful": True, "exitCode": 0 if result.passed else 1}],
        "results": [
            _result(verdict.model, check, indices, fingerprints)
            for verdict in result.verdicts
            for check in verdict.checks
            if check.found or check.status is Status.FAIL
        ],
    }
    return sanitize_json(format_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}))


def _rule(
    name: str, title: str, page: str, severity: Severity = Severity.ERROR, precision: str = "high"
) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": f"{title}."},
        "fullDescription": {"text": " ".join(page.split())},
        "help": {"text": page},
        "defaultConfiguration": {"level": _LEVELS[severity]},
        "properties": {"precision": precision, "tags": ["onnx"]},
    }


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
    for repetition in count():
        content = "\0".join((*parts, str(repetition))).encode(errors="replace")
        digest = hashlib.sha256(content).hexdigest()[:32]
        if digest not in known:
            break
    known.add(digest)
    return {"onnxAutodoc/v1": digest, "primaryLocationLineHash": f"{digest[:16]}:1"}
