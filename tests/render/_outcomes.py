"""Outcomes of the gate to render: real ones, and ones with names that mean harm."""

from functools import cache
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from onnx_autodoc.card import Card, Confidence, Finding, Severity
from onnx_autodoc.policy import Outcome, check_cards, parse_policy
from tests.policy._cards import SAMPLE, card

# What a runner, a parser or a reader could take for something else.
NASTY = (
    "::error::pwned",
    "\n::set-output name=x::y",
    "  ::stop-commands::x",
    "##[error]pwned",
    "##[add-path]/tmp",
    "a\r\n::warning::b",
    "%0A::error::c",
    "]]><x/>&amp;\x00\x07\x1b[31m\ufffe\u202e",
    "[click](http://evil.example) <script>alert(1)</script> | `x` *y* @user",
    "{0} {1}",
    "x" * 5000,
    "",
)
POLICY: dict[str, Any] = {
    "limits": {"graph.nodes": {"max": 1}, "compute.macs": {"max": 1e15}, "memory.kv_cache.bytes": {"max": 1}},
    "changes": {"parameters.total": {"max_percent": 1}, "interface": {"breaking": False}},
    "rules": {"fail_on": "note", "allow": [{"rule": "dynamic-input", "reason": "the server batches ##[x]"}]},
}


def make_hostile_card() -> Card:
    result = card(SAMPLE[1])
    findings = tuple(
        Finding(rule, severity, Confidence.HIGH, text, text, (text, text, "b"), 60, text or None)
        for text in NASTY
        for rule, severity in (
            ("dead-node", Severity.ERROR),
            ("float64", Severity.INFO),
            ("dynamic-input", Severity.NOTE),
        )
    )
    ports = tuple(replace(port, name=NASTY[0]) for port in result.interface.inputs)
    return replace(result, findings=findings, interface=replace(result.interface, inputs=ports))


@cache
def check_corpus() -> Outcome:
    cards = [(f"models/{name}.onnx", card(name)) for name in SAMPLE[:3]]
    return check_cards(cards, parse_policy(POLICY), "policy.toml", ("main.card.json", card(SAMPLE[0])))


@cache
def check_hostile() -> Outcome:
    names = ("dir with space/::error::m%ö.onnx", "a,b:c\n::x.onnx", str(Path("/abs/##[error]m.onnx")))
    cards = [(name, make_hostile_card()) for name in names]
    return check_cards(cards, parse_policy(POLICY), "::p.toml", (NASTY[1], card(SAMPLE[0])))


def is_tame(log: str) -> bool:
    """Whether no line of it is a command to GitHub's runner."""
    return not any(line.lstrip().startswith("::") or "##[" in line for line in log.splitlines())
