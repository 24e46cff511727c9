import numpy as np
import pytest

from onnx_autodoc.ops.loss import OPERATORS
from tests.ops._one_node import assert_as_it_runs, zeros


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("inner", [(), (5,), (5, 6)])
def test_a_loss_has_the_dims_that_run(reduction: str, inner: tuple[int, ...]) -> None:
    inputs = [zeros(2, 3, *inner), zeros(2, *inner, dtype=np.int64)]
    assert_as_it_runs(OPERATORS, "NegativeLogLikelihoodLoss", inputs, 13, reduction=reduction)
    assert_as_it_runs(OPERATORS, "SoftmaxCrossEntropyLoss", inputs, 13, outputs=2, reduction=reduction)
