"""Losses, optimizers and preview operators."""

from collections.abc import Sequence

from onnx_autodoc.ops.attention import scores_cost
from onnx_autodoc.ops.call import Call, shape_of_rank, size
from onnx_autodoc.ops.cost import Cost, CostRule, uncounted
from onnx_autodoc.ops.dim_specs import rule
from onnx_autodoc.ops.input_constraints import index_into
from onnx_autodoc.ops.operator import Operator, ShapeRule, WorkClass, constants
from onnx_autodoc.ops.shape_rules import same_as
from onnx_autodoc.ops.values import Contradiction, Unknown, ValueInfo, tensor, with_shape


def _optimizer_step(kinds: int, returned: tuple[int, ...]) -> ShapeRule:
    """Return the rule of an optimizer: learning rate, count, n tensors per kind; outputs are the kinds `returned`."""

    def infer(call: Call) -> Sequence[ValueInfo]:
        count, rest = divmod(len(call.inputs) - 2, kinds)
        if rest or count < 1:
            raise Contradiction(
                f"{call.node.op} requires a positive multiple of {kinds} tensors, got {len(call.inputs) - 2}"
            )
        return same_as(*(2 + kind * count + at for kind in returned for at in range(count)))(call)

    return infer


def _per_parameter(kinds: int, count: int, parts: str, **more: int) -> CostRule:
    """Return a rule with `count` operations per parameter, and more per attribute that is set."""

    def rule(call: Call) -> Cost:
        tensors = (len(call.inputs) - 2) // kinds
        parameters = sum((size(call.shape(2 + at)) for at in range(tensors)), start=0)
        return Cost(other=parameters * (count + sum(extra for name, extra in more.items() if _set(call, name))))

    listed = ", ".join(f"{extra} more for {name}" for name, extra in more.items())
    rule.__doc__ = f"{count} FLOPs per parameter: {parts}; {listed}"
    return rule


def _set(call: Call, name: str) -> bool:
    return call.attr_text("mode", "") == name if name == "nesterov" else call.attr_float(name, 0.0) != 0


_ADAGRAD = "2 for the squares, 2 for their sqrt, 3 for the step"
_ADAM = "3 for the average, 4 for the average of squares, 2 for its sqrt, 3 for the step"
_MOMENTUM = "3 for the average, 2 for the step"
_MODIFIED = "FlexAttention: the arithmetic of score_mod and prob_mod is unknown"


def _flex_cost(call: Call) -> Cost:
    """queries · keys · (key size + value size) MACs per head; 6 FLOPs per score: scale, Softmax. Other arithmetic is
    unknown with score_mod or prob_mod"""
    batch, heads, steps, head = shape_of_rank(call, 0, 4)
    cost = scores_cost((batch, heads, steps, head), shape_of_rank(call, 1, 4)[2], shape_of_rank(call, 2, 4)[3])
    modified = call.attribute("score_mod") is not None or call.attribute("prob_mod") is not None
    return Cost(cost.macs, Unknown(_MODIFIED)) if modified else cost


OPERATORS: dict[str, Operator] = {
    "Adagrad": Operator(_optimizer_step(3, (0, 2)), cost=_per_parameter(3, 7, _ADAGRAD, norm_coefficient=2)),
    "Adam": Operator(
        _optimizer_step(4, (0, 2, 3)), cost=_per_parameter(4, 12, _ADAM, norm_coefficient=2, norm_coefficient_post=1)
    ),
    # one output per variable; the inputs after those are constant
    "Gradient": Operator(
        lambda call: [with_shape(call.input_info(at), call.shape(at)) for at in range(call.attr_count("xs"))],
        cost=uncounted("it differentiates other nodes of the graph"),
    ),
    "Momentum": Operator(
        _optimizer_step(3, (0, 2)), cost=_per_parameter(3, 5, _MOMENTUM, norm_coefficient=2, nesterov=2)
    ),
}

PREVIEW: dict[str, Operator] = {
    "FlexAttention": Operator(
        rule("0: B N S H, 2: _ _ _ V -> 0: B N S V"),
        cost=_flex_cost,
        work=WorkClass.ATTENTION,
    )
}


def _loss(call: Call) -> ValueInfo:
    x, reduction = call.shape(0), call.attr_text("reduction", "mean")
    if len(x) < 2 or reduction not in ("none", "sum", "mean"):
        raise Contradiction(
            f"{call.node.op} requires rank 2 or more and reduction none, sum or mean, got rank {len(x)} and {reduction}"
        )
    return tensor(call.dtype(0), (x[0], *x[2:]) if reduction == "none" else ())


def _likelihood_cost(call: Call) -> Cost:
    """1 FLOP per label: sign; 1 more for a weight, 1 for ignore_index, 1 for a sum, 1 for the sum of weights or labels
    that a mean needs; 1 for the mean"""
    reduction, is_weighted = call.attr_text("reduction", "mean"), call.has(2)
    is_mean, ignores = reduction == "mean", call.attribute("ignore_index") is not None
    label_ops = 1 + is_weighted + ignores + (reduction != "none") + (is_mean and (is_weighted or ignores))
    return Cost(other=label_ops * size(call.shape(1)) + is_mean)


def _cross_entropy_cost(call: Call) -> Cost:
    """as LogSoftmax (5 FLOPs per input element, 1 per label) and NegativeLogLikelihoodLoss"""
    return Cost(other=5 * size(call.shape(0)) + size(call.shape(1)) + _likelihood_cost(call).other)


LOSSES: dict[str, Operator] = {
    "NegativeLogLikelihoodLoss": Operator(
        lambda call: [_loss(call)], cost=_likelihood_cost, roles=constants(2), constraints={1: index_into(0, 1)}
    ),
    "SoftmaxCrossEntropyLoss": Operator(
        lambda call: [_loss(call), tensor(call.dtype(0), call.shape(0))],
        cost=_cross_entropy_cost,
        roles=constants(2),
        constraints={1: index_into(0, 1)},
    ),
}
