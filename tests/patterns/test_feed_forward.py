"""MLPs, gated MLPs, and linear layers that are neither."""

import numpy as np
import pytest

from onnx_autodoc.patterns import convolutions, feed_forward
from tests.patterns._nets import (
    Value,
    build_net,
    count_blocks,
    find_only,
    find_unused_patterns,
    list_kinds,
    list_residual_kinds,
)

X: dict[str, Value] = {
    "x": (2, 8, 16),
    "U": (16, 64),
    "V": (16, 64),
    "D": (64, 16),
    "B": (64,),
    "G": (64,),
    "H": (64, 64),
}
GELU = "y0 = MatMul(x, U) g = Mul(Mul(y0, Add(Erf(Div(y0, 1.41421)), 1.0)), 0.5)"
SIXTYFOUR: dict[str, Value] = {"S": (64,), "Z": (64,), "M": (64,), "A": (64,), "K": (64, 1, 3, 3), "P": (8, 64)}
PLAIN = {
    "relu": "y = MatMul(Relu(MatMul(x, U)), D)",
    "gelu": f"{GELU} y = MatMul(g, D)",
    "biases": "y = Add(MatMul(Relu(Add(MatMul(x, U), B)), D), C)",
    "gemm": "y = Gemm(LeakyRelu(Gemm(Reshape(x, [16, 16]), U, B)), D, C)",
    "dropout": "y = MatMul(Dropout(Relu(MatMul(x, U))), D)",
    "tanh": "y = MatMul(Tanh(MatMul(x, U)), D)",
    "an added table": "y = MatMul(Relu(Add(MatMul(x, U), P)), D)",
    "a norm inside, before": "y = MatMul(Relu(LayerNormalization(MatMul(x, U), G)), D)",
    "a norm inside, after": "y = MatMul(LayerNormalization(Relu(MatMul(x, U)), G), D)",
    "a batch norm inside": "r = Reshape(x, [16, 16])"
    " y = Reshape(MatMul(Relu(BatchNormalization(MatMul(r, U), S, Z, M, A)), D), [2, 8, 16])",
    "batch and positions folded": "r = Reshape(Gemm(Reshape(x, [-1, 16]), U, B), [2, 8, 64])"
    " y = Reshape(Gemm(Reshape(Relu(r), [-1, 64]), D, C), [2, 8, 16])",
    "relu squared": "r = Relu(MatMul(x, U)) y = MatMul(Mul(r, r), D)",
    "three layers": "y = MatMul(Relu(MatMul(Relu(MatMul(x, U)), H)), D)",
    "three layers and norms": "y = MatMul(Relu(LayerNormalization(MatMul(Relu(MatMul(x, U)), H), G)), D)",
    "a convolution over positions": "t = Reshape(Transpose<perm = [0, 2, 1]>(MatMul(x, U)), [2, 64, 4, 2])"
    " c = Conv<group = 64, pads = [1, 1, 1, 1]>(t, K) f = Transpose<perm = [0, 2, 1]>(Reshape(c, [2, 64, 8]))"
    " y = MatMul(Relu(f), D)",
}
MORE: dict[str, Value] = {**X, **SIXTYFOUR, "C": (16,)}
GATED = {
    "llama": ("g = MatMul(x, U) y = MatMul(Mul(Mul(g, Sigmoid(g)), MatMul(x, V)), D)", "silu"),
    "the gate second": ("g = MatMul(x, U) y = MatMul(Mul(MatMul(x, V), Mul(g, Sigmoid(g))), D)", "silu"),
    "gelu": (f"{GELU} y = MatMul(Mul(g, MatMul(x, V)), D)", "gelu"),
    "relu": ("y = MatMul(Mul(Relu(MatMul(x, U)), MatMul(x, V)), D)", "Relu"),
    "a gated linear unit": ("y = MatMul(Mul(MatMul(x, V), Sigmoid(MatMul(x, U))), D)", "Sigmoid"),
    "one layer, split": (
        "g, u = Split<axis = -1, num_outputs = 2>(MatMul(x, P)) y = MatMul(Mul(Mul(g, Sigmoid(g)), u), D)",
        "silu",
    ),
    "one layer, sliced": (
        (
            "p = MatMul(x, P) g = Slice(p, [0], [64], [-1]) u = Slice(p, [64], [128], [-1])"
            " y = MatMul(Mul(Mul(g, Sigmoid(g)), u), D)"
        ),
        "silu",
    ),
    "a norm before the end": (
        "y = MatMul(LayerNormalization(Mul(Relu(MatMul(x, U)), MatMul(x, V)), G), D)",
        "Relu",
    ),
}
PICTURE: dict[str, Value] = {"x": (1, 4, 8, 8), "K": (6, 4, 3, 3), "S": (6, 1, 1)}


@pytest.mark.parametrize("body", PLAIN.values(), ids=PLAIN)
def test_linear_layers_with_activation_are_an_mlp(body: str) -> None:
    net = build_net(body, **MORE)
    assert [op for op in list_kinds(net) if op != "Reshape"] == ["mlp"]
    block = find_only(net, "mlp")
    assert (block.in_features, block.mlp.inner_features, block.out_features) == (16, 64, 16)


def test_every_pattern_has_an_example() -> None:
    assert not find_unused_patterns(feed_forward.RULES, [(body, MORE) for body in PLAIN.values()])
    assert not find_unused_patterns(
        convolutions.BIAS_RULES, [("y = Add(MatMul(x, U), B)", X), ("y = Add(Conv(x, K), S)", PICTURE)]
    )


@pytest.mark.parametrize(("body", "act"), GATED.values(), ids=GATED)
def test_gated_mlp_is_one_block(body: str, act: str) -> None:
    net = build_net(body, **X, P=(16, 128))
    assert list_kinds(net) == ["gated-mlp"]
    block = find_only(net, "gated-mlp")
    assert (block.mlp.activation, block.in_features, block.mlp.inner_features, block.out_features) == (act, 16, 64, 16)
    assert count_blocks(net, "silu") == (act == "silu")
    assert count_blocks(net, "mlp") == 0


def test_mlp_has_an_activation() -> None:
    assert find_only(build_net(PLAIN["gelu"], **MORE), "mlp").mlp.activation == "gelu"
    assert find_only(build_net(PLAIN["tanh"], **MORE), "mlp").mlp.activation == "Tanh"


@pytest.mark.parametrize(
    "body",
    [
        "y = MatMul(MatMul(x, U), D)",  # no activation between
        "y = Relu(MatMul(Softmax(MatMul(x, U)), D))",
        "a = Relu(MatMul(x, U)) b = MatMul(a, D) y = Add(ReduceSum(a, [-1]), b)",  # an inner value is read elsewhere
        "y = MatMul(Mul(Relu(MatMul(x, U)), MatMul(z, V)), D)",  # the gate has another input
        "y = Mul(Relu(MatMul(x, U)), MatMul(x, V))",  # no linear layer after it
        # positions are merged between the layers
        "y = MatMul(Reshape(Relu(Reshape(MatMul(x, U), [2, 64, 8])), [2, 512]), J)",
    ],
)
def test_lookalikes_are_not_mlps(body: str) -> None:
    net = build_net(body, **X, z=(2, 8, 16), J=(512, 16))
    assert count_blocks(net, "mlp") == count_blocks(net, "gated-mlp") == 0


def test_gated_linear_unit_is_not_silu() -> None:
    net = build_net("a, b = Split<axis = -1, num_outputs = 2>(MatMul(x, U)) y = Mul(a, Sigmoid(b))", **X)
    assert count_blocks(net, "silu") == 0 and count_blocks(net, "linear") == 1


@pytest.mark.parametrize(
    "call",
    [
        "MatMul({0}, {1})",
        "Cast<to = 1>(MatMul(Cast<to = 10>({0}), Cast<to = 10>({1})))",
        "DequantizeLinear(QuantizeLinear(MatMul({0}, {1}), 0.1), 0.1)",
    ],
    ids=["fp32", "casts", "quantizers"],
)
def test_gated_mlp_in_every_precision(call: str) -> None:
    body = (
        f"g = {call.format('x', 'U')} a = Mul(Mul(g, Sigmoid(g)), {call.format('x', 'V')}) y = {call.format('a', 'D')}"
    )
    assert list_kinds(build_net(body, **X)) == ["gated-mlp"]


def test_gated_mlp_with_packed_weights_is_matched() -> None:
    four = "com.microsoft.MatMulNBits<K = {0}, N = {1}, bits = 4, block_size = 16>({2}, {3}, S)"
    body = f"g = {four.format(16, 64, 'x', 'U')} a = Mul(Mul(g, Sigmoid(g)), {four.format(16, 64, 'x', 'V')})"
    packed: dict[str, Value] = {"U": np.ones((64, 1, 8), np.uint8), "V": np.ones((64, 1, 8), np.uint8), "S": (64,)}
    net = build_net(
        f"{body} y = {four.format(64, 16, 'a', 'D')}", x=(2, 8, 16), **packed, D=np.ones((16, 4, 8), np.uint8)
    )
    assert list_kinds(net) == ["gated-mlp"] and find_only(net, "gated-mlp").mlp.inner_features == 64


def test_mlp_in_a_residual_is_one_block() -> None:
    net = build_net(
        f"n = LayerNormalization(x, E) {GELU.replace('x, U', 'n, U')} y = Add(x, MatMul(g, D))", **X, E=(16,)
    )
    assert list_kinds(net) == ["layer-norm", "mlp", "Add"] and list_residual_kinds(net) == ["add"]


def test_mlp_outside_residuals_is_a_head() -> None:
    body = "h = Add(x, MatMul(Relu(MatMul(x, U)), D)) y = MatMul(Relu(MatMul(h, U)), D)"
    assert list_kinds(build_net(body, **X)) == ["mlp", "Add", "head"]
