"""Roles of inputs and outputs: by their use in the graph, not by their names."""

import pytest

from onnx_autodoc.patterns import find_blocks
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, bind_and_infer
from tests._corpus import GRAPH_NAMES, graph
from tests.patterns._models import (
    CAUSAL,
    ENCODER,
    LAYER,
    MASKED,
    PLAIN,
    build_encoder,
    build_image_model,
    build_model,
    find_model_roles,
)

END = "y = Identity(h)"


def test_tokens_index_a_table_and_mask_is_added_to_scores() -> None:
    roles = find_model_roles(*build_encoder(END, "float y", ", int64[1,24] mask", MASKED))
    assert roles == {"ids": "tokens", "mask": "mask", "y": "hidden states"}


def test_name_does_not_decide_the_role() -> None:
    """Token ids that are named as a mask."""
    text = "g (int64[1,24] attention_mask) => (float y) { y = Gather(table, attention_mask) }"
    assert find_model_roles(*build_model(text, table=(50, 16)))["attention_mask"] == "tokens"


def test_mask_of_a_weighted_sum_is_a_mask() -> None:
    end = "f = Cast<to = 1>(m) last = Constant<value = int64[1] {-1}>() u = Unsqueeze(f, last) t = Mul(h, u)"
    end += " at = Constant<value = int64[1] {1}>() y = ReduceSum<keepdims = 0>(t, at)"
    assert find_model_roles(*build_encoder(end, "float y", ", int64[1,24] m"))["m"] == "mask"


def test_small_tables_are_segments_and_second_ones_positions() -> None:
    text = "g (int64[1,24] a, int64[1,24] b, int64[1,24] c) => (float y) {"
    text += "e1 = Gather(t1, a) e2 = Gather(t2, b) e3 = Gather(t3, c) s = Add(e1, e2) r = Add(s, e3)"
    text += " y = LayerNormalization(r, g) }"
    roles = find_model_roles(*build_model(text, t1=(90, 16), t2=(2, 16), t3=(48, 16), g=(16,)))
    assert [roles[name] for name in "abc"] == ["tokens", "segment", "positions"]


def test_one_index_per_example_is_a_category() -> None:
    text = "g (int64[1] user, int64[1] item) => (float y) { a = Gather(t1, user) b = Gather(t2, item)"
    text += " c = Concat<axis = 1>(a, b) y = MatMul(c, w) }"
    roles = find_model_roles(*build_model(text, t1=(90, 16), t2=(30, 16), w=(32, 1)))
    assert (roles["user"], roles["item"]) == ("category", "category")


def test_unread_input_has_no_role() -> None:
    assert "idle" not in find_model_roles(*build_encoder(END, "float y", ", int64[1,24] idle"))


CONV = "y = Conv<strides = [2, 2]>(x, w)"


@pytest.mark.parametrize(
    ("dims", "before", "role"),
    [
        ("1,3,32,32", "x = Identity(i)", "image NCHW"),
        ("1,32,32,3", "x = Transpose<perm = [0, 3, 1, 2]>(i)", "image NHWC"),
        ("1,1,32,32", "t = Concat<axis = 1>(i, i) x = Concat<axis = 1>(t, i)", "image NCHW"),
    ],
)
def test_image_layout_follows_from_the_path_to_the_convolution(dims: str, before: str, role: str) -> None:
    net, model = build_model(f"g (float[{dims}] i) => (float y) {{ {before} {CONV} }}", w=(8, 3, 3, 3))
    assert find_model_roles(net, model)["i"] == role


def test_name_decides_between_image_and_spectrogram() -> None:
    text = "g (float[1,1,64,96] NAME) => (float y) { y = Conv<strides = [2, 2]>(NAME, w) }"
    named = {
        name: find_model_roles(*build_model(text.replace("NAME", name), w=(8, 1, 3, 3)))[name] for name in ("x", "mel")
    }
    assert named == {"x": "image NCHW", "mel": "spectrogram"}
    colours = text.replace("1,1,64", "1,3,64").replace("NAME", "mel")
    assert find_model_roles(*build_model(colours, w=(8, 3, 3, 3)))["mel"] == "image NCHW"


@pytest.mark.parametrize(
    ("dims", "weight", "stride", "role"),
    [
        ("1,1,16000", (32, 1, 10), 5, "audio"),
        ("1,1,400", (32, 1, 3), 1, "signal"),
        ("1,80,300", (32, 80, 3), 1, "spectrogram"),
        ("1,7,300", (32, 7, 3), 1, "features"),
    ],
)
def test_audio_is_read_with_long_strides(dims: str, weight: tuple[int, ...], stride: int, role: str) -> None:
    net, model = build_model(f"g (float[{dims}] x) => (float y) {{ y = Conv<strides = [{stride}]>(x, w) }}", w=weight)
    assert find_model_roles(net, model)["x"] == role


def test_cell_has_input_and_output_states() -> None:
    text = (
        "g (float[6,1,4] x, float[1,1,8] h0) => (float o, float hn) { o, hn = GRU<hidden_size = 8>(x, w, r, , , h0) }"
    )
    roles = find_model_roles(*build_model(text, w=(1, 24, 4), r=(1, 24, 8)))
    assert (roles["x"], roles["h0"], roles["hn"]) == ("features", "state", "present state")


PAST = "k2 = Concat<axis = 3>(pk, k) v2 = Concat<axis = 2>(pv, v)"


def test_concatenated_keys_and_values_are_past_states() -> None:
    body = ENCODER.replace("SCORES", PLAIN).replace("s0 = MatMul(q, k)", f"{PAST} s0 = MatMul(q, k2)")
    body = body.replace("c0 = MatMul(p, v)", "c0 = MatMul(p, v2)")
    text = "g (int64[1,1] ids, float[1,2,8,9] pk, float[1,2,9,8] pv) => (float h, float k2, float v2) {"
    roles = find_model_roles(*build_model(f"{text} {body} }}", **LAYER))
    assert (roles["pk"], roles["pv"]) == ("past state", "past state")
    assert (roles["k2"], roles["v2"]) == ("present state", "present state")


def test_input_projected_by_cross_attention_is_encoder_states() -> None:
    body = ENCODER.replace("SCORES", PLAIN)
    body = body.replace("MatMul(e, wk)", "MatMul(z, wk)").replace("MatMul(e, wv)", "MatMul(z, wv)")
    roles = find_model_roles(*build_model(f"g (int64[1,5] ids, float[1,30,16] z) => (float h) {{ {body} }}", **LAYER))
    assert roles["z"] == "encoder states"


def test_mask_of_the_attention_operator() -> None:
    text = "g (int64[1,24] ids, int64[1,24] mask) => (float y) { e = Gather(table, ids)"
    text += " q = MatMul(e, wq) k = MatMul(e, wk) v = MatMul(e, wv)"
    text += " b = Cast<to = 9>(mask) at = Constant<value = int64[2] {1, 2}>() m = Unsqueeze(b, at)"
    text += " y = Attention<q_num_heads = 2, kv_num_heads = 2>(q, k, v, m) }"
    weights = {name: LAYER[name] for name in ("table", "wq", "wk", "wv")}
    assert find_model_roles(*build_model(text, opset=23, **weights))["mask"] == "mask"


def test_channels_last_convolution_reads_an_nhwc_image() -> None:
    text = "g (float[1,D] x) => (float y) { TURN y = com.microsoft.NhwcConv<strides = [2, 2]>(i, w) }"
    plain = text.replace("D", "32,32,3").replace("TURN", "i = Identity(x)")
    turned = text.replace("D", "3,32,32").replace("TURN", "i = Transpose<perm = [0, 2, 3, 1]>(x)")
    assert find_model_roles(*build_model(plain, w=(8, 3, 3, 3)))["x"] == "image NHWC"
    assert find_model_roles(*build_model(turned, w=(8, 3, 3, 3)))["x"] == "image NCHW"


def test_numbers_computed_from_a_table_have_no_role() -> None:
    text = "g (float[1,6] x) => (float y) { y = Gemm(x, w, b) }"
    assert "y" not in find_model_roles(*build_model(text, w=(6, 3), b=(3,)))


def test_sinusoidal_embedding_makes_a_timestep() -> None:
    text = "g (float[1,4,8,8] x, float[1] t) => (float y) { tf = Mul(t, freq) s = Sin(tf) c = Cos(tf)"
    text += (
        " e0 = Concat<axis = -1>(s, c) at = Constant<value = int64[1] {0}>() e = Unsqueeze(e0, at) m = MatMul(e, wt)"
    )
    text += " four = Constant<value = int64[4] {1, 8, 1, 1}>() b = Reshape(m, four)"
    text += " f = Conv<pads = [1, 1, 1, 1]>(x, w1) g1 = Add(f, b) r = Relu(g1) y = Conv<pads = [1, 1, 1, 1]>(r, w2) }"
    roles = find_model_roles(*build_model(text, freq=(16,), wt=(32, 8), w1=(8, 4, 3, 3), w2=(4, 8, 3, 3)))
    assert roles == {"x": "latent", "t": "timestep", "y": "latent"}


def test_sample_rate_controls_a_branch() -> None:
    text = "g (float[1,8] x, int64 sr) => (float[1,8] y) { k = Constant<value = int64 {16000}>() c = Equal(sr, k)"
    text += " y = If(c) <then_branch = a () => (float[1,8] p) { p = Relu(x) },"
    text += " else_branch = b () => (float[1,8] q) { q = Neg(x) }> }"
    assert find_model_roles(*build_model(text))["sr"] == "sample rate"
    assert find_model_roles(*build_model(text.replace("16000", "2")))["sr"] == "switch"


@pytest.mark.parametrize(
    ("end", "role"),
    [
        ("y = Gemm(z, w, b)", "logits"),
        ("t = Gemm(z, w, b) y = Softmax(t)", "probabilities"),
        ("t = Gemm(z, w, b) y = ArgMax<axis = 1>(t)", "labels"),
        ("y = Identity(z)", "embedding"),
    ],
)
def test_outputs_of_a_classifier(end: str, role: str) -> None:
    roles = find_model_roles(*build_image_model(f"p = GlobalAveragePool(f) z = Flatten(p) {end}", w=(8, 10), b=(10,)))
    assert roles == {"x": "image NCHW", "y": role}


def test_outputs_of_a_decoder() -> None:
    assert (
        find_model_roles(*build_encoder("y = MatMul(h, w)", "float y", scores=CAUSAL, w=(16, 100)))["y"]
        == "token logits"
    )


# roles of the corpus models; other inputs have none
_TEXT = {"input_ids": "tokens", "attention_mask": "mask", "token_type_ids": "segment"}
CORPUS = {
    "all-minilm-l6-v2-ts-op14": _TEXT,
    "all-minilm-l6-v2-dynquant-int8": _TEXT,
    "all-minilm-l6-v2-ortfused": _TEXT,
    "bert-base-qa-ts-op12": _TEXT | {"start_logits": "start logits", "end_logits": "end logits"},
    "bert-base-qa-dynamo": _TEXT | {"start_logits": "start logits", "end_logits": "end logits"},
    "bert-base-qa-ortfused": _TEXT | {"start_logits": "start logits", "end_logits": "end logits"},
    "basic-pitch-nmp": {"serving_default_input_2:0": "audio"},
    "control-flow-loop-if": {},
    "resnet50-qdq-int8": {"input": "image NCHW", "logits": "logits"},
    "silero-vad": {"input": "audio", "state": "state", "sr": "sample rate", "stateN": "present state"},
    "smollm2-135m-kv-op17": {
        "input_ids": "tokens",
        "attention_mask": "mask",
        "position_ids": "positions",
        "past_key_values.7.key": "past state",
        "present.7.value": "present state",
        "logits": "token logits",
    },
    "smollm2-135m-genai-int4": {"attention_mask": "mask", "past_key_values.29.value": "past state"},
    "sd-vae-decoder": {"latent_sample": "latent", "sample": "image"},
    "whisper-tiny-encoder": {"input_features": "spectrogram", "last_hidden_state": "hidden states"},
    "whisper-tiny-decoder": {"input_ids": "tokens", "encoder_hidden_states": "encoder states"},
    "yolov8l-nc1": {"images": "image NCHW", "output0": "detections"},
}


@pytest.mark.parametrize("name", sorted(CORPUS))
def test_roles_of_the_corpus(name: str) -> None:
    assert name in GRAPH_NAMES
    model = read_model(graph(name))
    _, shapes = bind_and_infer(model, Request())
    roles = find_model_roles(find_blocks(model, shapes, [True] * sum(1 for _ in shapes.rows())), model)
    assert {key: roles.get(key) for key in CORPUS[name]} == CORPUS[name]
    assert CORPUS[name] or not roles
