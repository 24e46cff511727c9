"""What it costs to give the same elements another shape or order."""

from typing import Any

import pytest

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.reshaping import OPERATORS
from tests.ops._one_node import cost, numbers, zeros

X = zeros(2, 1, 6)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("Reshape", [X, numbers(3, -1)]),
        ("Flatten", [X]),
        ("Squeeze", [X, numbers(1)]),
        ("Unsqueeze", [X, numbers(0)]),
    ],
)
def test_view_reads_and_writes_no_bytes(op: str, inputs: list[Any]) -> None:
    assert cost(OPERATORS, op, inputs, 13) == Cost(read=0, written=0)


@pytest.mark.parametrize(
    ("op", "inputs"), [("Transpose", [X]), ("Expand", [X, numbers(2, 3, 6)]), ("Tile", [X, numbers(1, 2, 1)])]
)
def test_reordered_or_repeated_elements_move_all_bytes(op: str, inputs: list[Any]) -> None:
    assert cost(OPERATORS, op, inputs, 13) == Cost()
