"""What it costs to go between floating point and few bits."""

import numpy as np

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.operator import ConstantRole
from onnx_autodoc.ops.quantization import OPERATORS
from tests.ops._one_node import cost, zeros

X, SCALE, ZERO = zeros(4, 6), zeros(), np.array(0, np.uint8)


def test_zero_point_costs_one_operation_more() -> None:
    quantized = X.astype(np.uint8)
    assert cost(OPERATORS, "QuantizeLinear", [X, SCALE, ZERO], 13) == Cost(other=72)
    assert cost(OPERATORS, "QuantizeLinear", [X, SCALE], 13) == Cost(other=48)
    assert cost(OPERATORS, "DequantizeLinear", [quantized, SCALE, ZERO], 13) == Cost(other=48)
    assert cost(OPERATORS, "DequantizeLinear", [quantized, SCALE], 13) == Cost(other=24)


def test_dynamic_quantization_costs_its_scale_and_zero_point() -> None:
    assert cost(OPERATORS, "DynamicQuantizeLinear", [X], 11, outputs=3) == Cost(other=24 * 5 + 9)


def test_stored_quantized_tensor_is_a_weight() -> None:
    scales = {1: ConstantRole.QUANTIZATION, 2: ConstantRole.QUANTIZATION}
    assert OPERATORS["QuantizeLinear"].roles == scales
    assert OPERATORS["DequantizeLinear"].roles == {0: ConstantRole.WEIGHT, **scales}
