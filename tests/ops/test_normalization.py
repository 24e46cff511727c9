from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.normalization import OPERATORS
from onnx_autodoc.ops.operator import ConstantRole
from onnx_autodoc.ops.values import Contradiction
from tests.ops._one_node import assert_as_it_runs, cost, infer, zeros

X, C = zeros(2, 3, 4, 5), zeros(3)


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_batch_normalization_preserves_the_shape(opset: int) -> None:
    assert_as_it_runs(OPERATORS, "BatchNormalization", [X, C, C, C, C], opset)


def test_batch_normalization_in_training_returns_statistics() -> None:
    assert_as_it_runs(OPERATORS, "BatchNormalization", [X, C, C, C, C], 14, outputs=3, training_mode=1)


def test_statistics_of_old_opsets_have_the_dims_of_the_input_statistics() -> None:
    for mean, spatial in ((C, 1), (zeros(3, 4, 5), 0)):
        out = infer(OPERATORS, "BatchNormalization", [X, mean, mean, mean, mean], 7, outputs=5, spatial=spatial)
        assert [known.shape for known in out] == [X.shape, *[mean.shape] * 4]


@pytest.mark.parametrize("axis", [-1, 1, -4])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_layer_normalization_has_the_types_and_sizes_of_a_run(axis: int, dtype: Any) -> None:
    scale = zeros(*X.shape[axis:], dtype=dtype)
    assert_as_it_runs(OPERATORS, "LayerNormalization", [X.astype(dtype), scale], 17, outputs=3, axis=axis)


def test_scale_decides_the_type_of_rms_normalization() -> None:
    (out,) = infer(OPERATORS, "RMSNormalization", [X, zeros(5, dtype=np.float16)], 23)
    assert (out.dtype, out.shape) == ("float16", X.shape)


def test_other_normalizations_preserve_the_shape() -> None:
    assert_as_it_runs(OPERATORS, "InstanceNormalization", [X, C, C], 6)
    assert_as_it_runs(OPERATORS, "GroupNormalization", [X, C, C], 21, num_groups=3)


def test_scales_that_do_not_match_channels_are_a_contradiction() -> None:
    with pytest.raises(Contradiction):
        infer(OPERATORS, "InstanceNormalization", [X, C[:1], C[:1]], 6)


def test_axis_beyond_the_rank_is_a_contradiction() -> None:
    with pytest.raises(Contradiction):
        infer(OPERATORS, "LayerNormalization", [X, C], 17, axis=4)


# X has 120 elements: 2 images of 3 channels of 4 rows of 5.
def test_batch_normalization_costs_one_scale_and_one_shift() -> None:
    assert cost(OPERATORS, "BatchNormalization", [X, C, C, C, C], 15) == Cost(other=2 * 120)


def test_batch_normalization_in_training_costs_its_statistics() -> None:
    trained = Cost(other=7 * 120 + 10 * 3)
    assert cost(OPERATORS, "BatchNormalization", [X, C, C, C, C], 15, outputs=3, training_mode=1) == trained
    assert cost(OPERATORS, "BatchNormalization", [X, C, C, C, C], 7, outputs=5) == trained


def test_layer_normalization_costs_operations_per_element_and_row() -> None:
    row = zeros(5)
    assert cost(OPERATORS, "LayerNormalization", [X, row, row], 17) == Cost(other=7 * 120 + 4 * 24)
    assert cost(OPERATORS, "LayerNormalization", [X, row], 17) == Cost(other=6 * 120 + 4 * 24)
    assert cost(OPERATORS, "LayerNormalization", [X, zeros(3, 4, 5)], 17, axis=1) == Cost(other=6 * 120 + 4 * 2)
    assert cost(OPERATORS, "RMSNormalization", [X, row], 23) == Cost(other=4 * 120 + 3 * 24)


def test_other_normalizations_cost_operations_per_element_and_row() -> None:
    assert cost(OPERATORS, "InstanceNormalization", [X, C, C], 6) == Cost(other=7 * 120 + 4 * 6)
    assert cost(OPERATORS, "GroupNormalization", [X, C, C], 21, num_groups=1) == Cost(other=7 * 120 + 4 * 2)
    assert cost(OPERATORS, "MeanVarianceNormalization", [X], 13) == Cost(other=5 * 120 + 4 * 3)
    assert cost(OPERATORS, "MeanVarianceNormalization", [X], 13, axes=[-1]) == Cost(other=5 * 120 + 4 * 24)


def test_normalizations_without_a_mean_cost_less() -> None:
    assert cost(OPERATORS, "LpNormalization", [X], 1) == Cost(other=3 * 120 + 24)
    assert cost(OPERATORS, "LpNormalization", [X], 1, p=1, axis=1) == Cost(other=3 * 120)
    assert cost(OPERATORS, "LRN", [X], 13, size=5) == Cost(other=9 * 120)


def test_softmax_costs_five_operations_per_element() -> None:
    assert cost(OPERATORS, "Softmax", [X], 13, axis=1) == Cost(other=5 * 120)
    assert cost(OPERATORS, "Hardmax", [X], 13) == Cost(other=120)


@pytest.mark.parametrize(("opset", "axis", "rows"), [(13, -1, 24), (13, 1, 40), (11, 1, 2), (11, 3, 24)])
def test_log_softmax_costs_one_logarithm_per_row(opset: int, axis: int, rows: int) -> None:
    assert cost(OPERATORS, "LogSoftmax", [X], opset, axis=axis) == Cost(other=5 * 120 + rows)


def test_running_statistics_are_not_weights() -> None:
    assert OPERATORS["BatchNormalization"].roles == {3: ConstantRole.STATISTIC, 4: ConstantRole.STATISTIC}
