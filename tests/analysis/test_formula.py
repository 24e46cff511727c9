"""Formulas: exact at every size, or none."""

import random
import re

import pytest

from onnx_autodoc.analysis import Figures
from onnx_autodoc.analysis.formula import Formula
from onnx_autodoc.analysis.polynomial import SparseFitter, evaluate, format_terms
from onnx_autodoc.analysis.size_variables import Variable
from onnx_autodoc.api import card, measure_model
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, Role, bind_and_infer, dynamic_axes, parse_request
from tests._corpus import GRAPH_NAMES, graph
from tests._text import model

OPEN = [name for name in GRAPH_NAMES if dynamic_axes(read_model(graph(name)))]


def fit(text: str, *dims: str) -> Formula:
    return measure_model(model(text), parse_request(dims=dims)).formula


def evaluate_text(expression: str, sizes: dict[str, int]) -> int:
    """The written expression, worked out by itself."""
    text = expression.replace(",", "").replace("·", "*").replace("²", "**2").replace("³", "**3").replace("/", "//")
    text = text.replace(";", ",")
    for name, size in sorted(sizes.items(), key=lambda item: -len(item[0])):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", str(size), text)
    result = eval(text, {"__builtins__": {"max": max}})
    assert isinstance(result, int)
    return result


CASES = [
    (
        "g (float[batch,seq,8] x) => (float[] y) { t = Transpose <perm = [0, 2, 1]> (x)  y = MatMul(x, t) }",
        "8·batch·seq²",
    ),
    ("g (float[batch,8] x, float[8,4] w) => (float[] y) { y = MatMul(x, w) }", "32·batch"),
    ("g (float[seq,8] x, float[8,4] w) => (float[] y) { y = MatMul(x, w) }", "32·seq"),
    ("g (float[seq,past_len] x, float[past_len,4] w) => (float[] y) { y = MatMul(x, w) }", "4·seq·past_len"),
    ("g (float[8,8] x) => (float[] y) { y = MatMul(x, x) }", None),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_formula_is_written_in_dynamic_dimensions(text: str, expected: str | None) -> None:
    assert fit(text).expressions.get("macs") == expected


def test_cost_shared_by_batch_is_a_separate_term() -> None:
    text = """g (float[batch,seq,4] x, float[seq,4] p, float[4,4] w) => (float[] y) {
        q = MatMul(p, w)  r = MatMul(x, w)  y = Add(r, q) }"""
    assert fit(text).expressions["macs"] == "16·seq + 16·batch·seq"


CONV = "g (float[batch,3,height,width] x, float[8,3,3,3] w) => (float[] y) { y = Conv STRIDES (x, w) }"


def test_unpadded_convolution_formula_has_edge_terms() -> None:
    result = fit(CONV.replace("STRIDES", ""))
    assert result.expressions["macs"] == "batch·(864 - 432·height - 432·width + 216·height·width)"
    assert result.steps == {}
    assert 3 <= result.least["height"] < 16 and 3 <= result.least["width"] < 16


def test_strided_sizes_have_formula_in_steps() -> None:
    result = fit(CONV.replace("STRIDES", "<strides = [2, 2], pads = [1, 1, 1, 1]>"))
    assert result.expressions["macs"] == "54·batch·height·width"
    assert result.steps == {"height": 2, "width": 2}
    assert result.least == {"batch": 1, "height": 2, "width": 2}


def test_step_is_per_variable() -> None:
    result = fit(CONV.replace("STRIDES", "<strides = [4, 1], pads = [1, 1, 1, 1]>"))
    assert result.expressions["macs"] == "54·batch·height·width"
    assert result.steps == {"height": 4}


def test_step_may_be_any_stride() -> None:
    text = "g (float[1,3,height,width] x, float[8,3,14,14] w) => (float[] y) { y = Conv <strides = [14, 14]> (x, w) }"
    result = fit(text)
    assert result.expressions["macs"] == "24·height·width"
    assert result.steps == {"height": 14, "width": 14}


def test_fractional_coefficients_share_a_divisor() -> None:
    text = """g (float[batch,1,height,8] x, float[1,1,1,1] w) => (float[] y) {
        y = Conv <strides = [4, 4]> (x, w) }"""
    result = fit(text)
    assert (result.expressions["macs"], result.divisors["macs"]) == ("batch·height/2", 2)
    assert result.terms["macs"] == [{(1, 1): 1}]
    assert result.steps == {"height": 4}


def test_only_possible_size_is_no_variable() -> None:
    text = """g (float[batch,height,width] x, float[48,4] w) => (float[] y) {
        t = Transpose <perm = [0, 2, 1]> (x)  y = MatMul(t, w) }"""
    result = fit(text, "height=48")
    assert result.expressions["macs"] == "192·batch·width"
    assert [variable.name for variable in result.variables] == ["batch", "width"]


def test_peak_inside_function_has_formula() -> None:
    text = """g (float[batch,seq] x) => (float[] y) { y = own.twice(x) }
        <domain: "own", opset_import: ["" : 17]> twice (x) => (y) { s = Add(x, x)  t = Concat <axis = 1> (s, s)
            y = Relu(t) }"""
    assert fit(text).expressions["peak_activation_bytes"] == "20·batch·seq"


def test_new_and_past_tokens_are_separate_variables() -> None:
    text = """g (float[batch,seq,4] x, float[batch,past_len,4] p) => (float[] y, float[] a) {
        a = Concat <axis = 1> (p, x)  t = Transpose <perm = [0, 2, 1]> (a)  y = MatMul(x, t) }"""
    result = fit(text, "seq=1")
    assert result.expressions["macs"] == "batch·(4·seq² + 4·seq·past_len)"
    assert result.least == {"batch": 1, "seq": 1, "past_len": 0}


def test_formula_ends_where_a_table_ends() -> None:
    """Beyond its end a slice stays as long as it is: what holds below must not be printed as if it held above."""
    text = """g (float[1,4] x, float[seq,1] z, float[100,4] w) => (float[] y) {
        s = Shape <start = 0, end = 1> (z)  o = Constant <value = int64[1] {0}> ()
        p = Slice(w, o, s, o)  t = Transpose(p)  y = MatMul(x, t) }"""
    assert fit(text, "seq=60").expressions.get("macs") is None
    beyond = fit(text)
    assert beyond.expressions["macs"] == "400"
    assert 100 <= beyond.least["seq"] <= 128
    assert all(point["seq"] >= 100 for point in beyond.checked_at)


def test_least_sizes_hold_at_the_smallest_batch() -> None:
    """A table that a large batch reads to its end is read in part by a batch of one."""
    text = """g (float[batch,seq] x, float[1,4] v, float[100,4] w) => (float[] y) {
        l = Constant <value = int64[1] {-1}> ()  z = Size(x)  s = Reshape(z, l)  o = Constant <value = int64[1] {0}> ()
        p = Slice(w, o, s, o)  t = Transpose(p)  y = MatMul(v, t) }"""
    result = fit(text)
    assert result.expressions["macs"] == "400"
    assert result.least["batch"] == 1 and 100 <= result.least["seq"] <= 128


def test_peak_of_small_images_is_in_the_formula() -> None:
    """Steps are made finer after the fit: what is never the largest on the coarse lattice may be so on the fine one."""
    text = """g (float[batch,3,height,width] x, float[500] z, float[8,3,3,3] w) => (float[] y, float[] e) {
        d = Concat <axis = 0> (z, z)  e = ReduceSum(d)
        y = Conv <strides = [2, 2], pads = [1, 1, 1, 1]> (x, w) }"""
    result = fit(text)
    assert result.steps == {"height": 2, "width": 2}
    assert result.least == {"batch": 1, "height": 2, "width": 2}
    for sizes in ((1, 2, 2), (1, 16, 16), (3, 8, 30), (2, 64, 64)):
        dims = tuple(f"{name}={size}" for name, size in zip(("batch", "height", "width"), sizes))
        real = measure_model(model(text), parse_request(dims=dims)).memory.peak
        assert real and evaluate_formula(result, "peak_activation_bytes", sizes) == real.nbytes


def test_sizes_of_one_role_are_merged_if_needed() -> None:
    """Two caches, and what is as long as the longer one: right while they are alike, wrong where they are not."""
    text = """g (float[batch,seq] x, float[batch,past_a,4] a, float[batch,past_b,4] b) => (float[] y) {
        n = Shape <start = 1, end = 2> (x)  i = Shape <start = 1, end = 2> (a)  j = Shape <start = 1, end = 2> (b)
        t = Add(n, i)  k = Max(t, j)  s = ReduceSum <keepdims = 0> (x)  r = Expand(s, k)  y = Exp(r) }"""
    result = fit(text)
    assert [variable.keys for variable in result.variables] == [("batch",), ("seq",), ("past_a", "past_b")]
    assert result.terms.keys() >= {"flops", "bytes_moved"}


def test_size_dependent_branch_has_no_formula() -> None:
    text = """g (float[seq,4] x) => (float[] y) { s = Size(x)  k = Constant <value = int64 {2000}> ()  c = Less(s, k)
        t = Transpose(x)  y = If (c) <then_branch = a () => (float p) { p = MatMul(x, t) },
                                       else_branch = b () => (float q) { q = Relu(x) }> }"""
    assert fit(text).expressions.get("macs") is None


def test_generated_names_of_one_role_are_one_variable() -> None:
    text = "g (float[unk__1,8] x, float[unk__2,8] z, float[8,8] w) => (float[] y) { a = Add(x, z)  y = MatMul(a, w) }"
    result = fit(text)
    assert result.expressions["macs"] == "64·unk__1"
    assert result.variables[0].keys == ("unk__1", "unk__2")


@pytest.mark.parametrize("name", ["all-minilm-l6-v2-ts-op14", "ppocr-mobile-cls-v2", "bilstm-gru-tagger"])
def test_printed_formula_equals_card_at_other_sizes(name: str) -> None:
    made, drawn = card(graph(name)), random.Random(name)
    formula = made.compute.formula
    for _ in range(2):
        sizes = {
            variable: least + formula.steps[variable] * drawn.randint(0, 9) for variable, least in formula.least.items()
        }
        other = card(graph(name), dims={key: sizes[variable] for variable in sizes for key in formula.dims[variable]})
        peak = other.memory.peak_activation_bytes
        assert [evaluate_text(formula.macs or "", sizes), evaluate_text(formula.flops or "", sizes)] == [
            other.compute.macs,
            other.compute.flops,
        ]
        assert evaluate_text(formula.bytes_moved or "", sizes) == other.compute.bytes_moved
        assert evaluate_text(formula.peak_activation_bytes or "", sizes) == peak


ALL = {"macs", "flops", "bytes_moved", "peak_activation_bytes"}
BRANCHES = "a size picks a branch"
TABLE = "of a table no more than all is read"
LACKING = {  # what has no formula, of the graphs with open sizes
    "all-minilm-l6-v2-ortfused": ({"bytes_moved"}, TABLE),
    "bert-base-qa-ortfused": ({"bytes_moved"}, TABLE),
    "control-flow-loop-if": ({"macs", "flops", "bytes_moved"}, "the data decide how often a loop runs"),
    "silero-vad": (ALL, BRANCHES),
    "silero-vad-16k-op15": (ALL, BRANCHES),
    "silero-vad-half": (ALL, BRANCHES),
    "slanet-table-en": (ALL, "too large"),
    "smollm2-135m-genai-int4": ({"bytes_moved"}, TABLE),
}


@pytest.mark.parametrize("name", OPEN)
def test_formulas_of_real_models_hold_at_other_sizes(name: str) -> None:
    source, drawn = read_model(graph(name)), random.Random(name)
    result = measure_model(source, Request()).formula
    assert ALL - result.terms.keys() == LACKING.get(name, (set(), ""))[0]
    ran = 0
    for _ in range(4 * bool(result.terms)):
        point = tuple(draw_size(drawn, result, variable) for variable in result.variables)
        dims = [f"{key}={size}" for variable, size in zip(result.variables, point) for key in variable.keys]
        _, shapes = bind_and_infer(source, parse_request(dims=tuple(dims)))
        if not shapes.contradictions:
            ran += 1
            real = Figures.of(source, shapes).exact()
            assert {key: evaluate_formula(result, key, point) for key in result.terms} == {
                key: real[key] for key in result.terms
            }
    assert ran or not result.terms


def draw_size(drawn: random.Random, found: Formula, variable: Variable) -> int:
    """A size at which the formula holds; tables of positions often end at 512."""
    step, least = found.steps.get(variable.name, 1), found.least[variable.name]
    most = drawn.choice((3, 130, 700)) if variable.role is Role.BATCH else drawn.choice((40, 250, 900))
    return least + step * drawn.randint(0, max(1, (most - least) // step))


def evaluate_formula(found: Formula, name: str, point: tuple[int, ...]) -> int:
    number, rest = divmod(max(evaluate(each, point) for each in found.terms[name]), found.divisors.get(name, 1))
    assert not rest
    return number


def test_fit_is_exact_or_none() -> None:
    points = [(3, 5), (4, 7), (6, 6), (7, 11), (9, 8), (12, 13), (40, 2)]
    terms = {(0, 2): 10**30, (1, 1): -3, (1, 0): 7}
    numbers = tuple(evaluate({(1, 1): -3, (1, 0): 10**30}, point) for point in points)
    assert SparseFitter(points, True, None).fit(numbers) == {(1, 1): -3, (1, 0): 10**30}
    assert SparseFitter(points, True, None).fit(tuple(evaluate(terms, point) // 7 for point in points)) is None
    assert SparseFitter(points, True, None).fit(tuple(-(-point[1] // 2) for point in points)) is None


def test_proportional_points_do_not_distinguish_sizes() -> None:
    assert not SparseFitter([(1, 8, 8), (2, 16, 16), (3, 24, 24), (4, 40, 40)], True, (0, 1)).distinguishes_all
    assert SparseFitter([(1, 8, 8), (2, 16, 24), (3, 40, 24), (4, 40, 32)], True, (0, 1)).distinguishes_all


@pytest.mark.parametrize(
    ("terms", "text"),
    [
        ({}, "0"),
        ({(0, 0): 5}, "5"),
        ({(1, 0): 1}, "b"),
        ({(1, 2): 4608, (1, 1): 10616832}, "b·(10,616,832·s + 4,608·s²)"),
        ({(1, 1): 2, (0, 1): 3}, "3·s + 2·b·s"),
        ({(1, 1): 2, (1, 0): -3}, "b·(-3 + 2·s)"),
    ],
)
def test_polynomial_is_formatted(terms: dict[tuple[int, ...], int], text: str) -> None:
    assert format_terms(terms, ("b", "s")) == text


def test_divisor_is_formatted_after_the_sum() -> None:
    assert format_terms({(1, 1): 3}, ("b", "s"), 16) == "3·b·s/16"
    assert format_terms({(1, 1): 3, (1, 0): 1}, ("b", "s"), 16) == "b·(1 + 3·s)/16"
    assert format_terms({(1, 1): 3, (0, 0): 1}, ("b", "s"), 1024) == "(1 + 3·b·s)/1,024"


def test_formula_is_in_lowest_terms() -> None:
    """Its multiply-adds have a divisor; its peak, of which the coarse steps left one, needs none."""
    result = card(graph("ppocrv4-det-ch")).compute.formula
    assert (result.divisors["macs"], result.divisors["peak_activation_bytes"]) == (16, 1)


@pytest.mark.parametrize("name", ["8", "seq^2", "N²", "0·seq", "N+8", "seq (verified: no findings)"])
def test_dimension_name_like_arithmetic_is_quoted(name: str) -> None:
    assert format_terms({(1, 1): 4096}, ["M", name]) == f"4,096·M·“{name}”"
    assert format_terms({(1, 1): 4096}, ["M", "input_ids.1"]) == "4,096·M·input_ids.1"
