"""Losses of a classifier: scores [N, C, ...], labels [N, ...]."""

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Known, tensor
from onnx_autodoc.ops._operator import Operator


def _loss(call: Call) -> Known:
    x, reduction = call.shape(0), call.attr_text("reduction", "mean")
    if len(x) < 2 or reduction not in ("none", "sum", "mean"):
        raise Contradiction(f"{call.node.op} of {len(x)} dimensions, reduction {reduction}")
    return tensor(call.dtype(0), (x[0], *x[2:]) if reduction == "none" else ())


def _negative_log_likelihood(call: Call) -> list[Known]:
    return [_loss(call)]


def _softmax_cross_entropy(call: Call) -> list[Known]:
    return [_loss(call), tensor(call.dtype(0), call.shape(0))]


OPERATORS: dict[str, Operator] = {
    "NegativeLogLikelihoodLoss": Operator(_negative_log_likelihood),
    "SoftmaxCrossEntropyLoss": Operator(_softmax_cross_entropy),
}
