"""Cutting, and writing elements into tensors, against onnxruntime."""

import itertools

import numpy as np
import onnx
import onnxruntime
import pytest

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.indexing import OPERATORS as INDEXING
from onnx_autodoc.ops.slicing import OPERATORS
from onnx_autodoc.ops.values import Array, Contradiction
from tests.ops._calls import Case, call_of, run
from tests.ops._one_node import cost, numbers, zeros

BOUNDS = (0, 1, -1, 2, -2, 4, -6, 2**31 - 1, -(2**31), 2**31, 2**63 - 1, -(2**63))
STEPS = (1, 2, -1, -2, 5, -5, 2**63 - 1, -(2**63))


@pytest.mark.parametrize("size", [0, 1, 3])
def test_slice_has_the_length_of_a_run(size: int) -> None:
    inputs = "float[N] x, int64[1] s, int64[1] e, int64[1] a, int64[1] p"
    graph = onnx.parser.parse_graph(f"g ({inputs}) => (float[M] y) {{ y = Slice(x, s, e, a, p) }}")
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.zeros(size, np.float32)
    for start, end, step in itertools.product(BOUNDS, BOUNDS, STEPS):
        bounds = {"s": numbers(start), "e": numbers(end), "a": numbers(0), "p": numbers(step)}
        actual = session.run(None, {"x": x, **bounds})[0].shape
        case = Case("Slice", [x, *bounds.values()], {}, 1, 18)
        assert OPERATORS["Slice"].infer(call_of(case, ""))[0].shape == actual, (start, end, step)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("covered", [(1, 1), (1, 3), (2, 1), (2, 2)])
def test_scattered_elements_are_those_of_a_run(axis: int, covered: tuple[int, int]) -> None:
    data = np.arange(6, dtype=np.int64).reshape(2, 3)
    updates = 10 + np.arange(6, dtype=np.int64).reshape(2, 3)[: covered[0], : covered[1]]
    arrays: list[Array] = [data, np.indices(covered)[axis].astype(np.int64), np.ascontiguousarray(updates)]
    case = Case("ScatterElements", arrays, {"axis": axis}, 1, 18)
    rule = INDEXING["ScatterElements"].value
    assert rule is not None
    assert np.array_equal(rule(call_of(case, ""), arrays)[0], run(case, "")[0])


X = zeros(4, 6)  # 96 bytes


def test_slice_reads_only_its_output() -> None:
    bounds = [numbers(1), numbers(3), numbers(0)]  # 8 bytes each
    assert cost(OPERATORS, "Slice", [X, *bounds], 13) == Cost(read=2 * 6 * 4 + 3 * 8)
    assert cost(OPERATORS, "Split", [X], 11, outputs=2, axis=1) == Cost(read=96)


def test_concat_and_pad_cost_no_operations() -> None:
    assert cost(OPERATORS, "Concat", [X, X], 13, axis=0) == Cost()
    assert cost(OPERATORS, "Pad", [X, numbers(0, 0, 1, 1)], 13) == Cost()


@pytest.mark.parametrize(("k", "each"), [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3)])
def test_top_k_costs_the_comparisons_of_a_heap(k: int, each: int) -> None:
    assert cost(OPERATORS, "TopK", [X, numbers(k)], 11, outputs=2) == Cost(other=24 * each)
    assert cost(OPERATORS, "TopK", [X], 1, outputs=2, k=k) == Cost(other=24 * each)


@pytest.mark.parametrize(
    ("case", "runs"),
    [
        (Case("TopK", [X, numbers(6)], {}, 2, 11), True),
        (Case("TopK", [X, numbers(7)], {}, 2, 11), False),
        (Case("Pad", [X, numbers(0, 5, 0, 5)], {"mode": "reflect"}, 1, 13), True),
        (Case("Pad", [X, numbers(0, 6, 0, 0)], {"mode": "reflect"}, 1, 13), False),
        (Case("Pad", [X, numbers(0, 0, 4, 0)], {"mode": "reflect"}, 1, 13), False),
        (Case("Pad", [X, numbers(0, 9, 9, 0)], {"mode": "constant"}, 1, 13), True),
    ],
)
def test_size_beyond_the_dimension_is_rejected_as_in_a_run(case: Case, runs: bool) -> None:
    if runs:
        inferred = [known.shape for known in OPERATORS[case.op].infer(call_of(case, ""))]
        assert inferred == [array.shape for array in run(case, "")]
        return
    with pytest.raises(Contradiction):
        OPERATORS[case.op].infer(call_of(case, ""))
    with pytest.raises(Exception, match=case.op):
        run(case, "")
