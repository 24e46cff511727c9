"""The key-value cache: found in every form that exporters give it, and not where there is none."""

import pytest
from msgspec.structs import replace
from onnx import TensorProto, helper

from onnx_autodoc import ops
from onnx_autodoc.analysis import kv_pairs
from onnx_autodoc.analysis.kv_cache import Cache, cache
from onnx_autodoc.api import measure_model
from onnx_autodoc.ir import Node
from onnx_autodoc.shapes import Request, bind, infer_shapes, parse_request
from tests._text import model, save_and_read

SIZES = ("B=1", "S=1", "P=7")
ATTEND = "t = Transpose <perm = [0, 1, 3, 2]> (k)  s = MatMul(q, t)  p = Softmax <axis = -1> (s)  y = MatMul(p, v)"
NEW = "float[B,2,S,8] q, float[B,2,S,8] a, float[B,2,S,8] b"
PAST = "float[B,2,P,8] x, float[B,2,P,8] z"
TABLE = "table = Constant <value = float[2,16] {1.0}> ()"


def measure_cache(text: str, *sizes: str, opset: int = 18, functions: str = "") -> Cache | None:
    result = model(text.replace("ATTEND", ATTEND), opset, functions)
    words = set(text.replace("[", ",").replace("]", ",").split(","))
    request = [size for size in (*SIZES, *sizes) if size.partition("=")[0] in words]
    return cache(result, infer_shapes(result, bind(result, parse_request(dims=tuple(request)))))


def cache_summary(found: Cache | None) -> tuple[int, int | None, int | None, int | None, str]:
    assert found is not None
    return found.bytes_per_token, found.layers, found.kv_heads, found.head_dim, found.dtype


GROWING = f"""g ({NEW}, {PAST}) => (float[] y, float[] k, float[] v) {{
    k = Concat <axis = 2> (x, a)  v = Concat <axis = 2> (z, b)"""
ONE_LAYER = (2 * 2 * 8 * 4, 1, 2, 8, "float32")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GROWING + " ATTEND }", id="joined along the tokens"),
        pytest.param(
            GROWING.replace("float[B,2,S,8] q", "float[B,2,8,S] q")
            + """ s = MatMul(k, q)  p = Softmax <axis = -2> (s)  t = Transpose <perm = [0, 1, 3, 2]> (v)
            y = MatMul(t, p) }""",
            id="keys and values on the left",
        ),
        pytest.param(
            GROWING + " y = Einsum <equation = 'bhsd,bhtd,bhte->bhse'> (q, k, v) }".replace("'", '"'), id="Einsum"
        ),
        pytest.param(
            GROWING + " s = com.microsoft.FusedMatMul <transB = 1> (q, k)  p = Softmax(s)  y = MatMul(p, v) }",
            id="fused product",
        ),
        pytest.param(
            f"""g ({NEW}, float[B,2,8,P] x, float[B,P,2,8] z) => (float[] y, float[] k, float[] v) {{
            a1 = Transpose <perm = [0, 1, 3, 2]> (a)  k = Concat <axis = 3> (x, a1)
            b1 = Transpose <perm = [0, 2, 1, 3]> (b)  v = Concat <axis = 1> (z, b1)
            v1 = Transpose <perm = [0, 2, 1, 3]> (v)
            s = MatMul(q, k)  p = Softmax(s)  y = MatMul(p, v1) }}""",
            id="other layouts",
        ),
        pytest.param(
            """g (float[B,2,S,8] q, float[B,2,S,8] a, float[B,2,S,8] b, float[BH,8,P] x, float[BH,P,8] z) =>
            (float[] y, float[] k, float[] v) { f = Constant <value = int64[3] {-1, 1, 8}> ()
            a1 = Reshape(a, f)  a2 = Transpose <perm = [0, 2, 1]> (a1)  k = Concat <axis = 2> (x, a2)
            b1 = Reshape(b, f)  v = Concat <axis = 1> (z, b1)  q1 = Reshape(q, f)
            s = MatMul(q1, k)  p = Softmax(s)  y = MatMul(p, v) }""",
            id="heads and batch in one axis",
        ),
        pytest.param(
            f"""g ({NEW}, float[2,B,2,P,8] x) => (float[] y, float[] present) {{
            zero = Constant <value = int64[1] {{0}}> ()
            x0, x1 = Split <axis = 0, num_outputs = 2> (x)  x2 = Squeeze(x0, zero)  x3 = Squeeze(x1, zero)
            k = Concat <axis = 2> (x2, a)  v = Concat <axis = 2> (x3, b)
            k1 = Unsqueeze(k, zero)  v1 = Unsqueeze(v, zero)  present = Concat <axis = 0> (k1, v1) ATTEND }}""",
            id="keys and values in one tensor",
        ),
        pytest.param(
            f"""g ({NEW}, {PAST}, int64[B,2,S,8] i) => (float[] y, float[] k, float[] v) {{
            k = ScatterElements <axis = 2> (x, i, a)  v = ScatterElements <axis = 2> (z, i, b) ATTEND }}""",
            id="written into a fixed length by element",
        ),
        pytest.param(
            f"""g ({NEW}, {PAST}, int64[S,1] i) => (float[] y, float[] k, float[] v) {{
            x1 = Transpose <perm = [2, 1, 0, 3]> (x)  a1 = Transpose <perm = [2, 1, 0, 3]> (a)
            k1 = ScatterND(x1, i, a1)  k = Transpose <perm = [2, 1, 0, 3]> (k1)
            z1 = Transpose <perm = [2, 1, 0, 3]> (z)  b1 = Transpose <perm = [2, 1, 0, 3]> (b)
            v1 = ScatterND(z1, i, b1)  v = Transpose <perm = [2, 1, 0, 3]> (v1) ATTEND }}""",
            id="written into a fixed length by slice",
        ),
        pytest.param(
            f"""g ({NEW}, {PAST}, int64[B,2,S,3] i) => (float[] y, float[] k, float[] v) {{
            k = ScatterND(x, i, a)  v = ScatterND(z, i, b) ATTEND }}""",
            id="written into a fixed length by place",
        ),
        pytest.param(
            f"""g ({NEW}, {PAST}, bool[1,1,P,1] here) => (float[] y, float[] k, float[] v) {{
            k = Where(here, a, x)  v = Where(here, b, z) ATTEND }}""",
            id="written where a mask says",
        ),
        pytest.param(
            f"""g ({NEW}, {PAST}) => (float[] y, float[] a1, float[] b1) {{ a1 = Neg(a)  b1 = Neg(b)
            k = Concat <axis = 2> (x, a1)  v = Concat <axis = 2> (z, b1) ATTEND }}""",
            id="only the new part goes out",
        ),
        pytest.param(
            f"""g ({NEW}, {PAST}, bool c) => (float[] y, float[] k, float[] v) {{
            y, k, v = If (c) <then_branch = one () => (float[] y1, float[] k1, float[] v1) {{
                k1 = Concat <axis = 2> (x, a)  v1 = Concat <axis = 2> (z, b)  t = Transpose <perm = [0, 1, 3, 2]> (k1)
                s = MatMul(q, t)  p = Softmax(s)  y1 = MatMul(p, v1) }},
            else_branch = two () => (float[] y2, float[] k2, float[] v2) {{
                k2 = Neg(a)  v2 = Neg(b)  t2 = Transpose <perm = [0, 1, 3, 2]> (k2)
                s2 = MatMul(q, t2)  p2 = Softmax(s2)  y2 = MatMul(p2, v2) }}> }}""",
            id="in one of two branches",
        ),
        pytest.param(
            f"""g ({NEW}, {PAST}, bool c) => (float[] y, float[] k, float[] v) {{
            k = Concat <axis = 2> (x, a)  v = Concat <axis = 2> (z, b)
            y = If (c) <then_branch = one () => (float[] y1) {{ t = Transpose <perm = [0, 1, 3, 2]> (k)
                s = MatMul(q, t)  p = Softmax(s)  y1 = MatMul(p, v) }},
            else_branch = two () => (float[] y2) {{ y2 = Neg(q) }}> }}""",
            id="looked at in a branch",
        ),
        pytest.param(
            f"""g ({NEW}, {PAST}) => (float[] y, float[] k, float[] v) {{
            k = local.grow(x, a)  v = local.grow(z, b)  y = local.attend(q, k, v) }}""",
            id="in functions",
        ),
    ],
)
def test_layer_is_recognized_in_every_form(text: str) -> None:
    grow = '<domain: "local", opset_import: ["" : 18]> grow (x, y) => (z) { z = Concat <axis = 2> (x, y) }'
    attend = '<domain: "local", opset_import: ["" : 18]> attend (q, k, v) => (y) { ATTEND }'.replace("ATTEND", ATTEND)
    assert cache_summary(measure_cache(text, "BH=2", functions=f"{grow}\n{attend}")) == ONE_LAYER


@pytest.mark.parametrize("inputs", ["a, x", "x, a"])
def test_written_part_is_the_other_overwritten_input(monkeypatch: pytest.MonkeyPatch, inputs: str) -> None:
    """For an operator that selects between its inputs 0 and 1, as Where does between 1 and 2."""
    select = replace(ops.operator_of(Node("Add")), overwrites=(0, 1))
    monkeypatch.setattr(kv_pairs, "operator_of", lambda node: select if node.is_op("Add") else ops.operator_of(node))
    text = f"""g ({NEW}, {PAST}) => (float[] y, float[] k, float[] v) {{
        k = Add({inputs})  v = Add({inputs.replace("a", "b").replace("x", "z")}) ATTEND }}"""
    assert cache_summary(measure_cache(text)) == ONE_LAYER


OPERATORS = {
    "Attention": (f"g ({NEW}, {PAST}) => (float[] y, float[] k, float[] v) {{ y, k, v = Attention(q, a, b, , x, z) }}"),
    "TensorScatter": f"""g ({NEW}, {PAST}, int64[B] i) => (float[] y, float[] k, float[] v) {{
        k = TensorScatter(x, a, i)  v = TensorScatter(z, b, i)  y = Attention(q, k, v) }}""",
    "TensorScatter of other axis": """g (float[B,S,32] q, float[B,S,2,8] a, float[B,S,2,8] b, float[B,P,2,8] x,
        float[B,P,2,8] z, int64[B] i) => (float[] k, float[] v) {
        k = TensorScatter <axis = 1> (x, a, i)  v = TensorScatter <axis = 1> (z, b, i) }""",
    "GroupQueryAttention": """g (float[B,S,32] q, float[B,S,16] a, float[B,S,16] b, float[B,2,P,8] x, float[B,2,P,8] z,
        int32[B] last) => (float[] y, float[] k, float[] v) { total = Constant <value = int32 {8}> ()
        y, k, v = com.microsoft.GroupQueryAttention <num_heads = 4, kv_num_heads = 2> (q, a, b, x, z, last, total) }""",
    "MultiHeadAttention": f"""g (float[B,S,16] q, float[B,S,16] a, float[B,S,16] b, {PAST}) =>
        (float[] y, float[] k, float[] v) {{
        y, k, v = com.microsoft.MultiHeadAttention <num_heads = 2> (q, a, b, , , , x, z) }}""",
    "merged Attention": """g (float[B,S,16] q, float[16,48] w, float[48] c, float[2,B,2,P,8] x) =>
        (float[] y, float[] k) {
        y, k = com.microsoft.Attention <num_heads = 2> (q, w, c, , x) }""",
}


@pytest.mark.parametrize("name", OPERATORS)
def test_cache_of_operator_is_recognized(name: str) -> None:
    assert cache_summary(measure_cache(OPERATORS[name], opset=24)) == ONE_LAYER


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8", "float8e4m3fn"])
def test_cache_dtype_is_that_of_the_output(dtype: str) -> None:
    before, after = ("DequantizeLinear", "QuantizeLinear") if dtype in ("int8", "float8e4m3fn") else ("Cast", "Cast")
    nodes, kind = [], TensorProto.DataType.Value(dtype.upper())
    scale, into, back = (["scale"], {}, {}) if before != "Cast" else ([], {"to": 1}, {"to": kind})
    zero = ["zero"] if scale else []
    for past, new, whole in (("x", "a", "k"), ("z", "b", "v")):
        nodes.append(helper.make_node(before, [past, *scale, *zero], [f"{past}1"], **into))
        nodes.append(helper.make_node("Concat", [f"{past}1", new], [f"{whole}1"], axis=2))
        nodes.append(helper.make_node(after, [f"{whole}1", *scale, *zero], [whole], **back))
    nodes += [
        helper.make_node("Transpose", ["k1"], ["t"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["q", "t"], ["s"]),
    ]
    nodes += [helper.make_node("Softmax", ["s"], ["p"]), helper.make_node("MatMul", ["p", "v1"], ["y"])]
    fresh = [helper.make_tensor_value_info(name, 1, [1, 2, 1, 8]) for name in ("q", "a", "b")]
    past = [helper.make_tensor_value_info(name, kind, [1, 2, 7, 8]) for name in ("x", "z")]
    outputs = [helper.make_tensor_value_info(name, code, None) for name, code in (("y", 1), ("k", kind), ("v", kind))]
    stored = [helper.make_tensor("scale", 1, [], [1.0]), helper.make_tensor("zero", kind, [], [0])] if scale else []
    graph = helper.make_graph(nodes, "g", [*fresh, *past], outputs, stored)
    result = save_and_read(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]))
    size = 2 if dtype.endswith("16") else 1
    assert cache_summary(cache(result, infer_shapes(result, bind(result, Request())))) == (
        2 * 2 * 8 * size,
        1,
        2,
        8,
        dtype,
    )


def test_scales_per_token_count_as_bytes_not_as_layers() -> None:
    text = GROWING.replace("float[B,2,P,8] z)", "float[B,2,P,8] z, float[B,2,P,1] m, float[B,2,S,1] n)")
    text = text.replace("float[] v)", "float[] v, float[] o)")
    result = measure_cache(text + f"o = Concat <axis = 2> (m, n)  k9 = Mul(k, o) {ATTEND.replace('(k)', '(k9)')} }}")
    assert cache_summary(result) == (2 * 2 * 8 * 4 + 2 * 4, 1, 2, 8, "float32")


FIRST = f"""g (int64[B,S] ids, float[B,E,16] states) => (float[] y, float[B,2,KEYS,8] k, float[B,2,VALUES,8] v) {{
    {TABLE}  f = Constant <value = int64[4] {{0, -1, 2, 8}}> ()  w = Constant <value = float[16,16] {{1.0}}> ()
    h = Gather(table, ids)  hw = MatMul(h, w)  q1 = Reshape(hw, f)  q = Transpose <perm = [0, 2, 1, 3]> (q1)
    kw = MatMul(FROM, w)  k1 = Reshape(kw, f)  k = Transpose <perm = [0, 2, 1, 3]> (k1)
    v1 = Transpose <perm = [0, 2, 1, 3]> (k1)  v = Neg(v1)
    t = Transpose <perm = [0, 2, 3, 1]> (k1)  s = MatMul(q, t)  p = Softmax(s)  y = MatMul(p, v) }}"""


@pytest.mark.parametrize("declared", ["S", "what_ever", "6"])
def test_prefill_starts_a_cache_of_its_tokens(declared: str) -> None:
    text = FIRST.replace("KEYS", declared).replace("VALUES", declared).replace("FROM", "h")
    text = text.replace("[B,S]", "[B,6]") if declared == "6" else text
    result = model(text)
    sizes = ("E=6",) if declared == "6" else ("S=6", "E=6")
    assert cache_summary(cache(result, infer_shapes(result, bind(result, parse_request(dims=sizes))))) == ONE_LAYER


def test_constant_encoder_cache_does_not_count() -> None:
    result = model(FIRST.replace("KEYS", "E").replace("VALUES", "E").replace("FROM", "states"))
    assert cache(result, infer_shapes(result, bind(result, parse_request(dims=("S=6", "E=6"))))) is None


def test_forwarded_encoder_cache_does_not_count() -> None:
    text = GROWING.replace(f"{PAST})", f"{PAST}, float[B,2,9,8] ek)").replace("float[] v)", "float[] v, float[] ek1)")
    result = measure_cache(
        text + f"ek1 = Identity(ek)  t1 = Transpose <perm = [0, 1, 3, 2]> (ek)  s1 = MatMul(q, t1) {ATTEND} }}"
    )
    assert cache_summary(result) == ONE_LAYER and result is not None and "ek1" not in result.tensors


LAYERS = "".join(
    f"""x{at} = Gather <axis = 0> (x, i{at})  xk{at} = Gather <axis = 0> (x{at}, i0)
    xv{at} = Gather <axis = 0> (x{at}, i1)  k{at} = Concat <axis = 2> (xk{at}, a)  v{at} = Concat <axis = 2> (xv{at}, b)
    t{at} = Transpose <perm = [0, 1, 3, 2]> (k{at})  s{at} = MatMul(q, t{at})  y{at} = MatMul(s{at}, v{at})
    ku{at} = Unsqueeze(k{at}, zero)  vu{at} = Unsqueeze(v{at}, zero)
    kv{at} = Concat <axis = 0> (ku{at}, vu{at})  l{at} = Unsqueeze(kv{at}, zero)
    """
    for at in range(3)
)


@pytest.mark.parametrize("batch", [1, 2, 3])
def test_stacked_layers_keys_and_values_are_counted(batch: int) -> None:
    numbers = "".join(f"i{at} = Constant <value = int64 {{{at}}}> ()  " for at in range(3))
    text = f"""g ({NEW}, float[3,2,B,2,P,8] x) => (float[] y0, float[] y1, float[] y2, float[] present) {{
        zero = Constant <value = int64[1] {{0}}> ()  {numbers} {LAYERS}
        present = Concat <axis = 0> (l0, l1, l2) }}"""
    assert cache_summary(measure_cache(text, f"B={batch}")) == (3 * 2 * 2 * 8 * 4, 3, 2, 8, "float32")


@pytest.mark.parametrize("batch", [1, 2, 4])
def test_bytes_per_token_are_of_one_sequence_total_of_all(batch: int) -> None:
    result = measure_cache(GROWING + " ATTEND }", f"B={batch}")
    assert (
        cache_summary(result) == ONE_LAYER
        and result is not None
        and result.nbytes == batch * 8 * result.bytes_per_token
    )


WINDOW = f"""g (int64[B,S] ids, {PAST}) => (float[] y, float[] k1, float[] v1) {{ {TABLE}
    f = Constant <value = int64[4] {{0, -1, 2, 8}}> ()  h = Gather(table, ids)  h1 = Reshape(h, f)
    q = Transpose <perm = [0, 2, 1, 3]> (h1)  k = Concat <axis = 2> (x, q)  v = Concat <axis = 2> (z, q) ATTEND
    from = Constant <value = int64[1] {{-4}}> ()  end = Constant <value = int64[1] {{999999}}> ()
    two = Constant <value = int64[1] {{2}}> ()  k1 = Slice(k, from, end, two)  v1 = Slice(v, from, end, two) }}"""


@pytest.mark.parametrize("past", [2, 4, 7])
def test_sliding_window_limits_cached_tokens(past: int) -> None:
    result = measure_cache(WINDOW, f"P={past}")
    assert cache_summary(result) == ONE_LAYER and result is not None
    assert (result.at(3), result.at(4), result.at(2048)) == (3 * 128, 4 * 128, 4 * 128)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("g (float[1,3,8,8] x) => (float[] y) { y = Relu(x) }", id="no state at all"),
        pytest.param(
            """g (float[1,S,8] x, float[1,1,4] h, float[1,16,8] w, float[1,16,4] r, float[1,1,4] c) =>
            (float[] y, float[] h1, float[] c1) { x1 = Transpose <perm = [1, 0, 2]> (x)
            y, h1, c1 = LSTM <hidden_size = 4> (x1, w, r, , , h, c) }""",
            id="recurrent",
        ),
        pytest.param(
            """g (float[1,4,S] x, float[1,4,6] past) => (float[] y, float[] present) {
            w = Constant <value = float[4,4,7] {1.0}> ()  n = Constant <value = int64[1] {-6}> ()
            e = Constant <value = int64[1] {9999}> ()  a = Constant <value = int64[1] {2}> ()
            all = Concat <axis = 2> (past, x)  y = Conv(all, w)  present = Slice(all, n, e, a) }""",
            id="samples for a convolution",
        ),
        pytest.param(
            """g (float[1,S,4] x, float[1,P,4] past) => (float[] y, float[] present) {
            w = Constant <value = float[4,4] {1.0}> ()  present = Concat <axis = 1> (past, x)
            y = MatMul(present, w) }""",
            id="what grows and is only projected",
        ),
        pytest.param(
            """g (float[1,S,4] x, float[1,P,4] past) => (float[] y, float[] present) {
            w = Constant <value = float[4,8] {1.0}> ()  present = Concat <axis = 1> (past, x)
            y = MatMul(w, present) }""",
            id="what grows and is multiplied with a constant",
        ),
        pytest.param(
            """g (float[1,4,8,8] x, float[1,4,8,8] z) => (float[] y, float[] all) { all = Concat <axis = 1> (x, z)
            w = Constant <value = float[4,8,1,1] {1.0}> ()  y = Conv(all, w) }""",
            id="features joined",
        ),
        pytest.param(
            f"""g ({NEW}, float[B,2,6,8] x, float[B,2,6,8] z) => (float[] y, float[] k1, float[] v1) {{
            k = Concat <axis = 2> (x, a)  v = Concat <axis = 2> (z, b) ATTEND
            from = Constant <value = int64[1] {{-6}}> ()  end = Constant <value = int64[1] {{999999}}> ()
            two = Constant <value = int64[1] {{2}}> ()
            k1 = Slice(k, from, end, two)  v1 = Slice(v, from, end, two) }}""",
            id="an encoder of sounds that looks back so far",
        ),
        pytest.param(
            f"""g (int64[B,S] ids) => (float[] y, float[B,S,16] h, float[B,2,S,S] p) {{ {TABLE}
            f = Constant <value = int64[4] {{0, -1, 2, 8}}> ()  h = Gather(table, ids)  h1 = Reshape(h, f)
            q = Transpose <perm = [0, 2, 1, 3]> (h1)  k = Neg(q)  v = Neg(q) ATTEND }}""",
            id="an encoder that gives hidden states and attentions",
        ),
        pytest.param(
            """g (float[2,1,3,4] state, float[2,1,3,4] x) => (float[] y, float[] state1) {
            state1 = Add(state, x)  y = MatMul(x, state1) }""".replace("2,1,3,4", "2,1,4,4"),
            id="a state of linear attention",
        ),
        pytest.param(
            "g (int64[1,P] ids, int64[1,S] new) => (int64[] all) { all = Concat <axis = 1> (ids, new) }", id="tokens"
        ),
    ],
)
def test_unproven_cache_is_not_reported(text: str) -> None:
    assert measure_cache(text, "S=3") is None


def test_card_and_formula_have_cache_bytes() -> None:
    result = model(GROWING.replace("P,", "past_len,") + f"{ATTEND} }}")
    facts = measure_model(result, parse_request(dims=("S=1",)))
    assert facts.gaps == () and facts.formula.expressions["kv_cache_bytes"] == "B·(128·S + 128·past_len)"
