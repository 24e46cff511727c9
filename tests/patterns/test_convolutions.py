"""Convolutions with norms and activations, squeeze-and-excite, and the blocks of MobileNets."""

import numpy as np
import pytest

from onnx_autodoc.patterns import convolutions
from tests.patterns._nets import (
    Value,
    build_net,
    count_blocks,
    find_only,
    find_unused_patterns,
    list_kinds,
    list_residual_kinds,
)

X: dict[str, Value] = {"x": (2, 8, 6, 6), "W": (8, 8, 3, 3), "O": (8, 8, 1, 1), "C": (1, 8, 1, 1), "E": (1,)}
X |= {"B": (8,), "S": (8,), "Z": (8,), "M": (8,), "V": (8,), "D": (8, 1, 3, 3), "L": (8, 8)}
SAME = "Conv<pads = [1, 1, 1, 1]>"
CONV = f"c = {SAME}(x, W)"
BATCH = "n = BatchNormalization(c, S, Z, M, V)"
AFTER: dict[str, tuple[str, str | None, str | None]] = {
    "relu": (f"{CONV} y = Relu(c)", None, "Relu"),
    "silu": (f"{CONV} y = Mul(c, Sigmoid(c))", None, "silu"),
    "batch norm": (f"{CONV} {BATCH} y = Identity(n)", "batch-norm", None),
    "batch norm and relu": (f"{CONV} {BATCH} y = Relu(n)", "batch-norm", "Relu"),
    "batch norm and relu 6": (f"{CONV} {BATCH} y = Clip(n, 0.0, 6.0)", "batch-norm", "Clip"),
    "batch norm and hard swish": (f"{CONV} {BATCH} y = HardSwish(n)", "batch-norm", "hard-swish"),
    "instance norm and relu": (f"{CONV} y = Relu(InstanceNormalization(c, S, Z))", "instance-norm", "Relu"),
    "relu and batch norm": (f"c = Relu({SAME}(x, W)) {BATCH} y = Identity(n)", "batch-norm", "Relu"),
    "a bias outside": (f"y = Relu(Add({SAME}(x, W), C))", None, "Relu"),
    "quantizers around": (
        f"{CONV} y = DequantizeLinear(QuantizeLinear(Relu(DequantizeLinear(QuantizeLinear(c, 0.1), 0.1)), 0.1), 0.1)",
        None,
        "Relu",
    ),
    "casts around": (f"y = Relu(Cast<to = 1>({SAME}(Cast<to = 10>(x), Cast<to = 10>(W))))", None, "Relu"),
    "a folded norm": (f"{CONV} y = Relu(Add(Mul(c, C), C))", None, "Relu"),
    "learned scalars": (f"{CONV} y = Add(Mul(HardSwish(Add(Mul(c, E), E)), E), E)", None, "hard-swish"),
}
BEFORE = "n = BatchNormalization(x, S, Z, M, V) y = Relu({0}(Relu(n), W))".replace("{0}", SAME)
POOL = "p = GlobalAveragePool(x)"
EXCITE = {
    "mobile nets": f"{POOL} y = Mul(x, HardSigmoid<alpha = 0.2>(Conv(Relu(Conv(p, O, B)), O, B)))",
    "mobile nets, a sixth": f"{POOL} y = Mul(x, HardSigmoid<alpha = 0.16667>(Conv(Relu(Conv(p, O, B)), O, B)))",
    "efficient nets": f"{POOL} c = Conv(p, O, B) y = Mul(Sigmoid(Conv(Mul(c, Sigmoid(c)), O, B)), x)",
    "a mean": "p = ReduceMean(x, [2, 3]) y = Mul(x, Sigmoid(Conv(Relu(Conv(p, O, B)), O, B)))",
    "linear layers": f"{POOL} f = Flatten(p)"
    " g = Sigmoid(Gemm(Relu(Gemm(f, L, B)), L, B)) y = Mul(x, Unsqueeze(g, [2, 3]))",
    "tensorflow": f"{POOL} m = Transpose<perm = [0, 3, 1, 2]>(Reshape(p, [2, 1, 1, 8]))"
    " y = Mul(x, Sigmoid(Conv(Relu(Conv(m, O, B)), O, B)))",
    "nothing between": f"{POOL} y = Mul(x, Sigmoid(Conv(Conv(p, O), O)))",
    "a linear layer, then a convolution": f"{POOL} g = Relu(Gemm(Flatten(p), L, B))"
    " y = Mul(x, Sigmoid(Conv(Unsqueeze(g, [2, 3]), O)))",
    "one layer": f"{POOL} y = Mul(x, Sigmoid(Conv(p, O, B)))",
    "divided by six": f"{POOL} s = Clip(Add(Conv(Relu(Conv(p, O)), O), 3.0), 0.0, 6.0) y = Mul(x, Div(s, 6.0))",
    "a sixth": f"{POOL} s = Clip(Add(Conv(Relu(Conv(p, O)), O), 3.0), 0.0, 6.0) y = Mul(x, Mul(s, 0.166667))",
    "over channels (eca)": f"{POOL} t = Transpose<perm = [0, 2, 1]>(Reshape(p, [2, 8, 1]))"
    " c = Conv<pads = [1, 1]>(t, N) y = Mul(x, Sigmoid(Reshape(Transpose<perm = [0, 2, 1]>(c), [2, 8, 1, 1])))",
    "over channels, sizes unknown": "u = custom.Strange(x)"
    " t = Transpose<perm = [0, 2, 1]>(Squeeze(GlobalAveragePool(u), [3]))"
    " y = Mul(u, Sigmoid(Unsqueeze(Transpose<perm = [0, 2, 1]>(Conv<pads = [1, 1]>(t, N)), [3])))",
}
MORE: dict[str, Value] = {**X, "N": (1, 1, 3)}


@pytest.mark.parametrize(("body", "norm", "act"), AFTER.values(), ids=AFTER)
def test_convolution_with_norm_and_activation_is_one_block(body: str, norm: str | None, act: str | None) -> None:
    net = build_net(body, **X)
    assert list_kinds(net) == ["conv-norm-act"]
    block = find_only(net, "conv-norm-act")
    assert (block.conv.norm, block.conv.activation, block.conv.kernel, block.out_features) == (norm, act, (3, 3), 8)


def test_leading_norms_belong_to_the_following_convolution() -> None:
    net = build_net(BEFORE, **X)
    assert list_kinds(net) == ["conv-norm-act", "Relu"]
    assert find_only(net, "conv-norm-act").conv.norm == "batch-norm"


@pytest.mark.parametrize("body", EXCITE.values(), ids=EXCITE)
def test_squeeze_and_excite(body: str) -> None:
    net = build_net(body, **MORE)
    assert [op for op in list_kinds(net) if op != "Strange"] == ["squeeze-excite"]
    assert list_residual_kinds(net) == []


def test_every_pattern_has_an_example() -> None:
    examples = [(body, X) for body, _, _ in AFTER.values()] + [(body, MORE) for body in EXCITE.values()]
    assert not find_unused_patterns(convolutions.RULES, [*examples, (BEFORE, X)])


@pytest.mark.parametrize(
    "body",
    [
        f"{POOL} y = Gemm(Relu(Gemm(Flatten(p), L, B)), L, B)",  # a head: no product
        f"{POOL} y = Mul(z, Sigmoid(Conv(Relu(Conv(p, O, B)), O, B)))",  # something else is multiplied
        "y = Mul(x, Sigmoid(Conv(x, O)))",  # a gate per position: no pooling
        "y = Mul(x, Sigmoid(x))",
        "y = Mul(x, GlobalAveragePool(x))",
        "f = Flatten(GlobalAveragePool(x)) g = Sigmoid(Gemm(f, L)) y = Mul(g, Tanh(Gemm(f, L)))",  # gates of a cell
    ],
)
def test_squeeze_excite_lookalikes_are_rejected(body: str) -> None:
    assert count_blocks(build_net(body, **X, z=(2, 8, 6, 6)), "squeeze-excite") == 0


def test_squeeze_excite_in_a_residual_is_matched() -> None:
    """Text detectors compute x + x·s."""
    net = build_net(EXCITE["mobile nets"].replace("y =", "e =") + " y = Add(x, e)", **X)
    assert list_kinds(net) == ["squeeze-excite", "Add"] and list_residual_kinds(net) == ["add"]


@pytest.mark.parametrize("act", ["{0}", "Relu({0})"])
def test_depthwise_convolution_and_a_pointwise_one_are_separable(act: str) -> None:
    body = f"d = {act.format('Conv<group = 8>(x, D)')} y = {act.format('Conv(d, O)')}"
    net = build_net(body, **{**X, "O": (12, 8, 1, 1)})
    assert list_kinds(net) == ["depthwise-separable"]
    block = find_only(net, "depthwise-separable")
    assert (block.in_features, block.out_features, block.conv.kernel) == (8, 12, (3, 3))


WIDER = "w = Relu(Conv(x, U)) d = Relu(Conv<group = 24, pads = [1, 1, 1, 1]>(w, F))"
MOBILE: dict[str, Value] = {
    "x": (2, 8, 6, 6),
    "U": (24, 8, 1, 1),
    "F": (24, 1, 3, 3),
    "N": (8, 24, 1, 1),
    "O": (24, 24, 1, 1),
}


def test_wider_depthwise_narrower_is_an_inverted_residual() -> None:
    net = build_net(f"{WIDER} y = Add(x, Conv(d, N))", **MOBILE)
    assert list_kinds(net) == ["inverted-residual", "Add"] and list_residual_kinds(net) == ["add"]
    block = find_only(net, "inverted-residual")
    assert (block.in_features, block.out_features) == (8, 8)


def test_inverted_residual_may_have_squeeze_excite() -> None:
    excite = "e = Mul(d, Sigmoid(Conv(Relu(Conv(GlobalAveragePool(d), O)), O)))"
    net = build_net(f"{WIDER} {excite} y = Conv(e, N)", **MOBILE)
    assert list_kinds(net) == ["inverted-residual"] and count_blocks(net, "squeeze-excite") == 1


def test_activation_at_the_end_makes_it_separable() -> None:
    net = build_net(f"{WIDER} y = Relu(Conv(d, N))", **MOBILE)
    assert list_kinds(net) == ["conv-norm-act", "depthwise-separable"]


def test_grouped_convolution_is_not_depthwise() -> None:
    net = build_net("y = Conv(Relu(Conv<group = 2>(x, D)), O)", **{**X, "D": (8, 4, 3, 3)})
    assert list_kinds(net) == ["conv-norm-act", "conv"]


def test_ops_read_elsewhere_stay_outside_the_block() -> None:
    net = build_net(f"{CONV} {BATCH} y = Add(Relu(n), c)", **X)
    assert count_blocks(net, "conv") == 1 and list_kinds(net)[0] == "conv"


def test_table_per_position_is_not_a_channel_scale() -> None:
    net = build_net(f"{CONV} y = Mul(c, T)", **X, T=np.ones((1, 8, 6, 6), np.float32))
    assert list_kinds(net) == ["conv", "Mul"]
