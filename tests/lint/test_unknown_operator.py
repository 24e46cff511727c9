from onnx_autodoc.card import Severity
from tests._text import model, proto
from tests.lint._check import check_rule

GELU = "g (float[4] x) => (float y) { [gelu] y = Gelu(x) }"


def test_operator_of_a_later_opset_is_reported() -> None:
    (finding,) = check_rule("unknown-operator", GELU, opset=17)
    assert finding.message == (
        "Gelu (1 node) was added to ai.onnx in opset 20, but the file declares opset 17; onnxruntime does not load it"
    )
    assert (finding.evidence, finding.severity) == (("gelu",), Severity.WARNING)


def test_operator_at_its_opset_is_not_reported() -> None:
    assert check_rule("unknown-operator", GELU, opset=20) == []


def test_unknown_operator_that_onnxruntime_loads_is_a_note() -> None:
    text = "g (float[2, 4] x, float[4] s) => (float y) { [norm] y = SimplifiedLayerNormalization(x, s) }"
    (finding,) = check_rule("unknown-operator", text, opset=14)
    assert finding.message == (
        "SimplifiedLayerNormalization (1 node) is not an operator of ai.onnx; onnxruntime loads it anyway"
    )
    assert finding.severity is Severity.NOTE


def test_local_function_of_the_same_name_is_not_reported() -> None:
    function = '<domain: "local", opset_import: ["" : 17]> Gelu (x) => (y) { y = Relu(x) }'
    assert (
        check_rule("unknown-operator", model("g (float[4] x) => (float y) { y = local.Gelu(x) }", 17, function)) == []
    )


def test_operators_of_an_unknown_opset_are_not_reported() -> None:
    assert check_rule("unknown-operator", "g (float[4] x) => (float y) { y = Invented(x) }", opset=99) == []


def test_tensorrt_plugin_is_a_note() -> None:
    text = "g (float[1, 9, 4] b, float[1, 9, 2] s) => (int32 n) { n, c, d, e = EfficientNMS_TRT(b, s) }"
    (finding,) = check_rule("unknown-operator", text, opset=13)
    assert finding.message == (
        "EfficientNMS_TRT (1 node) is not an operator of ai.onnx; onnxruntime loads it only with its TensorRT provider"
    )
    assert finding.severity is Severity.NOTE


def test_missing_opset_is_not_reported() -> None:
    model_proto = proto("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    opsets = [opset for opset in model_proto.opset_import if opset.domain]
    del model_proto.opset_import[:]
    model_proto.opset_import.extend(opsets)
    assert check_rule("unknown-operator", model_proto) == []
