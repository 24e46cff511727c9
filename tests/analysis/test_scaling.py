"""Costs at other batches: what resolving at these batches gives, to the unit."""

import pytest

from onnx_autodoc.analysis import Figures
from onnx_autodoc.api import card, measure_model
from onnx_autodoc.readers import read_model
from onnx_autodoc.shapes import Request, Role, bind_and_infer, dynamic_axes
from tests._corpus import GRAPH_NAMES, graph
from tests._text import model

BATCHED = [
    name for name in GRAPH_NAMES if any(item.role is Role.BATCH for item in dynamic_axes(read_model(graph(name))))
]


@pytest.mark.parametrize("name", BATCHED)
def test_batch_figures_equal_inference_at_each_batch(name: str) -> None:
    source = read_model(graph(name))
    rows = {row.batch: row.figures for row in measure_model(source, Request()).scaling}
    assert list(rows) == [1, 2, 4, 8, 16, 32, 64, 128]
    for batch in (1, 2, 8, 64, 128):
        _, shapes = bind_and_infer(source, Request(batch=batch))
        assert rows[batch] == Figures.of(source, shapes).exact()


@pytest.mark.parametrize("name", ["bert-base-qa-ortfused", "silero-vad-half"])
def test_batch_figures_equal_card_at_that_batch(name: str) -> None:
    row = next(row for row in card(graph(name)).scaling if row.batch == 8)
    other = card(graph(name), batch=8)
    assert (row.macs, row.flops, row.bytes_moved) == (
        other.compute.macs,
        other.compute.flops,
        other.compute.bytes_moved,
    )
    assert row.peak_activation_bytes == other.memory.peak_activation_bytes
    assert row.arithmetic_intensity == other.compute.arithmetic_intensity


def scale_peaks(text: str) -> dict[int, int | None]:
    return {row.batch: row.figures.get("macs") for row in measure_model(model(text), Request()).scaling}


def test_fixed_batch_is_not_scaled() -> None:
    assert scale_peaks("g (float[1,seq,4] x, float[4,4] w) => (float[] y) { y = MatMul(x, w) }") == {}


def test_all_batch_dimensions_scale_together() -> None:
    text = """g (float[text_batch,4] x, float[image_batch,4] z) => (float[] y) { t = Transpose(z)  y = MatMul(x, t) }"""
    assert scale_peaks(text) == {batch: 4 * batch**2 for batch in (1, 2, 4, 8, 16, 32, 64, 128)}


def test_batch_at_which_the_model_cannot_run_has_no_row() -> None:
    text = """g (float[batch,8] x) => (float[] y) { s = Constant <value = int64[2] {4, -1}> ()  r = Reshape(x, s)
        t = Transpose(r)  y = MatMul(r, t) }"""
    assert scale_peaks(text) == {batch: 32 * batch for batch in (1, 2, 4, 8, 16, 32, 64, 128)}
    text = text.replace("{4, -1}", "{4, 2}")
    assert scale_peaks(text) == {}


def test_batch_dependent_branch_is_evaluated_at_each_batch() -> None:
    text = """g (float[batch,4] x) => (float[] y) { s = Size(x)  k = Constant <value = int64 {100}> ()  c = Less(s, k)
        t = Transpose(x)  y = If (c) <then_branch = a () => (float p) { p = MatMul(x, t) },
                                       else_branch = b () => (float q) { q = Relu(x) }> }"""
    assert scale_peaks(text) == {1: 4, 2: 16, 4: 64, 8: 256, 16: 1024, 32: 0, 64: 0, 128: 0}


def test_formula_unchecked_at_large_batch_is_not_used() -> None:
    """The table ends at 100 rows: up to there it is a formula, and beyond it the model does not run."""
    text = """g (float[batch,4] x, float[100,4] w) => (float[] y) {
        s = Shape <start = 0, end = 1> (x)  o = Constant <value = int64[1] {0}> ()
        p = Slice(w, o, s, o)  a = Add(x, p)  t = Transpose(w)  y = MatMul(a, t) }"""
    assert scale_peaks(text) == {batch: 400 * batch for batch in (1, 2, 4, 8, 16, 32, 64)}
