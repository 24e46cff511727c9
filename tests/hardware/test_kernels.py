"""Fusion of nodes into kernels: every multiply-add is in exactly one kernel."""

import pytest

from onnx_autodoc.hardware import DataVolume, Kernel, fuse_kernels
from onnx_autodoc.ops import WorkClass
from tests import _corpus as corpus
from tests.hardware._models import measure_corpus_model, measure_text


def fuse_text(text: str) -> list[Kernel]:
    return fuse_kernels(measure_text(text))


DENSE = """g (float[2,4] x) => (float[2,8] y) <float[4,8] w, float[8] b> {
    a = MatMul(x, w)  c = Add(a, b)  y = Relu(c) }"""


def test_elementwise_nodes_are_fused_into_the_product() -> None:
    (only,) = fuse_text(DENSE)
    assert (only.op, only.kind, only.macs, only.other) == ("MatMul", WorkClass.PRODUCT, 64, 32)
    assert sum(only.weights.values()) == 32 + 8
    assert (only.read, only.written) == (DataVolume(8), DataVolume(16))


def test_shared_value_is_written_once() -> None:
    text = """g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[4,4] v> {
        a = MatMul(x, w)  r = Relu(a)  p = MatMul(r, v)  y = Add(p, r) }"""
    first, second = fuse_text(text)
    assert first.written == DataVolume(8)
    assert second.read == DataVolume(8)  # r once, for the product and the sum
    assert second.written == DataVolume(8)


def test_node_is_not_fused_before_its_other_inputs_are_complete() -> None:
    text = """g (float[2,4] x) => (float[2,4] y) <float[4,4] w, float[4,4] v, float[4,4] u> {
        a = MatMul(x, w)  b = MatMul(a, v)  c = MatMul(x, u)  s = Sigmoid(b)  y = Mul(s, c) }"""
    kernels = fuse_text(text)
    assert [kernel.op for kernel in kernels] == [
        "MatMul",
        "MatMul",
        "MatMul",
        "Mul",
    ]  # c starts before the sigmoid is done


def test_decomposed_norm_is_fused_with_its_producer() -> None:
    text = """g (float[2,16] x) => (float[2,16] y) <float[16,16] w, float[16] g, float[16] b,
            float e, float two, int64[1] ax = {-1}> {
        h = MatMul(x, w)  m = ReduceMean <keepdims = 1> (h, ax)  d = Sub(h, m)  q = Pow(d, two)
        v = ReduceMean <keepdims = 1> (q, ax)  o = Add(v, e)  s = Sqrt(o)  n = Div(d, s)
        z = Mul(n, g)  y = Add(z, b) }"""
    (only,) = fuse_text(text)
    assert (only.op, only.read, only.written) == ("MatMul", DataVolume(32), DataVolume(32))


def test_decomposed_attention_keeps_its_scores() -> None:
    text = """g (float[1,2,64,8] q, float[1,2,8,64] k, float[1,2,64,8] v) => (float[1,2,64,8] y) {
        s = MatMul(q, k)  c = Constant <value_float = 0.35> ()  t = Mul(s, c)  p = Softmax <axis = -1> (t)
        y = MatMul(p, v) }"""
    (only,) = fuse_text(text)
    assert only.macs == 2 * (2 * 64 * 64 * 8)
    assert only.read + only.written == DataVolume(4 * 2 * 64 * 8)


def test_views_and_constants_are_no_kernels() -> None:
    text = """g (float[2,3,4] x) => (float[6,4] y) <float[4,4] w, int64[2] to = {6, 4}> {
        t = Transpose(w)  r = Reshape(x, to)  s = Shape(x)  y = MatMul(r, t) }"""
    (only,) = fuse_text(text)
    assert (only.op, only.read, sum(only.weights.values())) == ("MatMul", DataVolume(24), 16)


def test_lookup_reads_selected_rows() -> None:
    (only,) = fuse_text("g (int64[1,5] ids) => (float[1,5,8] y) <float[1000,8] table> { y = Gather(table, ids) }")
    assert 0 < sum(only.weights.values()) <= 5 * 8 + 10  # and not 8,000
    assert only.read == DataVolume(0, 40)


def test_loop_body_is_launched_in_each_iteration() -> None:
    text = """g (float[2,4] x) => (float[2,4] y) <int64 n = {7}, bool c = {1}, float[4,4] w> {
        y = Loop (n, c, x) <body = b (int64 i, bool on, float[2,4] h) => (bool go, float[2,4] next) {
            go = Identity(on)  a = MatMul(h, w)  next = Relu(a) }> }"""
    product = next(kernel for kernel in fuse_text(text) if kernel.op == "MatMul")
    assert (product.times, product.macs, product.written) == (7, 7 * 32, DataVolume(7 * 8))


@pytest.mark.parametrize("name", corpus.GRAPH_NAMES)
def test_kernels_partition_the_multiply_adds(name: str) -> None:
    model = measure_corpus_model(name)
    kernels = fuse_kernels(model)
    assert sum(kernel.macs for kernel in kernels) == model.costs.total.macs
    rows = [row for kernel in kernels for row in kernel.rows]
    assert len(rows) == len(set(rows))
