from tests._text import model
from tests.lint._check import check_rule


def test_operators_of_onnxruntime_are_reported() -> None:
    text = "g (float[4] x) => (float y) { [a] t = com.microsoft.Gelu(x) [b] u = com.microsoft.Gelu(t) y = Relu(u) }"
    (finding,) = check_rule("contrib-operator", text)
    assert finding.message == "1 operator of com.microsoft is not part of ONNX: Gelu (2 nodes)"
    assert finding.evidence == ("a", "b")


def test_onnx_operator_of_the_same_name_is_not_reported() -> None:
    assert check_rule("contrib-operator", "g (float[4] x) => (float y) { y = Gelu(x) }", opset=20) == []


def test_local_function_of_the_same_name_is_not_reported() -> None:
    function = '<domain: "com.microsoft", opset_import: ["" : 18]> Gelu (x) => (y) { y = Relu(x) }'
    text = "g (float[4] x) => (float y) { y = com.microsoft.Gelu(x) }"
    assert check_rule("contrib-operator", model(text, functions=function)) == []


def test_unknown_contrib_domain_is_not_reported() -> None:
    (finding,) = check_rule("contrib-operator", "g (float[4, 4] x) => (float y) { y = com.microsoft.Solve(x, x) }")
    assert finding.message == "1 operator of com.microsoft is not part of ONNX: Solve (1 node)"
