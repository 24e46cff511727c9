"""Sample inputs that meet the requirements of the graph."""

import math
import re

import pytest

from onnx_autodoc.card import Sample
from tests.architecture._structures import describe_text


def find_text_samples(text: str, functions: str = "") -> dict[str, Sample]:
    """Return the samples of a graph whose weights are declared without values: <float[50,8] table>."""
    weights = re.search(r"\)\s*<([^>]*)>", text.partition("{")[0])
    if weights is not None:
        text = text.replace(weights[1], re.sub(r"float\[([0-9,]+)\] \w+", _weight, weights[1]))
    return describe_text(text, 18, functions).samples


def _weight(declaration: re.Match[str]) -> str:
    count = math.prod(map(int, declaration[1].split(",")))
    return f"{declaration[0]} = {{{','.join(['0.1'] * count)}}}"


def find_ids_sample(lines: str) -> Sample:
    """Return the sample of `ids` in a graph that gathers rows `at` of a table with 50 rows."""
    return find_text_samples(
        f"g (int64[2,6] ids) => (float y) <float[50,8] table> {{ {lines} y = Gather(table, at) }}"
    )["ids"]


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
def test_indices_are_within_their_table(lines: str, low: int, high: int) -> None:
    assert find_ids_sample(lines) == Sample("integers", low=low, high=high)


@pytest.mark.parametrize("bound", ["at = Clip(ids, zero, last)", "at = Min(ids, last)", "at = Mod(ids, last)"])
def test_clipped_indices_are_not_bounded(bound: str) -> None:
    lines = f"zero = Constant<value_int=0>() last = Constant<value_int=49>() {bound}"
    assert find_ids_sample(lines) == Sample("constant", value=1)


@pytest.mark.parametrize("operator", ["Identity(ids)", "Add(ids, ids)", "Concat(ids)"])
def test_custom_domain_operator_passes_no_numbers(operator: str) -> None:
    assert find_ids_sample(f"at = custom.{operator}") == Sample("constant", value=1)


def test_smallest_table_bounds_the_indices() -> None:
    text = """g (int64[6] ids) => (float y) <float[50,8] large, float[7,8] small>
    { a = Gather(large, ids) b = Gather(small, ids) y = Add(a, b) }"""
    assert find_text_samples(text)["ids"] == Sample("integers", low=0, high=7)


def test_indices_are_traced_into_functions_branches_and_loops() -> None:
    call = """g (int64[6] ids) => (float y) <float[50,8] table> { y = local.look(table, ids) }"""
    function = '<domain: "local", opset_import: ["" : 18]> look (t, i) => (o) { o = Gather(t, i) }'
    assert find_text_samples(call, functions=function)["ids"].high == 50
    branch = """g (int64[6] ids, bool c) => (float y) <float[50,8] table>
    { y = If(c) <then_branch = t () => (float[6,8] a) { a = Gather(table, ids) },
                 else_branch = e () => (float[6,8] b) { n = Neg(ids) b = Gather(table, n) }> }"""
    assert find_text_samples(branch)["ids"].high == 50
    loop = """g (int64[6] ids) => (float y) <float[50,8] table>
    { two = Constant<value_int=2>() go = Constant<value = bool {1}>()
      last, y = Loop(two, go, ids) <body = b (int64 i, bool c, int64[6] at) => (bool c2, int64[6] at2, float[6,8] r)
      { c2 = Identity(c) at2 = Identity(at) r = Gather(table, at) }> }"""
    assert find_text_samples(loop)["ids"].high == 50


def test_fused_embedding_bounds_each_index() -> None:
    text = """g (int32[1,4] ids, int32[1,4] segment) => (float y)
    <float[50,8] w, float[16,8] p, float[2,8] s, float[8] gamma, float[8] beta>
    { y, m = com.microsoft.EmbedLayerNormalization(ids, segment, w, p, s, gamma, beta) }"""
    samples = find_text_samples(text)
    assert samples["ids"] == Sample("integers", low=0, high=50)
    assert samples["segment"].high == 2 or samples["segment"] == Sample("constant", value=0)


def test_gathernd_indices_are_within_every_axis() -> None:
    text = "g (float[5,3,8] x, int64[4,2] at) => (float y) { y = GatherND(x, at) }"
    assert find_text_samples(text)["at"] == Sample("integers", low=0, high=3)


def test_float_indices_are_integers() -> None:
    text = "g (float[4] x) => (float y) <float[50,8] table> { i = Cast<to=7>(x) y = Gather(table, i) }"
    assert find_text_samples(text)["x"] == Sample("integers", low=0, high=50)


def test_counts_are_one_and_axes_are_distinct() -> None:
    text = """g (float[4,6] x, int64[1] k, int64[2] many, int64[2] axes) => (float y, float z, float r)
    { y, i = TopK(x, k) z = Tile(x, many) r = ReduceSum(x, axes) }"""
    samples = find_text_samples(text)
    assert samples["k"] == samples["many"] == Sample("constant", value=1)
    assert samples["axes"] == Sample("range", low=0), "axes must be distinct"


def test_lengths_equal_the_size_of_their_axis() -> None:
    text = """g (float[7,2,4] x, int32[2] lengths) => (float y) <float[1,12,4] w, float[1,12,3] r>
    { e = Identity(x) y, h, c = LSTM<hidden_size=3>(e, w, r, , lengths) }"""
    assert find_text_samples(text)["lengths"] == Sample("constant", value=7)
    compared = """g (float[2,9] x, int64[2] lengths) => (float y)
    { a = Constant<value_int=0>() b = Constant<value_int=9>() one = Constant<value_int=1>() r = Range(a, b, one)
      axes = Constant<value_ints=[1]>() l = Unsqueeze(lengths, axes) m = Less(r, l) f = Cast<to=1>(m) y = Mul(x, f) }"""
    assert find_text_samples(compared)["lengths"] == Sample("constant", value=9)


def test_branch_input_equals_the_compared_constant() -> None:
    text = """g (float[1,4] x, int64 sr) => (float y)
    { rate = Constant<value_int=16000>() c = Equal(sr, rate)
      y = If(c) <then_branch = t () => (float[1,4] a) { a = Relu(x) },
                 else_branch = e () => (float[1,4] b) { b = Neg(x) }> }"""
    assert find_text_samples(text)["sr"] == Sample("constant", value=16000)


def test_mask_of_counted_positions_is_ones() -> None:
    text = """g (int64[1,4] mask) => (float y) <float[50,8] table>
    { axis = Constant<value_int=1>() at = CumSum(mask, axis) y = Gather(table, at) }"""
    assert find_text_samples(text)["mask"] == Sample("constant", value=1)


def test_categories_are_those_of_the_encoder() -> None:
    text = """g (string[2,1] x, string[1] n) => (float y, float z)
    { y = ai.onnx.ml.OneHotEncoder<cats_strings=["red", "blue"], zeros=0>(x) z = Cast<to=1>(n) }"""
    samples = find_text_samples(text)
    assert samples["x"] == Sample("text", value="red")
    assert samples["n"] == Sample("text", value="1"), "a string that is cast to a number must be one"


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
def test_unconstrained_input_is_filled_by_its_type(dtype: str, sample: Sample) -> None:
    assert find_text_samples(f"g ({dtype}[2,3] x) => ({dtype}[2,3] y) {{ y = Identity(x) }}")["x"] == sample


def test_images_are_uniform_and_audio_is_normal() -> None:
    picture = "g (float[1,3,32,32] x) => (float y) <float[8,3,3,3] w> { y = Conv(x, w) }"
    assert find_text_samples(picture)["x"] == Sample("uniform", low=0, high=1)
    sound = "g (float[1,1,4000] x) => (float y) <float[8,1,80] w> { y = Conv<strides=[16]>(x, w) }"
    assert find_text_samples(sound)["x"] == Sample("normal", high=0.1)


def test_input_of_unknown_size_has_no_sample() -> None:
    assert find_text_samples("g (seq(float[2]) x) => (int64 y) { y = SequenceLength(x) }") == {}


def test_assumed_branch_value_is_the_sample() -> None:
    text = """g (float[1,4,N,8] past_key, float[1,4,1,8] x, bool use_cache) => (float y)
    { y = If(use_cache) <then_branch = t () => (float[1,4,M,8] a) { a = Concat<axis=2>(past_key, x) },
                         else_branch = e () => (float[1,4,1,8] b) { b = Identity(x) }> }"""
    assert find_text_samples(text)["use_cache"] == Sample("constant", value=True)
