"""Dynamic dimensions: requested sizes, default sizes, and rejected requests."""

import onnx
import pytest

from onnx_autodoc.errors import BadInput
from onnx_autodoc.shapes import Request, bind, bind_and_infer, parse_request
from tests._text import model, proto, save_and_read

TEXT = "g (int64[B,S] ids, int64[B,S] mask) => (float[] y) { y = Cast <to = 1> (ids) }"
IMAGE = "g (float[unnamed,3,unnamed,unnamed] x) => (float[] y) { y = Relu(x) }"
CACHED = """g (int64[B,S] ids, int64[B,total_sequence_length] mask, float[B,4,past_len,8] past_key) => (float[] y)
    { y = Relu(past_key) }"""

# what torch.export calls the dimensions of a model with a cache
SYMBOLS = """g (int64[s1,s70] input_ids, int64[s1,s53] attention_mask, float[s1,4,s18,8] past_key) => (float[] y)
    { y = Relu(past_key) }"""
DECODER = """g (int64[B,1] ids, float[B,encoder_seq_len,8] states, float[B,4,past_len,8] past_key) => (float[] y)
    { y = Relu(past_key) }"""
POSITIONS = "g (int64[s0] positions, int64[s1,s0] ids) => (float[] y) { y = Cast <to = 1> (ids) }"


@pytest.mark.parametrize(
    ("text", "request_", "expected"),
    [
        (TEXT, Request(), {"B": 1, "S": 128}),
        (TEXT, Request(batch=4, seq=9), {"B": 4, "S": 9}),
        (TEXT, parse_request(dims=("S=77",)), {"B": 1, "S": 77}),
        (TEXT, parse_request(dims=("ids.1=12",)), {"B": 1, "S": 12}),
        (TEXT, parse_request(seq=9, dims=("S=10",)), {"B": 1, "S": 10}),
        (IMAGE, Request(), {"x.0": 1, "x.2": 224, "x.3": 224}),
        (IMAGE, Request(size=(32, 64)), {"x.0": 1, "x.2": 32, "x.3": 64}),
        (IMAGE, parse_request(dims=("x.3=7",)), {"x.0": 1, "x.2": 224, "x.3": 7}),
        (CACHED, Request(), {"B": 1, "S": 1, "past_len": 127, "total_sequence_length": 128}),
        (CACHED, Request(seq=4), {"B": 1, "S": 4, "past_len": 127, "total_sequence_length": 131}),
        (CACHED, parse_request(dims=("past_len=9",)), {"B": 1, "S": 1, "past_len": 9, "total_sequence_length": 10}),
        (SYMBOLS, Request(), {"s1": 1, "s70": 1, "s53": 128, "s18": 127}),
        (SYMBOLS, parse_request(seq=4, dims=("s18=10",)), {"s1": 1, "s70": 4, "s53": 14, "s18": 10}),
        (SYMBOLS.replace("s53", "sum"), Request(), {"s1": 1, "s70": 1, "s18 + s70": 128, "s18": 127}),
        (DECODER, Request(), {"B": 1, "encoder_seq_len": 128, "past_len": 127}),
        (DECODER, Request(seq=9), {"B": 1, "encoder_seq_len": 9, "past_len": 127}),
        (POSITIONS, Request(), {"s0": 128, "s1": 1}),
    ],
)
def test_every_dynamic_dimension_is_bound(text: str, request_: Request, expected: dict[str, int]) -> None:
    source, names = proto(text), {"unnamed": "?", "sum": "s18 + s70"}
    for value in source.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in names:
                dim.dim_param = names[dim.dim_param]
    assert bind(save_and_read(source), request_).chosen == expected


@pytest.mark.parametrize(
    ("text", "request_", "word"),
    [
        (TEXT, parse_request(dims=("T=3",)), "no dynamic dimension 'T'"),
        (TEXT, parse_request(dims=("ids.7=3",)), "count from 0"),
        (TEXT, Request(size=(2, 2)), "no dynamic height"),
        (TEXT, parse_request(values=("nobody=3",)), "no input 'nobody'"),
        (TEXT, parse_request(values=("ids=x",)), "is not a number of type int64"),
        (
            "g (float[2,3] x) => (float[] y) { y = Relu(x) }",
            parse_request(dims=("x.1=4",)),
            "dimension 1 of input 'x' is fixed at 3",
        ),
        ("g (float[2,3] x) => (float[] y) { y = Relu(x) }", Request(batch=4), "no dynamic batch"),
        (
            "g (int64[3] n) => (float[] y) { y = Cast <to = 1> (n) }",
            parse_request(values=("n=3",)),
            "does not hold exactly one number",
        ),
    ],
)
def test_request_without_effect_is_rejected(text: str, request_: Request, word: str) -> None:
    with pytest.raises(BadInput, match=word):
        bind(model(text), request_)


def test_size_0_is_dynamic_except_for_an_empty_cache() -> None:
    zeros = model("g (float[0,3,0,0] x) => (float[] y) { y = Relu(x) }")
    assert bind(zeros, parse_request(dims=("x.3=7",))).chosen == {"x.0": 1, "x.2": 224, "x.3": 7}
    cache = model("g (float[1,4,0,8] past_key) => (float[] y) { y = Relu(past_key) }")
    binding, inferred = bind_and_infer(cache, Request())
    assert binding.chosen == {} and inferred.values["y"].concrete == (1, 4, 0, 8)


@pytest.mark.parametrize(
    "text",
    [
        "g (float[0,5] x) => (float[0,5] y) { y = Relu(x) }",
        "g (float[0,5] x, float[5,7] w) => (float[0,7] y) { y = MatMul(x, w) }",
        "g (float[3,0,5] x) => (float[3,0,n] y) { y = Relu(x) }",
        "g (float[2,3] x, float16[0] like) => (float16[2,3] y) { y = CastLike(x, like) }",
    ],
)
def test_size_0_confirmed_by_outputs_is_used(text: str) -> None:
    source = model(text)
    binding, inferred = bind_and_infer(source, Request())
    assert set(binding.chosen.values()) == {0}
    assert inferred.contradictions == inferred.misdeclared == ()
    key = next(iter(binding.chosen))
    assert (
        bind_and_infer(source, parse_request(dims=(f"{key}=4",)))[0].chosen[key] == 4
    )  # whoever knows better may say so


@pytest.mark.parametrize(
    "text",
    [
        "g (float[0,5] x) => (float[n,5] y) { y = Relu(x) }",
        "g (float[0,5] x) => (float[] y) { y = Relu(x) }",
        "g (float[0,5] x) => (float[1,5] y) { y = Relu(x) }",
        "g (float[0,3,0,0] x, float[8,3,3,3] w) => (float[0,8,0,0] y) { y = Conv(x, w) }",
    ],
)
def test_size_0_not_confirmed_by_outputs_is_dynamic(text: str) -> None:
    assert bind_and_infer(model(text), Request())[0].chosen["x.0"] == 1


def test_requested_size_equal_to_the_fixed_size_is_accepted() -> None:
    fixed = model("g (float[2,3] x) => (float[] y) { y = Relu(x) }")
    assert bind(fixed, parse_request(batch=2, dims=("x.1=3",))).chosen == {}


def test_defaults_that_cannot_run_are_replaced_by_usual_sizes() -> None:
    text = """g (float[1,3,H,W] x, float[8,3,48,5] w) => (float[] y) { c = Conv(x, w)
        one = Constant <value = int64[1] {2}> ()  y = Squeeze(c, one) }"""
    binding, inferred = bind_and_infer(model(text), Request())
    assert inferred.contradictions == ()
    assert binding.chosen["H"] == 48


def test_weight_sizes_are_tried_for_features() -> None:
    zeros = ", ".join(["0.5"] * 529 * 4)
    weight = f"w = Constant <value = float[529,4] {{{zeros}}}> ()"
    text = f"g (float[N,F] x) => (float[] y) {{ {weight}  a = Relu(x)  y = MatMul(a, w) }}"
    binding, inferred = bind_and_infer(model(text), Request())
    assert binding.chosen["F"] == 529
    assert inferred.values["y"].concrete == (1, 4)


def test_requested_size_is_never_changed() -> None:
    text = "g (float[1,3,H,W] x, float[8,3,48,5] w) => (float[] y) { y = Conv(x, w) }"
    binding, inferred = bind_and_infer(model(text), Request(size=(8, 8)))
    assert binding.chosen == {"H": 8, "W": 8}
    assert inferred.contradictions


@pytest.mark.parametrize(
    ("text", "name", "size"),
    [
        # a shape that the exporter wrote down as it was when it ran
        (
            "g (int64[B,S] i) => (int64[] y) { to = Constant <value = int64[2] {9, -1}> ()  y = Reshape(i, to) }",
            "S",
            9,
        ),
        # positions for a length that a stride halves
        (
            """g (float[1,2,frames] x) => (float[] y) { w = Constant <value = float[1,2,1] {1, 1}> ()
            c = Conv <strides = [2]> (x, w)  at = ConstantOfShape(shape)  y = Add(c, at) }""",
            "frames",
            42,
        ),
        # a cache with room for no more than so many tokens
        (
            """g (int64[1,S] ids, float[1,2,past_len,8] past) => (float[] y) { at = ConstantOfShape(shape)
            new = ConstantOfShape(one)  all = Concat <axis = 2> (past, new)  t = Transpose(all)  y = Add(t, at) }""",
            "past_len",
            20,
        ),
    ],
)
def test_sizes_required_by_a_node_are_tried(text: str, name: str, size: int) -> None:
    text = text.replace("at =", "shape = Constant <value = int64[1] {21}> ()  at =", 1)
    if "past" in text:
        text = text.replace("int64[1] {21}", "int64[4] {1, 21, 2, 1}")
        text = text.replace("new =", "one = Constant <value = int64[4] {1, 2, 1, 8}> ()  new =", 1)
    binding, inferred = bind_and_infer(model(text), Request())
    assert inferred.contradictions == ()
    assert binding.chosen[name] == size


def test_data_dependent_shapes_change_no_default() -> None:
    text = "g (float[1,3,H,W] x) => (int64[] y) { s = Shape(x)  ones = ConstantOfShape(s)  y = NonZero(ones) }"
    assert bind_and_infer(model(text), Request())[0].chosen == {"H": 224, "W": 224}


def test_unbound_dimension_gets_its_size_from_an_output() -> None:
    text = """g (int64[1,S] ids, float[1,2,past_len,kv_dim] past) => (float[1,2,all,kv_dim] y) {
        to = Constant <value = int64[4] {1, 2, 1, 16}> ()  new = ConstantOfShape(to)
        y = Concat <axis = 2> (past, new) }"""
    binding, inferred = bind_and_infer(model(text), Request())
    assert binding.chosen == {"S": 1, "past_len": 127, "kv_dim": 16}
    assert inferred.values["past"].concrete == (1, 2, 127, 16)


def rename_dimension(name: str) -> onnx.ModelProto:
    inferred = proto("g (float[N,4] x, float[M,4] z) => (float[] y) { y = Relu(x) }")
    inferred.graph.input[1].type.tensor_type.shape.dim[0].dim_param = name
    return inferred


@pytest.mark.parametrize("name", ["N + ²", "① + N", "N + 9999999999999999999", "N +", "+", "N + ٣"])
def test_name_that_resembles_a_sum_is_a_name(name: str) -> None:
    assert bind(save_and_read(rename_dimension(name)), Request()).chosen == {"N": 1, name: 1}


def test_axis_is_a_number_in_ascii_digits() -> None:
    with pytest.raises(BadInput, match="has no dynamic dimension"):
        bind(model(IMAGE), parse_request(dims=("x.²=3",)))


@pytest.mark.parametrize(
    ("dtype", "number"),
    [
        ("uint8", "300"),
        ("int32", "3000000000"),
        ("uint8", "-1"),
        ("float", "nan"),
        ("float", "1e308"),
        ("float", "inf"),
    ],
)
def test_value_out_of_range_of_its_type_is_rejected(dtype: str, number: str) -> None:
    inferred = model(f"g ({dtype} n, float[4] x) => (float[] y) {{ y = Relu(x) }}")
    with pytest.raises(BadInput, match="is not a number of type"):
        bind(inferred, parse_request(values=(f"n={number}",)))


@pytest.mark.parametrize(("text", "word"), [("ids.1=many", "integer N"), ("S", "NAME=N")])
def test_malformed_dim_option_is_rejected(text: str, word: str) -> None:
    with pytest.raises(BadInput, match=word):
        parse_request(dims=(text,))


@pytest.mark.parametrize("size", [-1, 10**18, 1.5])
def test_requested_size_that_is_no_size_is_rejected(size: int) -> None:
    with pytest.raises(BadInput, match="integer N"):
        bind(model(TEXT), parse_request(dims={"S": size}))
