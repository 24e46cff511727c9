"""Findings against a policy: severities, allowances, baselines, and rules that could not be checked."""

import msgspec
import pytest
from msgspec.structs import replace

from onnx_autodoc import lint as rules
from onnx_autodoc.card import Card, Confidence, Finding, Gap, Severity, with_uncertainty
from onnx_autodoc.lint import RULES
from onnx_autodoc.policy import Check, Verdict, check_card
from tests.policy._cards import SAMPLE, card, card_from_text, policy

RESNET = SAMPLE[1]
SEVERITIES = ["info", "note", "warning", "error"]
TEXT = "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }"


def with_findings(*findings: Finding) -> Card:
    return replace(card(RESNET), findings=findings, gaps=())


def finding(rule: str = "dead-node", severity: str = "warning", *locations: str, about: str | None = None) -> Finding:
    return Finding(
        rule, Severity(severity), Confidence.HIGH, "a message", "a recommendation", locations, len(locations), about
    )


def check_rules(subject: Card, baseline: Card | None = None, **table: object) -> Verdict:
    return check_card(subject, policy(rules=table), baseline)


def finding_checks(verdict: Verdict) -> list[Check]:
    return [check for check in verdict.checks if check.found]


@pytest.mark.parametrize("severity", SEVERITIES)
@pytest.mark.parametrize("fail_on", [*SEVERITIES, "never"])
def test_findings_fail_from_the_given_severity(severity: str, fail_on: str) -> None:
    passes = fail_on == "never" or SEVERITIES.index(severity) < SEVERITIES.index(fail_on)
    assert check_rules(with_findings(finding("dead-node", severity)), fail_on=fail_on).passed is passes


def test_errors_fail_by_default() -> None:
    assert not check_card(with_findings(finding("dead-node", "error")), policy()).passed
    assert check_card(with_findings(finding("dead-node", "warning")), policy()).passed


def test_policy_overrides_the_severity_of_a_rule() -> None:
    subject = with_findings(finding("dead-node", "note"))
    assert not check_rules(subject, severity={"dead-node": "error"}).passed
    assert check_rules(with_findings(finding("dead-node", "error")), severity={"dead-node": "info"}).passed


def test_allowed_finding_passes_with_its_reason() -> None:
    verdict = check_rules(with_findings(finding()), fail_on="info", allow=[{"rule": "dead-node", "reason": "known"}])
    (check,) = finding_checks(verdict)
    assert verdict.passed and (check.status, check.reason) == ("allowed", "known")


def test_allowance_matches_its_rule_and_subject_only() -> None:
    subject = with_findings(finding("dead-node", "error", about="tensorrt"))
    for entry, passes in (
        ({"rule": "dead-node"}, True),
        ({"rule": "dead-node", "about": "tensorrt"}, True),
        ({"rule": "dead-node", "about": "openvino"}, False),
        ({"rule": "float64"}, False),
    ):
        verdict = check_rules(subject, allow=[{**entry, "reason": "so"}])
        assert verdict.passed is passes
        assert bool(verdict.unneeded) is not passes


def test_glob_must_match_every_location() -> None:
    subject = with_findings(finding("dead-node", "error", "a/x", "a/y"))
    assert check_rules(subject, allow=[{"rule": "dead-node", "evidence": "a/*", "reason": "so"}]).passed
    assert not check_rules(subject, allow=[{"rule": "dead-node", "evidence": "a/x", "reason": "so"}]).passed
    both = [
        {"rule": "dead-node", "evidence": "a/x", "reason": "one"},
        {"rule": "dead-node", "evidence": "*y", "reason": "two"},
    ]
    (check,) = finding_checks(check_rules(subject, allow=both))
    assert (check.status, check.reason) == ("allowed", "one; two")


def test_glob_does_not_match_unlisted_locations() -> None:
    subject = with_findings(replace(finding("dead-node", "error", "a/x"), count=60))
    assert not check_rules(subject, allow=[{"rule": "dead-node", "evidence": "a/*", "reason": "so"}]).passed
    assert not check_rules(
        with_findings(finding("dead-node", "error")), allow=[{"rule": "dead-node", "evidence": "*", "reason": "so"}]
    ).passed


def test_unused_allowance_is_listed_and_passes() -> None:
    verdict = check_rules(with_findings(), allow=[{"rule": "dead-node", "reason": "once"}])
    assert verdict.passed and verdict.unneeded == ("dead-node (once)",)


@pytest.mark.parametrize(
    ("earlier", "passes"),
    [
        ((), False),
        ((finding("dead-node", "error", "a", "b"),), True),
        ((finding("dead-node", "error", "a", "c"),), False),
        ((finding("dead-node", "warning", "a", "b"),), False),
        ((finding("float64", "error", "a", "b"),), False),
        ((finding("dead-node", "error", "a", "b", about="x"),), False),
    ],
)
def test_only_findings_of_the_baseline_are_known(earlier: tuple[Finding, ...], passes: bool) -> None:
    current = with_findings(finding("dead-node", "error", "a", "b"))
    assert check_rules(current, with_findings(*earlier), only_new=True).passed is passes
    assert not check_rules(current, None).passed


def test_crashing_rule_fails_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(context: object) -> None:
        raise ValueError("an unexpected file")

    monkeypatch.setitem(rules.RULES, "dead-node", msgspec.structs.replace(RULES["dead-node"], check=crash))
    subject = card_from_text(TEXT)
    for fail_on in ("error", "never"):
        verdict = check_rules(subject, fail_on=fail_on)
        assert [check.kind for check in verdict.failed] == ["gap"]
        assert "dead-node" in verdict.failed[0].message
    assert check_rules(subject, allow_gaps=True).passed


def test_named_rule_on_weights_must_be_checked() -> None:
    weight_rules = [rule.id for rule in RULES.values() if rule.needs_weights]
    for rule in weight_rules:
        named = check_rules(with_findings(), severity={rule: "error"})
        assert [check.id for check in named.failed] == [rule]
        assert "--weights" in named.failed[0].do
        assert check_rules(with_findings(), severity={rule: "error"}, allow_gaps=True).passed
    silent = {check.id: check.status.value for check in check_rules(with_findings()).checks}
    assert {silent[rule] for rule in weight_rules} <= {"skipped"}


def test_every_rule_has_a_check() -> None:
    verdict = check_rules(with_findings(finding()))
    assert {check.id for check in verdict.checks if check.kind == "rule"} == set(RULES)


def test_required_runtime_without_an_operator_fails() -> None:
    missing = finding("unsupported-operator", "note", "n", about="tensorrt")
    requirement = policy(runtimes={"require": ["tensorrt"]})
    assert not check_card(with_findings(missing), requirement).passed
    assert check_card(with_findings(replace(missing, about="openvino")), requirement).passed
    assert check_card(with_findings(), requirement).passed


def test_unchecked_runtime_fails_even_with_gaps_allowed() -> None:
    gap = Gap("findings", "the rule unsupported-operator could not be checked: KeyError()")
    requirement = policy(runtimes={"require": ["tensorrt"]}, rules={"allow_gaps": True})
    card = with_uncertainty(replace(with_findings(), gaps=(gap,)), ("unsupported-operator",))
    assert not check_card(card, requirement).passed
