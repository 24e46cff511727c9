"""Losses of a classifier: scores [N, C, ...], labels [N, ...]."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost
from onnx_autodoc.ops._known import Contradiction, Dim, Known, tensor
from onnx_autodoc.ops._operator import Operator, constants


def _loss(call: Call) -> Known:
    x, reduction = call.shape(0), call.attr_text("reduction", "mean")
    if len(x) < 2 or reduction not in ("none", "sum", "mean"):
        raise Contradiction(f"{call.node.op} of {len(x)} dimensions, reduction {reduction}")
    return tensor(call.dtype(0), (x[0], *x[2:]) if reduction == "none" else ())


def _negative_log_likelihood(call: Call) -> list[Known]:
    return [_loss(call)]


def _softmax_cross_entropy(call: Call) -> list[Known]:
    return [_loss(call), tensor(call.dtype(0), call.shape(0))]


def _likelihood(call: Call) -> Dim:
    """Of each label: whether it counts, sign, its class's weight, its sum and that of the weights; then the mean."""
    reduction, weighted = call.attr_text("reduction", "mean"), call.has(2)
    mean, ignoring = reduction == "mean", call.attribute("ignore_index") is not None
    each = 1 + weighted + ignoring + (reduction != "none") + (mean and (weighted or ignoring))
    return each * size(call.shape(1)) + mean


def _likelihood_cost(call: Call) -> Cost:
    """1 per label: sign; 1 more for a weight, 1 for ignore_index, 1 for a sum, 1 for that of weights or labels where
    the mean needs it; 1 for the mean"""
    return Cost(other=_likelihood(call))


def _cross_entropy_cost(call: Call) -> Cost:
    """as LogSoftmax, 5 per element of the input and 1 per label; then as NegativeLogLikelihoodLoss"""
    return Cost(other=5 * size(call.shape(0)) + size(call.shape(1)) + _likelihood(call))


OPERATORS: dict[str, Operator] = {
    "NegativeLogLikelihoodLoss": Operator(_negative_log_likelihood, cost=_likelihood_cost, parts=constants(2)),
    "SoftmaxCrossEntropyLoss": Operator(_softmax_cross_entropy, cost=_cross_entropy_cost, parts=constants(2)),
}
