import onnx

from onnx_autodoc.card import Severity
from tests._text import model, proto
from tests.lint._check import check_rule

FUNCTION = '<domain: "local", opset_import: ["" : 18]> f (x) => (y) { y = Relu(x) }'


def test_operators_of_a_library_are_reported() -> None:
    (finding,) = check_rule(
        "custom-domain", "g (float[4] x) => (float y) { [a] t = custom.Thing(x) [b] y = custom.Thing(t) }"
    )
    assert finding.message == "2 nodes require a library that is not part of onnxruntime: custom.Thing"
    assert (finding.evidence, finding.severity) == (("a", "b"), Severity.WARNING)


def test_local_functions_are_not_reported() -> None:
    assert (
        check_rule("custom-domain", model("g (float[4] x) => (float y) { y = local.f(x) }", functions=FUNCTION)) == []
    )


def test_operators_of_onnx_and_onnxruntime_are_not_reported() -> None:
    text = "g (float[4] x) => (float y) { t = com.microsoft.Gelu(x) y = Relu(t) }"
    assert check_rule("custom-domain", text) == []


def test_library_used_inside_a_function_is_reported() -> None:
    inner = FUNCTION.replace("Relu", "custom.Thing").replace('["" : 18]', '["" : 18, "custom" : 1]')
    text = "g (float[4] x) => (float y) { [call] y = local.f(x) }"
    (finding,) = check_rule("custom-domain", model(text, functions=inner))
    assert finding.message == "1 node requires a library that is not part of onnxruntime: custom.Thing"


def test_onnxruntime_extensions_are_reported() -> None:
    model_proto = proto("g (uint8[n] x) => (uint8[h, w, 3] y) { y = com.microsoft.extensions.DecodeImage(x) }")
    model_proto.opset_import.append(onnx.helper.make_opsetid("com.microsoft.extensions", 1))
    (finding,) = check_rule("custom-domain", model_proto)
    assert "com.microsoft.extensions.DecodeImage" in finding.message
    assert check_rule("contrib-operator", model_proto) == []
