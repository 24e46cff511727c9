"""Mixtures of experts: a router with TopK inside a residual, and other uses of TopK."""

import numpy as np
import pytest

from tests.patterns._nets import Value, build_net, count_blocks, find_only, list_kinds, list_residual_kinds

X: dict[str, Value] = {"x": (6, 16), "R": (16, 4), "G": (16,), "U": (16, 64), "D": (64, 16)}
X |= {"E": (4, 16, 64), "F": (4, 64, 16), "K": (16, 10)}
ROUTER = "n = LayerNormalization(x, G) l = MatMul(n, R) w, i = TopK(Softmax(l), [2])"
# every expert for every token, weighted by the router
DENSE = """h = MatMul(Relu(MatMul(Unsqueeze(n, [0]), E)), F)
    g = ScatterElements<axis = 1>(Mul(l, 0.0), i, w) m = Mul(h, Unsqueeze(Transpose(g), [2]))
    y = Add(x, ReduceSum<keepdims = 0>(m, [0]))"""
ONE = "h = MatMul(Relu(MatMul(n, U)), D) y = Add(x, Mul(h, ReduceSum(w, [-1])))"


@pytest.mark.parametrize("body", [f"{ROUTER} {DENSE}", f"{ROUTER} {ONE}"], ids=["all of them", "one of them"])
def test_routed_topk_in_a_residual_is_moe(body: str) -> None:
    net = build_net(body, **X)
    block = find_only(net, "moe")
    assert (block.experts.experts, block.experts.experts_per_token) == (4, 2)
    assert list_kinds(net) == ["layer-norm", "moe", "Add"]
    assert list_residual_kinds(net) == ["add"]


def test_topk_before_softmax_is_moe() -> None:
    body = "n = LayerNormalization(x, G) t, i = TopK(MatMul(n, R), [2]) w = Softmax(t)"
    block = find_only(build_net(f"{body} {ONE}", **X), "moe")
    assert (block.experts.experts, block.experts.experts_per_token) == (4, 2)


@pytest.mark.parametrize("op", ["MoE", "QMoE"])
def test_moe_operator_is_moe(op: str) -> None:
    packed = {"E": np.ones((4, 64, 16), np.uint8), "F": np.ones((4, 16, 64), np.uint8)} if op == "QMoE" else {}
    inputs = "x, MatMul(x, R), E, S, , F, T" if packed else "x, MatMul(x, R), E, , F"
    net = build_net(f"y = com.microsoft.{op}<k = 2>({inputs})", **{**X, **packed}, S=(4, 64), T=(4, 16), invalid=True)
    assert count_blocks(net, "moe") == 1


@pytest.mark.parametrize(
    "body",
    [
        "v, y = TopK(MatMul(x, K), [3])",  # the best classes are an output
        "v, i = TopK(MatMul(x, K), [3]) y = Softmax(v)",
        # scores without weights
        "v, i = TopK(x, [3]) y = Add(x, Mul(MatMul(Relu(MatMul(x, U)), D), ReduceSum(v, [-1])))",
        "y = Add(x, MatMul(Relu(MatMul(x, U)), D))",
        "h = Add(x, MatMul(Relu(MatMul(x, U)), D)) v, y = TopK(MatMul(h, K), [3])",  # after the residual
    ],
)
def test_other_topks_are_not_moe(body: str) -> None:
    net = build_net(body, **X)
    assert count_blocks(net, "moe") == 0 and count_blocks(net, "linear") + count_blocks(net, "mlp") > 0


def test_each_layer_has_its_own_moe() -> None:
    second = f"{ROUTER} {ONE}".replace("(x,", "(y,").replace(" x,", " y,")
    for name in "nlwih":
        second = second.replace(f"{name} =", f"{name}2 =").replace(f"{name}, i =", f"{name}2, i =")
        second = second.replace(f"({name},", f"({name}2,").replace(f"({name})", f"({name}2)")
    body = f"{ROUTER} {ONE} {second.replace('y =', 'last =').replace('w, i2', 'w2, i2')}"
    net = build_net(body, outputs="last", **X)
    assert count_blocks(net, "moe") == 2 and list_residual_kinds(net) == ["add", "add"]
