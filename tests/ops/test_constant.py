"""Costs of constants and of values that follow from shapes."""

from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ir import Payload, Tensor
from onnx_autodoc.ops.constant import OPERATORS, tensor_info
from onnx_autodoc.ops.cost import Cost
from tests.ops._one_node import cost, numbers, zeros

X = zeros(2, 3)


@pytest.mark.parametrize("op", ["Shape", "Size", "Identity"])
def test_shape_query_reads_and_writes_no_bytes(op: str) -> None:
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
def test_generated_data_are_written_and_nothing_is_read(op: str, inputs: list[Any]) -> None:
    assert cost(OPERATORS, op, inputs, 13) == Cost(read=0)


def test_cast_costs_no_operations_and_non_zero_costs_comparisons() -> None:
    assert cost(OPERATORS, "Cast", [X], 13, to=10) == Cost()
    assert cost(OPERATORS, "CastLike", [X, zeros(1, dtype=np.float16)], 15) == Cost()
    assert cost(OPERATORS, "NonZero", [X], 13) == Cost(other=6)


def test_defective_tensor_has_no_elements() -> None:
    stored = Tensor("s", "int64", (2,), payload=Payload("floats", 8, bytes(8)), defects=("its data are in float_data",))
    known = tensor_info(stored)
    assert (known.shape, known.value) == ((2,), None)
    assert known.why == "the tensor s is malformed: its data are in float_data"


def test_tensor_of_negative_dims_has_no_shape() -> None:
    known = tensor_info(Tensor("w", "float32", (-3, 3), defects=("its dimensions [-3, 3] include a negative size",)))
    assert known.shape is None
    assert known.reason == "the tensor w is malformed: its dimensions [-3, 3] include a negative size"
