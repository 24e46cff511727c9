"""Malformed policies are rejected, and attempts to evade a check fail."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from onnx_autodoc.card import Gap, Generated, with_uncertainty
from onnx_autodoc.errors import BadInput
from onnx_autodoc.policy import Status, check_card, check_cards, read_policy
from tests.policy._cards import SAMPLE, card, card_from_text, check_bounds, check_status, policy

RELU = "g (float[n,3] x) => (float[n,3] y) { y = Relu(x) }"
LIMIT = "limits: {graph.nodes: %s}"

# Suffix, content, part of the error
REJECTED = [
    ("toml", "", "no requirement"),
    ("toml", "# no limits\n[limits]\n[rules]\n", 'fail_on = "error"'),
    ("yaml", "", "no requirement"),
    ("json", "{}", "no requirement"),
    ("json", "[]", "a policy must be a table"),
    ("toml", "[limits]\ncompute.macs = { max = 1 }", 'put it in quotes, "compute.macs"'),
    ("toml", "[limits]\ncompute.macs.max = 1", 'put it in quotes, "compute.macs"'),
    ("toml", '[limits]\nmodel.opsets."ai.onnx" = { max = 1 }', 'put it in quotes, "model.opsets.ai.onnx"'),
    ("toml", "[changes]\ncompute.macs = { max_percent = 1 }", 'put it in quotes, "compute.macs"'),
    ("yaml", "limits:\n  compute:\n    macs: {max: 1}", 'put it in quotes, "compute.macs"'),
    ("yaml", "limits: &l {graph.nodes: *l}", "an alias refers to a node that contains it"),
    ("toml", '[limits]\n"graph.nodes" = { one_of = [nan, 1] }', "one_of must be a finite number"),
    ("yaml", LIMIT % "{one_of: [.inf]}", "one_of must be a finite number"),
    ("toml", f'[limits]\n"graph.nodes" = {{ max = {2**63} }}', "max must be an integer of 64 bits"),
    ("yaml", LIMIT % f"{{one_of: [1, -{10**400}]}}", "one_of must be an integer of 64 bits"),
    ("yaml", LIMIT % "{max: no}", "expected `int | float`, got `str`"),
    ("yaml", LIMIT % "{max: 1, allow_gaps: yes}", "expected `bool`, got `str`"),
    ("yaml", LIMIT % "{max: 1, max: 9}", "duplicate key"),
    ("yaml", "limits: {graph.nodes: {max: 1}}\nlimits: {}", "duplicate key"),
    ("yaml", LIMIT % "{max: 1, <<: {max: 9}}", "unknown key '<<'"),
    ("yaml", LIMIT % "!!python/object/apply:os.getcwd []", "invalid YAML"),
    ("yaml", LIMIT % "{max: 1}\n---\n{}", "invalid YAML"),
    ("yaml", "limits: {null: {max: 1}}", "put it in quotes"),
    ("yaml", "limits: {1: {max: 1}}", "put it in quotes"),
    ("json", '{"limits": {"graph.nodes": {"max": 1, "max": 9}}}', "duplicate key"),
    ("json", '{"limits": {"graph.nodes": {"max": null}}}', "no value"),
    ("json", '{"rules": {"allow": [{"rule": "dynamic-input", "reason": "x\\ud800"}]}}', "surrogate"),
    ("json", '{"limits": {"interface.inputs.\\udfff.dtype": {"equals": "x"}}}', "surrogate"),
    ("toml", '[rules]\nallow = [{ rule = "dynamic-input", reason = "\\u200b" }]', "the reason is blank"),
    ("toml", '[rules]\nallow = [{ rule = "dynamic-input", reason = "..." }]', "the reason is blank"),
    ("toml", '[rules]\nallow = [{ rule = "dynamic-input", reason = "x", evidence = "" }]', "evidence is blank"),
    ("toml", '[rules]\nallow = [{ rule = "dynamic-input", reason = "x", about = " " }]', "about is blank"),
    ("toml", '[rules]\nallow = [{ reason = "x" }]', "has no rule"),
    ("toml", '[rules]\nallow = [{ rule = "*", reason = "x" }]', "unknown rule"),
    ("toml", '[rules]\nseverity = { "dynamic-input" = "INFO" }', "not one of info, note, warning, error"),
    ("toml", '[changes]\n"graph.nodes" = 5', "such as { max_percent = 1 }"),
]


@pytest.mark.parametrize(("suffix", "text", "error"), REJECTED)
def test_malformed_policy_is_rejected_with_one_line(suffix: str, text: str, error: str, tmp_path: Path) -> None:
    path = tmp_path / f"p.{suffix}"
    path.write_text(text)
    with pytest.raises(BadInput) as raised:
        read_policy(path)
    assert error in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "<unicode string>" not in str(raised.value)


def test_runtime_listed_twice_is_checked_once() -> None:
    twice = policy(runtimes={"require": ["tensorrt", "tensorrt"]})
    checks = check_card(card_from_text(RELU), twice).checks
    assert [check.id for check in checks if check.kind == "runtime"] == ["tensorrt"]


@pytest.mark.parametrize(
    "path", ["structure.work.MLPP.share", "structure.attention.plian.count", "model.precision.story.Convv.params"]
)
def test_name_that_only_some_cards_have_is_unknown(path: str) -> None:
    assert check_status(card("all-minilm-l6-v2-ts-op14"), path, max=0) == "fail"


def test_missing_name_lists_the_existing_names() -> None:
    (check,) = check_bounds(card_from_text(RELU), limits={"model.opsets.ai.onx": {"max": 99}})
    assert check.status == "fail"
    assert "no entry named ai.onx; it has ai.onnx" in check.message
    (check,) = check_bounds(card_from_text(RELU), limits={"interface.inputs.y.dtype": {"equals": "float32"}})
    assert "no entry named y; it has x" in check.message


def test_unknown_figure_has_a_specific_reason() -> None:
    subject = card("resnet50-ts-op17")  # without its external data and without a description
    (check,) = check_bounds(subject, limits={"model.doc": {"equals": "x"}})
    assert check.status == "fail"
    assert "weights" not in check.message
    (check,) = check_bounds(subject, limits={"findings.99.count": {"max": 1}})
    assert "at most 1: the card has no entry named 99; it has missing-external-data" in check.message


def test_changed_section_lists_its_fields() -> None:
    old, new = card("all-minilm-l6-v2-ts-op14"), card("resnet50-ts-op17")
    (check,) = check_bounds(new, old, changes={"parameters": {"equal": True}})
    assert check.status == "fail"
    assert check.message.startswith("parameters differs in total, bytes, tensors")
    (check,) = check_bounds(new, new, changes={"parameters": {"equal": True}})
    assert check.message.startswith("parameters is unchanged")


def test_unchecked_rule_does_not_pass() -> None:
    whole = card_from_text(RELU)
    gap = Gap("findings", "the rule dead-node could not be checked: KeyError('x')")
    broken = with_uncertainty(replace(whole, gaps=(gap,)), ("dead-node",))
    for rules, status in (({"fail_on": "never"}, "fail"), ({"fail_on": "never", "allow_gaps": True}, "allowed")):
        checks = check_card(broken, policy(rules=rules)).checks
        assert [check.status.value for check in checks if check.kind == "gap"] == [status]
        assert "dead-node" not in [check.id for check in checks]
    assert "dead-node" in [check.id for check in check_card(whole, policy(rules=rules)).checks]


def test_unchecked_runtime_is_not_reported_as_supported() -> None:
    for rule in ("unsupported-operator", "custom-domain"):
        gap = Gap("findings", f"the rule {rule} could not be checked: KeyError('x')")
        broken = with_uncertainty(replace(card_from_text(RELU), gaps=(gap,)), (rule,))
        checks = check_card(broken, policy(runtimes={"require": ["tensorrt"]})).checks
        assert [check.status.value for check in checks if check.kind == "runtime"] == ["fail"]


def test_card_of_another_version_fails_closed(tmp_path: Path) -> None:
    old = replace(card(SAMPLE[0]), generated=Generated("onnx-autodoc", "0.0.1", "2026-01-01T00:00:00Z"))
    file = tmp_path / "policy.toml"
    file.write_text('[rules]\nfail_on = "never"\n')
    outcome = check_cards([("old", old)], read_policy(file), generated=card(SAMPLE[0]).generated)
    (failed,) = [check for check in outcome.verdicts[0].checks if check.status is Status.FAIL]
    assert "built by version 0.0.1" in failed.message
    file.write_text('[rules]\nfail_on = "never"\nallow_gaps = true\n')
    assert check_cards([("old", old)], read_policy(file), generated=card(SAMPLE[0]).generated).passed
