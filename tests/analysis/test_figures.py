"""What a plain graph costs at other sizes, worked out for less: the same numbers, node by node."""

import pytest

from onnx_autodoc.analysis import Figures
from onnx_autodoc.analysis.figures import FlatGraph, is_flat
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, bind_and_infer, parse_request
from tests._corpus import graph
from tests._text import model

SIZES = {
    "all-minilm-l6-v2-ts-op14": ("batch_size=3", "sequence_length=17"),
    "ppocr-mobile-cls-v2": ("x.2=96", "x.3=40"),
    "smollm2-135m-genai-int4": ("batch_size=2", "sequence_length=5", "past_sequence_length=0"),
    "resnet50-qdq-int8": ("batch=9",),
}


@pytest.mark.parametrize("name", SIZES)
def test_flat_figures_equal_those_of_a_card_at_these_sizes(name: str) -> None:
    source = read_model(graph(name))
    _, own = bind_and_infer(source, Request())
    _, other = bind_and_infer(source, parse_request(dims=SIZES[name]))
    real = dict(Figures.of(source, other).break_down())
    real.pop("kv_cache_bytes", None)
    assert is_flat(own)
    assert FlatGraph(source, own).break_down(other) == real


def test_flat_figures_leave_out_unknown_ones() -> None:
    text = """g (float[n,4] x, int64[1] k, float[4,4] w) => (float[] y, float[] z) {
        z = MatMul(x, w)  o = Constant <value = int64[1] {0}> ()  y = Slice(z, o, k, o) }"""
    source = model(text)
    _, shapes = bind_and_infer(source, parse_request(dims=("n=8",)))
    result = FlatGraph(source, shapes).break_down(shapes)
    assert result is not None and sum(result["macs"]) == 128
    assert "peak_activation_bytes" not in result and "bytes_moved" not in result


def test_graph_with_branches_is_not_flat() -> None:
    text = """g (bool c, float[4] x) => (float[] y) { y = If (c) <then_branch = a () => (float p) { p = Relu(x) },
        else_branch = b () => (float q) { q = Exp(x) }> }"""
    _, shapes = bind_and_infer(model(text), Request())
    assert not is_flat(shapes)
