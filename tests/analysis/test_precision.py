"""Which layers keep their weights how, and what is kept in floating point: on small models and on real ones."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnx_autodoc.analysis.parameters import parameters
from onnx_autodoc.analysis.precision import precision
from onnx_autodoc.card import Precision, WeightGroup
from onnx_autodoc.readers import read_model
from tests._corpus import GRAPH_NAMES, graph
from tests._text import model, save_and_read


def ints(dtype: str, *dims: int, of: int = 1) -> str:
    count = int(np.prod(dims))
    return f"{dtype}[{','.join(map(str, dims))}] {{{', '.join([str(of)] * count)}}}"


def measure_groups(text: str, opset: int = 21) -> tuple[WeightGroup, ...]:
    return measure_precision(text, opset).story


def measure_precision(text: str, opset: int = 21) -> Precision:
    result = model(text, opset)
    return precision(result, parameters(result))


def constants(**given: str) -> str:
    return " ".join(f"{name} = Constant <value = {value}> ()" for name, value in given.items())


def group_summary(group: WeightGroup) -> tuple[object, ...]:
    return (group.op, group.dtype, group.how, group.bits, group.block_size, group.per_channel, group.symmetric)


DYNAMIC = "q, s, z = DynamicQuantizeLinear(x)"


@pytest.mark.parametrize(
    ("zero", "expected"),
    [
        (ints("int8", 1, of=0), ("MatMulInteger", "int8", "dynamic", 8, None, False, True)),
        (ints("int8", 4, of=0), ("MatMulInteger", "int8", "dynamic", 8, None, True, True)),
        (ints("int8", 4, of=3), ("MatMulInteger", "int8", "dynamic", 8, None, True, False)),
    ],
)
def test_integer_product_of_activations_is_dynamic(zero: str, expected: tuple[object, ...]) -> None:
    stored = constants(w=ints("int8", 4, 4), n=zero)
    (only,) = measure_groups(
        f"g (float[2,4] x) => (int32[2,4] y) {{ {stored} {DYNAMIC} y = MatMulInteger(q, w, z, n) }}"
    )
    assert group_summary(only) == expected
    assert (only.nodes, only.params, only.share) == (1, 16, 1.0)


def test_channels_are_unknown_without_scales_and_zero_points() -> None:
    stored = constants(w=ints("uint8", 4, 4))
    (only,) = measure_groups(f"g (float[2,4] x) => (int32[2,4] y) {{ {stored} {DYNAMIC} y = MatMulInteger(q, w, z) }}")
    assert group_summary(only)[3:] == (8, None, None, False)  # unsigned numbers from zero on lie on one side of it


PAIR = "qx = QuantizeLinear(x, s, z) dx = DequantizeLinear(qx, s, z)"
SCALE = {"s": "float {0.5}", "z": "int8 {0}", "w": ints("int8", 4, 4), "one": "float {0.1}"}


def test_weights_and_activations_between_pairs_are_qdq() -> None:
    body = f"{constants(**SCALE)} {PAIR} dw = DequantizeLinear(w, one, z) y = MatMul(dx, dw)"
    (only,) = measure_groups(f"g (float[2,4] x) => (float[2,4] y) {{ {body} }}")
    assert group_summary(only) == ("MatMul", "int8", "qdq", 8, None, False, True)


def test_dequantized_weights_with_float_activations_are_weight_only() -> None:
    stored = constants(w=ints("int8", 4, 4), n=ints("float", 4))
    (only,) = measure_groups(
        f"g (float[2,4] x) => (float[2,4] y) {{ {stored} d = DequantizeLinear <axis = 1> (w, n) y = MatMul(x, d) }}"
    )
    assert group_summary(only) == ("MatMul", "int8", "weight-only", 8, None, True, True)


def test_block_size_is_reported() -> None:
    stored = constants(w=ints("int8", 4, 4), n=ints("float", 2, 4))
    body = f"{stored} d = DequantizeLinear <axis = 0, block_size = 2> (w, n) y = MatMul(x, d)"
    (only,) = measure_groups(f"g (float[2,4] x) => (float[2,4] y) {{ {body} }}")
    assert group_summary(only) == ("MatMul", "int8", "weight-only", 8, 2, None, True)


def test_float_weights_quantized_in_the_graph_are_qdq() -> None:
    stored = constants(**{**SCALE, "w": ints("float", 4, 4)})
    body = f"{stored} {PAIR} qw = QuantizeLinear(w, one, z) dw = DequantizeLinear(qw, one, z) y = MatMul(dx, dw)"
    (only,) = measure_groups(f"g (float[2,4] x) => (float[2,4] y) {{ {body} }}")
    assert group_summary(only) == ("MatMul", "float32", "qdq", 8, None, False, True)


def test_integer_operators_have_symmetry() -> None:
    stored = constants(s="float {0.5}", z="uint8 {7}", w=ints("uint8", 4, 4), n="uint8 {128}")
    body = f"{stored} q = QuantizeLinear(x, s, z) y = QLinearMatMul(q, s, z, w, s, n, s, z)"
    (only,) = measure_groups(f"g (float[2,4] x) => (uint8[2,4] y) {{ {body} }}")
    assert group_summary(only) == ("QLinearMatMul", "uint8", "qoperator", 8, None, False, True)
    (other,) = measure_groups(f"g (float[2,4] x) => (uint8[2,4] y) {{ {body.replace('w, s, n', 'w, s, z')} }}")
    assert other.symmetric is False


def test_rows_of_a_quantized_table_are_weight_only() -> None:
    stored = constants(t=ints("uint8", 9, 4), s="float {0.5}", z="uint8 {9}")
    body = f"{stored} r = Gather(t, i) y = DequantizeLinear(r, s, z)"
    (only,) = measure_groups(f"g (int64[2] i) => (float[2,4] y) {{ {body} }}")
    assert group_summary(only) == ("Gather", "uint8", "weight-only", 8, None, False, False)


def test_explicit_dequantization_is_recognized() -> None:
    stored = constants(w=ints("int8", 4, 4), s=ints("float", 1, 4), t=ints("int8", 9, 4), u=ints("float", 4))
    body = f"{stored} c = Cast <to = 1> (w) d = Mul(c, s) m = MatMul(x, d)"
    body += " r = Gather(t, i) f = Cast <to = 1> (r) e = Mul(f, u) y = Add(m, e)"
    result = measure_precision(f"g (float[2,4] x, int64[2] i) => (float[2,4] y) {{ {body} }}")
    assert [group_summary(group)[:6] for group in result.story] == [
        ("Gather", "int8", "weight-only", 8, None, True),
        ("MatMul", "int8", "weight-only", 8, None, True),
    ]
    assert sum(group.params for group in result.story) == 36 + 16
    assert result.label == "int8-weights" and result.stayed is None


def test_mask_on_weights_is_not_quantization() -> None:
    stored = constants(m=ints("uint8", 4, 4), w=ints("float", 4, 4))
    body = f"{stored} c = Cast <to = 1> (m) d = Mul(c, w) y = MatMul(x, d)"
    (only,) = measure_groups(f"g (float[2,4] x) => (float[2,4] y) {{ {body} }}")
    assert only.params == 32 and only.how in ("float", "integer")


def measure_packed(zero: np.ndarray | None = None, bits: int = 4) -> tuple[WeightGroup, ...]:
    """y[2,8] = x[2,32] @ w[32,8], in blocks of 16: text has no types for the bytes of packed weights."""
    given = {"w": np.full((8, 2, 16 * bits // 8), 0x88, np.uint8), "s": np.ones((8, 2), np.float32)}
    if zero is not None:
        given["z"] = zero
    node = helper.make_node(
        "MatMulNBits", ["x", *given], ["y"], "packed", domain="com.microsoft", K=32, N=8, bits=bits, block_size=16
    )
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, size]) for name, size in (("x", 32), ("y", 8)))
    made = helper.make_graph(
        [node], "g", [x], [y], [numpy_helper.from_array(data, name) for name, data in given.items()]
    )
    result = save_and_read(helper.make_model(made))
    return precision(result, parameters(result)).story


@pytest.mark.parametrize(
    ("zero", "symmetric"),
    [
        (None, True),
        (np.full((8, 1), 0x88, np.uint8), True),
        (np.full((8, 1), 0x87, np.uint8), False),
        (np.ones((8, 2), np.float32), None),
    ],
)
def test_packed_weights_have_bits_and_blocks(zero: np.ndarray | None, symmetric: bool | None) -> None:
    (only,) = measure_packed(zero)
    assert group_summary(only) == ("MatMulNBits", "int4", "weight-only", 4, 16, None, symmetric)
    assert (only.params, only.example) == (32 * 8, "packed")


def test_unpacked_zero_point_has_mid_range_of_its_type() -> None:
    assert group_summary(measure_packed(np.full((8, 2), 0x80, np.uint8), bits=8)[0]) == (
        *("MatMulNBits", "int8", "weight-only", 8),
        *(16, None, True),
    )
    assert measure_packed(np.full((8, 2), 0x88, np.uint8), bits=8)[0].symmetric is False


def test_a_node_with_several_weights_is_in_one_group() -> None:
    stored = constants(w=ints("float16", 4, 4), b=ints("float", 4))
    body = f"{stored} c = Cast <to = 1> (w) y = Gemm(x, c, b)"
    (only,) = measure_groups(f"g (float[2,4] x) => (float[2,4] y) {{ {body} }}")
    assert (only.dtype, only.how, only.params) == ("float16", "float", 20)


def test_float_rest_is_reported_for_quantized_models_only() -> None:
    stored = constants(**SCALE, b=ints("float", 4), t=ints("float", 9, 4))
    body = f"{stored} {PAIR} dw = DequantizeLinear(w, one, z) m = MatMul(dx, dw) a = Add(m, b) r = Gather(t, i)"
    result = measure_precision(f"g (float[2,4] x, int64[2] i) => (float[2,4] y) {{ {body} y = Add(a, r) }}")
    assert result.stayed == "kept in float32: 1 Gather (embeddings) (Gather_11), 1 Add (Add_10); 71.4% of the weights"
    plain = measure_precision(f"g (float[2,4] x) => (float[2,4] y) {{ {constants(b=ints('float', 4))} y = Add(x, b) }}")
    assert plain.stayed is None and plain.story[0].how == "float"


def test_few_quantized_numbers_do_not_set_the_label() -> None:
    stored = constants(w=ints("float", 40, 40), t=ints("uint8", 4), s="float {0.5}")
    body = f"{stored} d = DequantizeLinear(t, s) m = MatMul(x, w) y = Concat <axis = 0> (m, d)"
    result = measure_precision(f"g (float[40] x) => (float[44] y) {{ {body} }}")
    assert (result.label, result.scheme) == ("fp32", None)
    assert [group.how for group in result.story] == ["float", "weight-only"]
    assert result.stayed is not None and result.stayed.endswith("99.8% of the weights")


# name -> (operator, type, how, bits, block size, per channel, symmetric, nodes, weights)
TRUTH: dict[str, set[tuple[object, ...]]] = {
    "smollm2-135m-genai-int4": {
        # 30 layers × (qkv, o, gate, up, down); the embedding is the output product's, tied
        ("MatMulNBits", "int4", "weight-only", 4, 32, None, True, 150, 106_168_320),
        ("GatherBlockQuantized", "int4", "weight-only", 4, 32, None, True, 1, 49_152 * 576),
        ("SkipSimplifiedLayerNormalization", "float32", "float", 32, None, None, None, 60, 60 * 576),
        ("SimplifiedLayerNormalization", "float32", "float", 32, None, None, None, 1, 576),
    },
    "all-minilm-l6-v2-int4-matmulnbits": {
        ("MatMulNBits", "int4", "weight-only", 4, 32, None, True, 36, 6 * 12 * 384 * 384),
        ("Gather", "float32", "float", 32, None, None, None, 2, (30_522 + 2) * 384),
        ("Add", "float32", "float", 32, None, None, None, 50, 222_336),
        ("Mul", "float32", "float", 32, None, None, None, 13, 13 * 384),
    },
    "all-minilm-l6-v2-dynquant-int8": {
        ("MatMulInteger", "int8", "dynamic", 8, None, False, True, 36, 6 * 12 * 384 * 384),
        ("Gather", "uint8", "weight-only", 8, None, False, False, 2, (30_522 + 2) * 384),
        ("Add", "uint8", "weight-only", 8, None, False, False, 1, 512 * 384),
        ("Add", "float32", "float", 32, None, None, None, 49, 222_336 - 512 * 384),
        ("Mul", "float32", "float", 32, None, None, None, 13, 13 * 384),
    },
    "e5-small-v2-dynquant-int8": {
        ("MatMulInteger", "int8", "dynamic", 8, None, False, True, 72, 12 * 12 * 384 * 384),
        ("Mul", "float32", "float", 32, None, None, None, 25, 25 * 384),
    },
    "mobilenetv2-qoperator-int8": {
        ("QLinearConv", "int8", "qoperator", 8, None, False, True, 52, 2_206_816),
        ("QGemm", "int8", "qoperator", 8, None, False, True, 1, 1280 * 1000 + 1000),
    },
    "resnet50-qdq-int8": {("Gemm", "int8", "qdq", 8, None, True, True, 1, 2048 * 1000 + 1000)},
    "ddddocr-common-old": {
        ("ConvInteger", "uint8", "dynamic", 8, None, False, False, 21, 900_312),
        ("MatMulInteger", "uint8", "dynamic", 8, None, False, False, 1, 1024 * 8210),
        # two directions have a scale each: that is not one for each channel
        ("DynamicQuantizeLSTM", "int8", "dynamic", 8, None, False, True, 1, 2 * (2 * 512 * 2048 + 4096)),
    },
    "silero-vad": {
        ("Conv", "float32", "float", 32, None, None, None, 12, 281_090),
        ("LSTM", "float32", "float", 32, None, None, None, 2, 264_192),
    },
    "all-minilm-l6-v2-fp16": {("MatMul", "float16", "float", 16, None, None, None, 36, 6 * 12 * 384 * 384)},
}


def precision_of(name: str) -> Precision:
    result = read_model(graph(name))
    return precision(result, parameters(result))


@pytest.mark.parametrize("name", TRUTH)
def test_real_models_have_expected_groups(name: str) -> None:
    rows = {(*group_summary(group), group.nodes, group.params) for group in precision_of(name).story}
    assert rows >= TRUTH[name]


def test_all_convolutions_of_the_qdq_resnet_are_quantized_by_channels() -> None:
    """The record keeps no zero points of 2048 channels, so four of them cannot be seen to be symmetric."""
    groups = [group for group in precision_of("resnet50-qdq-int8").story if group.op == "Conv"]
    assert sum(group.nodes for group in groups) == 53
    assert {(group.how, group.per_channel) for group in groups} == {("qdq", True)}


def test_other_nodes_of_the_float_rest_are_counted() -> None:
    operators = ["Add", "Mul", "Sub", "Div", "Pow", "PRelu", "Gemm"]
    shapes = {name.lower(): (4, 4) if name == "Gemm" else (4,) for name in operators}
    stored = constants(**SCALE, **{name: ints("float", *shape) for name, shape in shapes.items()})
    steps = [f"{PAIR} dw = DequantizeLinear(w, one, z) v0 = MatMul(dx, dw)"]
    steps += [f"v{at + 1} = {name}(v{at}, {name.lower()})" for at, name in enumerate(operators)]
    result = measure_precision(f"g (float[2,4] x) => (float[2,4] v7) {{ {stored} {' '.join(steps)} }}")
    assert result.stayed is not None and ", 1 other node; " in result.stayed


STAYED = {
    "all-minilm-l6-v2-int4-matmulnbits": (
        "kept in float32: 2 Gather (embeddings), 50 Add, 13 Mul; 53.0% of the weights"
    ),
    "all-minilm-l6-v2-dynquant-int8": "kept in float32: 49 Add, 13 Mul; 0.1% of the weights",
    "resnet50-qdq-int8": None,
    "silero-vad": None,
}


@pytest.mark.parametrize("name", STAYED)
def test_real_models_have_expected_float_rest(name: str) -> None:
    assert precision_of(name).stayed == STAYED[name]


@pytest.mark.parametrize("name", GRAPH_NAMES)
def test_groups_sum_to_the_weights_in_use(name: str) -> None:
    counted = parameters(read_model(graph(name)))
    assert sum(group.params for group in counted.groups) == counted.total - counted.unread
    assert sum(group.share for group in counted.groups) <= 1 + 1e-9
