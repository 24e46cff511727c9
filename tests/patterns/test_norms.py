"""Norms: operators, decomposed forms, and similar computations that are not norms."""

import numpy as np
import pytest

from onnx_autodoc.patterns import norms
from tests.patterns._nets import Value, build_net, count_blocks, find_only, find_unused_patterns, list_kinds

X: dict[str, Value] = {"x": (2, 8, 16), "G": (16,), "B": (16,)}
MEAN = "m = ReduceMean(x, [-1])"
DIFFERENCE = f"{MEAN} d = Sub(x, m)"
VARIANCE = f"{DIFFERENCE} v = Add(ReduceMean(Pow(d, 2.0), [-1]), 1.0e-5)"
SQUARES = f"{MEAN} w = Sub(ReduceMean(Mul(x, x), [-1]), Mul(m, m))"

LAYER = {
    "torch": f"{VARIANCE} y = Add(Mul(Div(d, Sqrt(v)), G), B)",
    "paddle, constants first": f"{VARIANCE} y = Add(B, Mul(G, Div(d, Sqrt(v))))",
    "a product with the reciprocal": f"{VARIANCE} y = Add(Mul(Mul(d, Reciprocal(Sqrt(v))), G), B)",
    "one divided by the root": f"{VARIANCE} y = Mul(d, Div(1.0, Sqrt(v)))",
    "the root to the power of minus one": f"{VARIANCE} y = Mul(d, Pow(Sqrt(v), -1.0))",
    "the power of minus a half": f"{VARIANCE} y = Mul(d, Pow(v, -0.5))",
    "a clamped variance": f"{VARIANCE} y = Div(d, Sqrt(Max(v, 0.0)))",
    "the difference twice": f"{MEAN} v = ReduceMean(Pow(Sub(x, m), 2.0), [-1])"
    " y = Div(Sub(x, ReduceMean(x, [-1])), Sqrt(Add(v, 1.0e-5)))",
    "the difference twice, multiplied": f"{MEAN} v = ReduceMean(Pow(Sub(x, m), 2.0), [-1])"
    " y = Mul(Sub(x, m), Reciprocal(Sqrt(Add(v, 1.0e-5))))",
    "the scale into the root": f"{VARIANCE} y = Add(Mul(d, Mul(Reciprocal(Sqrt(v)), G)), B)",
    "tensorflow": f"{MEAN} v = ReduceMean(Pow(Sub(x, m), 2.0), [-1]) i = Mul(Reciprocal(Sqrt(Add(v, 0.001))), G)"
    " y = Add(Mul(x, i), Sub(B, Mul(m, i)))",
    "tensorflow without a scale": f"{MEAN} v = ReduceMean(Pow(Sub(x, m), 2.0), [-1])"
    " i = Reciprocal(Sqrt(Add(v, 0.001))) y = Sub(Mul(x, i), Mul(m, i))",
    "tensorflow, negated": f"{MEAN} v = ReduceMean(Pow(Sub(x, m), 2.0), [-1])"
    " i = Mul(Reciprocal(Sqrt(Add(v, 0.001))), G) y = Add(Mul(x, i), Add(Mul(Neg(m), i), B))",
    "the mean square less the squared mean": f"{SQUARES} y = Mul(Sub(x, m), Reciprocal(Sqrt(Add(w, 1.0e-6))))",
    "the same, clamped at zero": f"{SQUARES} y = Mul(Sub(x, m), Reciprocal(Sqrt(Add(Max(0.0, w), 1.0e-6))))",
    "jax": f"{SQUARES} y = Add(Mul(Sub(x, m), Mul(Reciprocal(Sqrt(Add(Max(0.0, w), 1.0e-6))), G)), B)",
    "jax without a clamp": f"{SQUARES} y = Mul(Sub(x, m), Mul(Reciprocal(Sqrt(Add(w, 1.0e-6))), G))",
    "jax, spread out": f"{SQUARES} y = Mul(Sub(x, m), Reciprocal(Sqrt(Add(Expand(w, [2, 8, 16]), 1.0e-6))))",
    "the mean square, divided": f"{SQUARES} y = Div(Sub(x, m), Sqrt(Add(w, 1.0e-6)))",
    "sums times a constant": "d = Sub(x, Mul(ReduceSum(x, [-1]), 0.0625))"
    " y = Div(d, Sqrt(Add(Mul(ReduceSum(Mul(d, d), [-1]), 0.0625), 1.0e-5)))",
    "sums divided by a constant": "d = Sub(x, Div(ReduceSum(x, [-1]), 16.0))"
    " y = Div(d, Sqrt(Add(Div(ReduceSum(Mul(d, d), [-1]), 16.0), 1.0e-5)))",
    "means spread out": "d = Sub(x, Expand(ReduceMean(x, [-1]), [2, 8, 16]))"
    " y = Div(d, Sqrt(Add(Expand(ReduceMean(Mul(d, d), [-1]), [2, 8, 16]), 1.0e-5)))",
}
PICTURE: dict[str, Value] = {"x": (2, 8, 4, 4), "G": (8, 1, 1), "B": (8, 1, 1)}
POOLED = "d = Sub(x, GlobalAveragePool(x)) y = Div(d, Sqrt(Add(GlobalAveragePool(Mul(d, d)), 1.0e-5)))"
RMS = {
    "torch": "y = Mul(G, Mul(x, Div(1.0, Sqrt(Add(ReduceMean(Pow(x, 2.0), [-1]), 1.0e-6)))))",
    "divided": "y = Mul(Div(x, Sqrt(Add(ReduceMean(Mul(x, x), [-1]), 1.0e-6))), G)",
    "the scale into the root": "y = Mul(x, Mul(Reciprocal(Sqrt(Add(ReduceMean(Mul(x, x), [-1]), 1.0e-6))), G))",
    "without a scale": "y = Mul(x, Pow(Add(ReduceMean(Mul(x, x), [-1]), 1.0e-6), -0.5))",
}
IMAGE: dict[str, Value] = {"x": (2, 8, 4, 4), "S": (4,), "Z": (4,), "G": (8, 1, 1), "B": (8, 1, 1)}
GROUPED = "r = InstanceNormalization(Reshape(x, [0, 4, -1]), S, Z) n = Reshape(r, [2, 8, 4, 4])"
GROUP = {
    "torch": f"{GROUPED} y = Add(Mul(n, G), B)",
    "without scale and shift": f"{GROUPED} y = Identity(n)",
    "with a scale alone": f"{GROUPED} y = Mul(n, G)",
    "with a shift alone": f"{GROUPED} y = Add(n, B)",
}
WIDE: dict[str, Value] = {**IMAGE, "S": (8,), "Z": (8,), "U": (8,), "V": (8,)}
BATCH = "n = BatchNormalization(x, S, Z, U, V)"
OTHERS = {
    "group-norm": "y = Add(Mul(InstanceNormalization(x, S, Z), G), B)",  # as many groups as channels
    "instance-norm": "y = InstanceNormalization(x, S, Z)",
    "batch-norm": f"{BATCH} y = Add(Mul(n, G), B)",  # the form of caffe2
}


@pytest.mark.parametrize("body", LAYER.values(), ids=LAYER)
def test_decomposed_layer_norm_is_one_block(body: str) -> None:
    assert list_kinds(build_net(body, **X)) == ["layer-norm"]


def test_pool_may_compute_the_mean() -> None:
    """Optimizers replace ReduceMean over the positions of an image by a pool."""
    assert list_kinds(build_net(POOLED, **PICTURE)) == ["layer-norm"]
    assert list_kinds(build_net("y = Mul(x, Sigmoid(GlobalAveragePool(x)))", **PICTURE))[0] == "GlobalAveragePool"


@pytest.mark.parametrize("body", RMS.values(), ids=RMS)
def test_decomposed_rms_norm_is_one_block(body: str) -> None:
    assert list_kinds(build_net(body, **X)) == ["rms-norm"]


@pytest.mark.parametrize("body", GROUP.values(), ids=GROUP)
def test_instance_norm_over_groups_is_a_group_norm(body: str) -> None:
    net = build_net(body, **IMAGE)
    assert list_kinds(net) == ["group-norm"]
    assert find_only(net, "group-norm").parts


@pytest.mark.parametrize(("kind", "body"), OTHERS.items(), ids=OTHERS)
def test_other_norms(kind: str, body: str) -> None:
    assert list_kinds(build_net(body, **WIDE)) == [kind]


def test_every_pattern_has_an_example() -> None:
    examples = [(body, X) for body in (*LAYER.values(), *RMS.values())]
    examples += [(body, IMAGE) for body in GROUP.values()] + [(body, WIDE) for body in OTHERS.values()]
    assert not find_unused_patterns(norms.RULES, [*examples, (POOLED, PICTURE)])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("y = LayerNormalization(x, G, B)", "layer-norm"),
        ("y = RMSNormalization(x, G)", "rms-norm"),
        ("y = SimplifiedLayerNormalization(x, G)", "rms-norm"),
        ("y = com.microsoft.SkipLayerNormalization(x, z, G, B)", "layer-norm"),
        ("y = com.microsoft.SkipSimplifiedLayerNormalization(x, z, G)", "rms-norm"),
    ],
)
def test_operator_is_the_same_norm(body: str, kind: str) -> None:
    net = build_net(body, **X, z=(2, 8, 16), opset=23, invalid="Simplified" in body)
    assert count_blocks(net, kind) == 1


def test_casts_and_rounded_constants_change_nothing() -> None:
    """fp16 exports compute norms in fp32, with an epsilon that is representable in fp16."""
    body = "c = Cast<to = 1>(x) m = ReduceMean(c, [-1]) d = Sub(c, m) v = ReduceMean(Pow(d, 2.0), [-1])"
    body += " n = Cast<to = 10>(Div(d, Sqrt(Add(v, 5.96e-8)))) y = Add(Mul(n, G), B)"
    half = np.ones(16, np.float16)
    assert list_kinds(build_net(body, x="float16[2,8,16]", G=half, B=half)) == ["layer-norm"]


def test_quantizers_in_between_are_ignored() -> None:
    pair = "DequantizeLinear(QuantizeLinear({}, 0.02), 0.02)"
    body = f"{VARIANCE} n = {pair.format('Div(d, Sqrt(v))')} y = {pair.format('Add(Mul(n, G), B)')}"
    assert list_kinds(build_net(body, **X)) == ["layer-norm"]


@pytest.mark.parametrize(
    "body",
    [
        "y = Sqrt(Add(Pow(x, 2.0), Pow(z, 2.0)))",  # the magnitude of a spectrum
        "y = Sqrt(ReduceSum(Mul(x, x), [-1]))",
        "low = ReduceMin(x, [-1]) s = Sub(x, low) y = Div(s, ReduceMax(s, [-1]))",  # min-max scaling
        "y = Sub(x, ReduceMean(x, [-1]))",
        f"{DIFFERENCE} y = Sqrt(Add(ReduceMean(Mul(d, d), [-1]), 1.0e-5))",  # a standard deviation, without a division
        f"{DIFFERENCE} y = Div(d, Sqrt(Add(ReduceMean(Mul(d, d), [-1]), 0.5)))",  # 0.5 is no epsilon
        f"{DIFFERENCE} y = Div(z, Sqrt(Add(ReduceMean(Mul(d, d), [-1]), 1.0e-5)))",  # another value is divided
        "y = LRN<size = 5>(x)",
    ],
)
def test_lookalikes_are_not_norms(body: str) -> None:
    net = build_net(body, x=(2, 8, 16), z=(2, 8, 16))
    assert not any(count_blocks(net, kind) for kind in ("layer-norm", "rms-norm", "group-norm", "batch-norm"))


def test_affine_ops_alone_are_not_a_norm() -> None:
    """A folded batch norm, or a learned scale of a MobileNet."""
    assert list_kinds(build_net("y = Add(Mul(x, G), B)", **IMAGE)) == ["Mul", "Add"]


def test_norm_has_one_scale() -> None:
    """The second product stays outside the block."""
    net = build_net(f"{VARIANCE} y = Mul(Mul(Div(d, Sqrt(v)), G), H)", **X, H=(16,))
    assert list_kinds(net) == ["layer-norm", "Mul"]


def test_table_of_two_axes_is_not_a_scale() -> None:
    """It may be a rotation by positions, or a mask."""
    net = build_net("y = Mul(LayerNormalization(x, G), T)", **X, T=(8, 16))
    assert list_kinds(net) == ["layer-norm", "Mul"]


def test_norm_with_two_scales_is_one_block() -> None:
    net = build_net(f"{VARIANCE} n = Div(d, Sqrt(v)) a = Mul(n, G) b = Mul(n, B) y = Concat<axis = -1>(a, b)", **X)
    assert count_blocks(net, "layer-norm") == 1 and list_kinds(net) == ["layer-norm", "Mul", "Mul", "Concat"]


def test_sum_inside_fused_norm_is_a_residual() -> None:
    """The fourth output of a skip norm is the sum, which the next layer reads."""
    body = "n, m, i, s = com.microsoft.SkipLayerNormalization(x, MatMul(x, W), G, B) y = Add(MatMul(n, W), s)"
    net = build_net(body, **X, W=(16, 16), invalid=True)
    assert [op.residual_kind for op in net.of("Add")] == ["add", "add"]
