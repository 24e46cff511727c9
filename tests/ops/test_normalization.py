from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops._known import Contradiction
from onnx_autodoc.ops.normalization import OPERATORS
from tests.ops._one_node import assert_as_it_runs, infer, zeros

X, C = zeros(2, 3, 4, 5), zeros(3)


@pytest.mark.parametrize("opset", [7, 9, 14, 15])
def test_a_batch_normalization_keeps_its_shape(opset: int) -> None:
    assert_as_it_runs(OPERATORS, "BatchNormalization", [X, C, C, C, C], opset)


def test_statistics_follow_in_training() -> None:
    assert_as_it_runs(OPERATORS, "BatchNormalization", [X, C, C, C, C], 14, outputs=3, training_mode=1)


def test_statistics_of_old_opsets_have_the_dims_of_those_that_come_in() -> None:
    for mean in (C, zeros(3, 4, 5)):
        out = infer(OPERATORS, "BatchNormalization", [X, mean, mean, mean, mean], 7, outputs=5)
        assert [known.shape for known in out] == [X.shape, *[mean.shape] * 4]


@pytest.mark.parametrize("axis", [-1, 1, -4])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_a_layer_normalization_has_the_types_and_sizes_that_run(axis: int, dtype: Any) -> None:
    scale = zeros(*X.shape[axis:], dtype=dtype)
    assert_as_it_runs(OPERATORS, "LayerNormalization", [X.astype(dtype), scale], 17, outputs=3, axis=axis)


def test_the_scale_decides_the_type_of_an_rms_normalization() -> None:
    (out,) = infer(OPERATORS, "RMSNormalization", [X, zeros(5, dtype=np.float16)], 23)
    assert (out.dtype, out.shape) == ("float16", X.shape)


def test_other_normalizations_keep_their_shape() -> None:
    assert_as_it_runs(OPERATORS, "InstanceNormalization", [X, C, C], 6)
    assert_as_it_runs(OPERATORS, "GroupNormalization", [X, C, C], 21, num_groups=3)


def test_another_number_of_scales_than_channels_is_a_contradiction() -> None:
    with pytest.raises(Contradiction):
        infer(OPERATORS, "InstanceNormalization", [X, C[:1], C[:1]], 6)


def test_an_axis_that_does_not_exist_is_a_contradiction() -> None:
    with pytest.raises(Contradiction):
        infer(OPERATORS, "LayerNormalization", [X, C], 17, axis=4)
