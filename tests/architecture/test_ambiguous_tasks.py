"""Where a graph allows several readings: the task is named with doubt, or not at all."""

import pytest

from tests.architecture.test_tasks import POOL, UP, asked
from tests.patterns._models import ENCODER, LAYER, PLAIN, built, encoder, picture


@pytest.mark.parametrize(
    ("end", "wide", "sure"),
    [
        ("y = Gemm(z, w, b)", 10, 0.75),  # or five points of a face
        ("y = Gemm(z, w, b)", 136, 0.75),
        ("y = Gemm(z, w, b)", 1000, 0.93),
        ("t = Gemm(z, w, b) y = Softmax(t)", 10, 0.93),
    ],
)
def test_plain_numbers_of_an_image_have_lower_confidence(end: str, wide: int, sure: float) -> None:
    found = asked(picture(f"{POOL} {end}", w=(8, wide), b=(wide,)), "cnn")
    assert (found.name, found.classes, found.confidence) == ("image classification", wide, sure)


@pytest.mark.parametrize("widths", [(4, 2), (10, 10)])
def test_several_results_lower_the_confidence(widths: tuple[int, int]) -> None:
    """A box and whether it is a face; two digits."""
    end = f"{POOL} a1 = Gemm(z, w, b) t = Gemm(z, w2, b2) y = Softmax(t)"
    one, other = widths
    found = asked(picture(end, "float a1, float y", w=(8, one), b=(one,), w2=(8, other), b2=(other,)), "cnn")
    assert found.confidence <= 0.6
    assert found.classes == other


def test_maps_that_are_not_brought_to_the_size_of_the_picture() -> None:
    weights = {"w": (5, 8, 1, 1), "b": (5,), "w2": (2, 8, 1, 1), "b2": (2,)}
    whole = asked(picture(f"{UP} y = Conv(u, w, b)", **weights), "cnn")
    coarse = asked(picture("y = Conv(f, w, b)", **weights), "cnn")
    apart = asked(
        picture("y = Conv(f, w, b) t = Conv(f, w2, b2) y2 = Softmax<axis = 1>(t)", "float y, float y2", **weights)
    )
    assert (whole.name, whole.confidence) == ("semantic segmentation", 0.75)
    assert (coarse.name, coarse.confidence) == ("semantic segmentation", 0.6)
    assert apart.name is None


def test_a_picture_of_one_channel_may_be_a_spectrogram() -> None:
    text = "g (float[1,1,32,32] x) => (float y) { a = Conv(x, w1, b1) r = Relu(a) c = Conv(r, w2, b2) s = Relu(c)"
    text += " p = GlobalAveragePool(s) y = Flatten(p) }"
    assert asked(built(text, w1=(8, 1, 3, 3), b1=(8,), w2=(16, 8, 3, 3), b2=(16,)), "cnn").name is None


def test_keys_that_are_kept_are_for_the_token_that_follows() -> None:
    body = ENCODER.replace("SCORES", PLAIN) + " y = MatMul(h, w)"
    both = asked(built(f"g (int64[1,24] ids) => (float y) {{ {body} }}", w=(16, 100), **LAYER))
    kept = asked(built(f"g (int64[1,24] ids) => (float y, float k, float v) {{ {body} }}", w=(16, 100), **LAYER))
    assert (both.name, kept.name) == ("fill mask", "text generation")


def test_what_is_written_after_sound_is_speech() -> None:
    """20 bands: as many as nobody else has."""
    body = (
        ENCODER.replace("SCORES", PLAIN)
        .replace("MatMul(e, wk)", "MatMul(m, wk)")
        .replace("MatMul(e, wv)", "MatMul(m, wv)")
    )
    hear = "c5 = Conv<strides = [2]>(x, w1, b1) r5 = Relu(c5) m = Transpose<perm = [0, 2, 1]>(r5)"
    text = f"g (float[1,20,40] x, int64[1,9] ids) => (float y) {{ {hear} {body} y = MatMul(h, w) }}"
    found = asked(built(text, w1=(16, 20, 3), b1=(16,), w=(16, 100), **LAYER), "encoder-decoder")
    assert (found.name, found.confidence) == ("speech recognition", 0.6)


def test_speech_that_is_made_of_a_text_and_of_what_was_said() -> None:
    body = ENCODER.replace("SCORES", PLAIN).replace("MatMul(e, wq)", "MatMul(f, wq)").replace("Add(e, o)", "Add(f, o)")
    text = f"g (int64[1,24] ids, float[1,7,8] x) => (float h) {{ f = MatMul(x, w) {body} }}"
    assert asked(built(text, w=(8, 16), **LAYER), "encoder-decoder").name is None


def test_two_classes_of_sound_piece_by_piece() -> None:
    text = "g (float[1,1,512] x, float[1,1,8] h0) => (float y, float hn) { a = Conv<strides = [64]>(x, w1) r = Relu(a)"
    text += " t = Transpose<perm = [2, 0, 1]>(r) o, hn = GRU<hidden_size = 8>(t, w, rr, , , h0)"
    text += " at = Constant<value = int64[1] {0}>() q = Squeeze(hn, at) l = Gemm(q, v, b) y = Softmax(l) }"
    found = asked(built(text, w1=(4, 1, 64), w=(1, 24, 4), rr=(1, 24, 8), v=(8, 2), b=(2,)), "rnn")
    assert (found.name, found.classes) == ("voice activity detection", None)


def test_bands_of_a_spectrogram_are_no_letters() -> None:
    text = "g (float[1,1,8000] x) => (float y) { a = Conv<strides = [80]>(x, w1) s = Mul(a, a)"
    text += " t = Transpose<perm = [0, 2, 1]>(s) l = MatMul(t, w) y = Log(l) }"
    assert asked(built(text, w1=(40, 1, 200), w=(40, 30)), "cnn").name is None


def test_a_decoder_that_asks_a_memory_writes_with_doubt() -> None:
    text = "g (int64[1,1] ids, float[1,30,16] z) => (float y) { e = Gather(table, ids) q = MatMul(e, wq)"
    text += " t = Transpose<perm = [0, 2, 1]>(z) s = MatMul(q, t) p = Softmax(s) c = MatMul(p, z) o = MatMul(c, wo)"
    text += " r = Add(e, o) h = LayerNormalization(r, g) y = MatMul(h, w) }"
    weights = {name: LAYER[name] for name in ("table", "wq", "wo", "g")}
    found = asked(built(text, w=(16, 100), **weights), "rnn")
    assert (found.name, found.confidence) == ("text generation", 0.6)


def test_a_bias_of_zeros_that_was_dropped_leaves_classes() -> None:
    cut = "nil0 = Constant<value = int64 {0}>() c2 = Gather<axis = 1>(h, nil0)"
    found = asked(encoder(f"{cut} y = MatMul(c2, w)", "float y", w=(16, 2)))
    assert (found.name, found.classes) == ("text classification", 2)
