"""One step of training (ai.onnx.preview.training), and the operators that ONNX only previews (ai.onnx.preview)."""

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Known, like, tensor
from onnx_autodoc.ops._operator import Operator, Rule
from onnx_autodoc.ops._ranks import ranked


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


OPERATORS: dict[str, Operator] = {
    "Adagrad": Operator(_step(3, (0, 2))),
    "Adam": Operator(_step(4, (0, 2, 3))),
    "Gradient": Operator(_gradient),
    "Momentum": Operator(_step(3, (0, 2))),
}

PREVIEW: dict[str, Operator] = {"FlexAttention": Operator(_flex_attention)}
