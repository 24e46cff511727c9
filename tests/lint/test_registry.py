"""The registry of rules: complete, documented, and each tested with a model that violates it and one that does not."""

import ast
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

import onnx_autodoc.lint.rules
from onnx_autodoc.card import Severity
from onnx_autodoc.lint import RULES, Rule, check
from tests._text import model
from tests.lint._check import lint_context

RULE_MODULES = Path(onnx_autodoc.lint.rules.__file__).parent
TESTS = Path(__file__).parent


def test_every_declared_rule_is_registered() -> None:
    declared = "".join(path.read_text(encoding="utf-8") for path in RULE_MODULES.glob("*.py")).count("\n@rule(\n")
    assert declared == len(RULES) > 50
    assert list(RULES) == sorted(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: str(rule.id))
def test_rule_page_is_complete(rule: Rule) -> None:
    parts = rule.page.split("\n\n")
    assert parts[0].endswith(".")
    assert "\n" not in parts[0]
    assert any(part.startswith("Why it matters: ") for part in parts)
    assert re.search(r"^What to do: \S", rule.page, re.M)
    assert len(rule.recommendation) > 20
    assert isinstance(rule.severity, Severity)


@pytest.mark.parametrize("rule", RULES)
def test_rule_has_positive_and_negative_tests(rule: str) -> None:
    text = (TESTS / f"test_{rule.replace('-', '_')}.py").read_text(encoding="utf-8")
    names = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert len([name for name in names if name.startswith("test_")]) >= 2
    assert re.search(r"== (\[\]|\(\)|\{\})", text), "no model without a violation"
    assert "evidence" in text or ".message" in text, "no assertion on a finding"


def test_failing_rule_is_unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing_check(context: object) -> list[object]:
        raise KeyError("surprise")

    broken = replace(RULES["dynamic-input"], id="broken", check=failing_check)
    monkeypatch.setitem(RULES, "broken", broken)
    findings, unchecked = check(lint_context(model("g (float[n] x) => (float y) { y = Relu(x) }")))
    assert unchecked == (("broken", "KeyError('surprise')"),)
    assert [finding.rule for finding in findings if finding.rule == "dynamic-input"]


def test_findings_are_sorted_by_severity() -> None:
    findings, _ = check(lint_context(model("g (float[n] x) => (float y) { y = Relu(x) z = custom.Thing(x) }")))
    ranks = [finding.severity.rank for finding in findings]
    assert ranks == sorted(ranks, reverse=True)
