"""SARIF: by the official schema, with every rule, and nothing of a model that a viewer could take for its own."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from onnx_autodoc.lint import RULES
from onnx_autodoc.policy import Outcome
from onnx_autodoc.render import FORMATS
from onnx_autodoc.render.sarif import render_outcome_sarif, to_uri
from tests._corpus import load_report
from tests.policy._cards import SAMPLE
from tests.render._outcomes import check_corpus, check_hostile, is_tame

SCHEMA = json.loads((Path(__file__).parent.parent / "data" / "schemas" / "sarif-schema-2.1.0.json").read_text())


def render_run(found: Outcome) -> dict[str, Any]:
    document = json.loads(render_outcome_sarif(found))
    jsonschema.Draft7Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(document)
    (run,) = document["runs"]
    return dict(run)


@pytest.mark.parametrize("make", [check_corpus, check_hostile])
def test_report_is_valid_by_official_schema(make: Any) -> None:
    assert render_run(make())["results"]


@pytest.mark.parametrize("name", SAMPLE)
def test_report_of_card_alone_is_valid(name: str) -> None:
    text = FORMATS["sarif"].render(load_report(name))
    jsonschema.Draft7Validator(SCHEMA).validate(json.loads(text))


def test_every_result_has_a_described_rule() -> None:
    run = render_run(check_corpus())
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [*RULES, "limit", "change", "runtime", "gap"]
    for rule in rules:
        assert (
            rule["shortDescription"]["text"].endswith(".") and rule["fullDescription"]["text"] and rule["help"]["text"]
        )
    assert run["results"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_levels_follow_severities() -> None:
    matches = check_corpus()
    results = render_run(matches)["results"]
    shown = [check for verdict in matches.verdicts for check in verdict.checks if check.found or check.status == "fail"]
    assert len(results) == len(shown)
    for result, check in zip(results, shown):
        wanted = {"error": "error", "warning": "warning", "note": "note", "info": "none", None: "error"}[check.severity]
        assert result["level"] == wanted
        assert (result["kind"] == "informational") == (result["level"] == "none")


def test_failure_is_at_least_a_note() -> None:
    levels = {result["level"] for result in render_run(check_corpus())["results"] if "suppressions" not in result}
    assert "error" in levels
    assert any(
        result["ruleId"] == "limit" and "graph.nodes" in result["message"]["text"]
        for result in render_run(check_corpus())["results"]
    )


def test_allowed_finding_is_suppressed_with_reason() -> None:
    results = [result for result in render_run(check_corpus())["results"] if result["ruleId"] == "dynamic-input"]
    assert results
    for result in results:
        assert result["suppressions"][0]["justification"] == "the server batches ##[x]"


def test_fingerprints_are_unique_and_stable() -> None:
    for make in (check_corpus, check_hostile):
        marks = [result["partialFingerprints"]["onnxAutodoc/v1"] for result in render_run(make())["results"]]
        assert len(marks) == len(set(marks))
        assert render_outcome_sarif(make()) == render_outcome_sarif(make())


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("models/a b.onnx", "models/a%20b.onnx"),
        ("a:b#c?.onnx", "a%3Ab%23c%3F.onnx"),
        ("./x.onnx", "x.onnx"),
        ("/abs/m.onnx", "file:///abs/m.onnx"),
    ],
)
def test_paths_are_uris(path: str, uri: str) -> None:
    assert to_uri(path) == uri


def test_model_text_is_no_link_and_no_command() -> None:
    assert is_tame(render_outcome_sarif(check_hostile()))
    assert all("](" not in result["message"]["text"] for result in render_run(check_hostile())["results"])


def test_locations_are_unique() -> None:
    for result in render_run(check_hostile())["results"]:
        (place,) = result["locations"]
        names = [each["fullyQualifiedName"] for each in place.get("logicalLocations", ())]
        assert len(names) == len(set(names))
        assert all(name.isprintable() for name in names)
