"""Formulas: exact at every size, or none."""

import random
import re

import pytest

from onnx_autodoc.api import card, facts_of
from onnx_autodoc.facts._polynomial import evaluate, fit, powers_up_to, written
from onnx_autodoc.facts.formula import Formula
from onnx_autodoc.resolve import Request
from tests._corpus import graph
from tests._text import model


def formula(text: str, *dims: str) -> Formula:
    return facts_of(model(text), Request(dims=dims)).formula


def value(expression: str, sizes: dict[str, int]) -> int:
    """The written expression, worked out by itself."""
    text = expression.replace(",", "").replace("·", "*").replace("²", "**2").replace("³", "**3")
    for name, size in sorted(sizes.items(), key=lambda item: -len(item[0])):
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w.])", str(size), text)
    found = eval(text, {"__builtins__": {}})
    assert isinstance(found, int)
    return found


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
def test_costs_are_written_in_the_open_dimensions(text: str, expected: str | None) -> None:
    assert formula(text).expressions.get("macs") == expected


def test_what_a_batch_shares_stands_by_itself() -> None:
    text = """g (float[batch,seq,4] x, float[seq,4] p, float[4,4] w) => (float[] y) {
        q = MatMul(p, w)  r = MatMul(x, w)  y = Add(r, q) }"""
    assert formula(text).expressions["macs"] == "16·seq + 16·batch·seq"


def test_rounded_sizes_have_no_formula() -> None:
    text = "g (float[batch,3,height,width] x, float[8,3,3,3] w) => (float[] y) { y = Conv STRIDES (x, w) }"
    assert formula(text.replace("STRIDES", "<strides = [2, 2]>")).expressions.get("macs") is None
    found = formula(text.replace("STRIDES", "")).expressions["macs"]
    assert found == "batch·(864 - 432·height - 432·width + 216·height·width)"


def test_a_table_that_ends_is_no_polynomial() -> None:
    """Beyond its end a slice stays as long as it is: what holds below must not be printed as if it held above."""
    text = """g (float[1,4] x, float[seq,1] z, float[100,4] w) => (float[] y) {
        s = Shape <start = 0, end = 1> (z)  o = Constant <value = int64[1] {0}> ()
        p = Slice(w, o, s, o)  t = Transpose(p)  y = MatMul(x, t) }"""
    assert formula(text).expressions.get("macs") is None


def test_where_sizes_pick_a_branch_there_is_no_formula() -> None:
    text = """g (float[seq,4] x) => (float[] y) { s = Size(x)  k = Constant <value = int64 {2000}> ()  c = Less(s, k)
        t = Transpose(x)  y = If (c) <then_branch = a () => (float p) { p = MatMul(x, t) },
                                       else_branch = b () => (float q) { q = Relu(x) }> }"""
    assert formula(text).expressions.get("macs") is None


def test_different_names_for_one_size_are_one_variable() -> None:
    text = "g (float[unk__1,8] x, float[unk__2,8] z, float[8,8] w) => (float[] y) { a = Add(x, z)  y = MatMul(a, w) }"
    found = formula(text)
    assert found.expressions["macs"] == "64·unk__1"
    assert found.variables[0].keys == ("unk__1", "unk__2")


@pytest.mark.parametrize(
    "name", ["all-minilm-l6-v2-ts-op14", "whisper-tiny-decoder", "smollm2-135m-genai-int4", "bilstm-gru-tagger"]
)
def test_a_printed_formula_is_right_at_other_sizes(name: str) -> None:
    made, drawn = card(graph(name)), random.Random(name)
    formula = made.compute.formula
    for _ in range(3):
        sizes = {variable: drawn.randint(1, 4 if "batch" in variable else 90) for variable in formula.variables}
        other = card(graph(name), dims={key: sizes[variable] for variable in sizes for key in formula.dims[variable]})
        for key, real in (("macs", other.compute.macs), ("flops", other.compute.flops)):
            expression = getattr(formula, key)
            assert expression is not None and value(expression, sizes) == real


def test_polynomials_are_fitted_exactly_or_not_at_all() -> None:
    basis = powers_up_to(2, 2)
    terms = {(0, 0): 7, (1, 1): -3, (2, 0): 10**30}
    points = [(3 + x, 5 + y) for x, y in basis]
    assert fit(basis, {point: evaluate(terms, point) for point in points}) == terms
    assert fit([(1,)], {(2,): 3}) is None
    assert fit([(0,), (0,)], {(1,): 1, (2,): 1}) is None


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
def test_polynomials_are_written_for_people(terms: dict[tuple[int, ...], int], text: str) -> None:
    assert written(terms, ("b", "s")) == text
