"""Numeric outputs that are not classes: spectra, ratings, boxes next to classes, one token of a text."""

import pytest

from onnx_autodoc.patterns import find_heads
from tests.patterns._models import (
    ENCODER,
    LAYER,
    PLAIN,
    build_encoder,
    build_image_model,
    build_model,
    find_model_roles,
)

POOL = "p = GlobalAveragePool(f) z = Flatten(p)"


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        ("y = Log(l)", "numbers"),  # bands of a spectrogram
        ("y = Identity(l)", "numbers"),  # a linear layer without a bias
        ("y = Add(l, b)", "ctc"),
        ("y = LogSoftmax(l)", "ctc"),
    ],
)
def test_values_per_time_step(end: str, kind: str) -> None:
    text = "g (float[1,12,40] x) => (float y) { q = Relu(x) l = MatMul(q, w) END }"
    (head,) = find_heads(build_model(text.replace("END", end), w=(40, 30), b=(30,))[0])
    assert head.kind == kind


def test_rating_from_one_to_five_is_not_a_probability() -> None:
    end = "t = Gemm(z, w, b) s = Sigmoid(t) four = Constant<value = float {4.0}>() m = Mul(s, four) y = Add(m, one)"
    end = f"one = Constant<value = float {{1.0}}>() {POOL} {end}"
    assert find_model_roles(*build_image_model(end, w=(8, 1), b=(1,)))["y"] == "score"
    assert "y" not in find_model_roles(*build_image_model(end, w=(8, 2), b=(2,)))


def test_box_next_to_classes_has_no_role() -> None:
    end = f"{POOL} box = Gemm(z, w, b) t = Gemm(z, w2, b2) y = Softmax(t)"
    net = find_model_roles(*build_image_model(end, "float box, float y", w=(8, 4), b=(4,), w2=(8, 2), b2=(2,)))
    assert (net.get("box"), net["y"]) == (None, "probabilities")


def test_box_per_cell_next_to_classes_is_not_a_mask() -> None:
    end = "box = Conv(f, w, b) t = Conv(f, w2, b2) y = Softmax<axis = 1>(t)"
    weights = {"w": (4, 8, 1, 1), "b": (4,), "w2": (2, 8, 1, 1), "b2": (2,)}
    net = find_model_roles(*build_image_model(end, "float box, float y", **weights))
    assert (net.get("box"), net["y"]) == (None, "masks")


def test_value_per_sample_is_not_a_token_score() -> None:
    text = "g (float[1,1,400] x) => (float y) { a = Conv<strides = [4]>(x, w1, b1) r = Relu(a) y = Conv(r, w2, b2) }"
    assert "y" not in find_model_roles(*build_model(text, w1=(8, 1, 4), b1=(8,), w2=(1, 8, 1), b2=(1,)))


def test_confidence_per_step_is_not_an_embedding() -> None:
    """1 / Σ exp(x - max): the maximum of a softmax at each of 8 steps."""
    end = "s3 = Constant<value = int64[3] {1, 8, 64}>() q = Reshape(f, s3) t = Conv(q, w, b)"
    end += " at = Constant<value = int64[1] {1}>()"
    end += " m = ReduceMax(t, at) d = Sub(t, m) x2 = Exp(d) n = ReduceSum(x2, at) y = Reciprocal(n)"
    assert "y" not in find_model_roles(*build_image_model(end, w=(30, 8, 1), b=(30,)))


def test_tags_and_spans_of_a_single_token() -> None:
    body = ENCODER.replace("SCORES", PLAIN) + " l = MatMul(h, w) t = Add(l, b)"
    (tags,) = find_heads(build_model(f"g (int64[1,1] ids) => (float t) {{ {body} }}", w=(16, 5), b=(5,), **LAYER)[0])
    assert (tags.kind, tags.classes, tags.positions) == ("token-classification", 5, 1)
    body += " u, v2 = Split<axis = -1, num_outputs = 2>(t) at = Constant<value = int64[1] {-1}>()"
    text = f"g (int64[1,1] ids) => (float[1,1] s, float[1,1] e1) {{ {body} s = Squeeze(u, at) e1 = Squeeze(v2, at) }}"
    text = (
        text.replace("SCORES", PLAIN)
        .replace("p = Softmax(s)", "p = Softmax(sm)")
        .replace("s = Identity", "sm = Identity")
    )
    assert [head.kind for head in find_heads(build_model(text, w=(16, 2), b=(2,), **LAYER)[0])] == ["span", "span"]


def test_linear_layer_after_additive_attention_is_the_classifier() -> None:
    end = "a1 = MatMul(h, w1) th = Tanh(a1) sc = MatMul(th, w2) wt = Softmax<axis = 1>(sc)"
    end += " tw = Transpose<perm = [0, 2, 1]>(wt) cx = MatMul(tw, h) l = MatMul(cx, w3) y = Add(l, b3)"
    (head,) = find_heads(build_encoder(end, "float y", w1=(16, 8), w2=(8, 1), w3=(16, 7), b3=(7,))[0])
    assert (head.kind, head.classes) == ("classification", 7)
