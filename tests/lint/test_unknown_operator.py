from onnx_autodoc.lint import Severity
from tests._text import model, proto
from tests.lint._judged import found

GELU = "g (float[4] x) => (float y) { [gelu] y = Gelu(x) }"


def test_an_operator_of_a_later_opset_is_found() -> None:
    (finding,) = found("unknown-operator", GELU, opset=17)
    assert finding.message == (
        "Gelu (1 node) came into ai.onnx with opset 20, and the file is of opset 17; onnxruntime does not load it"
    )
    assert (finding.evidence, finding.severity) == (("gelu",), Severity.WARNING)


def test_at_its_own_opset_it_is_not() -> None:
    assert found("unknown-operator", GELU, opset=20) == []


def test_what_onnxruntime_loads_nevertheless_is_only_noted() -> None:
    text = "g (float[2, 4] x, float[4] s) => (float y) { [norm] y = SimplifiedLayerNormalization(x, s) }"
    (finding,) = found("unknown-operator", text, opset=14)
    assert finding.message == (
        "SimplifiedLayerNormalization (1 node) is no operator of ai.onnx; onnxruntime loads it nevertheless"
    )
    assert finding.severity is Severity.NOTE


def test_a_function_of_the_file_that_is_named_so_is_not() -> None:
    function = '<domain: "local", opset_import: ["" : 17]> Gelu (x) => (y) { y = Relu(x) }'
    assert found("unknown-operator", model("g (float[4] x) => (float y) { y = local.Gelu(x) }", 17, function)) == []


def test_operators_of_an_opset_that_is_newer_than_this_tool_are_not_judged() -> None:
    assert found("unknown-operator", "g (float[4] x) => (float y) { y = Invented(x) }", opset=99) == []


def test_a_plugin_of_tensorrt_is_only_noted() -> None:
    text = "g (float[1, 9, 4] b, float[1, 9, 2] s) => (int32 n) { n, c, d, e = EfficientNMS_TRT(b, s) }"
    (finding,) = found("unknown-operator", text, opset=13)
    assert finding.message == (
        "EfficientNMS_TRT (1 node) is no operator of ai.onnx; onnxruntime loads it with its TensorRT provider alone"
    )
    assert finding.severity is Severity.NOTE


def test_of_a_version_that_is_not_said_no_operator_is_too_new() -> None:
    made = proto("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    kept = [each for each in made.opset_import if each.domain]
    del made.opset_import[:]
    made.opset_import.extend(kept)
    assert found("unknown-operator", made) == []
