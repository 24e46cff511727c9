from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops.constant import RANDOM as OPERATORS
from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.values import Contradiction
from tests.ops._one_node import assert_as_it_runs, cost, infer, zeros

X = zeros(2, 3)


@pytest.mark.parametrize(
    ("op", "inputs", "opset", "attributes"),
    [
        ("RandomNormal", [], 1, {"shape": [2, 3]}),
        ("RandomUniform", [], 1, {"shape": [4], "dtype": 11}),
        ("RandomNormalLike", [X], 1, {}),
        ("RandomUniformLike", [X.astype(np.int32)], 1, {"dtype": 11}),
        ("Bernoulli", [X], 15, {}),
        ("Bernoulli", [X], 15, {"dtype": 7}),
        ("Multinomial", [X], 7, {}),
        ("Multinomial", [X], 7, {"sample_size": 5, "dtype": 7}),
    ],
)
def test_random_numbers_have_the_type_and_dims_of_a_run(
    op: str, inputs: list[Any], opset: int, attributes: dict[str, Any]
) -> None:
    assert_as_it_runs(OPERATORS, op, inputs, opset, **attributes)


@pytest.mark.parametrize("attributes", [{}, {"shape": [2, -1]}])
def test_missing_shape_is_a_contradiction(attributes: dict[str, Any]) -> None:
    with pytest.raises(Contradiction):
        infer(OPERATORS, "RandomNormal", [], 1, **attributes)


def test_random_operator_costs_one_operation_per_number() -> None:
    assert cost(OPERATORS, "RandomNormal", [], 1, shape=[2, 3]) == Cost(other=6, read=0)
    assert cost(OPERATORS, "RandomUniformLike", [X], 1) == Cost(other=6, read=0)
    assert cost(OPERATORS, "Bernoulli", [X], 15) == Cost(other=12)
    assert cost(OPERATORS, "Multinomial", [X], 7, sample_size=5) == Cost(other=2 * 6 + 2 * 5)
