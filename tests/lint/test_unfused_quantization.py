import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, numpy_helper

from tests._text import proto
from tests.lint._check import check_rule

_CONSTANTS = {
    "s": np.float32(0.02),
    "z": np.uint8(128),
    "low": np.uint8(0),
    "ws": np.float32(0.01),
    "wz": np.int8(0),
    "w": np.ones((4, 4, 3, 3), np.float32),
    "wq": np.ones((4, 4, 3, 3), np.int8),
    "m": np.ones((8, 8), np.float32),
    "mq": np.ones((8, 8), np.int8),
}
_QUANTIZED_INPUT = "xq = QuantizeLinear(x, s, z) xd = DequantizeLinear(xq, s, z)"
_WEIGHTS = "wd = DequantizeLinear(wq, ws, wz) md = DequantizeLinear(mq, ws, wz)"
_QUANTIZED_OUTPUT = "cq = QuantizeLinear(c, s, z) y = DequantizeLinear(cq, s, z)"


def model(nodes: str, outputs: str = "float y") -> ModelProto:
    model_proto = proto(f"g (float[1, 4, 8, 8] x) => ({outputs}) {{ {_QUANTIZED_INPUT} {_WEIGHTS} {nodes} }}", opset=17)
    used = {name for node in model_proto.graph.node for name in node.input}
    model_proto.graph.initializer.extend(
        numpy_helper.from_array(np.asarray(v), k) for k, v in _CONSTANTS.items() if k in used
    )
    return model_proto


def count_float_products(model_proto: ModelProto, path: str) -> int:
    """Count the convolutions and matrix products that onnxruntime leaves in floating point."""
    options = onnxruntime.SessionOptions()
    options.optimized_model_filepath, options.log_severity_level = path, 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    onnxruntime.InferenceSession(model_proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    products = ("Conv", "FusedConv", "MatMul", "FusedMatMul", "Gemm")
    return sum(node.op_type in products for node in onnx.load(path).graph.node)


# Convolutions that onnxruntime leaves in floating point
FLOAT_OUTPUT = {
    "an activation between": "[conv] a = Conv(xd, wd) c = HardSwish(a)",
    "a rectifier that is not in the quantization": "[conv] a = Conv(xd, wd) c = Relu(a)",
    "a second reader": "[conv] a = Conv(xd, wd) b = Exp(a) c = Add(a, b)",
}
# Operators that onnxruntime executes in int8
INT8 = {
    "quantized on both sides": "c = Conv(xd, wd)",
    "a weight that onnxruntime quantizes itself": "c = Conv(xd, w)",
    "moved before it is quantized": "a = Conv(xd, wd) c = MaxPool<kernel_shape=[2, 2]>(a)",
    "data that were moved": "t = Transpose<perm=[0, 1, 3, 2]>(xd) c = Conv(t, wd)",
    "a product": "c = MatMul(xd, md)",
    "a product of data": "t = Transpose<perm=[0, 1, 3, 2]>(xd) c = MatMul(xd, t)",
}


@pytest.mark.parametrize("nodes", FLOAT_OUTPUT.values(), ids=FLOAT_OUTPUT.keys())
def test_convolution_with_a_float_output_is_reported(nodes: str, tmp_path: object) -> None:
    model_proto = model(f"{nodes} {_QUANTIZED_OUTPUT}")
    (finding,) = check_rule("unfused-quantization", model_proto)
    assert count_float_products(model_proto, f"{tmp_path}/model.onnx") == 1
    assert (finding.about, finding.evidence) == ("onnxruntime", ("conv",))
    start = "1 of 1 convolution or matrix product, 100% of the MACs, runs in floating point"
    assert finding.message == f"{start} in onnxruntime, which requires a quantized output"


def test_model_output_counts_as_float(tmp_path: object) -> None:
    model_proto = model("[conv] y = Conv(xd, wd)")
    assert [finding.evidence for finding in check_rule("unfused-quantization", model_proto)] == [("conv",)]
    assert count_float_products(model_proto, f"{tmp_path}/model.onnx") == 1


@pytest.mark.parametrize("nodes", INT8.values(), ids=INT8.keys())
def test_int8_nodes_are_not_reported(nodes: str, tmp_path: object) -> None:
    model_proto = model(f"{nodes} {_QUANTIZED_OUTPUT}")
    assert check_rule("unfused-quantization", model_proto) == []
    assert count_float_products(model_proto, f"{tmp_path}/model.onnx") == 0


def test_fusible_relu_is_not_reported(tmp_path: object) -> None:
    model_proto = model("a = Conv(xd, wd) c = Relu(a) cq = QuantizeLinear(c, s, low) y = DequantizeLinear(cq, s, low)")
    assert check_rule("unfused-quantization", model_proto) == []
    assert count_float_products(model_proto, f"{tmp_path}/model.onnx") == 0


def test_matrix_product_with_a_float_output_is_not_reported(tmp_path: object) -> None:
    model_proto = model("y = MatMul(xd, md)")
    assert check_rule("unfused-quantization", model_proto) == []
    assert count_float_products(model_proto, f"{tmp_path}/model.onnx") == 0


def test_products_of_float_data_are_reported(tmp_path: object) -> None:
    model_proto = model("c = MatMul(xd, md) [first] d = MatMul(c, m) e = Tanh(d) [second] y = MatMul(e, e)")
    (finding,) = check_rule("unfused-quantization", model_proto)
    start = "2 of 3 convolutions and matrix products, 67% of the MACs, run in floating point"
    assert finding.message == f"{start}; 1 can run in int8"
    assert (finding.about, finding.evidence) == (None, ("first", "second"))
    assert count_float_products(model_proto, f"{tmp_path}/model.onnx") == 2


def test_small_float_layer_is_not_reported() -> None:
    last = "f = GlobalAveragePool(y0) g = Flatten(f) [last] y = MatMul(g, k)"
    model_proto = model(
        f"c = Conv(xd, wd) cq = QuantizeLinear(c, s, z) y0 = DequantizeLinear(cq, s, z) h = Tanh(y0) {last}"
    )
    model_proto.graph.initializer.append(numpy_helper.from_array(np.ones((4, 2), np.float32), "k"))
    assert check_rule("unfused-quantization", model_proto) == []


def test_weight_only_quantization_is_not_reported() -> None:
    assert check_rule("unfused-quantization", model("a = Exp(x) b = MatMul(a, md) y = MatMul(b, m)")) == []


def test_float_model_is_not_reported() -> None:
    text = "g (float[1, 4, 8, 8] x, float[8, 8] m) => (float y) { a = MatMul(x, m) y = MatMul(a, m) }"
    assert check_rule("unfused-quantization", text) == []
