"""One step of training (ai.onnx.preview.training), and the operators that ONNX only previews (ai.onnx.preview)."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, Price, uncounted
from onnx_autodoc.ops._known import Contradiction, Known, Unknown, like, tensor
from onnx_autodoc.ops._operator import Operator, Rule
from onnx_autodoc.ops._ranks import ranked
from onnx_autodoc.ops.attention import scores_cost


def _step(kinds: int, kept: tuple[int, ...]) -> Rule:
    """After learning rate and count, tensors of so many kinds, n of each; the new ones are of the kinds kept."""

    def infer(call: Call) -> list[Known]:
        count, rest = divmod(len(call.inputs) - 2, kinds)
        if rest or count < 1:
            raise Contradiction(f"{call.node.op} of {len(call.inputs) - 2} tensors, which are of {kinds} kinds")
        places = [2 + kind * count + at for kind in kept for at in range(count)]
        return [like(call.known(at), call.shape(at)) for at in places]

    return infer


def _gradient(call: Call) -> list[Known]:
    # one for each variable, of its shape; the inputs after those are held constant
    return [like(call.known(at), call.shape(at)) for at in range(call.attr_count("xs"))]


def _flex_attention(call: Call) -> list[Known]:
    # Q [B, N, S, H], V [B, kvN, L, Hv] = [B, N, S, Hv]
    return [tensor(call.dtype(0), (*ranked(call, 0, 4)[:3], ranked(call, 2, 4)[3]))]


def _per_parameter(kinds: int, count: int, parts: str, **more: int) -> Price:
    """So many operations for each parameter, and more for each of the attributes that is set; see `_step`."""

    def price(call: Call) -> Cost:
        tensors = (len(call.inputs) - 2) // kinds
        parameters = sum((size(call.shape(2 + at)) for at in range(tensors)), start=0)
        return Cost(other=parameters * (count + sum(extra for name, extra in more.items() if _set(call, name))))

    listed = ", ".join(f"{extra} more for {name}" for name, extra in more.items())
    price.__doc__ = f"{count} per parameter: {parts}; {listed}"
    return price


def _set(call: Call, name: str) -> bool:
    return call.attr_text("mode", "") == name if name == "nesterov" else call.attr_float(name, 0.0) != 0


_ADAGRAD = "2 for the squares, 2 for their root, 3 for the step"
_ADAM = "3 for the average, 4 for that of the squares, 2 for its root, 3 for the step"
_MOMENTUM = "3 for the average, 2 for the step"
_MODIFIED = "FlexAttention: what its own graphs do with the scores is not counted"


def _flex_cost(call: Call) -> Cost:
    """queries · keys · (size of a key + size of a value) multiply-adds for each head; 6 per score: scale, Softmax. Not
    counted where graphs of its own change the scores"""
    batch, heads, steps, head = ranked(call, 0, 4)
    cost = scores_cost((batch, heads, steps, head), ranked(call, 1, 4)[2], ranked(call, 2, 4)[3])
    modified = call.attribute("score_mod") is not None or call.attribute("prob_mod") is not None
    return Cost(cost.macs, Unknown(_MODIFIED)) if modified else cost


OPERATORS: dict[str, Operator] = {
    "Adagrad": Operator(_step(3, (0, 2)), cost=_per_parameter(3, 7, _ADAGRAD, norm_coefficient=2)),
    "Adam": Operator(
        _step(4, (0, 2, 3)), cost=_per_parameter(4, 12, _ADAM, norm_coefficient=2, norm_coefficient_post=1)
    ),
    "Gradient": Operator(_gradient, cost=uncounted("it differentiates other nodes of the graph")),
    "Momentum": Operator(_step(3, (0, 2)), cost=_per_parameter(3, 5, _MOMENTUM, norm_coefficient=2, nesterov=2)),
}

PREVIEW: dict[str, Operator] = {"FlexAttention": Operator(_flex_attention, cost=_flex_cost)}
