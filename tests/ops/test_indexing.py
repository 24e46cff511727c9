"""What it costs to pick or place elements by index."""

import numpy as np
import pytest

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.indexing import OPERATORS
from onnx_autodoc.ops.operator import ConstantRole
from tests.ops._calls import unknown_reason
from tests.ops._one_node import cost, numbers, zeros

TABLE = zeros(1000, 16)


def test_gather_reads_only_the_picked_rows() -> None:
    # 3 rows of 16 floats and 3 indices of 8 bytes
    assert cost(OPERATORS, "Gather", [TABLE, numbers(5, 7, 7)], 13) == Cost(read=3 * 16 * 4 + 3 * 8)
    assert cost(OPERATORS, "GatherND", [TABLE, np.array([[5], [7]])], 13) == Cost(read=2 * 16 * 4 + 2 * 8)
    assert cost(OPERATORS, "GatherElements", [TABLE, np.array([[5, 7]])], 13) == Cost(read=2 * 4 + 2 * 8)
    kept = np.array([True, False, True])
    assert cost(OPERATORS, "Compress", [TABLE, kept], 11, axis=0) == Cost(read=2 * 16 * 4 + 3)


def test_scatter_costs_operations_only_with_a_reduction() -> None:
    inputs = [TABLE, np.zeros((2, 16), np.int64), zeros(2, 16)]
    assert cost(OPERATORS, "ScatterElements", inputs, 18) == Cost()
    assert cost(OPERATORS, "ScatterElements", inputs, 18, reduction="add") == Cost(other=32)
    rows = [TABLE, np.array([[5], [7]]), zeros(2, 16)]
    assert cost(OPERATORS, "ScatterND", rows, 18) == Cost()
    assert cost(OPERATORS, "ScatterND", rows, 18, reduction="max") == Cost(other=32)


@pytest.mark.parametrize("op", ["ArgMax", "ArgMin"])
def test_arg_reduction_costs_one_comparison_per_element(op: str) -> None:
    assert cost(OPERATORS, op, [TABLE], 13, axis=1) == Cost(other=16000)


def test_comparisons_of_unique_are_not_counted() -> None:
    assert unknown_reason(cost(OPERATORS, "Unique", [TABLE], 11)).startswith(
        "Unique: the number of elements compared is data-dependent"
    )


def test_values_of_one_hot_are_constants() -> None:
    assert cost(OPERATORS, "OneHot", [numbers(1, 2), np.array(9), numbers(0, 1)], 11) == Cost()
    assert OPERATORS["OneHot"].roles == {2: ConstantRole.CONSTANT}
