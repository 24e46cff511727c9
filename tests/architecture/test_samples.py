"""What a fair input is, by what the graph asks of it."""

import math
import re

import pytest

from onnx_autodoc.card import Sample
from tests.architecture._described import described


def filled(text: str, functions: str = "") -> dict[str, Sample]:
    """The samples of a graph, whose weights are written without their numbers: <float[50,8] table>."""
    held = re.search(r"\)\s*<([^>]*)>", text.partition("{")[0])
    if held is not None:
        text = text.replace(held[1], re.sub(r"float\[([0-9,]+)\] \w+", _weight, held[1]))
    return described(text, 18, functions).samples


def _weight(found: re.Match[str]) -> str:
    count = math.prod(map(int, found[1].split(",")))
    return f"{found[0]} = {{{','.join(['0.1'] * count)}}}"


def looked_up(lines: str) -> Sample:
    """The sample of `ids` in a graph that looks `at` up in a table of 50 rows."""
    return filled(f"g (int64[2,6] ids) => (float y) <float[50,8] table> {{ {lines} y = Gather(table, at) }}")["ids"]


@pytest.mark.parametrize(
    ("lines", "low", "high"),
    [
        ("at = Identity(ids)", 0, 50),
        ("i = Cast<to=6>(ids) at = Cast<to=7>(i)", 0, 50),
        ("s = Constant<value_ints=[12]>() at = Reshape(ids, s)", 0, 50),
        ("two = Constant<value_int=2>() at = Add(ids, two)", 0, 48),
        ("two = Constant<value_int=2>() at = Sub(ids, two)", 2, 52),
        ("ten = Constant<value_int=10>() at = Mul(ids, ten)", 0, 5),
        ("a = Constant<value_ints=[0]>() b = Constant<value_ints=[1]>() at = Slice(ids, a, b, b)", 0, 50),
        ("t = Constant<value_int=3>() c = Equal(ids, t) at = Where(c, t, ids)", 0, 50),
    ],
)
def test_ids_are_rows_of_the_table_that_they_look_up(lines: str, low: int, high: int) -> None:
    assert looked_up(lines) == Sample("integers", low=low, high=high)


@pytest.mark.parametrize("bound", ["at = Clip(ids, zero, last)", "at = Min(ids, last)", "at = Mod(ids, last)"])
def test_ids_that_are_kept_in_bounds_have_none(bound: str) -> None:
    lines = f"zero = Constant<value_int=0>() last = Constant<value_int=49>() {bound}"
    assert looked_up(lines) == Sample("constant", value=1)


@pytest.mark.parametrize("operator", ["Identity(ids)", "Add(ids, ids)", "Concat(ids)"])
def test_operator_of_another_domain_passes_no_numbers_on(operator: str) -> None:
    assert looked_up(f"at = custom.{operator}") == Sample("constant", value=1)


def test_of_several_tables_the_smallest_counts() -> None:
    text = """g (int64[6] ids) => (float y) <float[50,8] large, float[7,8] small>
    { a = Gather(large, ids) b = Gather(small, ids) y = Add(a, b) }"""
    assert filled(text)["ids"] == Sample("integers", low=0, high=7)


def test_ids_are_followed_into_functions_branches_and_loops() -> None:
    call = """g (int64[6] ids) => (float y) <float[50,8] table> { y = local.look(table, ids) }"""
    function = '<domain: "local", opset_import: ["" : 18]> look (t, i) => (o) { o = Gather(t, i) }'
    assert filled(call, functions=function)["ids"].high == 50
    branch = """g (int64[6] ids, bool c) => (float y) <float[50,8] table>
    { y = If(c) <then_branch = t () => (float[6,8] a) { a = Gather(table, ids) },
                 else_branch = e () => (float[6,8] b) { n = Neg(ids) b = Gather(table, n) }> }"""
    assert filled(branch)["ids"].high == 50
    loop = """g (int64[6] ids) => (float y) <float[50,8] table>
    { two = Constant<value_int=2>() go = Constant<value = bool {1}>()
      last, y = Loop(two, go, ids) <body = b (int64 i, bool c, int64[6] at) => (bool c2, int64[6] at2, float[6,8] r)
      { c2 = Identity(c) at2 = Identity(at) r = Gather(table, at) }> }"""
    assert filled(loop)["ids"].high == 50


def test_a_fused_embedding_has_three_tables() -> None:
    text = """g (int32[1,4] ids, int32[1,4] segment) => (float y)
    <float[50,8] w, float[16,8] p, float[2,8] s, float[8] gamma, float[8] beta>
    { y, m = com.microsoft.EmbedLayerNormalization(ids, segment, w, p, s, gamma, beta) }"""
    found = filled(text)
    assert found["ids"] == Sample("integers", low=0, high=50)
    assert found["segment"].high == 2 or found["segment"] == Sample("constant", value=0)


def test_places_may_have_several_numbers_each() -> None:
    text = "g (float[5,3,8] x, int64[4,2] at) => (float y) { y = GatherND(x, at) }"
    assert filled(text)["at"] == Sample("integers", low=0, high=3)


def test_floats_may_be_rows_too() -> None:
    text = "g (float[4] x) => (float y) <float[50,8] table> { i = Cast<to=7>(x) y = Gather(table, i) }"
    assert filled(text)["x"] == Sample("integers", low=0, high=50)


def test_sizes_counts_and_axes_are_such_that_something_is_left() -> None:
    text = """g (float[4,6] x, int64[1] k, int64[2] many, int64[2] axes) => (float y, float z, float r)
    { y, i = TopK(x, k) z = Tile(x, many) r = ReduceSum(x, axes) }"""
    found = filled(text)
    assert found["k"] == found["many"] == Sample("constant", value=1)
    assert found["axes"] == Sample("range", low=0), "no axis twice"


def test_lengths_are_those_of_the_axis_that_they_measure() -> None:
    text = """g (float[7,2,4] x, int32[2] lengths) => (float y) <float[1,12,4] w, float[1,12,3] r>
    { e = Identity(x) y, h, c = LSTM<hidden_size=3>(e, w, r, , lengths) }"""
    assert filled(text)["lengths"] == Sample("constant", value=7)
    compared = """g (float[2,9] x, int64[2] lengths) => (float y)
    { a = Constant<value_int=0>() b = Constant<value_int=9>() one = Constant<value_int=1>() r = Range(a, b, one)
      axes = Constant<value_ints=[1]>() l = Unsqueeze(lengths, axes) m = Less(r, l) f = Cast<to=1>(m) y = Mul(x, f) }"""
    assert filled(compared)["lengths"] == Sample("constant", value=9)


def test_a_number_that_steers_is_the_one_it_is_compared_with() -> None:
    text = """g (float[1,4] x, int64 sr) => (float y)
    { rate = Constant<value_int=16000>() c = Equal(sr, rate)
      y = If(c) <then_branch = t () => (float[1,4] a) { a = Relu(x) },
                 else_branch = e () => (float[1,4] b) { b = Neg(x) }> }"""
    assert filled(text)["sr"] == Sample("constant", value=16000)


def test_places_are_counted_from_a_mask_of_ones() -> None:
    text = """g (int64[1,4] mask) => (float y) <float[50,8] table>
    { axis = Constant<value_int=1>() at = CumSum(mask, axis) y = Gather(table, at) }"""
    assert filled(text)["mask"] == Sample("constant", value=1)


def test_categories_are_known_ones() -> None:
    text = """g (string[2,1] x, string[1] n) => (float y, float z)
    { y = ai.onnx.ml.OneHotEncoder<cats_strings=["red", "blue"], zeros=0>(x) z = Cast<to=1>(n) }"""
    found = filled(text)
    assert found["x"] == Sample("text", value="red")
    assert found["n"] == Sample("text", value="1"), "what is read as a number must be one"


@pytest.mark.parametrize(
    ("dtype", "sample"),
    [
        ("bool", Sample("constant", value=True)),
        ("uint8", Sample("integers", low=0, high=256)),
        ("int8", Sample("integers", low=-128, high=128)),
        ("int32", Sample("constant", value=1)),
        ("uint64", Sample("constant", value=1)),
        ("string", Sample("text", value="text")),
        ("float", Sample("normal", high=1)),
        ("float16", Sample("normal", high=1)),
        ("double", Sample("normal", high=1)),
        ("bfloat16", Sample("normal", high=1)),
    ],
)
def test_what_nothing_is_asked_of_is_filled_by_its_type(dtype: str, sample: Sample) -> None:
    assert filled(f"g ({dtype}[2,3] x) => ({dtype}[2,3] y) {{ y = Identity(x) }}")["x"] == sample


def test_pictures_are_bright_and_sound_is_quiet() -> None:
    picture = "g (float[1,3,32,32] x) => (float y) <float[8,3,3,3] w> { y = Conv(x, w) }"
    assert filled(picture)["x"] == Sample("uniform", low=0, high=1)
    sound = "g (float[1,1,4000] x) => (float y) <float[8,1,80] w> { y = Conv<strides=[16]>(x, w) }"
    assert filled(sound)["x"] == Sample("normal", high=0.1)


def test_an_input_of_unknown_size_has_none() -> None:
    assert filled("g (seq(float[2]) x) => (int64 y) { y = SequenceLength(x) }") == {}


def test_what_the_card_assumes_of_a_value_is_what_it_is_filled_with() -> None:
    text = """g (float[1,4,N,8] past_key, float[1,4,1,8] x, bool use_cache) => (float y)
    { y = If(use_cache) <then_branch = t () => (float[1,4,M,8] a) { a = Concat<axis=2>(past_key, x) },
                         else_branch = e () => (float[1,4,1,8] b) { b = Identity(x) }> }"""
    assert filled(text)["use_cache"] == Sample("constant", value=True)
