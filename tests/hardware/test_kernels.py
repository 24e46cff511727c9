"""What a processor gets to do: nodes joined as compilers join them, every multiply-add in exactly one kernel."""

import pytest

from onnx_autodoc.api import facts_of
from onnx_autodoc.hardware import Amount, Kernel, kernels
from onnx_autodoc.ops import WorkClass
from onnx_autodoc.readers import read
from tests import _corpus as corpus
from tests.hardware._made import facts


def made(text: str) -> list[Kernel]:
    return kernels(facts(text))


def ops(found: list[Kernel]) -> list[str]:
    return [kernel.op for kernel in found]


DENSE = """g (float[2,4] x) => (float[2,8] y) <float[4,8] w, float[8] b> {
    a = MatMul(x, w)  c = Add(a, b)  y = Relu(c) }"""


def test_elementwise_nodes_go_into_the_product_before_them() -> None:
    (only,) = made(DENSE)
    assert (only.op, only.kind, only.macs, only.other) == ("MatMul", WorkClass.PRODUCT, 64, 32)
    assert sum(only.weights.values()) == 32 + 8
    assert (only.read, only.written) == (Amount(8), Amount(16))


def test_what_two_kernels_read_is_written_once_and_read_twice() -> None:
    text = """g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[4,4] v> {
        a = MatMul(x, w)  r = Relu(a)  p = MatMul(r, v)  y = Add(p, r) }"""
    first, second = made(text)
    assert first.written == Amount(8)
    assert second.read == Amount(8)  # r once, for the product and the sum
    assert second.written == Amount(8)


def test_a_node_does_not_go_into_a_kernel_that_starts_before_its_other_inputs_are_done() -> None:
    text = """g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[4,4] v, float[4,4] u> {
        a = MatMul(x, w)  b = MatMul(a, v)  c = MatMul(x, u)  s = Sigmoid(b)  y = Mul(s, c) }"""
    found = made(text)
    assert ops(found) == ["MatMul", "MatMul", "MatMul", "Mul"]  # c starts before the sigmoid is done


def test_a_norm_written_out_is_one_kernel_with_what_made_its_input() -> None:
    text = """g (float[2,16] x) => (float[2,16] y) <float[16,16] w, float[16] g, float[16] b,
            float e, float two, int64[1] ax = {-1}> {
        h = MatMul(x, w)  m = ReduceMean <keepdims = 1> (h, ax)  d = Sub(h, m)  q = Pow(d, two)
        v = ReduceMean <keepdims = 1> (q, ax)  o = Add(v, e)  s = Sqrt(o)  n = Div(d, s)
        z = Mul(n, g)  y = Add(z, b) }"""
    (only,) = made(text)
    assert (only.op, only.read, only.written) == ("MatMul", Amount(32), Amount(32))


def test_scores_never_leave_attention_written_out() -> None:
    text = """g (float[1,2,64,8] q, float[1,2,8,64] k, float[1,2,64,8] v) => (float[1,2,64,8] y) {
        s = MatMul(q, k)  c = Constant <value_float = 0.35> ()  t = Mul(s, c)  p = Softmax <axis = -1> (t)
        y = MatMul(p, v) }"""
    (only,) = made(text)
    assert only.macs == 2 * (2 * 64 * 64 * 8)
    assert only.read + only.written == Amount(4 * 2 * 64 * 8)


def test_new_shapes_and_what_hangs_on_no_data_are_no_kernels() -> None:
    text = """g (float[2,3,4] x) => (float[6,4] y) <float[4,4] w, int64[2] to = {6, 4}> {
        t = Transpose(w)  r = Reshape(x, to)  s = Shape(x)  y = MatMul(r, t) }"""
    (only,) = made(text)
    assert (only.op, only.read, sum(only.weights.values())) == ("MatMul", Amount(24), 16)


def test_a_lookup_reads_the_rows_that_it_picks() -> None:
    (only,) = made("g (int64[1,5] ids) => (float[1,5,8] y) <float[1000,8] table> { y = Gather(table, ids) }")
    assert 0 < sum(only.weights.values()) <= 5 * 8 + 10  # and not 8,000
    assert only.read == Amount(0, 40)


def test_a_loop_launches_its_body_as_often_as_it_runs() -> None:
    text = """g (float[2,4] x) => (float[2,4] y) <int64 n = {7}, bool c = {1}, float[4,4] w> {
        y = Loop (n, c, x) <body = b (int64 i, bool on, float[2,4] h) => (bool go, float[2,4] next) {
            go = Identity(on)  a = MatMul(h, w)  next = Relu(a) }> }"""
    product = next(kernel for kernel in made(text) if kernel.op == "MatMul")
    assert (product.times, product.macs, product.written) == (7, 7 * 32, Amount(7 * 8))


@pytest.mark.parametrize("name", corpus.KEPT)
def test_every_multiply_add_is_in_one_kernel_and_no_row_in_two(name: str) -> None:
    known = facts_of(read(corpus.graph(name)), corpus.request(name))
    found, total = kernels(known), known.costs.total
    assert sum(kernel.macs for kernel in found) == total.macs
    rows = [row for kernel in found for row in kernel.rows]
    assert len(rows) == len(set(rows))
