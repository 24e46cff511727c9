"""Variants of attention: normalized queries, sinks, biases, shared keys, convolutional projections."""

import numpy as np
import pytest

from tests.patterns._attention import END, HEADS, PLAIN, SCORES, W, attention_sizes, build_attention, fill_sizes
from tests.patterns._nets import Value, build_net, count_blocks, find_only, list_kinds, list_residual_kinds

SOFT = f"p = Softmax(s) {END}"
NORMED = "Mul({0}, Div(1.0, Sqrt(Add(ReduceMean(Mul({0}, {0}), [-1]), 1.0e-6))))"
LENGTH = "Div({0}, Clip(ReduceL2({0}, [-1]), 1.0e-12))"
TURNED = HEADS.replace("0, 2, 3, 1", "0, 2, 1, 3")
BACK = "Transpose<perm = [0, 1, 3, 2]>"
HALVES = "Concat<axis = -1>(Neg(Slice({0}, [4], [8], [3])), Slice({0}, [0], [4], [3]))"


@pytest.mark.parametrize("norm", [NORMED, LENGTH, "LpNormalization<axis = -1>({0})", "LayerNormalization({0}, G)"])
def test_normalized_queries_and_keys_are_attention(norm: str) -> None:
    body = f"{TURNED} a = {norm.format('q')} b = {norm.format('k')} s = Mul(MatMul(a, {BACK}(b)), 10.0) {SOFT}"
    net = build_attention(body, 4, G=(8,))
    assert count_blocks(net, "attention") == 1
    assert attention_sizes(find_only(net, "attention")) == (4, 4, 8)
    assert find_only(net, "attention").attention.cross is False


@pytest.mark.parametrize(
    "turned",
    [
        f"a = Add(Mul(q, R), Mul({HALVES.format('q')}, I)) b = Add(Mul(k, R), Mul({HALVES.format('k')}, I))",
        "a = com.microsoft.RotaryEmbedding(q, t, J, J) b = com.microsoft.RotaryEmbedding(k, t, J, J)",
        # pairs of neighbours
        """e = Slice(q, [0], [8], [3], [2]) o = Slice(q, [1], [8], [3], [2])
        f = Sub(Mul(e, H), Mul(o, L)) g = Add(Mul(e, L), Mul(o, H))
        a = Reshape(Concat<axis = -1>(Unsqueeze(f, [-1]), Unsqueeze(g, [-1])), [0, 0, 0, 8]) b = Identity(k)""",
    ],
    ids=["halves", "an operator", "neighbours"],
)
def test_rotary_embeddings_are_detected(turned: str) -> None:
    tables: dict[str, Value] = {"R": (6, 8), "I": (6, 8), "H": (6, 4), "L": (6, 4), "J": (64, 4), "t": "int64[1,6]"}
    net = build_attention(f"{TURNED} {turned} s = MatMul(a, {BACK}(b)) {SOFT}", **tables)
    attention = find_only(net, "attention")
    assert attention_sizes(attention) == (4, 4, 8)
    assert attention.attention.rotary is True
    assert list_residual_kinds(net) == [] and list_kinds(net) == ["attention"]


def test_plain_attention_is_not_rotary() -> None:
    assert find_only(build_attention(PLAIN), "attention").attention.rotary is False


def test_attention_sink_is_part_of_the_scores() -> None:
    body = f"{HEADS} {SCORES} j = Concat<axis = -1>(s, N) p = Slice(Softmax(j), [0], [6], [3]) {END}"
    net = build_attention(body, N=(1, 4, 6, 1))
    assert list_kinds(net) == ["attention"] and attention_sizes(find_only(net, "attention")) == (4, 4, 8)


@pytest.mark.parametrize(
    ("bias", "values"),
    [
        ("m = Transpose<perm = [2, 0, 1]>(Gather(T, K2))", {"T": (9, 4), "K2": np.zeros((6, 6), np.int64)}),
        ("m = Mul(T, Cast<to = 1>(Range(0, Gather(Shape(x), 1), 1)))", {"T": (1, 4, 1, 1)}),
        # the distance buckets of T5
        (
            """r = Range(0, Gather(Shape(x), 1), 1) d = Sub(r, Unsqueeze(r, [1])) b = Abs(d)
            i = Add(Mul(Cast<to = 7>(Greater(d, 0)), 4), Where(Less(b, 2), b, Min(b, 3)))
            m = Transpose<perm = [2, 0, 1]>(Gather(T, i))""",
            {"T": (9, 4)},
        ),
    ],
    ids=["looked up", "slopes", "buckets"],
)
def test_bias_per_head_is_a_relative_bias(bias: str, values: dict[str, Value]) -> None:
    net = build_attention(f"{HEADS} {SCORES} {bias} p = Softmax(Add(s, m)) {END}", **values)
    attention = find_only(net, "attention")
    assert attention.attention.relative_bias and not attention.attention.causal
    assert count_blocks(net, "embedding") == 0


def test_two_sided_window_is_not_causal() -> None:
    window = "r = Range(0, Gather(Shape(x), 1), 1) m = LessOrEqual(Abs(Sub(r, Unsqueeze(r, [1]))), 2)"
    net = build_attention(f"{HEADS} {SCORES} {window} p = Softmax(Where(m, s, -65504.0)) {END}")
    assert not find_only(net, "attention").attention.causal


@pytest.mark.parametrize("places", ["P", "j"], ids=["a table", "data"])
def test_added_positions_do_not_make_cross_attention(places: str) -> None:
    """DETR adds positions to queries and keys, not to values."""
    body = HEADS.replace("MatMul(x, Q)", "MatMul(e, Q)").replace("MatMul(x, K)", "MatMul(e, K)")
    net = build_attention(f"e = Add(x, {places}) {body} {SCORES} {SOFT}", P=(6, 32), j=(1, 6, 32))
    assert find_only(net, "attention").attention.cross is False


def test_unprojected_keys_and_values_are_cross_attention() -> None:
    """A decoder step reads encoder states that were projected earlier."""
    queries = HEADS.split("k =")[0]
    body = f"{queries} s = MatMul(q, {BACK}(k)) {SOFT}"
    net = build_net(fill_sizes(body, places=1), x=(1, 1, 32), k=(1, 4, 9, 8), v=(1, 4, 9, 8), **W)
    assert list_kinds(net) == ["attention"]
    assert (
        attention_sizes(find_only(net, "attention")) == (4, 4, 8)
        and find_only(net, "attention").attention.cross is True
    )


def test_shared_keys_stay_outside_both_layers() -> None:
    body = f"{HEADS} {SCORES} p = Softmax(s) {END} ".replace("y =", "o =")
    body += "u = Transpose<perm = [0, 2, 1, 3]>(Reshape(MatMul(o, Q), [{b}, {s}, 4, 8]))"
    body += (
        "w = MatMul(Softmax(MatMul(u, k)), v) y = MatMul(Reshape(Transpose<perm = [0, 2, 1, 3]>(w), [{b}, {s}, 32]), O)"
    )
    net = build_attention(body)
    assert count_blocks(net, "attention") == 2
    assert [attention_sizes(op) for op in net.of("attention")] == [(4, 4, 8), (4, 4, 8)]
    assert count_blocks(net, "linear") == 6


def test_projections_may_be_convolutions() -> None:
    body = """q = Reshape(Conv(x, Q), [1, 4, 8, 36]) k = Reshape(Conv(x, K), [1, 4, 8, 36])
        v = Transpose<perm = [0, 1, 3, 2]>(Reshape(Conv(x, V), [1, 4, 8, 36]))
        p = Softmax(MatMul(Transpose<perm = [0, 1, 3, 2]>(q), k)) t = Transpose<perm = [0, 1, 3, 2]>(MatMul(p, v))
        y = Add(x, Conv(Reshape(t, [1, 32, 6, 6]), O))"""
    net = build_net(body, x=(1, 32, 6, 6), **dict.fromkeys("QKVO", (32, 32, 1, 1)))
    assert list_kinds(net) == ["attention", "Add"] and list_residual_kinds(net) == ["add"]
    assert attention_sizes(find_only(net, "attention")) == (4, 4, 8)


def test_returned_attention_weights_are_outputs_of_the_block() -> None:
    net = build_net(fill_sizes(PLAIN), outputs="y, p", x=(1, 6, 32), **W)
    assert list_kinds(net) == ["attention"]
    assert find_only(net, "attention").outputs[:2] == (net.outputs["y"], net.outputs["p"])


def test_attention_of_unknown_size_is_matched() -> None:
    net = build_net(
        fill_sizes(PLAIN).replace("[1, 6, 4, 8]", "shape"),
        x="float[]",
        shape="int64[4]",
        invalid=True,
        **W,
    )
    assert count_blocks(net, "attention") == 1


def test_parallel_attention_and_mlp_share_a_residual() -> None:
    """In GPT-J both read the same norm."""
    body = fill_sizes(PLAIN).replace("x,", "n,").replace("y =", "o =")
    body = f"n = LayerNormalization(x, G) {body} y = Add(Add(o, MatMul(Relu(MatMul(n, U)), D)), x)"
    net = build_net(body, x=(1, 6, 32), **W, G=(32,), U=(32, 64), D=(64, 32))
    assert sorted(list_kinds(net)) == ["Add", "Add", "attention", "layer-norm", "mlp"]
    assert list_residual_kinds(net) == ["add"]
