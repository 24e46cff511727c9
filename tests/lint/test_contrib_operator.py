from tests._text import model
from tests.lint._judged import found


def test_operators_of_onnxruntime_are_found() -> None:
    text = "g (float[4] x) => (float y) { [a] t = com.microsoft.Gelu(x) [b] u = com.microsoft.Gelu(t) y = Relu(u) }"
    (finding,) = found("contrib-operator", text)
    assert finding.message == "1 operator of com.microsoft is not part of ONNX: Gelu (2 nodes)"
    assert finding.evidence == ("a", "b")


def test_the_operator_of_the_same_name_in_onnx_is_not() -> None:
    assert found("contrib-operator", "g (float[4] x) => (float y) { y = Gelu(x) }", opset=20) == []


def test_a_function_of_the_file_with_that_name_is_not() -> None:
    function = '<domain: "com.microsoft", opset_import: ["" : 18]> Gelu (x) => (y) { y = Relu(x) }'
    text = "g (float[4] x) => (float y) { y = com.microsoft.Gelu(x) }"
    assert found("contrib-operator", model(text, functions=function)) == []


def test_a_name_that_onnxruntime_does_not_have_is_not_called_its_own() -> None:
    (finding,) = found("contrib-operator", "g (float[4, 4] x) => (float y) { y = com.microsoft.Solve(x, x) }")
    assert finding.message == "1 operator of com.microsoft is not part of ONNX: Solve (1 node)"
