"""Benchmark graphs: they cover every class of kernels of the corpus, and are timed with their work."""

import math
from pathlib import Path

import pytest

from onnx_autodoc.analysis import Costs
from onnx_autodoc.ops import OPERATORS
from onnx_autodoc.readers import read_model
from onnx_autodoc.runtime.calibration import benchmarks, lower_model
from onnx_autodoc.runtime.calibration.fit import USUAL_SECONDS
from onnx_autodoc.runtime.calibration.graphs import FAMILIES, NETWORKS, all_graphs
from onnx_autodoc.runtime.protocol import BenchmarksResult, RunRequest, Stage
from onnx_autodoc.runtime.worker import run_job
from onnx_autodoc.shapes import bind, bind_and_infer, infer_shapes, parse_request
from tests import _corpus
from tests._text import save_and_read

_HEAVY = ("4096", "vocabulary", "768, 768, 40", "3072")
LIGHT = [name for name in all_graphs() if not any(word in name for word in _HEAVY)]
_UNMEASURED = {"other", "unknown", "sort"}  # rare, and too different to be one class
_DYNAMIC = ("sizes", "made", "encoder 768", "tiny encoder")


def list_kernel_classes(name: str) -> set[str]:
    model = save_and_read(all_graphs()[name]())
    _, shapes = bind_and_infer(model, parse_request(dims=("n=4",) if name in _DYNAMIC else ()))
    kernels = lower_model(model, shapes, Costs(model, shapes))
    quantities = [item for kernel in kernels for item in kernel.quantities.items()]
    assert all(math.isfinite(amount) and key in USUAL_SECONDS for key, amount in quantities)
    return {kernel.kind for kernel in kernels}


def test_graph_names_are_unique() -> None:
    assert len(all_graphs()) == sum(len(family.GRAPHS) for family in FAMILIES)
    assert set(NETWORKS) <= set(all_graphs())


def test_graphs_cover_the_kernel_classes_of_the_corpus() -> None:
    measured = {kind for name in LIGHT for kind in list_kernel_classes(name)}
    assert "unknown" not in measured
    missing = {}
    for name in _corpus.GRAPH_NAMES:
        model = read_model(_corpus.graph(name))
        shapes = infer_shapes(model, bind(model, _corpus.request(name)))
        kinds = {kernel.kind for kernel in lower_model(model, shapes, Costs(model, shapes))}
        missing[name] = kinds - _UNMEASURED - measured
    assert missing and not any(missing.values())


def test_every_operator_with_a_cost_has_a_kernel_class() -> None:
    assert OPERATORS
    assert [key for key, row in OPERATORS.items() if row.cost is not None and not row.kernel_class] == []


def test_graphs_are_timed_with_their_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = {name: all_graphs()[name] for name in ("Relu 256", "tiny encoder")}
    monkeypatch.setattr(benchmarks, "all_graphs", lambda: graphs)
    monkeypatch.setattr(benchmarks, "_COPIED_BYTES", 1 << 20)
    stages: list[Stage] = []
    request = RunRequest("benchmarks", b"the benchmarks", threads=1, folder=str(tmp_path), graph_seconds=0.12)
    result = run_job(request, stages.append, lambda: False)
    assert isinstance(result, BenchmarksResult), result
    assert [each.name for each in result.times] == list(graphs)
    assert all(0 < each.seconds < 1 for each in result.times)
    assert ("plain", "kernels", 30.0) in result.times[0].work
    assert result.bandwidth > 0 and result.cache > 0 and result.runtime.startswith("onnxruntime ")
    assert Stage("benchmark tiny encoder", 1, 2) in stages
