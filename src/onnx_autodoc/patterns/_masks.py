"""What masks tell of an attention: whether it looks back only, and whether it has a bias for each distance."""

import math
from typing import Final

from onnx_autodoc.ops import kinds
from onnx_autodoc.patterns._net import NO_VALUE, Fact, Net, Term
from onnx_autodoc.patterns._tracing import behind

_COMPARING: Final = frozenset(("Less", "LessOrEqual", "Greater", "GreaterOrEqual"))
_WEIGHTED: Final = frozenset(
    ("linear", "conv", "MatMul", "layer-norm", "rms-norm", "attention", "embedding", "softmax")
)
_INDICES: Final = ("int32", "int64")  # a square of these says how far apart two places are
_NEARBY: Final = 40
_FARTHEST: Final = 400  # values looked at


def masked(net: Net, masks: list[int], facts: dict[str, Fact], scores: Term | None = None) -> dict[str, Fact]:
    """What is added to scores, or picks among them."""
    found: dict[str, Fact] = {}
    if any(_is_for_pairs(net, value, scores) and _looks_back(net, value) for value in masks):
        found["causal"] = True
    heads = facts.get("heads")
    shapes = [net.shape(value) for value in masks]
    if heads and heads > 1 and any(dims and len(dims) > 2 and dims[-3] == heads and dims[-1] > 1 for dims in shapes):
        found["bias"] = "relative"
    return found


def _is_for_pairs(net: Net, mask: int, scores: Term | None) -> bool:
    """Whether a mask can tell pairs of places apart: lengths of a batch hide the same keys from all queries."""
    made = net.shape(scores.outputs[0]) if scores is not None and "equation" not in scores.facts else None
    dims = net.shape(mask)
    return not made or dims is None or math.prod(dims) % max(math.prod(made[-2:]), 1) == 0


def _looks_back(net: Net, mask: int) -> bool:
    """Two positions are compared, or a triangle is cut, or a square constant says who may see whom."""
    if _is_square(net, mask):
        return True
    for term in behind(net, mask, lambda term: term.op in _WEIGHTED, _FARTHEST):
        if term.op == "Trilu" or (term.op in _COMPARING and _compares_positions(net, term)):
            return True
        if any(_is_square(net, value) for value in term.inputs):
            return True
    return False


def _compares_positions(net: Net, term: Term) -> bool:
    """Both sides count places: a range, a running sum, a list of them. One number, or a size, does not."""
    return len(term.inputs) == 2 and all(_counts_places(net, value) for value in term.inputs)


def _counts_places(net: Net, value: int) -> bool:
    trail = list(behind(net, value, lambda term: term.op in kinds.OF_SIZES, _NEARBY))
    given = {value, *(item for term in trail for item in term.inputs)}
    return any(term.op in ("Range", "CumSum") for term in trail) or any(_is_list(net, item) for item in given)


def _is_list(net: Net, value: int) -> bool:
    """Several numbers, given with the model or by its caller."""
    dims = net.shape(value)
    return net.makers[value] is None and value != NO_VALUE and dims is not None and max(dims, default=1) > 1


def _is_square(net: Net, value: int) -> bool:
    """A constant [1, 1, places, places]."""
    dims, known = net.shape(value), net.knowns[value]
    made = net.makers[value]
    held = value in net.weights or (made is not None and made.op == "Constant")
    if not held or dims is None or len(dims) < 2 or known is None or known.dtype in _INDICES:
        return False
    return dims[-1] == dims[-2] > 1 and all(dim == 1 for dim in dims[:-2])
