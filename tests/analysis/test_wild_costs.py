"""What models out of the wild showed: formulas that held only near the card's sizes, nodes in no order that runs."""

import re

import pytest

from onnx_autodoc.analysis import Facts
from onnx_autodoc.analysis.parameters import parameters
from onnx_autodoc.analysis.polynomial import find_largest
from onnx_autodoc.api import measure_model
from onnx_autodoc.shapes import parse_request
from tests._text import model

# the scores grow with the square of the sequence, the wide layer with the sequence: the first is larger from 60 on
ATTENTION = """g (float[batch,seq,8] x, float[8,128] w) => (float[] y, float[] z) {
    t = Transpose <perm = [0, 2, 1]> (x)  s = MatMul(x, t)  p = Softmax <axis = -1> (s)  z = ReduceSum(p)
    h = MatMul(x, w)  y = ReduceSum(h) }"""
# what is taken of a table grows with the sequence, but ends where the table ends
TABLE = """g (float[1,4] x, float[seq,1] z, float[ROWS,4] w) => (float[] y) {
    s = Shape <start = 0, end = 1> (z)  o = Constant <value = int64[1] {0}> ()
    p = Slice(w, o, s, o)  t = Transpose(p)  y = MatMul(x, t) }"""


def facts(text: str, **sizes: int) -> Facts:
    return measure_model(model(text), parse_request(dims=tuple(f"{name}={size}" for name, size in sizes.items())))


def evaluate_text(expression: str, **sizes: int) -> int:
    """A formula's value: polynomials, the largest of which holds."""
    texts = expression.removeprefix("max(").removesuffix(")").split("; ") if "max(" in expression else [expression]
    named = "|".join(sizes)
    plain = [re.sub(named, lambda found: str(sizes[found[0]]), text.replace(",", "")) for text in texts]
    return max(int(eval(text.replace("²", "**2").replace("·", "*"))) for text in plain)


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (1, 59), (1, 61), (5, 128), (2, 4000)])
def test_peak_formula_holds_where_the_peak_moves(sizes: tuple[int, int]) -> None:
    batch, seq = sizes
    expression = facts(ATTENTION).formula.expressions["peak_activation_bytes"]
    other = facts(ATTENTION, batch=batch, seq=seq).memory.peak
    assert expression is not None and expression.startswith("max(") and other is not None
    assert evaluate_text(expression, batch=batch, seq=seq) == other.nbytes


def test_dominated_peaks_are_not_in_the_formula() -> None:
    text = "g (float[batch,seq,8] x) => (float[] y) { a = Relu(x)  b = Concat <axis = 2> (a, a)  y = ReduceSum(b) }"
    assert facts(text).formula.expressions["peak_activation_bytes"] == "96·batch·seq"


def test_peak_inside_nodes_has_formula() -> None:
    text = """g (float[seq,8] x, bool c) => (float[] y) {
        y = If (c) <then_branch = t () => (float p) { q = Exp(x)  p = Exp(q) },
                    else_branch = e () => (float u) { u = Exp(x) }> }"""
    result = facts(text)
    assert result.formula.expressions["peak_activation_bytes"] == "1 + 96·seq"
    assert result.memory.peak is not None and result.memory.peak.nbytes == 1 + 96 * 128


def test_each_largest_polynomial_is_largest_somewhere() -> None:
    one, square, low = {(1,): 10}, {(2,): 1}, {(0,): 3, (1,): 7}
    assert find_largest([low, one, square], [1]) == [one, square]
    assert find_largest([low, one, square], [0]) == [low, one, square]


@pytest.mark.parametrize(("rows", "expected"), [(300, None), (5000, None), (10**9, "4·seq")])
def test_formula_holds_far_above_card_sizes(rows: int, expected: str | None) -> None:
    assert facts(TABLE.replace("ROWS", str(rows))).formula.expressions.get("macs") == expected


def test_formula_has_least_sizes() -> None:
    """Up to 32 tokens, fewer rows are read than the table has."""
    text = """g (float[1,8] x, int64[1,seq] i, uint8[32,4] t, float[32,1] s) => (float[] y) {
        w = com.microsoft.GatherBlockQuantized <gather_axis = 0, quantize_axis = 1, block_size = 16> (t, i, s)
        r = Transpose <perm = [0, 2, 1]> (w)  y = MatMul(x, r) }"""
    result = facts(text).formula
    assert (result.expressions["macs"], result.expressions["bytes_moved"]) == ("8·seq", "288 + 140·seq")
    assert result.least == {"seq": 33}


def test_unsorted_nodes_are_counted_in_topological_order() -> None:
    nodes = ["a = Relu(x)", "b = Exp(a)", "c = Exp(b)", "d = Exp(c)", "y = Exp(d)"]
    text = "g (float[10] x) => (float[] y) { NODES }"
    plain, moved = (facts(text.replace("NODES", "  ".join(each))) for each in (nodes, nodes[1:] + nodes[:1]))
    assert plain.memory.peak is not None and moved.memory.peak is not None
    assert (moved.memory.peak.nbytes, moved.memory.peak.node) == (plain.memory.peak.nbytes, "Relu_4")
    assert [at for at, _ in moved.memory.timeline] == [4, 0, 1, 2, 3]


def test_weight_behind_many_constants_has_reader() -> None:
    doubled = "  ".join(f"k{at + 1} = Add(k{at}, k{at})" for at in range(8))
    text = f"""g (float[2] x) => (float[] y) <float[2] k0 = {{1.0, 2.0}}, float[2] w = {{3.0, 4.0}}> {{
        {doubled}  v = Mul(k8, w)  y = Mul(x, v) }}"""
    assert parameters(model(text)).unread == 0
