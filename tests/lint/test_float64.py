import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from onnx_autodoc.card import Severity
from tests._text import proto
from tests.lint._check import check_rule


def test_arithmetic_in_float64_is_reported() -> None:
    text = "g (double[2, 4] x, double[4, 3] w) => (double y) { [product] c = MatMul(x, w) [act] y = Sigmoid(c) }"
    (finding,) = check_rule("float64", text)
    assert finding.message == "2 nodes compute in float64, including a matrix product or convolution"
    assert (finding.evidence, finding.severity) == (("product", "act"), Severity.NOTE)


def test_large_share_of_float64_work_is_a_warning() -> None:
    text = "g (double[128, 128] x, double[128, 128] w) => (double y) { [product] y = MatMul(x, w) }"
    (finding,) = check_rule("float64", text)
    assert finding.message == "1 node computes in float64: a matrix product or convolution"
    assert finding.severity is Severity.WARNING


def test_small_share_of_float64_work_is_a_note() -> None:
    nodes = "c = MatMul(x, w) d = Cast<to=11>(c) [wide] e = Exp(d) y = Cast<to=1>(e)"
    (finding,) = check_rule("float64", f"g (float[1024, 512] x, float[512, 1024] w) => (float y) {{ {nodes} }}")
    assert (finding.severity, finding.evidence) == (Severity.NOTE, ("wide",))


def test_float64_comparisons_are_reported() -> None:
    (finding,) = check_rule("float64", "g (double[4] x, double[4] z) => (bool y) { [less] y = Less(x, z) }")
    assert finding.evidence == ("less",)


@pytest.mark.parametrize(
    "text",
    [
        "g (double[2, 4] x) => (float y) { c = Cast<to=1>(x) y = Relu(c) }",  # turned to float32 at once
        "g (double[2, 4] x) => (double y) { y = Transpose(x) }",  # only moved
        "g (float[2, 4] x) => (float y) <double p = {2.0}> { y = Pow(x, p) }",  # a scalar next to float32
        # arithmetic on sizes
        "g (float[n] x) => (float y) <double k = {2}> { s = Shape(x) d = Cast<to=11>(s) y = Mul(d, k) }",
        # constants computed from constants
        "g (float[2] x) => (float y) <double[2] k = {2, 2}> { e = Exp(k) f = Cast<to=1>(e) y = Mul(x, f) }",
    ],
)
def test_float64_without_arithmetic_on_data_is_not_reported(text: str) -> None:
    assert check_rule("float64", text) == []


def test_float64_tree_ensembles_are_not_reported() -> None:
    tree = onnx.helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        n_targets=1,
        **{key: [0] for key in ("nodes_falsenodeids", "nodes_truenodeids", "nodes_featureids", "nodes_nodeids")},
        nodes_treeids=[0],
        nodes_modes=["LEAF"],
        nodes_values_as_tensor=onnx.helper.make_tensor("v", onnx.TensorProto.DOUBLE, [1], [0.5]),
        target_weights_as_tensor=onnx.helper.make_tensor("w", onnx.TensorProto.DOUBLE, [1], [0.5]),
        **{key: [0] for key in ("target_ids", "target_nodeids", "target_treeids")},
    )
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.DOUBLE, [2, 3])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 1])
    opsets = [onnx.helper.make_opsetid("ai.onnx.ml", 3), onnx.helper.make_opsetid("", 18)]
    assert (
        check_rule(
            "float64", onnx.helper.make_model(onnx.helper.make_graph([tree], "g", [x], [y]), opset_imports=opsets)
        )
        == []
    )


def test_large_stored_float64_weights_are_reported() -> None:
    text = "g (float[2, 512] x) => (float y) { c = Cast<to=1>(w) y = MatMul(x, c) }"
    for size, message in ((512, ["weights of 2.00 MiB are stored in float64, 100% of the parameters"]), (128, [])):
        model_proto = proto(text)
        model_proto.graph.initializer.append(numpy_helper.from_array(np.zeros((512, size)), "w"))
        assert [finding.message for finding in check_rule("float64", model_proto)] == message
