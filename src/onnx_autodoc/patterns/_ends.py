"""Outputs that are no answers: what a decoder or a cell hands to its next run, and what attention looked at."""

from typing import Final

from onnx_autodoc.patterns._input_roles import is_kept
from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._output_trace import Tail
from onnx_autodoc.patterns._words import RECURRENT

_MOVES: Final = frozenset(
    ("Concat", "Slice", "Split", "Transpose", "Reshape", "Gather", "Expand", "Tile", "stack", "Pad")
)

_SUMS: Final = frozenset(("Add", "Mul", "Sub"))
_TURNS: Final = frozenset((*_SUMS, "Neg", "RotaryEmbedding"))  # by their position
_PROJECTIONS: Final = frozenset(("linear", "conv", "rms-norm", "layer-norm"))
_NEAR: Final = 40  # values between a projection and attention


def is_weights(net: Net, tail: Tail) -> bool:
    """What a softmax made inside an attention."""
    made = [(net.makers[value], value) for value in tail.ends]
    return len(made) == 1 and made[0][0] is not None and _maker_inside(made[0][0], made[0][1]) == "softmax"


def _maker_inside(term: Term, value: int) -> str | None:
    if term.op != "attention" or value == term.outputs[0]:
        return None
    return next((part.op for part in term.within() if part is not term and value in part.outputs), None)


def is_state(net: Net, tail: Tail) -> bool:
    """Keys and values that attention made or was given, the last state of a cell, a window of what came in."""
    idle = tail.given and all(
        net.rank(value) == 0 for value in tail.given
    )  # times zero: kept so that it is not dropped
    if not tail.ops <= (_MOVES | _SUMS if idle else _MOVES):
        return False
    if tail.ends and all(_is_kept(net.makers[value], value) for value in tail.ends):
        return True
    return any(_is_window(net, tail, value) for value in tail.given)


def is_shared(net: Net, tail: Tail) -> bool:
    """Keys or values that were projected for the output as well: attention reads them as they leave."""
    projected = all(term.op in _PROJECTIONS for term in tail.sources)
    if not tail.sources or not projected or not tail.ops <= _MOVES | _TURNS:
        return False
    values = (tail.value, *(made for term in tail.terms for made in term.outputs), *tail.ends)
    return any(_is_attended(net, value) for value in values)


def _is_attended(net: Net, value: int) -> bool:
    """Whether attention reads it without projecting it, perhaps moved before."""
    waiting, seen = [value], {value}
    while waiting and len(seen) < _NEAR:
        value = waiting.pop()
        for term in net.readers[value]:
            if term.op == "attention" and is_kept(net, term, value):
                return True
            fresh = [made for made in term.outputs if term.op in _MOVES and made not in seen]
            seen.update(fresh)
            waiting.extend(fresh)
    return False


def _is_kept(term: Term | None, value: int) -> bool:
    if term is None:
        return False
    if term.op == "attention":
        return value in term.outputs[1:]
    if term.op in RECURRENT:
        single = term.facts.get("looped") is False  # one step of a cell
        return single or value in term.outputs[1:]
    return False


def _is_window(net: Net, tail: Tail, value: int) -> bool:
    """An input with something new joined to it: as long as before, or longer along one axis."""
    before, after = net.shape(value), net.shape(tail.value)
    if before is None or after is None or "Concat" not in tail.ops:
        return False
    before, after = (tuple(dim for dim in dims if dim != 1) for dims in (before, after))
    return len(before) == len(after) and sum(one != other for one, other in zip(before, after)) <= 1
