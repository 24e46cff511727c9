import numpy as np
import pytest
from onnx import ModelProto, numpy_helper

from onnx_autodoc.card import Confidence, Severity
from tests._text import proto
from tests.lint._check import check_rule

_QDQ = "wd = DequantizeLinear<axis=0>(w, ws, wz) [conv] c = Conv<group=8>(x, wd) y = Relu(c)"
_QOPERATOR = (
    "q = QuantizeLinear(x, s, z) [conv] c = QLinearConv<group=8>(q, s, z, w, ws, wz, s, z) "
    "y = DequantizeLinear(c, s, z)"
)
_DYNAMIC = (
    "q, t, u = DynamicQuantizeLinear(x) k = Mul(t, ws) [conv] c = ConvInteger<group=8>(q, w, u, wz) "
    "f = Cast<to=1>(c) y = Mul(f, k)"
)
_MESSAGE = "1 of 1 quantized depthwise convolution has one scale for all channels of its weight"


def model(
    nodes: str, scales: tuple[int, ...] = (), weight: tuple[int, ...] = (8, 1, 3, 3), kind: str = "int8"
) -> ModelProto:
    model_proto = proto(f"g (float[1, 8, 8, 8] x) => (float y) {{ {nodes} }}", opset=21)
    arrays = {
        "w": np.ones(weight, kind),
        "ws": np.ones(scales, np.float32),
        "wz": np.zeros(scales, kind),
        "s": np.float32(1),
        "z": np.uint8(0),
    }
    used = {name for node in model_proto.graph.node for name in node.input}
    model_proto.graph.initializer.extend(
        numpy_helper.from_array(np.asarray(v), k) for k, v in arrays.items() if k in used
    )
    return model_proto


@pytest.mark.parametrize("nodes", [_QDQ, _QOPERATOR, _DYNAMIC])
def test_one_scale_for_all_channels_is_reported(nodes: str) -> None:
    (finding,) = check_rule("per-tensor-depthwise", model(nodes))
    assert (finding.message, finding.evidence) == (_MESSAGE, ("conv",))
    assert (finding.severity, finding.confidence) == (Severity.NOTE, Confidence.MEDIUM)


@pytest.mark.parametrize("nodes", [_QDQ, _QOPERATOR])
def test_scale_for_each_channel_is_not_reported(nodes: str) -> None:
    assert check_rule("per-tensor-depthwise", model(nodes, (8,))) == []


def test_per_channel_scale_of_dynamic_quantization_is_not_reported() -> None:
    model_proto = model(_DYNAMIC)
    scales = next(tensor for tensor in model_proto.graph.initializer if tensor.name == "ws")
    scales.CopyFrom(numpy_helper.from_array(np.ones((1, 8, 1, 1), np.float32), "ws"))
    assert check_rule("per-tensor-depthwise", model_proto) == []


def test_ordinary_convolution_is_not_reported() -> None:
    assert check_rule("per-tensor-depthwise", model(_QDQ.replace("<group=8>", ""), weight=(8, 8, 3, 3))) == []


def test_weight_of_16_bits_is_not_reported() -> None:
    assert check_rule("per-tensor-depthwise", model(_QDQ, kind="int16")) == []


def test_weight_in_floating_point_is_not_reported() -> None:
    text = "g (float[1, 8, 8, 8] x, float[8, 1, 3, 3] w) => (float y) { y = Conv<group=8>(x, w) }"
    assert check_rule("per-tensor-depthwise", text) == []


def test_some_of_them_are_counted() -> None:
    model_proto = model(
        _QDQ.replace("y = Relu(c)", "vd = DequantizeLinear<axis=0>(w, vs, vz) y = Conv<group=8>(c, vd)")
    )
    model_proto.graph.initializer.append(numpy_helper.from_array(np.ones(8, np.float32), "vs"))
    model_proto.graph.initializer.append(numpy_helper.from_array(np.zeros(8, np.int8), "vz"))
    (finding,) = check_rule("per-tensor-depthwise", model_proto)
    assert finding.message == "1 of 2 quantized depthwise convolutions has one scale for all channels of its weight"
