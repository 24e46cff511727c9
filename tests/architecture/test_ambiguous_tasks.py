"""Tasks of graphs that allow several interpretations: a low confidence, or none."""

import pytest

from tests.architecture.test_tasks import POOL, UP, find_model_task
from tests.patterns._models import ENCODER, LAYER, PLAIN, build_encoder, build_image_model, build_model


@pytest.mark.parametrize(
    ("end", "classes", "confidence"),
    [
        ("y = Gemm(z, w, b)", 10, 0.75),  # or five keypoints of a face
        ("y = Gemm(z, w, b)", 136, 0.75),
        ("y = Gemm(z, w, b)", 1000, 0.93),
        ("t = Gemm(z, w, b) y = Softmax(t)", 10, 0.93),
    ],
)
def test_plain_numbers_of_an_image_have_lower_confidence(end: str, classes: int, confidence: float) -> None:
    task = find_model_task(build_image_model(f"{POOL} {end}", w=(8, classes), b=(classes,)), "cnn")
    assert (task.name, task.classes, task.confidence) == ("image classification", classes, confidence)


@pytest.mark.parametrize("widths", [(4, 2), (10, 10)])
def test_several_outputs_lower_the_confidence(widths: tuple[int, int]) -> None:
    """Such as a box and a face score, or two digits."""
    end = f"{POOL} a1 = Gemm(z, w, b) t = Gemm(z, w2, b2) y = Softmax(t)"
    first, second = widths
    task = find_model_task(
        build_image_model(end, "float a1, float y", w=(8, first), b=(first,), w2=(8, second), b2=(second,)), "cnn"
    )
    assert task.confidence <= 0.6
    assert task.classes == second


def test_segmentation_confidence_depends_on_the_map_size() -> None:
    weights = {"w": (5, 8, 1, 1), "b": (5,), "w2": (2, 8, 1, 1), "b2": (2,)}
    enlarged = find_model_task(build_image_model(f"{UP} y = Conv(u, w, b)", **weights), "cnn")
    coarse = find_model_task(build_image_model("y = Conv(f, w, b)", **weights), "cnn")
    two_maps = find_model_task(
        build_image_model(
            "y = Conv(f, w, b) t = Conv(f, w2, b2) y2 = Softmax<axis = 1>(t)", "float y, float y2", **weights
        )
    )
    assert (enlarged.name, enlarged.confidence) == ("semantic segmentation", 0.75)
    assert (coarse.name, coarse.confidence) == ("semantic segmentation", 0.6)
    assert two_maps.name is None


def test_gray_image_may_be_a_spectrogram() -> None:
    text = "g (float[1,1,32,32] x) => (float y) { a = Conv(x, w1, b1) r = Relu(a) c = Conv(r, w2, b2) s = Relu(c)"
    text += " p = GlobalAveragePool(s) y = Flatten(p) }"
    assert find_model_task(build_model(text, w1=(8, 1, 3, 3), b1=(8,), w2=(16, 8, 3, 3), b2=(16,)), "cnn").name is None


def test_returned_keys_indicate_text_generation() -> None:
    body = ENCODER.replace("SCORES", PLAIN) + " y = MatMul(h, w)"
    plain = find_model_task(build_model(f"g (int64[1,24] ids) => (float y) {{ {body} }}", w=(16, 100), **LAYER))
    with_keys = find_model_task(
        build_model(f"g (int64[1,24] ids) => (float y, float k, float v) {{ {body} }}", w=(16, 100), **LAYER)
    )
    assert (plain.name, with_keys.name) == ("fill mask", "text generation")


def test_tokens_from_convolved_frames_are_speech_recognition() -> None:
    """20 bands are an unusual number for a spectrogram."""
    body = (
        ENCODER.replace("SCORES", PLAIN)
        .replace("MatMul(e, wk)", "MatMul(m, wk)")
        .replace("MatMul(e, wv)", "MatMul(m, wv)")
    )
    frontend = "c5 = Conv<strides = [2]>(x, w1, b1) r5 = Relu(c5) m = Transpose<perm = [0, 2, 1]>(r5)"
    text = f"g (float[1,20,40] x, int64[1,9] ids) => (float y) {{ {frontend} {body} y = MatMul(h, w) }}"
    task = find_model_task(build_model(text, w1=(16, 20, 3), b1=(16,), w=(16, 100), **LAYER), "encoder-decoder")
    assert (task.name, task.confidence) == ("speech recognition", 0.6)


def test_text_and_features_without_vocabulary_have_no_task() -> None:
    body = ENCODER.replace("SCORES", PLAIN).replace("MatMul(e, wq)", "MatMul(f, wq)").replace("Add(e, o)", "Add(f, o)")
    text = f"g (int64[1,24] ids, float[1,7,8] x) => (float h) {{ f = MatMul(x, w) {body} }}"
    assert find_model_task(build_model(text, w=(8, 16), **LAYER), "encoder-decoder").name is None


def test_two_audio_classes_with_a_state_are_voice_activity() -> None:
    text = "g (float[1,1,512] x, float[1,1,8] h0) => (float y, float hn) { a = Conv<strides = [64]>(x, w1) r = Relu(a)"
    text += " t = Transpose<perm = [2, 0, 1]>(r) o, hn = GRU<hidden_size = 8>(t, w, rr, , , h0)"
    text += " at = Constant<value = int64[1] {0}>() q = Squeeze(hn, at) l = Gemm(q, v, b) y = Softmax(l) }"
    task = find_model_task(build_model(text, w1=(4, 1, 64), w=(1, 24, 4), rr=(1, 24, 8), v=(8, 2), b=(2,)), "rnn")
    assert (task.name, task.classes) == ("voice activity detection", None)


def test_log_spectrogram_bands_are_not_characters() -> None:
    text = "g (float[1,1,8000] x) => (float y) { a = Conv<strides = [80]>(x, w1) s = Mul(a, a)"
    text += " t = Transpose<perm = [0, 2, 1]>(s) l = MatMul(t, w) y = Log(l) }"
    assert find_model_task(build_model(text, w1=(40, 1, 200), w=(40, 30)), "cnn").name is None


def test_decoder_of_encoder_states_has_low_confidence() -> None:
    text = "g (int64[1,1] ids, float[1,30,16] z) => (float y) { e = Gather(table, ids) q = MatMul(e, wq)"
    text += " t = Transpose<perm = [0, 2, 1]>(z) s = MatMul(q, t) p = Softmax(s) c = MatMul(p, z) o = MatMul(c, wo)"
    text += " r = Add(e, o) h = LayerNormalization(r, g) y = MatMul(h, w) }"
    weights = {name: LAYER[name] for name in ("table", "wq", "wo", "g")}
    task = find_model_task(build_model(text, w=(16, 100), **weights), "rnn")
    assert (task.name, task.confidence) == ("text generation", 0.6)


def test_classes_without_a_bias_are_classes() -> None:
    cut = "nil0 = Constant<value = int64 {0}>() c2 = Gather<axis = 1>(h, nil0)"
    task = find_model_task(build_encoder(f"{cut} y = MatMul(c2, w)", "float y", w=(16, 2)))
    assert (task.name, task.classes) == ("text classification", 2)
