"""Fields of operator rows that graph analyses read."""

import pytest

from onnx_autodoc.ops import OPERATORS


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("Identity", [0]),  # moves
        ("Flatten", [0]),  # reshapes
        ("Dropout", [0]),  # forwards
        ("Concat", [0, 1, 2]),  # joins
        ("Max", [0, 1, 2]),
        ("Where", [1, 2]),
        ("ScatterND", [0, 2]),
        ("ReduceMax", [0]),
        ("DynamicQuantizeLinear", []),
        ("MatMul", []),
        ("ReduceSum", []),
    ],
)
def test_row_selects_inputs_whose_numbers_it_outputs(op: str, expected: list[int]) -> None:
    assert list(OPERATORS["", op].select_number_inputs(3)) == expected
