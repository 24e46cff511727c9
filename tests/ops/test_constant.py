"""What values cost that the file holds or a shape decides."""

from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops._cost import Cost
from onnx_autodoc.ops.constant import OPERATORS
from tests.ops._one_node import cost, numbers, zeros

X = zeros(2, 3)


@pytest.mark.parametrize("op", ["Shape", "Size", "Identity"])
def test_what_the_shape_tells_moves_no_byte(op: str) -> None:
    assert cost(OPERATORS, op, [X], 13) == Cost(read=0, written=0)
    assert cost(OPERATORS, "Constant", [], 13, value_float=1.0) == Cost(read=0, written=0)
    assert cost(OPERATORS, "BitCast", [X], 26, to=6) == Cost(read=0, written=0)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("ConstantOfShape", [numbers(2, 3)]),
        ("Range", [np.array(0), np.array(9), np.array(2)]),
        ("EyeLike", [X]),
        ("ConstantFill", [X]),
    ],
)
def test_what_is_made_is_written_and_nothing_is_read(op: str, inputs: list[Any]) -> None:
    assert cost(OPERATORS, op, inputs, 13) == Cost(read=0)


def test_a_cast_is_no_arithmetic_but_looking_for_zeros_is() -> None:
    assert cost(OPERATORS, "Cast", [X], 13, to=10) == Cost()
    assert cost(OPERATORS, "CastLike", [X, zeros(1, dtype=np.float16)], 15) == Cost()
    assert cost(OPERATORS, "NonZero", [X], 13) == Cost(other=6)
