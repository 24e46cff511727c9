import onnx

from onnx_autodoc.card import Severity
from tests._text import model
from tests.lint._check import check_rule

CROP = "g (float[1, 3, 8, 8] x) => (float y) { [crop] y = Crop<border=[1, 1, 1, 1]>(x) }"


def test_early_experimental_operator_is_reported() -> None:
    (finding,) = check_rule("experimental-operator", CROP, opset=9)
    assert finding.message == "1 node uses an operator that was never released: Crop"
    assert (finding.evidence, finding.severity) == (("crop",), Severity.NOTE)


def test_message_says_that_onnxruntime_does_not_load_it() -> None:
    (finding,) = check_rule("experimental-operator", CROP, opset=11)
    assert finding.message.endswith("; onnxruntime does not load it")
    assert finding.severity is Severity.WARNING


def test_previews_of_onnx_are_reported() -> None:
    node = onnx.helper.make_node("FlexAttention", ["q", "q", "q"], ["y"], "new", domain="ai.onnx.preview")
    value = onnx.helper.make_tensor_value_info("q", onnx.TensorProto.FLOAT, [1, 2, 4, 8])
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 2, 4, 8])
    opsets = [onnx.helper.make_opsetid("", 24), onnx.helper.make_opsetid("ai.onnx.preview", 1)]
    graph = onnx.helper.make_graph([node], "g", [value], [output])
    (finding,) = check_rule("experimental-operator", onnx.helper.make_model(graph, opset_imports=opsets))
    assert finding.message.startswith("1 node uses an operator that was never released: ai.onnx.preview.FlexAttention")


def test_local_function_of_the_same_name_is_not_reported() -> None:
    function = '<domain: "local", opset_import: ["" : 18]> Crop (x) => (y) { y = Relu(x) }'
    text = "g (float[4] x) => (float y) { y = local.Crop(x) }"
    assert check_rule("experimental-operator", model(text, functions=function)) == []


def test_message_says_that_onnxruntime_loads_some() -> None:
    text = "g (float[1, 3, 8, 8] x) => (float y) { c = Crop<border=[1, 1, 1, 1]>(x) y = GRUUnit(c, c, c, c) }"
    (finding,) = check_rule("experimental-operator", text, opset=9)
    assert finding.message.endswith("Crop, GRUUnit; onnxruntime does not load some of them")
