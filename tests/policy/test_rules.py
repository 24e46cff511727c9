"""Findings against a policy: by severity, with reasons for what may stay; and rules that could not be checked."""

import msgspec
import pytest
from msgspec.structs import replace

from onnx_autodoc import lint as rules
from onnx_autodoc.analysis import Gap
from onnx_autodoc.card import Card, Confidence, Finding, Severity
from onnx_autodoc.lint import RULES
from onnx_autodoc.policy import Check, Verdict, gate
from tests.policy._cards import SAMPLE, card, of_text, policy

RESNET = SAMPLE[1]
SEVERITIES = ["info", "note", "warning", "error"]
TEXT = "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"


def with_findings(*found: Finding) -> Card:
    return replace(card(RESNET), findings=found, gaps=())


def finding(rule: str = "dead-node", severity: str = "warning", *places: str, about: str | None = None) -> Finding:
    return Finding(rule, Severity(severity), Confidence.HIGH, "it is so", "do so", places, len(places), about)


def verdict(found: Card, baseline: Card | None = None, **table: object) -> Verdict:
    return gate(found, policy(rules=table), baseline)


def found_by(given: Verdict) -> list[Check]:
    return [check for check in given.checks if check.found]


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("fail_on", [*SEVERITIES, "never"])
def test_findings_fail_from_a_severity_on(severity: str, fail_on: str) -> None:
    passes = fail_on == "never" or SEVERITIES.index(severity) < SEVERITIES.index(fail_on)
    assert verdict(with_findings(finding("dead-node", severity)), fail_on=fail_on).passed is passes


def test_errors_fail_where_the_policy_says_nothing() -> None:
    assert not gate(with_findings(finding("dead-node", "error")), policy()).passed
    assert gate(with_findings(finding("dead-node", "warning")), policy()).passed


def test_a_policy_may_hold_a_rule_for_worse_or_milder() -> None:
    found = with_findings(finding("dead-node", "note"))
    assert not verdict(found, severity={"dead-node": "error"}).passed
    assert verdict(with_findings(finding("dead-node", "error")), severity={"dead-node": "info"}).passed


def test_what_is_allowed_stays_and_says_why() -> None:
    given = verdict(with_findings(finding()), fail_on="info", allow=[{"rule": "dead-node", "reason": "known"}])
    (check,) = found_by(given)
    assert given.passed and (check.status, check.reason) == ("allowed", "known")


def test_an_allowance_speaks_of_its_rule_and_its_thing_alone() -> None:
    found = with_findings(finding("dead-node", "error", about="tensorrt"))
    for entry, passes in (
        ({"rule": "dead-node"}, True),
        ({"rule": "dead-node", "about": "tensorrt"}, True),
        ({"rule": "dead-node", "about": "openvino"}, False),
        ({"rule": "float64"}, False),
    ):
        given = verdict(found, allow=[{**entry, "reason": "so"}])
        assert given.passed is passes
        assert bool(given.unneeded) is not passes


def test_a_glob_has_to_take_every_place() -> None:
    found = with_findings(finding("dead-node", "error", "a/x", "a/y"))
    assert verdict(found, allow=[{"rule": "dead-node", "evidence": "a/*", "reason": "so"}]).passed
    assert not verdict(found, allow=[{"rule": "dead-node", "evidence": "a/x", "reason": "so"}]).passed
    both = [
        {"rule": "dead-node", "evidence": "a/x", "reason": "one"},
        {"rule": "dead-node", "evidence": "*y", "reason": "two"},
    ]
    (check,) = found_by(verdict(found, allow=both))
    assert (check.status, check.reason) == ("allowed", "one; two")


def test_a_glob_does_not_take_places_that_are_not_named() -> None:
    found = with_findings(replace(finding("dead-node", "error", "a/x"), count=60))
    assert not verdict(found, allow=[{"rule": "dead-node", "evidence": "a/*", "reason": "so"}]).passed
    assert not verdict(
        with_findings(finding("dead-node", "error")), allow=[{"rule": "dead-node", "evidence": "*", "reason": "so"}]
    ).passed


def test_an_allowance_that_nothing_needs_is_said_and_fails_nothing() -> None:
    given = verdict(with_findings(), allow=[{"rule": "dead-node", "reason": "once"}])
    assert given.passed and given.unneeded == ("dead-node (once)",)


@pytest.mark.parametrize(
    ("was", "passes"),
    [
        ((), False),
        ((finding("dead-node", "error", "a", "b"),), True),
        ((finding("dead-node", "error", "a", "c"),), False),
        ((finding("dead-node", "warning", "a", "b"),), False),
        ((finding("float64", "error", "a", "b"),), False),
        ((finding("dead-node", "error", "a", "b", about="x"),), False),
    ],
)
def test_only_what_the_baseline_had_is_old(was: tuple[Finding, ...], passes: bool) -> None:
    now = with_findings(finding("dead-node", "error", "a", "b"))
    assert verdict(now, with_findings(*was), only_new=True).passed is passes
    assert not verdict(now, None).passed


def test_a_rule_that_crashes_fails_the_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(case: object) -> None:
        raise ValueError("a file that no rule expected")

    monkeypatch.setitem(rules.RULES, "dead-node", msgspec.structs.replace(RULES["dead-node"], check=crash))
    found = of_text(TEXT)
    for fail_on in ("error", "never"):
        given = verdict(found, fail_on=fail_on)
        assert [check.kind for check in given.failed] == ["gap"]
        assert "dead-node" in given.failed[0].message
    assert verdict(found, allow_gaps=True).passed


def test_a_rule_on_weights_that_the_policy_names_has_to_be_checked() -> None:
    needing = [rule.id for rule in RULES.values() if rule.weights]
    for rule in needing:
        named = verdict(with_findings(), severity={rule: "error"})
        assert [check.id for check in named.failed] == [rule]
        assert "--weights" in named.failed[0].do
        assert verdict(with_findings(), severity={rule: "error"}, allow_gaps=True).passed
    silent = {check.id: check.status.value for check in verdict(with_findings()).checks}
    assert {silent[rule] for rule in needing} <= {"skipped"}


def test_every_rule_has_its_check() -> None:
    given = verdict(with_findings(finding()))
    assert {check.id for check in given.checks if check.kind == "rule"} == set(RULES)


def test_a_runtime_that_does_not_know_an_operator_fails_if_it_is_required() -> None:
    missing = finding("unsupported-operator", "note", "n", about="tensorrt")
    asked = policy(runtimes={"require": ["tensorrt"]})
    assert not gate(with_findings(missing), asked).passed
    assert gate(with_findings(replace(missing, about="openvino")), asked).passed
    assert gate(with_findings(), asked).passed


def test_a_runtime_that_could_not_be_checked_fails_even_where_gaps_are_allowed() -> None:
    gap = Gap("findings", "the rule unsupported-operator could not be checked: KeyError()")
    asked = policy(runtimes={"require": ["tensorrt"]}, rules={"allow_gaps": True})
    assert not gate(replace(with_findings(), gaps=(gap,)), asked).passed
