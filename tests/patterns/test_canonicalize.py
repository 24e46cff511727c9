"""Canonicalization: quantized, packed and fused operators become plain ones with the same sizes."""

import numpy as np
import pytest

from tests.patterns._nets import Value, build_net, count_blocks, find_only, list_kinds, list_residual_kinds

BYTES: dict[str, Value] = {
    "N": np.ones((16, 4), np.int8),
    "M": np.ones((4, 16), np.int8),
    "Z": np.array(0, np.uint8),
    "I": np.array(0, np.int8),
    "E": np.ones(4, np.int32),
}
X: dict[str, Value] = {"x": (2, 16), "W": (16, 4), "T": (4, 16), "B": (4,), **BYTES}
PAIR = "DequantizeLinear(QuantizeLinear({0}, 0.1, Z), 0.1, Z)"
LINEAR = {
    "MatMul": ("MatMul(x, W)", False),
    "MatMul and a bias": ("Add(MatMul(x, W), B)", True),
    "a bias first": ("Add(B, MatMul(x, W))", True),
    "a transposed weight": ("MatMul(x, Transpose(T))", False),
    "Gemm": ("Gemm(x, W, B)", True),
    "Gemm, transposed": ("Gemm<transB = 1>(x, T)", False),
    "FusedMatMul": ("com.microsoft.FusedMatMul<transB = 1>(x, T)", False),
    "FusedGemm": ('com.microsoft.FusedGemm<transB = 1, activation = "Relu">(x, T, B)', True),
    "Einsum": ('Einsum<equation = "bi,io->bo">(x, W)', False),
    "Einsum, transposed": ('Einsum<equation = "bi,oi->bo">(x, T)', False),
    "MatMulInteger": ("MatMulInteger(q, N, z)", False),
    "MatMulInteger scaled back": ("Add(Mul(Cast<to = 1>(MatMulInteger(q, N, z)), Mul(s, 0.02)), B)", True),
    "MatMulIntegerToFloat": ("com.microsoft.MatMulIntegerToFloat(q, N, s, 0.02, z, I, B)", True),
    "DynamicQuantizeMatMul": ("com.microsoft.DynamicQuantizeMatMul(x, N, 0.02, I, B)", True),
    "QLinearMatMul": ("DequantizeLinear(QLinearMatMul(q, s, z, N, 0.02, I, 0.1, Z), 0.1, Z)", False),
    "QGemm": ("com.microsoft.QGemm<transB = 1>(q, s, z, M, 0.02, I, E)", True),
    "MatMulNBits": ("com.microsoft.MatMulNBits<K = 16, N = 4, bits = 4, block_size = 16>(x, P, S)", False),
    "MatMulNBits and a bias": (
        "com.microsoft.MatMulNBits<K = 16, N = 4, bits = 4, block_size = 16>(x, P, S, , , B)",
        True,
    ),
    "quantizers around": (f"MatMul({PAIR.format('x')}, DequantizeLinear(N, 0.1, I))", False),
    "quantizers around all": (f"{PAIR.format('Add(MatMul(x, DequantizeLinear(N, 0.1)), B)')}", True),
    "casts around": ("Add(Cast<to = 1>(MatMul(Cast<to = 10>(x), Cast<to = 10>(W))), B)", True),
    "a convolution over positions": ("Conv(Reshape(x, [2, 16, 1]), Unsqueeze(T, [2]), B)", True),
}


@pytest.mark.parametrize(("call", "biased"), LINEAR.values(), ids=LINEAR)
def test_linear_layer_is_canonical_in_every_form(call: str, biased: bool) -> None:
    packed: dict[str, Value] = {"P": np.ones((4, 1, 8), np.uint8), "S": (4,)}
    net = build_net(f"q, s, z = DynamicQuantizeLinear(x) y = {call}", **X, **packed)
    assert [op for op in list_kinds(net) if op != "Relu"] == ["linear"]
    block = find_only(net, "linear")
    assert (block.in_features, block.out_features, block.linear.biased) == (16, 4, biased)


def test_added_constant_is_a_bias_only_if_it_spans_the_features() -> None:
    assert list_kinds(build_net("y = Add(MatMul(x, W), V)", **X, V=(2, 1))) == ["linear", "Add"]
    assert list_kinds(build_net("y = Add(MatMul(x, W), V)", **X, V=(2, 4))) == ["linear", "Add"]
    assert list_kinds(build_net("y = Add(MatMul(x, W), V)", **X, V=(1, 4))) == ["linear"]


def test_linear_output_read_before_the_bias_is_one_layer() -> None:
    net = build_net("l = MatMul(x, W) y = Concat<axis = 1>(Add(l, B), l)", **X)
    assert count_blocks(net, "linear") == 1


def test_computed_bias_is_an_add() -> None:
    net = build_net("y = Gemm(x, W, z)", z=(2, 4), **X)
    assert list_kinds(net) == ["linear", "Add"]
    assert find_only(net, "linear").linear.biased is False


def test_product_of_computed_values_is_not_linear() -> None:
    assert list_kinds(build_net("y = MatMul(x, Transpose(z))", x=(2, 16), z=(2, 16))) == ["Transpose", "MatMul"]


IMAGE: dict[str, Value] = {"x": (1, 8, 6, 6), "W": (4, 8, 3, 3), "B": (4,), "C": (1, 4, 1, 1), **BYTES}
IMAGE |= {"K": np.ones((4, 8, 3, 3), np.int8)}
CONV = {
    "Conv": "Conv(x, W, B)",
    "a bias outside": "Add(Conv(x, W), C)",
    "a bias that is reshaped": "Add(Conv(x, W), Reshape(B, [1, 4, 1, 1]))",
    "quantizers around": f"{PAIR.format('Conv(x, DequantizeLinear(K, 0.1), B)')}",
    "QLinearConv": "QLinearConv(QuantizeLinear(x, 0.1, Z), 0.1, Z, K, 0.1, I, 0.1, Z, E)",
    "ConvInteger": "Add(Mul(Cast<to = 1>(ConvInteger(q, K, z)), Mul(s, 0.02)), C)",
    "FusedConv": 'com.microsoft.FusedConv<activation = "Relu">(x, W, B)',
}


@pytest.mark.parametrize("call", CONV.values(), ids=CONV)
def test_convolution_is_canonical_in_every_form(call: str) -> None:
    net = build_net(f"q, s, z = DynamicQuantizeLinear(x) y = {call}", **IMAGE)
    assert set(list_kinds(net)) <= {"conv", "conv-norm-act"}
    block = find_only(net, "conv")
    assert (block.conv.kernel, block.in_features, block.out_features, block.linear.biased) == ((3, 3), 8, 4, True)
    assert (block.conv.depthwise, block.conv.transposed, block.conv.group) == (False, False, 1)


@pytest.mark.parametrize(
    ("call", "size", "expected"),
    [
        ("Conv<group = 8>(x, W)", (8, 1, 3, 3), {"depthwise": True, "out_features": 8}),
        ("Conv<group = 2>(x, W)", (8, 4, 3, 3), {"depthwise": False, "group": 2}),
        ("Conv<strides = [2, 1], dilations = [1, 2]>(x, W)", (4, 8, 3, 3), {"strides": (2, 1)}),
        ("ConvTranspose<group = 2>(x, W)", (8, 5, 2, 2), {"transposed": True, "out_features": 10, "in_features": 8}),
    ],
)
def test_convolution_attributes(call: str, size: tuple[int, ...], expected: dict[str, object]) -> None:
    conv = find_only(build_net(f"y = {call}", x=(1, 8, 6, 6), W=size), "conv").conv
    assert {key: getattr(conv, key) for key in expected} == expected


def test_fused_convolution_has_a_residual() -> None:
    body = 'y = com.microsoft.FusedConv<activation = "Relu", pads = [1, 1, 1, 1]>(Relu(Conv(x, P)), W, B, x)'
    net = build_net(body, x=(1, 8, 6, 6), P=(8, 8, 1, 1), W=(8, 8, 3, 3), B=(8,))
    assert list_kinds(net) == ["conv-norm-act", "conv", "Add", "Relu"]
    assert list_residual_kinds(net) == ["add"]


def test_quantized_add_mul_and_concat_are_plain() -> None:
    body = "a = com.microsoft.QLinearAdd(x, 0.1, Z, z, 0.1, Z, 0.1, Z)"
    body += " b = com.microsoft.QLinearMul(a, 0.1, Z, z, 0.1, Z, 0.1, Z)"
    body += " y = com.microsoft.QLinearConcat<axis = 1>(0.1, Z, a, 0.1, Z, b, 0.1, Z)"
    net = build_net(body, x="uint8[2,4]", z="uint8[2,4]", **BYTES)
    assert list_kinds(net) == ["Add", "Mul", "Concat"]
    assert net.of("Concat")[0].inputs == (net.of("Add")[0].outputs[0], net.of("Mul")[0].outputs[0])


def test_quantized_residual_is_matched() -> None:
    one = "QLinearConv<pads = [1, 1, 1, 1]>({0}, 0.1, Z, K, 0.1, I, 0.1, Z)"
    body = f"y = com.microsoft.QLinearAdd(x, 0.1, Z, {one.format(one.format('x'))}, 0.1, Z, 0.1, Z)"
    net = build_net(body, x="uint8[1,4,6,6]", **{**BYTES, "K": np.ones((4, 4, 3, 3), np.int8)})
    assert count_blocks(net, "conv") == 2 and list_residual_kinds(net) == ["add"]


def test_sum_is_a_chain_of_adds() -> None:
    net = build_net("y = Sum(x, MatMul(x, W), z)", x=(2, 4), z=(2, 4), W=(4, 4))
    assert list_kinds(net) == ["linear", "Add", "Add"]
    assert list_residual_kinds(net) == ["add"]
    assert list_kinds(build_net("y = Relu(Sum(x))", x=(2, 4)))[-1] == "Relu"


def test_norm_statistics_are_not_outputs() -> None:
    net = build_net("a, m, i = LayerNormalization(x, G) y = Add(a, m)", x=(2, 16), G=(16,))
    assert net.of("layer-norm")[0].outputs == (net.of("Add")[0].inputs[0],)


def test_fused_embeddings_are_tables_and_adds() -> None:
    body = "y, m = com.microsoft.EmbedLayerNormalization(ids, types, W, P, T, G, B)"
    values: dict[str, Value] = {"W": (100, 16), "P": (32, 16), "T": (2, 16), "G": (16,), "B": (16,)}
    net = build_net(body, ids="int32[1,8]", types="int32[1,8]", **values)
    assert count_blocks(net, "layer-norm") == 1 and list_residual_kinds(net) == []
    assert [(op.embedding.role, op.embedding.rows) for op in net.of("embedding")][:2] == [
        ("token", 100),
        ("type", 2),
    ]


def test_group_norm_attribute_is_an_activation() -> None:
    values: dict[str, Value] = {"x": (1, 4, 4, 8), "G": (8,), "B": (8,)}
    body = "y = com.microsoft.GroupNorm<activation = {}, groups = 4, channels_last = 1>(x, G, B)"
    assert list_kinds(build_net(body.format(1), **values)) == ["group-norm", "silu"]
    assert list_kinds(build_net(body.format(0), **values)) == ["group-norm"]


def test_bias_of_fused_gelu_belongs_to_the_linear_layer() -> None:
    net = build_net("y = com.microsoft.BiasGelu(MatMul(x, W), B)", **X)
    assert list_kinds(net) == ["linear", "gelu"] and find_only(net, "linear").linear.biased is True


@pytest.mark.parametrize(
    ("call", "op"),
    [
        ("com.microsoft.QLinearSigmoid(x, 0.1, Z, 0.1, Z)", "Sigmoid"),
        ("com.microsoft.QLinearLeakyRelu(x, 0.1, Z, 0.1, Z)", "LeakyRelu"),
        ("com.microsoft.QLinearAveragePool<kernel_shape = [2, 2]>(x, 0.1, Z, 0.1, Z)", "AveragePool"),
        ("com.microsoft.QLinearGlobalAveragePool(x, 0.1, Z, 0.1, Z)", "GlobalAveragePool"),
        ("com.microsoft.NhwcMaxPool<kernel_shape = [2, 2]>(x)", "MaxPool"),
    ],
)
def test_other_quantized_operators_are_plain(call: str, op: str) -> None:
    net = build_net(f"y = {call}", x="uint8[1,4,6,6]", **BYTES)
    assert list_kinds(net) == [op] and net.of(op)[0].inputs[0] == net.inputs["x"]


def test_convolution_with_invalid_weight_has_unknown_width() -> None:
    net = build_net("y = Conv(x, W)", invalid=True, x=(1, 3, 8, 8), W=(4,))
    assert [op.out_features for op in net.of("conv")] == [None]


@pytest.mark.parametrize(("inputs", "ops"), [(64, {"Add": 63}), (65, {"Sum": 1})])
def test_sum_of_many_inputs_is_not_split(inputs: int, ops: dict[str, int]) -> None:
    net = build_net(
        f"y = Sum({', '.join(['x', 'Relu(x)'] * (inputs // 2) + ['x'] * (inputs % 2))})", x=(2, 4), flat=True
    )
    assert {op: len(net.of(op)) for op in ("Add", "Sum") if net.has(op)} == ops


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ("Conv(x, W)", "conv"),
        ("ai.onnx.Conv(x, W)", "conv"),
        ("com.ms.internal.nhwc.Conv(x, W)", "conv"),
        ("acme.Conv(x, W)", "acme.Conv"),
        ("acme.QLinearConv(x, W)", "acme.QLinearConv"),
        ("acme.FusedConv(x, W)", "acme.FusedConv"),
        ("acme.Strange(x, W)", "Strange"),
    ],
)
def test_operator_is_identified_by_domain_and_op_type(call: str, kind: str) -> None:
    net = build_net(f"y = {call}", invalid=True, x=(1, 8, 6, 6), W=(4, 8, 3, 3))
    assert [op.kind for op in net.walk()] == [kind]


def test_attention_of_each_domain_has_its_own_inputs() -> None:
    values: dict[str, Value] = {"x": (1, 6, 32), "W": (32, 96), "B": (96,)}
    (fused,) = build_net("y = com.microsoft.Attention<num_heads = 4>(x, W, B)", **values).of("attention")
    standard = "y = Attention<q_num_heads = 4, kv_num_heads = 4>(x, x, x)"
    (plain,) = build_net(standard, opset=23, x=(1, 6, 32)).of("attention")
    assert (fused.attention.heads, plain.attention.heads) == (4, 4)
    assert not build_net("y = acme.Attention<num_heads = 4>(x, W, B)", invalid=True, **values).of("attention")
