"""Output heads: kinds, classes and positions."""

import pytest

from onnx_autodoc.patterns import Head, Net, find_heads
from onnx_autodoc.patterns.head import trace_outputs
from tests.patterns._models import BACKBONE, CAUSAL, CONVS, build_encoder, build_image_model, build_model

POOL = "p = GlobalAveragePool(f) z = Flatten(p)"


def find_only_head(net: Net) -> Head:
    (head,) = find_heads(net)
    return head


def test_split_pair_per_token_is_a_span() -> None:
    end = "l = MatMul(h, w) t = Add(l, b) s2, e2 = Split<axis = -1, num_outputs = 2>(t)"
    end += " last = Constant<value = int64[1] {-1}>() start = Squeeze(s2, last) stop = Squeeze(e2, last)"
    net, _ = build_encoder(end, "float[1,24] start, float[1,24] stop", w=(16, 2), b=(2,))
    heads = find_heads(net)
    assert [head.kind for head in heads] == ["span", "span"]
    assert [(head.positions, head.classes) for head in heads] == [(24, None)] * 2
    assert heads[0].evidence == "outputs start and stop have one value per token each: a span head"


def test_two_values_per_token_in_one_output_are_tags() -> None:
    net, _ = build_encoder("l = MatMul(h, w) y = Add(l, b)", "float y", w=(16, 2), b=(2,))
    assert (find_only_head(net).kind, find_only_head(net).classes, find_only_head(net).positions) == (
        "token-classification",
        2,
        24,
    )


def test_one_value_per_token_is_not_classes() -> None:
    """[1, 24]: 24 is the length of the text."""
    end = "l = MatMul(h, w) t = Add(l, b) last = Constant<value = int64[1] {-1}>() y = Squeeze(t, last)"
    net, _ = build_encoder(end, "float[1,24] y", w=(16, 1), b=(1,))
    assert (find_only_head(net).kind, find_only_head(net).classes) == ("score-per-place", None)


def test_width_of_the_token_table_is_a_vocabulary() -> None:
    net, _ = build_encoder("y = MatMul(h, w)", "float y", scores=CAUSAL, w=(16, 100))
    assert (find_only_head(net).kind, find_only_head(net).classes) == ("lm", None)


def test_tied_embedding_is_a_vocabulary() -> None:
    net, _ = build_encoder("t = Transpose(table) y = MatMul(h, t)", "float y")
    assert find_only_head(net).kind == "lm"


CLS = "nil0 = Constant<value = int64 {0}>() c2 = Gather<axis = 1>(h, nil0)"


@pytest.mark.parametrize(
    ("end", "kind", "classes"),
    [
        ("l = MatMul(c2, w) y = Add(l, b)", "classification", 7),
        ("l = MatMul(c2, w) t = Add(l, b) y = Softmax(t)", "classification", 7),
        ("l = MatMul(c2, w) t = Add(l, b) y = ArgMax<axis = -1, keepdims = 0>(t)", "classification", 7),
        ("y = MatMul(c2, w)", "classification", 7),  # exporters drop a bias of zeros
        ("y = MatMul(c2, w2)", "embedding", None),  # a projection: wide, and classes have a bias
        ("l = MatMul(c2, w3) y = Add(l, b3)", "embedding", None),  # 128 is no usual number of classes
        ("l = MatMul(c2, w) t = Add(l, b) y = PRelu(t, b)", "embedding", None),
        ("l = MatMul(c2, w) t = Add(l, b) y = LpNormalization(t)", "embedding", None),
        ("l = MatMul(c2, w) t = Add(l, b) y = Tanh(t)", "embedding", None),
        ("y = Identity(c2)", "embedding", None),
    ],
)
def test_heads_of_a_single_position(end: str, kind: str, classes: int | None) -> None:
    net, _ = build_encoder(f"{CLS} {end}", "float y", w=(16, 7), b=(7,), w2=(16, 48), w3=(16, 128), b3=(128,))
    assert (find_only_head(net).kind, find_only_head(net).classes, find_only_head(net).positions) == (kind, classes, 1)


def test_features_per_position_are_hidden_states() -> None:
    net, _ = build_encoder("y = Identity(h)", "float y")
    assert (find_only_head(net).kind, find_only_head(net).positions) == ("hidden", 24)


def test_mean_over_tokens_is_an_embedding() -> None:
    end = "at1 = Constant<value = int64[1] {1}>() t = ReduceMean<keepdims = 0>(h, at1) y = LpNormalization(t)"
    net, _ = build_encoder(end, "float y")
    assert (find_only_head(net).kind, find_only_head(net).activation) == ("embedding", "normalized")


@pytest.mark.parametrize(
    ("end", "kind", "act"),
    [
        ("y = Gemm(z, w, b)", "score", None),
        ("t = Gemm(z, w, b) y = Sigmoid(t)", "probability", "sigmoid"),
    ],
)
def test_single_value_is_a_probability_only_after_a_sigmoid(end: str, kind: str, act: str | None) -> None:
    net, _ = build_image_model(f"{POOL} {end}", w=(8, 1), b=(1,))
    assert (find_only_head(net).kind, find_only_head(net).activation, find_only_head(net).classes) == (kind, act, None)


def test_softmax_over_time_does_not_select_classes() -> None:
    text = "g (float[1,12,8] x) => (float y) { l = MatMul(x, w) t = Add(l, b) y = Softmax<axis = AXIS>(t) }"
    over_classes, _ = build_model(text.replace("AXIS", "2"), w=(8, 12), b=(12,))
    over_time, _ = build_model(text.replace("AXIS", "1"), w=(8, 9), b=(9,))
    assert find_only_head(over_classes).activation == "softmax"
    assert find_only_head(over_time).activation is None


def test_softmax_before_opset_13_reduces_all_following_axes() -> None:
    end = "p = GlobalAveragePool(f) t = Conv(p, w, b) y = Softmax(t)"
    net, _ = build_model(f"g (float[1,3,32,32] x) => (float y) {{ {BACKBONE} {end} }}", opset=11, **CONVS, **FIVE)
    head = find_only_head(net)
    assert (head.kind, head.classes, head.activation) == ("classification", 5, "softmax")


def test_classes_along_an_image_are_ctc() -> None:
    end = "r = Transpose<perm = [0, 3, 1, 2]>(f) s3 = Constant<value = int64[3] {1, 8, 64}>() q = Reshape(r, s3)"
    net, _ = build_image_model(f"{end} l = MatMul(q, w) t = Add(l, b) y = Softmax(t)", w=(64, 40), b=(40,))
    assert (find_only_head(net).kind, find_only_head(net).classes, find_only_head(net).positions) == ("ctc", 40, 8)


FIVE: dict[str, tuple[int, ...]] = {"w": (5, 8, 1, 1), "b": (5,)}
SCALES = "f2a = Conv<strides = [2, 2], pads = [1, 1, 1, 1]>(f, w3, b3) f2 = Relu(f2a)"
BIG: dict[str, tuple[int, ...]] = {"w3": (8, 8, 3, 3), "b3": (8,)}


def test_boxes_with_scores_per_cell_are_detections() -> None:
    """4 box coordinates and 3 classes."""
    end = f"{SCALES} ba = Conv(f, wb, bb) ca = Conv(f, wc, bc) bz = Conv(f2, wb, bb) cz = Conv(f2, wc, bc)"
    end += " s4 = Constant<value = int64[3] {1, 4, -1}>() s5 = Constant<value = int64[3] {1, 3, -1}>()"
    end += " b1r = Reshape(ba, s4) b2r = Reshape(bz, s4) c1r = Reshape(ca, s5) c2r = Reshape(cz, s5)"
    end += " boxes = Concat<axis = 2>(b1r, b2r) cs = Concat<axis = 2>(c1r, c2r) sc = Sigmoid(cs)"
    end += " y = Concat<axis = 1>(boxes, sc)"
    net, _ = build_image_model(end, **BIG, wb=(4, 8, 1, 1), bb=(4,), wc=(3, 8, 1, 1), bc=(3,))
    assert (find_only_head(net).kind, find_only_head(net).classes, find_only_head(net).positions) == (
        "detection",
        3,
        80,
    )


def test_separate_boxes_and_scores_are_paired() -> None:
    end = f"{SCALES} ba = Conv(f, wb, bb) ca = Conv(f, wc, bc) bz = Conv(f2, wb, bb) cz = Conv(f2, wc, bc)"
    end += " s4 = Constant<value = int64[3] {1, 4, -1}>() s5 = Constant<value = int64[3] {1, 6, -1}>()"
    end += " b1r = Reshape(ba, s4) b2r = Reshape(bz, s4) c1r = Reshape(ca, s5) c2r = Reshape(cz, s5)"
    end += " y = Concat<axis = 2>(b1r, b2r) c = Concat<axis = 2>(c1r, c2r)"
    net, _ = build_image_model(end, "float y, float c", **BIG, wb=(4, 8, 1, 1), bb=(4,), wc=(6, 8, 1, 1), bc=(6,))
    assert {head.output: (head.kind, head.classes) for head in find_heads(net)} == {
        "y": ("boxes", None),
        "c": ("scores", 6),
    }


def test_objectness_is_not_a_class() -> None:
    """One convolution per grid, 5 + 3 values per cell."""
    end = f"{SCALES} ya = Conv(f, wb, bb) yz = Conv(f2, wb, bb) s4 = Constant<value = int64[3] {{1, 8, -1}}>()"
    end += " y1 = Reshape(ya, s4) y2 = Reshape(yz, s4) j = Concat<axis = 2>(y1, y2) sg = Sigmoid(j)"
    end += " y = Transpose<perm = [0, 2, 1]>(sg)"
    net, _ = build_image_model(end, **BIG, wb=(8, 8, 1, 1), bb=(8,))
    assert (find_only_head(net).kind, find_only_head(net).classes) == ("detection", 3)


def test_selected_boxes_are_detections() -> None:
    end = f"{POOL} bx = Gemm(z, wb, bb) s4 = Constant<value = int64[3] {{1, 5, 4}}>() boxes = Reshape(bx, s4)"
    end += " cx = Gemm(z, wc, bc) s5 = Constant<value = int64[3] {1, 2, 5}>() c = Reshape(cx, s5)"
    net, _ = build_image_model(
        f"{end} y = NonMaxSuppression(boxes, c)", "int64 y", wb=(8, 20), bb=(20,), wc=(8, 10), bc=(10,)
    )
    assert (find_only_head(net).kind, find_only_head(net).activation) == ("detection", "selected")


def test_topk_over_several_grids_selects_boxes() -> None:
    end = f"{SCALES} ya = Conv(f, wb, bb) yz = Conv(f2, wb, bb) s4 = Constant<value = int64[3] {{1, 6, -1}}>()"
    end += (
        " y1 = Reshape(ya, s4) y2 = Reshape(yz, s4) j = Concat<axis = 2>(y1, y2) k = Constant<value = int64[1] {10}>()"
    )
    end += " top, at = TopK(j, k) y = Transpose<perm = [0, 2, 1]>(top)"
    net, _ = build_image_model(end, **BIG, wb=(6, 8, 1, 1), bb=(6,))
    assert (find_only_head(net).kind, find_only_head(net).classes, find_only_head(net).activation) == (
        "detection",
        None,
        None,
    )


@pytest.mark.parametrize(
    ("end", "kind", "classes"),
    [
        ("y = Conv(u, w, b)", "segmentation", 5),
        ("t = Conv(u, w, b) y = ArgMax<axis = 1, keepdims = 0>(t)", "segmentation", 5),
        ("t = Conv(u, w3, b3) y = Tanh(t)", "image", None),
        ("t = Conv(u, w4, b4) y = Sigmoid(t)", "map", None),
    ],
)
def test_heads_per_pixel(end: str, kind: str, classes: int | None) -> None:
    up = "sc = Constant<value = float[4] {1.0, 1.0, 4.0, 4.0}>() u = Resize(f, , sc)"
    maps = {"w": (5, 8, 1, 1), "b": (5,), "w3": (3, 8, 1, 1), "b3": (3,), "w4": (1, 8, 1, 1), "b4": (1,)}
    net, _ = build_image_model(f"{up} {end}", **maps)
    assert (find_only_head(net).kind, find_only_head(net).classes, find_only_head(net).positions) == (
        kind,
        classes,
        1024,
    )


def test_coarse_maps_are_features() -> None:
    net, _ = build_image_model("n = Conv<strides = [2, 2]>(f, w, b) y = Relu(n)", w=(16, 8, 1, 1), b=(16,))
    assert find_only_head(net).kind == "features"


def test_last_state_of_a_cell_is_a_state() -> None:
    text = "g (float[6,1,4] x, float[1,1,8] h0) => (float y, float hn)"
    text += "{ last = Constant<value = int64 {-1}>() o, hn = GRU<hidden_size = 8>(x, w, r, , , h0)"
    text += " q = Gather(o, last) y = MatMul(q, v) }"
    net, _ = build_model(text, w=(1, 24, 4), r=(1, 24, 8), v=(8, 3))
    assert {head.output: head.kind for head in find_heads(net)}["hn"] == "state"


def test_ml_classifiers_are_tree_heads() -> None:
    text = "g (float[1,4] x) => (int64[1] label, float[1,3] y) { label, y = ai.onnx.ml.LinearClassifier"
    text += "<coefficients = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]"
    text += ", classlabels_ints = [0, 1, 2]>(x) }"
    heads = find_heads(build_model(text)[0])
    assert [(head.kind, head.activation) for head in heads] == [("trees", "argmax"), ("trees", "softmax")]


def test_product_of_two_embeddings_is_matching() -> None:
    text = "g (float[1,4] x, float[1,6] z) => (float y) { a0 = MatMul(x, wa) b0 = MatMul(z, wb)"
    text += " a = LpNormalization(a0) b1 = LpNormalization(b0) t = Transpose(b1) y = MatMul(a, t) }"
    assert find_only_head(build_model(text, wa=(4, 8), wb=(6, 8))[0]).kind == "matching"


def test_output_traces_are_bounded() -> None:
    chain = " ".join(f"v{at + 1} = Relu(v{at})" for at in range(1_500)).replace("(v0)", "(x)")
    outputs = ", ".join(f"float[4] v{at + 1}" for at in range(1_500))
    traces = trace_outputs(build_model(f"g (float[4] x) => ({outputs}) {{ {chain} }}")[0])
    assert 250 <= len(traces) < 1_500
    assert sum(len(trace.ops) for trace in traces) <= 250 * 400 + 400
