import numpy as np
import pytest

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.training import LOSSES as OPERATORS
from tests.ops._one_node import assert_as_it_runs, cost, zeros


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
@pytest.mark.parametrize("inner", [(), (5,), (5, 6)])
def test_loss_shape_equals_the_shape_of_a_run(reduction: str, inner: tuple[int, ...]) -> None:
    inputs = [zeros(2, 3, *inner), zeros(2, *inner, dtype=np.int64)]
    assert_as_it_runs(OPERATORS, "NegativeLogLikelihoodLoss", inputs, 13, reduction=reduction)
    assert_as_it_runs(OPERATORS, "SoftmaxCrossEntropyLoss", inputs, 13, outputs=2, reduction=reduction)


@pytest.mark.parametrize(("reduction", "plain", "weighted"), [("none", 10, 20), ("sum", 20, 30), ("mean", 21, 41)])
def test_loss_cost_is_counted_per_label(reduction: str, plain: int, weighted: int) -> None:
    scores, labels, weights = zeros(2, 3, 5), zeros(2, 5, dtype=np.int64), zeros(3)
    likelihood, entropy = "NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"
    assert cost(OPERATORS, likelihood, [scores, labels], 13, reduction=reduction) == Cost(other=plain)
    assert cost(OPERATORS, likelihood, [scores, labels, weights], 13, reduction=reduction) == Cost(other=weighted)
    softmax = 5 * 30 + 10
    assert cost(OPERATORS, entropy, [scores, labels], 13, reduction=reduction) == Cost(other=softmax + plain)


def test_ignore_index_adds_a_comparison_per_label() -> None:
    inputs = [zeros(2, 3), zeros(2, dtype=np.int64)]
    assert cost(OPERATORS, "NegativeLogLikelihoodLoss", inputs, 13, ignore_index=1) == Cost(other=2 * 4 + 1)
