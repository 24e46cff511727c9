"""Attention: the forms of exporters, heads, masks, and softmaxes that are not attention."""

import numpy as np
import pytest

from tests.patterns._attention import END, HEADS, PLAIN, SCORES, SPLIT, W, attention_sizes, build_attention, fill_sizes
from tests.patterns._nets import Value, build_net, count_blocks, find_only, list_kinds, list_residual_kinds

SELF = {
    "A, the scale after the product": PLAIN,
    "A, divided": f"{HEADS} s = Div(MatMul(q, k), 2.828427) p = Softmax(s) {END}",
    "A, no scale": f"{HEADS} p = Softmax(MatMul(q, k)) {END}",
    "A, dropout and casts": f"{HEADS} {SCORES} p = Dropout(Cast<to = 1>(Cast<to = 10>(Softmax(s)))) {END}",
    "C, the scale before the product": f"{HEADS} p = Softmax(Mul(MatMul(Mul(q, 0.35355), k), 1.0)) {END}",
    "C, a scale on either side": f"{HEADS} p = Softmax(MatMul(Mul(q, 0.5946), Mul(k, 0.5946))) {END}",
    "C, the scale on the projection": HEADS.replace("Reshape(Add(MatMul(x, Q), C)", "Reshape(Mul(MatMul(x, Q), 0.3535)")
    + f"p = Softmax(MatMul(q, k)) {END}",
    "decomposed softmax": f"{HEADS} {SCORES} e = Exp(Sub(s, ReduceMax(s, [-1]))) p = Div(e, ReduceSum(e, [-1])) {END}",
    "soft-capped scores": f"{HEADS} {SCORES} p = Softmax(Mul(Tanh(Div(s, 50.0)), 50.0)) {END}",
    "quantizers around": f"""{HEADS} {SCORES}
        n = Softmax(DequantizeLinear(QuantizeLinear(s, 0.1), 0.1))
        p = DequantizeLinear(QuantizeLinear(n, 0.01), 0.01) {END}""",
    "fully masked rows": f"{HEADS} {SCORES} n = Softmax(s) p = Where(IsNaN(n), 0.0, n) {END}",
    "E, heads in the batch": f"""{HEADS}
        a = Reshape(q, [-1, {{s}}, 8]) c = Reshape(k, [-1, 8, {{s}}]) w = Reshape(v, [-1, {{s}}, 8])
        o = Reshape(MatMul(Softmax(MatMul(a, c)), w), [{{b}}, 4, {{s}}, 8])
        y = MatMul(Reshape(Transpose<perm = [0, 2, 1, 3]>(o), [{{b}}, {{s}}, 32]), O)""",
    "einsum": f"""q = Reshape(MatMul(x, Q), {SPLIT}) k = Reshape(MatMul(x, K), {SPLIT})
        v = Reshape(MatMul(x, V), {SPLIT})
        p = Softmax(Einsum<equation = "bqhd,bkhd->bhqk">(q, k))
        y = MatMul(Reshape(Einsum<equation = "bhqk,bkhd->bqhd">(p, v), [{{b}}, {{s}}, 32]), O)""",
}
PACKED = {
    "B, split": f"""a, c, e = Split<axis = -1, num_outputs = 3>(MatMul(x, P))
        q = Transpose<perm = [0, 2, 1, 3]>(Reshape(a, {SPLIT})) k = Transpose<perm = [0, 2, 3, 1]>(Reshape(c, {SPLIT}))
        v = Transpose<perm = [0, 2, 1, 3]>(Reshape(e, {SPLIT})) p = Softmax(MatMul(q, k)) {END}""",
    "B, gathered": f"""r = Transpose<perm = [2, 0, 3, 1, 4]>(Reshape(MatMul(x, P), [{{b}}, {{s}}, 3, 4, 8]))
        q = Gather(r, 0) k = Transpose<perm = [0, 1, 3, 2]>(Gather(r, 1)) v = Gather(r, 2)
        p = Softmax(MatMul(Mul(q, 0.35355), k)) {END}""",
    "B, sliced": f"""r = Transpose<perm = [2, 0, 3, 1, 4]>(Reshape(MatMul(x, P), [{{b}}, {{s}}, 3, 4, 8]))
        q = Squeeze(Slice(r, [0], [1], [0]), [0]) k = Squeeze(Slice(r, [1], [2], [0]), [0])
        v = Squeeze(Slice(r, [2], [3], [0]), [0]) p = Softmax(MatMul(q, Transpose<perm = [0, 1, 3, 2]>(k))) {END}""",
}


@pytest.mark.parametrize(("batch", "places"), [(1, 6), (4, 6), (1, 1), (4, 1)])
@pytest.mark.parametrize("body", SELF.values(), ids=SELF)
def test_attention_with_its_projections_is_one_block(body: str, batch: int, places: int) -> None:
    net = build_attention(body, batch, places)
    assert list_kinds(net) == ["attention"]
    attention = find_only(net, "attention")
    assert attention_sizes(attention) == (4, 4, 8)
    assert (attention.attention.cross, attention.out_features, attention.attention.causal) == (False, 32, None)
    assert count_blocks(net, "linear") == 4


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("body", PACKED.values(), ids=PACKED)
def test_packed_projection_computes_queries_keys_and_values(body: str, batch: int) -> None:
    net = build_attention(body, batch, P=(32, 96))
    assert list_kinds(net) == ["attention"]
    assert attention_sizes(find_only(net, "attention")) == (4, 4, 8)
    assert count_blocks(net, "linear") == 2


FEW = "[{b}, {s}, 2, 8]"
REPEATED = f"""
    q = Transpose<perm = [0, 2, 1, 3]>(Reshape(MatMul(x, Q), {SPLIT}))
    a = Transpose<perm = [0, 2, 1, 3]>(Reshape(MatMul(x, K), {FEW}))
    c = Transpose<perm = [0, 2, 1, 3]>(Reshape(MatMul(x, V), {FEW}))
    k = Reshape(Expand(Unsqueeze(a, [2]), [{{b}}, 2, 2, {{s}}, 8]), [{{b}}, 4, {{s}}, 8])
    v = Reshape(Expand(Unsqueeze(c, [2]), [{{b}}, 2, 2, {{s}}, 8]), [{{b}}, 4, {{s}}, 8])
    p = Softmax(MatMul(q, Transpose<perm = [0, 1, 3, 2]>(k))) {END}
"""


@pytest.mark.parametrize("batch", [1, 4])
def test_grouped_query_attention_has_fewer_kv_heads(batch: int) -> None:
    net = build_attention(REPEATED, batch, K=(32, 16), V=(32, 16))
    assert list_kinds(net) == ["attention"]
    assert attention_sizes(find_only(net, "attention")) == (4, 2, 8)


@pytest.mark.parametrize("batch", [1, 4])
def test_multi_query_attention_has_one_kv_head(batch: int) -> None:
    body = f"""q = Transpose<perm = [0, 2, 1, 3]>(Reshape(MatMul(x, Q), {SPLIT}))
        k = Transpose<perm = [0, 2, 3, 1]>(Reshape(MatMul(x, K), [{{b}}, {{s}}, 1, 8]))
        v = Transpose<perm = [0, 2, 1, 3]>(Reshape(MatMul(x, V), [{{b}}, {{s}}, 1, 8]))
        p = Softmax(MatMul(q, k)) {END}"""
    assert attention_sizes(find_only(build_attention(body, batch, K=(32, 8), V=(32, 8)), "attention")) == (4, 1, 8)


def test_packed_grouped_query_projection_yields_both_head_counts() -> None:
    body = f"""a, c, e = Split<axis = -1>(MatMul(x, P), [32, 16, 16])
        q = Transpose<perm = [0, 2, 1, 3]>(Reshape(a, {SPLIT}))
        k = Transpose<perm = [0, 2, 1, 3]>(Reshape(c, {FEW})) v = Transpose<perm = [0, 2, 1, 3]>(Reshape(e, {FEW}))
        l = Reshape(Expand(Unsqueeze(k, [2]), [{{b}}, 2, 2, {{s}}, 8]), [{{b}}, 4, {{s}}, 8])
        w = Reshape(Expand(Unsqueeze(v, [2]), [{{b}}, 2, 2, {{s}}, 8]), [{{b}}, 4, {{s}}, 8])
        p = Softmax(MatMul(q, Transpose<perm = [0, 1, 3, 2]>(l))) {END.replace("v)", "w)")}"""
    assert attention_sizes(find_only(build_attention(body, P=(32, 64)), "attention")) == (4, 2, 8)


def test_decoder_with_rotary_embedding_and_cache_is_one_block() -> None:
    """Form D: RoPE, a concatenated cache, and two casts after the softmax."""
    turned = "Concat<axis = -1>(Neg(Slice({0}, [4], [8], [3])), Slice({0}, [0], [4], [3]))"
    body = HEADS.replace("0, 2, 3, 1", "0, 2, 1, 3")
    body += f"rq = Add(Mul(q, R), Mul({turned.format('q')}, I)) rk = Add(Mul(k, R), Mul({turned.format('k')}, I))"
    body += (
        "ak = Concat<axis = 2>(pk, rk) av = Concat<axis = 2>(pv, v) s = MatMul(rq, Transpose<perm = [0, 1, 3, 2]>(ak))"
    )
    body += f"p = Cast<to = 1>(Cast<to = 1>(Softmax(s))) {END.replace('v)', 'av)')}"
    net = build_net(
        fill_sizes(body),
        outputs="y, ak, av",
        x=(1, 6, 32),
        pk=(1, 4, 9, 8),
        pv=(1, 4, 9, 8),
        **W,
        R=(1, 1, 6, 8),
        I=(1, 1, 6, 8),
    )
    assert list_kinds(net) == ["attention"]
    assert attention_sizes(find_only(net, "attention")) == (4, 4, 8)
    assert find_only(net, "attention").attention.rotary is True
    assert list_residual_kinds(net) == []
    assert {net.outputs["ak"], net.outputs["av"]} <= set(find_only(net, "attention").outputs)


def test_single_head_needs_no_reshape() -> None:
    body = "p = Softmax(Mul(MatMul(MatMul(x, Q), Transpose<perm = [0, 2, 1]>(MatMul(x, K))), 0.1767))"
    net = build_attention(f"{body} y = MatMul(MatMul(p, MatMul(x, V)), O)")
    assert list_kinds(net) == ["attention"] and attention_sizes(find_only(net, "attention")) == (1, 1, 32)


def test_additive_attention_is_matched() -> None:
    body = "h = Tanh(Add(MatMul(f, K), Unsqueeze(MatMul(g, Q), [1]))) p = Softmax<axis = 1>(MatMul(h, S))"
    body += " y = MatMul(Transpose<perm = [0, 2, 1]>(p), f)"
    net = build_net(body, f=(1, 6, 32), g=(1, 16), K=(32, 24), Q=(16, 24), S=(24, 1))
    assert find_only(net, "attention").attention.form == "additive"


def test_learned_queries_are_attention() -> None:
    """A resampler: three learned queries for every input."""
    body = HEADS.replace("\n    q =", "\n    unread =") + "p = Softmax(MatMul(L, k))"
    body += "y = MatMul(Reshape(Transpose<perm = [0, 2, 1, 3]>(MatMul(p, v)), [{b}, 3, 32]), O)"
    for batch in (1, 4):
        attention = find_only(build_attention(body, batch, L=(1, 4, 3, 8)), "attention")
        assert (attention.attention.heads, attention.attention.head_dim) == (4, 8)


@pytest.mark.parametrize("kernel", ["Relu", "Elu"])
def test_linear_attention_is_matched_without_softmax(kernel: str) -> None:
    body = HEADS + f"y0 = MatMul({kernel}(q), MatMul({kernel}(k), v))"
    net = build_attention(f"{body} y = MatMul(Reshape(Transpose<perm = [0, 2, 1, 3]>(y0), [{{b}}, {{s}}, 32]), O)")
    assert count_blocks(net, "attention") == 1
    assert find_only(net, "attention").attention.form == "linear"
    assert find_only(net, "attention").attention.heads == 4


def test_keys_of_another_source_make_cross_attention() -> None:
    crossed = HEADS.replace("MatMul(x, K)", "MatMul(z, K)").replace("MatMul(x, V)", "MatMul(z, V)")
    queries, *others = crossed.split("k =")
    body = queries + "k =" + "".join(others).replace("{s}", "9")
    net = build_attention(f"{body} {SCORES} p = Softmax(s) {END}", z=(1, 9, 32))
    assert find_only(net, "attention").attention.cross is True
    assert attention_sizes(find_only(net, "attention")) == (4, 4, 8)


def test_two_layers_have_two_attention_blocks() -> None:
    second = PLAIN.replace("x,", "h,")
    for name in "qkvspy":
        second = (
            second.replace(f"{name} =", f"{name}2 =")
            .replace(f"({name},", f"({name}2,")
            .replace(f" {name})", f" {name}2)")
        )
        second = second.replace(f"({name})", f"({name}2)")
    net = build_net(fill_sizes(PLAIN.replace("y =", "h =") + second.replace("y2 =", "y =")), x=(1, 6, 32), **W)
    assert list_kinds(net) == ["attention", "attention"]


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("y = Softmax(MatMul(x, Q))", {}),  # a head
        ("y = Mul(x, Softmax(MatMul(x, Q)))", {}),  # a gate over features
        ("y = MatMul(Softmax(MatMul(x, Q)), K)", {}),  # a mean of constant values
        ("y = MatMul(Softmax(x), x)", {"x": (32, 32)}),  # no QKᵀ product
        # the distribution head of a detector (DFL)
        (
            "y = Conv(Softmax<axis = 1>(Transpose<perm = [0, 2, 1, 3]>(Reshape(Conv(x, D), [1, 4, 16, 36]))), F)",
            {"x": (1, 32, 6, 6), "D": (64, 32, 1, 1), "F": (1, 16, 1, 1)},
        ),
        ("y = MatMul(x, Transpose<perm = [0, 2, 1]>(x))", {}),  # a similarity matrix
    ],
)
def test_other_softmaxes_are_not_attention(body: str, values: dict[str, Value]) -> None:
    net = build_net(body, **{"x": (1, 6, 32), **W, **values})
    assert count_blocks(net, "attention") == 0


def test_convolution_net_may_end_with_the_distance_head_beside_attention() -> None:
    body = PLAIN.replace("y =", "a =") + "n = Transpose<perm = [0, 2, 1]>(a)"
    body += "t = Transpose<perm = [0, 2, 1, 3]>(Reshape(MatMul(D, n), [1, 4, 16, 6])) y = Conv(Softmax<axis = 1>(t), F)"
    net = build_attention(body, D=(64, 32), F=np.arange(16, dtype=np.float32).reshape(1, 16, 1, 1))
    assert count_blocks(net, "attention") == 1 and count_blocks(net, "softmax") == 2


@pytest.mark.parametrize("body", ["y = Sigmoid(MatMul(x, Q))", "y = MatMul(x, Q)"])
def test_products_without_softmax_are_not_attention(body: str) -> None:
    assert count_blocks(build_attention(body), "attention") == 0
