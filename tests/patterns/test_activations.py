"""Activations: operators, decomposed forms, and gates that are not activations."""

import numpy as np
import pytest

from onnx_autodoc.patterns import activations
from tests.patterns._nets import build_net, count_blocks, find_unused_patterns, list_kinds, list_residual_kinds

X = {"x": (2, 8, 16), "z": (2, 8, 1)}
THIRD = "c = Add(x, Mul(Pow(x, 3.0), 0.044715))"
ERF = "e = Add(Erf(Div(x, 1.41421)), 1.0)"
TANH = f"{THIRD} e = Add(Tanh(Mul(c, 0.797885)), 1.0)"
SIX = "s = Clip(Add(x, 3.0), 0.0, 6.0)"

FORMS: dict[str, dict[str, str]] = {
    "silu": {
        "torch": "y = Mul(x, Sigmoid(x))",
        "the other way round": "y = Mul(Sigmoid(x), x)",
        "paddle": "y = Mul(x, Sigmoid(Mul(x, 1.0)))",
        "by the exponential": "y = Div(x, Add(Exp(Neg(x)), 1.0))",
    },
    "gelu": {
        "torch, erf": f"{ERF} y = Mul(Mul(x, e), 0.5)",
        "dynamo, erf": f"{ERF} y = Mul(x, Mul(0.5, e))",
        "half of x first": f"{ERF} y = Mul(Mul(x, 0.5), e)",
        "half of x by division": f"{ERF} y = Mul(Div(x, 2.0), e)",
        "halved at the end": f"{ERF} y = Div(Mul(x, e), 2.0)",
        "times the inverse root": "y = Mul(Mul(x, Add(Erf(Mul(x, 0.707107)), 1.0)), 0.5)",
        "jax, erfc": "y = Mul(Mul(x, 0.5), custom.Erfc(Mul(Neg(x), 0.707107)))",
        "the root of two in fp16": "y = Mul(Mul(x, Add(Erf(Div(x, 1.4140625)), 1.0)), 0.5)",
        "quick": "y = Mul(x, Sigmoid(Mul(x, 1.702)))",
        "torch, tanh": f"{TANH} y = Mul(Mul(x, 0.5), e)",
        "tanh, the cube of two products": "c = Add(x, Mul(Mul(x, Mul(x, x)), 0.044715))"
        " y = Mul(Mul(x, 0.5), Add(Tanh(Mul(c, 0.797885)), 1.0))",
        "tanh, tensorflow": "c = Add(x, Mul(x, Mul(x, Mul(0.044715, x))))"
        " y = Mul(x, Mul(0.5, Add(1.0, Tanh(Mul(0.797885, c)))))",
        "tanh, x taken out": "c = Mul(Add(Mul(Mul(x, x), 0.044715), 1.0), 0.797885)"
        " y = Mul(Mul(x, 0.5), Add(Tanh(Mul(x, c)), 1.0))",
        "tanh, x taken out and scaled": "c = Mul(Mul(x, 0.797885), Add(Mul(Mul(x, x), 0.044715), 1.0))"
        " y = Mul(Mul(x, 0.5), Add(Tanh(c), 1.0))",
        "tanh, scaled at the end": "c = Mul(x, Add(Mul(Mul(x, x), 0.044715), 1.0))"
        " y = Mul(Mul(x, 0.5), Add(Tanh(Mul(c, 0.797885)), 1.0))",
        "tanh, gpt-2": "c = Mul(Mul(x, 0.797885), Add(Mul(x, Mul(x, 0.044715)), 1.0))"
        " y = Mul(Mul(x, 0.5), Add(Tanh(c), 1.0))",
        "tanh, constants folded": "c = Mul(x, Add(Mul(Mul(x, x), 0.0356774), 0.797885))"
        " y = Mul(Mul(x, 0.5), Add(Tanh(c), 1.0))",
    },
    "hard-swish": {
        "paddle": f"{SIX} y = Div(Mul(x, s), 6.0)",
        "times a sixth": f"{SIX} y = Mul(Mul(x, s), 0.166667)",
        "divided inside": f"{SIX} y = Mul(x, Div(s, 6.0))",
        "a sixth inside": f"{SIX} y = Mul(x, Mul(s, 0.166667))",
        "x divided first": f"{SIX} y = Mul(Div(x, 6.0), s)",
        "a sixth of x": f"{SIX} y = Mul(Mul(x, 0.166667), s)",
        "bounds by max, then min": "s = Min(Max(Add(x, 3.0), 0.0), 6.0) y = Div(Mul(x, s), 6.0)",
        "bounds by min, then max": "s = Max(Min(Add(x, 3.0), 6.0), 0.0) y = Div(Mul(x, s), 6.0)",
        "by a hard sigmoid": "y = Mul(x, HardSigmoid<alpha = 0.16666667, beta = 0.5>(x))",
    },
    "mish": {
        "torch": "y = Mul(x, Tanh(Softplus(x)))",
        "softplus written out": "y = Mul(x, Tanh(Log(Add(Exp(x), 1.0))))",
        "softplus with a threshold": "y = Mul(x, Tanh(Where(Greater(x, 20.0), x, Softplus(x))))",
    },
    "softmax": {
        "operator": "y = Softmax(x)",
        "written out": "e = Exp(Sub(x, ReduceMax(x, [-1]))) y = Div(e, ReduceSum(e, [-1]))",
        "jax": "e = Exp(Sub(x, Max(-65504.0, ReduceMax(x, [-1])))) y = Div(e, ReduceSum(e, [-1]))",
        "less something else": "e = Exp(Sub(x, Identity(z))) y = Div(e, ReduceSum(e, [-1]))",
    },
}
CASES = [pytest.param(kind, body, id=f"{kind}, {name}") for kind, each in FORMS.items() for name, body in each.items()]


@pytest.mark.parametrize(("kind", "body"), CASES)
def test_decomposed_activation_is_one_block(kind: str, body: str) -> None:
    net = build_net(body, **X)
    assert list_kinds(net) == [kind]


def test_every_pattern_has_an_example() -> None:
    assert not find_unused_patterns(activations.RULES, [(body, X) for each in FORMS.values() for body in each.values()])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("y = Gelu(x)", "gelu"),
        ("y = com.microsoft.Gelu(x)", "gelu"),
        ("y = com.microsoft.BiasGelu(x, B)", "gelu"),
        ("y = com.microsoft.FastGelu(x, B)", "gelu"),
        ("y = com.microsoft.QuickGelu(x)", "gelu"),
        ("y = com.microsoft.QuickGelu<alpha = 1.0>(x)", "silu"),
        ("y = HardSwish(x)", "hard-swish"),
        ("y = Mish(x)", "mish"),
        ("y = Swish(x)", "silu"),
        ("y = com.microsoft.QLinearSoftmax<axis = -1, opset = 13>(x, 0.1, Z, 0.1, Z)", "softmax"),
    ],
)
def test_activation_operator_is_the_same_block(body: str, kind: str) -> None:
    quantized = "QLinear" in body
    net = build_net(body, x="uint8[2,16]" if quantized else (2, 16), B=(16,), Z=np.array(0, np.uint8), opset=24)
    assert count_blocks(net, kind) == 1


def test_casts_in_between_are_ignored() -> None:
    body = "c = Cast<to = 1>(x) y = Cast<to = 10>(Mul(c, Cast<to = 1>(Cast<to = 10>(Sigmoid(c)))))"
    assert list_kinds(build_net(body, x="float16[2,16]")) == ["silu"]


def test_quantizers_in_between_are_ignored() -> None:
    pair = "DequantizeLinear(QuantizeLinear({}, 0.02), 0.02)"
    body = f"s = {pair.format('Sigmoid(x)')} y = {pair.format('Mul(x, s)')}"
    assert list_kinds(build_net(body, x=(2, 16))) == ["silu"]


@pytest.mark.parametrize(
    "body",
    [
        "y = Mul(z, Sigmoid(x))",
        "y = Mul(x, Sigmoid(MatMul(x, W)))",
        "y = Mul(MatMul(x, W), Sigmoid(MatMul(x, V)))",
        "y = Mul(x, Sigmoid(Mul(x, 3.0)))",
        "y = Mul(x, Sigmoid(Add(x, 1.0)))",
    ],
)
def test_gate_is_not_a_silu(body: str) -> None:
    net = build_net(body, x=(2, 16), z=(2, 16), W=(16, 16), V=(16, 16))
    assert count_blocks(net, "silu") == count_blocks(net, "gelu") == 0


def test_silu_beside_a_gate_is_matched() -> None:
    """z = w·σ(Wx) is a gate; x·σ(x) is silu and never a gate."""
    net = build_net("s = Mul(x, Sigmoid(x)) y = Mul(s, Sigmoid(MatMul(s, W)))", x=(2, 16), W=(16, 16))
    assert count_blocks(net, "silu") == 1
    assert list_residual_kinds(net) == ["gate"]


def test_clip_bounds_in_attributes_are_read() -> None:
    body = "s = Clip<min = 0.0, max = {}>(Add(x, 3.0)) y = Div(Mul(x, s), 6.0)"
    assert list_kinds(build_net(body.format("6.0"), **X, opset=10)) == ["hard-swish"]
    assert count_blocks(build_net(body.format("1.0"), **X, opset=10), "hard-swish") == 0


@pytest.mark.parametrize(("alpha", "count"), [("0.16666667", 1), ("0.2", 0)])
def test_hard_swish_requires_slope_one_sixth(alpha: str, count: int) -> None:
    assert (
        count_blocks(build_net(f"y = Mul(x, HardSigmoid<alpha = {alpha}, beta = 0.5>(x))", **X), "hard-swish") == count
    )


def test_hard_sigmoid_default_slope_is_one_fifth() -> None:
    assert count_blocks(build_net("y = Mul(x, HardSigmoid(x))", **X), "hard-swish") == 0


@pytest.mark.parametrize(
    "body",
    [
        "y = Mul(Mul(x, Add(Erf(Div(x, 1.41421)), 1.0)), 0.7)",
        "y = Mul(Mul(x, Add(Erf(Div(x, 2.0)), 1.0)), 0.5)",
        "y = Mul(Mul(z, Add(Erf(Div(x, 1.41421)), 1.0)), 0.5)",
        "y = Div(Mul(z, Clip(Add(x, 3.0), 0.0, 6.0)), 6.0)",
        "y = Div(Mul(x, Clip(Add(x, 3.0), 0.0, 1.0)), 6.0)",  # another bound
        "y = Div(Exp(Sub(x, 1.0)), ReduceSum(Exp(z), [-1]))",
        "y = Mul(x, Tanh(x))",
    ],
)
def test_other_functions_are_not_activations(body: str) -> None:
    net = build_net(body, **X)
    assert not any(count_blocks(net, kind) for kind in FORMS)


def test_shared_sigmoid_stays_outside_the_block() -> None:
    net = build_net("s = Sigmoid(x) a = Mul(x, s) y = Concat<axis = -1>(a, s)", x=(2, 16))
    assert list_kinds(net) == ["Sigmoid", "silu", "Concat"]
