"""What operators that work element by element cost."""

from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.elementwise import OPERATORS
from onnx_autodoc.ops.operator import ConstantRole
from onnx_autodoc.ops.values import InferenceError
from tests.ops._one_node import cost, zeros

X, ROW, ONE = zeros(2, 3, 4), zeros(4), zeros()  # 24 elements, 4, 1


@pytest.mark.parametrize("op", ["Relu", "Sigmoid", "Tanh", "Erf", "Exp", "Sqrt", "Neg", "Not", "IsNaN", "CumSum"])
def test_unary_function_costs_one_operation_per_element(op: str) -> None:
    assert cost(OPERATORS, op, [X], 20) == Cost(other=24)


@pytest.mark.parametrize("op", ["Add", "Div", "Pow", "Mod", "Equal", "Less", "And", "BitShift"])
def test_broadcast_operand_costs_one_operation_per_output_element(op: str) -> None:
    more = {"fmod": 1} if op == "Mod" else {}
    assert cost(OPERATORS, op, [ROW, X], 20, **more) == cost(OPERATORS, op, [X, ROW], 20, **more) == Cost(other=24)
    assert cost(OPERATORS, "Where", [ONE, ROW, X], 20) == Cost(other=24)


@pytest.mark.parametrize(
    ("op", "each", "attributes"),
    [
        ("Celu", 3, {}),
        ("Celu", 5, {"alpha": 2.0}),
        ("Elu", 3, {"alpha": 1.0}),
        ("Elu", 4, {"alpha": 0.5}),
        ("Gelu", 5, {}),
        ("Gelu", 8, {"approximate": "tanh"}),
        ("HardSigmoid", 4, {}),
        ("HardSwish", 5, {}),
        ("LeakyRelu", 2, {"alpha": 0.1}),
        ("Mish", 5, {}),
        ("Selu", 5, {}),
        ("Shrink", 3, {}),
        ("Softplus", 3, {}),
        ("Softsign", 3, {}),
        ("Swish", 2, {}),
        ("Swish", 3, {"alpha": 1.702}),
        ("ThresholdedRelu", 1, {}),
        ("Affine", 2, {"alpha": 2.0, "beta": 1.0}),
        ("ParametricSoftplus", 5, {}),
        ("ScaledTanh", 3, {}),
    ],
)
def test_activation_costs_the_operations_of_its_formula(op: str, each: int, attributes: dict[str, Any]) -> None:
    assert cost(OPERATORS, op, [X], 24, **attributes) == Cost(other=24 * each)


def test_activation_of_two_inputs_costs_the_operations_of_its_formula() -> None:
    assert cost(OPERATORS, "PRelu", [X, zeros(3, 1)], 16) == Cost(other=48)
    assert cost(OPERATORS, "SwiGLU", [X, X], 28) == Cost(other=72)
    assert cost(OPERATORS, "SwiGLU", [X, X], 28, alpha=2.0) == Cost(other=96)


@pytest.mark.parametrize(("op", "more"), [("Sum", 0), ("Max", 0), ("Min", 0), ("Mean", 24)])
def test_variadic_operator_costs_one_operation_per_further_input(op: str, more: int) -> None:
    assert cost(OPERATORS, op, [X], 13) == Cost(other=more)
    assert cost(OPERATORS, op, [X, ROW, ONE], 13) == Cost(other=48 + more)


def test_clip_costs_one_comparison_per_bound() -> None:
    assert cost(OPERATORS, "Clip", [X, ONE, ONE], 13) == Cost(other=48)
    assert cost(OPERATORS, "Clip", [X, None, ONE], 13) == Cost(other=24)
    assert cost(OPERATORS, "Clip", [X, ONE], 13) == Cost(other=24)
    assert cost(OPERATORS, "Clip", [X], 13) == Cost()
    assert cost(OPERATORS, "Clip", [X], 6, min=0.0, max=6.0) == Cost(other=48)


def test_dropout_costs_operations_only_in_training() -> None:
    assert cost(OPERATORS, "Dropout", [X], 7) == Cost()
    assert cost(OPERATORS, "Dropout", [X, ONE, np.array(False)], 13) == Cost()
    assert cost(OPERATORS, "Dropout", [X, ONE, np.array(True)], 13) == Cost(other=72)
    with pytest.raises(InferenceError, match="training mode is known only at run time"):
        cost(OPERATORS, "Dropout", [X, ONE, zeros(5, 5, 5)], 13)


def test_moved_elements_cost_no_operations() -> None:
    assert cost(OPERATORS, "Trilu", [X], 14) == Cost()
    assert cost(OPERATORS, "ReverseSequence", [X, zeros(3)], 10) == Cost()


def test_slope_is_a_weight_and_bounds_are_constants() -> None:
    assert OPERATORS["PRelu"].roles == {1: ConstantRole.WEIGHT}
    assert OPERATORS["Clip"].roles == {1: ConstantRole.CONSTANT, 2: ConstantRole.CONSTANT}
