"""The shelf of rules: complete, documented, tested with a model that fires each rule and one that does not."""

import ast
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

import onnx_autodoc.lint
from onnx_autodoc.analysis import Gap
from onnx_autodoc.lint import RULES, Rule, Severity, judge
from tests._text import model
from tests.lint._judged import case

SHELF = Path(onnx_autodoc.lint.__file__).parent
TESTS = Path(__file__).parent


def test_every_file_is_on_the_shelf() -> None:
    files = {path.stem.replace("_", "-") for path in SHELF.glob("*.py") if not path.stem.startswith("_")}
    assert files == set(RULES)
    assert list(RULES) == sorted(RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: str(rule.id))
def test_a_rules_file_is_its_page(rule: Rule) -> None:
    parts = rule.page.split("\n\n")
    assert parts[0].endswith(".")
    assert "\n" not in parts[0]
    assert any(part.startswith("Why it matters: ") for part in parts)
    assert re.search(r"^What to do: \S", rule.page, re.M)
    assert len(rule.do) > 20
    assert isinstance(rule.severity, Severity)


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_tested_on_what_it_finds_and_on_what_looks_like_it(rule: str) -> None:
    """Its test file says of some model that something is found, and of another one that nothing is."""
    text = (TESTS / f"test_{rule.replace('-', '_')}.py").read_text(encoding="utf-8")
    names = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    assert len([name for name in names if name.startswith("test_")]) >= 2
    assert re.search(r"== (\[\]|\(\)|\{\})", text), "no look-alike"
    assert "evidence" in text or ".message" in text, "nothing said of what was found"


def test_a_rule_that_fails_costs_itself_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(case: object) -> list[object]:
        raise KeyError("surprise")

    broken = replace(RULES["dynamic-input"], id="broken", check=check)
    monkeypatch.setitem(RULES, "broken", broken)
    found, gaps = judge(case(model("g (float[n] x) => (float y) { y = Relu(x) }")))
    assert gaps == (Gap("findings", "the rule broken could not be checked: KeyError('surprise')"),)
    assert [finding.rule for finding in found if finding.rule == "dynamic-input"]


def test_the_worst_comes_first() -> None:
    found, _ = judge(case(model("g (float[n] x) => (float y) { y = Relu(x) z = custom.Thing(x) }")))
    ranks = [finding.severity.rank for finding in found]
    assert ranks == sorted(ranks, reverse=True)
