"""JUnit's XML: by Jenkins' schema, and what Ant's asks for besides."""

from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from onnx_autodoc.render import FORMATS
from onnx_autodoc.render.junit import render_outcome_junit
from tests._corpus import load_report
from tests.policy._cards import SAMPLE
from tests.render._outcomes import check_corpus, check_hostile, is_tame

SCHEMA = etree.XMLSchema(etree.parse(Path(__file__).parent.parent / "data" / "schemas" / "junit-10.xsd"))


def parse_xml(text: str) -> Any:
    root = etree.fromstring(text.encode())
    SCHEMA.assertValid(root)
    return root


@pytest.mark.parametrize("make", [check_corpus, check_hostile])
def test_report_is_valid_by_schema(make: Any) -> None:
    assert len(parse_xml(render_outcome_junit(make()))) == 3


@pytest.mark.parametrize("name", SAMPLE)
def test_report_of_card_alone_is_valid(name: str) -> None:
    assert len(parse_xml(str(FORMATS["junit"].render(load_report(name))))) == 1


@pytest.mark.parametrize("make", [check_corpus, check_hostile])
def test_required_attributes_are_present(make: Any) -> None:
    root = parse_xml(render_outcome_junit(make()))
    assert not root.attrib
    assert len(root)
    for at, suite in enumerate(root):
        assert suite.get("id") == str(at)
        assert suite.get("hostname") and suite.get("package") and suite.get("time") == "0"
        assert len(suite.get("timestamp")) == len("2026-01-01T00:00:00")
        tags = [child.tag for child in suite]
        assert tags == ["properties", *["testcase"] * (len(tags) - 3), "system-out", "system-err"]
        for case in suite.iter("testcase"):
            assert case.get("classname") and case.get("name") and case.get("time") == "0"
            assert len(case) <= 1
        assert not any(skipped.attrib for skipped in suite.iter("skipped"))
        assert all(failure.get("type") for failure in suite.iter("failure"))


def test_counts_match_cases() -> None:
    for suite, verdict in zip(parse_xml(render_outcome_junit(check_corpus())), check_corpus().verdicts):
        assert int(suite.get("tests")) == len(suite.findall("testcase")) == len(verdict.checks)
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure")) == len(verdict.failed)
        assert int(suite.get("skipped")) == len(suite.findall("testcase/skipped"))


def test_case_names_are_unique() -> None:
    for suite in parse_xml(render_outcome_junit(check_hostile())):
        names = [(case.get("classname"), case.get("name")) for case in suite.iter("testcase")]
        assert len(names) == len(set(names))


def test_failure_has_recommendation_and_skip_has_reason() -> None:
    text = render_outcome_junit(check_corpus())
    assert "recommendation: Change the model, or the limit in the policy." in text
    assert "allowed: the server batches" in text


def test_model_text_is_no_workflow_command() -> None:
    assert is_tame(render_outcome_junit(check_hostile()))
    assert "\x1b" not in render_outcome_junit(check_hostile())
