"""Roles of inputs by their use: states, tokens, positions, encoder states."""

import pytest

from tests.patterns._models import ENCODER, LAYER, PLAIN, build_encoder, build_model, find_model_roles

POSITIONS = "e0 = Gather(table, ids) p0 = Gather(places, at0) e = Add(e0, p0)"
COUNTED = "one0 = Constant<value = int64 {1}>() at0 = CumSum(mask, one0)"


def find_roles_with_positions(
    end: str, index_name: str, before: str = "", **weights: tuple[int, ...]
) -> dict[str, str]:
    """Return roles in an encoder whose position table has 300 rows, three times those of the token table."""
    body = ENCODER.replace("SCORES", PLAIN).replace("e = Gather(table, ids)", f"{before} {POSITIONS}")
    text = f"g (int64[1,24] ids, int64[1,24] {index_name}) => (float y) {{ {body} {end} }}"
    return find_model_roles(*build_model(text, places=(300, 16), **LAYER, **weights))


def test_counted_mask_is_not_tokens() -> None:
    net = find_roles_with_positions("y = Identity(h)", "mask", COUNTED)
    assert net["ids"] == "tokens"
    assert net.get("mask") != "tokens"


def test_tokens_have_the_vocabulary_of_the_output() -> None:
    net = find_roles_with_positions("y = MatMul(h, w)", "at0", w=(16, 100))
    assert (net["ids"], net["at0"], net["y"]) == ("tokens", "positions", "token logits")


@pytest.mark.parametrize(("name", "role"), [("position_ids", "positions"), ("at0", "tokens")])
def test_name_breaks_the_tie_between_two_tables(name: str, role: str) -> None:
    assert (
        find_roles_with_positions("y = Identity(h)", name, f"at0 = Identity({name})" if name != "at0" else "")[name]
        == role
    )


def test_two_small_vocabularies_are_tokens() -> None:
    text = "g (int64[1,24] a, int64[1,24] b) => (float y) { e1 = Gather(t1, a) e2 = Gather(t2, b)"
    text += " j = Concat<axis = -1>(e1, e2) y = LayerNormalization(j, g) }"
    net = find_model_roles(*build_model(text, t1=(90, 16), t2=(40, 16), g=(32,)))
    assert (net["a"], net["b"]) == ("tokens", "tokens")


def test_float_indices_have_a_role() -> None:
    text = "g (float[1,24] x) => (float y) { i = Cast<to = 7>(x) e = Gather(table, i) y = LayerNormalization(e, g) }"
    assert find_model_roles(*build_model(text, table=(257, 16), g=(16,)))["x"] == "tokens"


def test_encoder_keys_are_not_an_image() -> None:
    """Four heads, transposed before their product."""
    body = ENCODER.replace("SCORES", PLAIN).replace("1, -1, 2, 8", "1, -1, 4, 4")
    body = body.replace("k = Transpose<perm = [0, 2, 3, 1]>(k1)", "k = Transpose<perm = [0, 1, 3, 2]>(pk)")
    text = f"g (int64[1,5] ids, float[1,4,30,4] pk, float[1,4,30,4] pv) => (float h) {{ {body} }}"
    net = find_model_roles(*build_model(text.replace("MatMul(p, v)", "MatMul(p, pv)"), **LAYER))
    assert (net["pk"], net["pv"]) == ("past state", "past state")


def test_axis_named_frames_makes_a_spectrogram() -> None:
    text = "g (float[1,3,HIGH,64] x) => (float y) { y = Conv<strides = [2, 2]>(x, w) }"
    net = {
        name: find_model_roles(*build_model(text.replace("HIGH", name), w=(8, 3, 3, 3)))["x"]
        for name in ("height", "frames")
    }
    assert net == {"height": "image NCHW", "frames": "spectrogram"}


def test_unprojected_images_in_attention_are_not_images() -> None:
    text = "g (float[1,3,16,16] q, float[1,3,16,16] k, float[1,3,16,16] v) => (float y) {"
    text += " t = Transpose<perm = [0, 1, 3, 2]>(k) s = MatMul(q, t) p = Softmax(s) y = MatMul(p, v) }"
    assert not {"image NCHW", "past state"} & set(find_model_roles(*build_model(text)).values())


def test_returned_keys_are_a_present_state() -> None:
    """One projection, transposed differently for the output and for the product."""
    body = ENCODER.replace("SCORES", PLAIN) + " pk = Transpose<perm = [0, 2, 1, 3]>(k1)"
    net = find_model_roles(*build_model(f"g (int64[1,24] ids) => (float h, float pk) {{ {body} }}", **LAYER))
    assert (net["h"], net["pk"]) == ("hidden states", "present state")


def test_unprojected_memory_is_encoder_states() -> None:
    text = "g (int64[1,1] ids, float[1,30,16] z) => (float y) { e = Gather(table, ids) q = MatMul(e, wq)"
    text += " t = Transpose<perm = [0, 2, 1]>(z) s = MatMul(q, t) p = Softmax(s) c = MatMul(p, z) y = MatMul(c, wo) }"
    weights = {name: LAYER[name] for name in ("table", "wq", "wo")}
    assert find_model_roles(*build_model(text, **weights))["z"] == "encoder states"


def test_rotary_positions_have_a_role() -> None:
    body = ENCODER.replace("SCORES", PLAIN).replace("MatMul(e, wk)", "MatMul(e2, wk)")
    turn = "f = Cast<to = 1>(at) three0 = Constant<value = int64[3] {1, 24, 1}>() f3 = Reshape(f, three0)"
    turn += " a = MatMul(f3, freq) si = Sin(a) e2 = Mul(e, si)"
    body = body.replace("e = Gather(table, ids)", f"e = Gather(table, ids) {turn}")
    net = find_model_roles(
        *build_model(f"g (int64[1,24] ids, int64[1,24] at) => (float h) {{ {body} }}", freq=(1, 16), **LAYER)
    )
    assert net["at"] == "positions"


def test_compared_indices_are_segments() -> None:
    same = "c1 = Constant<value = int64[1] {2}>() c2 = Constant<value = int64[1] {1}>() l = Unsqueeze(seg, c1)"
    same += " r0 = Unsqueeze(seg, c2) eq = Equal(l, r0) low = Constant<value = float {-9.0}>() s = Where(eq, s1, low)"
    assert find_model_roles(*build_encoder("y = Identity(h)", "float y", ", int64[1,24] seg", same))["seg"] == "segment"


def test_input_that_sorts_tokens_is_lengths() -> None:
    text = "g (int64[3,9] ids, int64[3] long) => (float y) { k = Constant<value = int64[1] {3}>()"
    text += " v, at = TopK<axis = 0>(long, k) o = Gather(ids, at) e = Gather(table, o)"
    text += " t = Transpose<perm = [1, 0, 2]>(e) n = Cast<to = 6>(v) y = GRU<hidden_size = 8>(t, w, r, , n) }"
    net = find_model_roles(*build_model(text, table=(90, 16), w=(1, 24, 16), r=(1, 24, 8)))
    assert (net["ids"], net["long"]) == ("tokens", "lengths")


def test_state_has_the_shape_of_its_output() -> None:
    """Sliced from a larger tensor at the input, concatenated to it at the output."""
    text = "g (float[1,1,4] x, float[2,1,8] h) => (float o) { a = Constant<value = int64 {0}>() i = Gather(h, a)"
    text += (
        " sh = Constant<value = int64[2] {8, 1}>() t = Reshape(i, sh) u = Transpose<perm = [1, 0]>(t) m = MatMul(u, v)"
    )
    text += " at = Constant<value = int64[1] {0}>() s0 = Unsqueeze(m, at)"
    text += " p, s = GRU<hidden_size = 8>(x, w, r, , , s0) o = Concat<axis = 0>(s, s) }"
    net = find_model_roles(*build_model(text, w=(1, 24, 4), r=(1, 24, 8), v=(8, 8)))
    assert (net["x"], net["h"], net["o"]) == ("features", "state", "present state")


def test_boolean_output_has_no_role() -> None:
    end = "lim = Constant<value = float {0.5}>() y = Greater(h, lim) l = MatMul(h, w) t = ArgMax<axis = -1>(l)"
    net = find_model_roles(*build_encoder(end, "bool y, int64 t", w=(16, 100)))
    assert (net.get("y"), net["t"]) == (None, "tokens")
