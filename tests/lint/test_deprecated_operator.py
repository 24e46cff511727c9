from onnx_autodoc.card import Severity
from tests.lint._check import check_rule

UPSAMPLE = "g (float[1, 1, 2, 2] x) => (float y) <float[4] s = {1, 1, 2, 2}> { [up] y = Upsample(x, s) }"
NORM = "g (float[1, 4, 2, 2] x, float[SIZE] s) => (float y) { [norm] y = GroupNormalization<num_groups=2>(x, s, s) }"


def test_deprecated_operator_is_reported() -> None:
    (finding,) = check_rule("deprecated-operator", UPSAMPLE, opset=11)
    assert finding.message == (
        "Upsample (1 node) is deprecated at opset 11 and rejected by onnxruntime; replaced by Resize"
    )
    assert (finding.evidence, finding.severity) == (("up",), Severity.WARNING)


def test_operator_before_its_deprecation_is_not_reported() -> None:
    assert check_rule("deprecated-operator", UPSAMPLE, opset=9) == []


def test_deprecated_operator_that_runs_is_a_note() -> None:
    (finding,) = check_rule("deprecated-operator", NORM.replace("SIZE", "2"), opset=18)
    assert finding.severity is Severity.NOTE
    assert finding.message == (
        "GroupNormalization (1 node) is deprecated at opset 18; replaced by "
        "GroupNormalization of opset 21, which has a scale per channel"
    )
    assert "21 or newer" in finding.recommendation


def test_successor_of_the_same_name_is_not_reported() -> None:
    assert check_rule("deprecated-operator", NORM.replace("SIZE", "4"), opset=21) == []
