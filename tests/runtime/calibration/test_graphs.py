"""The benchmark graphs: each runs, and together they ask for every pace that corpus models have."""

import math

import pytest

from onnx_autodoc.analysis.cost import Costs
from onnx_autodoc.ops import TABLES
from onnx_autodoc.ops import _ort_kernels as paces
from onnx_autodoc.readers import read
from onnx_autodoc.runtime.calibration._fit import USUAL
from onnx_autodoc.runtime.calibration._tasks import tasks
from onnx_autodoc.runtime.calibration.graphs import NETWORKS, SHELF, graphs
from onnx_autodoc.shapes import Request, bind, fit, resolve
from tests import _corpus
from tests._text import loaded

_HEAVY = ("4096", "vocabulary", "768, 768, 40", "3072")
LIGHT = [name for name in graphs() if not any(word in name for word in _HEAVY)]
_UNMEASURED = {"other", "unknown", "sort"}  # rare, and too different from each other to be one pace


def found_paces(name: str) -> set[str]:
    read_model = loaded(graphs()[name]())
    _, shapes = fit(
        read_model, Request(dims=("n=4",) if name in ("sizes", "made", "encoder 768", "tiny encoder") else ())
    )
    made = tasks(read_model, shapes, Costs(read_model, shapes))
    assert all(math.isfinite(amount) and key in USUAL for task in made for key, amount in task.amounts.items())
    return {task.pace for task in made}


def test_no_graph_stands_on_two_shelves() -> None:
    assert len(graphs()) == sum(len(family.GRAPHS) for family in SHELF)
    assert set(NETWORKS) <= set(graphs())


def test_every_pace_that_a_corpus_model_has_is_asked_for() -> None:
    asked = {pace for name in LIGHT for pace in found_paces(name)}
    assert "unknown" not in asked
    for name in _corpus.KEPT:
        model = read(_corpus.graph(name))
        shapes = resolve(model, bind(model, _corpus.request(name)))
        had = {task.pace for task in tasks(model, shapes, Costs(model, shapes))}
        assert had - _UNMEASURED <= asked, name


@pytest.mark.parametrize("domain", sorted(TABLES))
def test_every_operator_with_a_price_has_a_pace(domain: str) -> None:
    for table in TABLES[domain]:
        for op, entry in table.items():
            assert entry.cost is None or paces.pace(op)
