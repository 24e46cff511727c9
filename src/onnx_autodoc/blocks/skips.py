"""Skip connections: where something computed meets what it was computed from.

A sum, a join, a difference or a product whose one side lies behind the other, with weights in between; or behind it but
for one projection. Biases, masks, activations, norms and rotations are not among them: constants have no side that was
computed, and the others were claimed before.
"""

import math
from typing import Final

from onnx_autodoc.blocks._net import Net, Term
from onnx_autodoc.blocks._words import GATES, NORMS, WEIGHTED

_FARTHEST: Final = 600  # values looked at for one skip
_KINDS: Final = {"Add": "add", "Concat": "concat", "Sub": "subtract", "Mul": "gate"}
_PROJECTIONS: Final = ("conv", "conv-norm-act", "linear", "batch-norm", "AveragePool", "MaxPool", "Pad", "Slice")
_LEARNED: Final = frozenset((*WEIGHTED, *NORMS))
_RESIZES: Final = frozenset(("Resize", "Upsample"))


def find(net: Net) -> None:
    """Mark the skips: `skip` says of which kind, `around` where it begins."""
    for term in net.of(*_KINDS):
        sides = net.varying(term)
        if len(sides) < 2 or (term.op != "Concat" and len(sides) > 2):
            continue
        start = _start(net, term, sides)
        if start is not None:
            term.facts |= {"skip": _KINDS[term.op], "around": start}


def _start(net: Net, term: Term, sides: list[int]) -> int | None:
    if term.op == "Concat" and not _joins_channels(net, term):
        return None
    if term.op == "Mul" and not any(_is_gate(net, side) for side in sides):
        return None
    if term.op == "Sub":
        sides = sides[:1] if _lies_behind(net, sides[0], sides[1]) else []
        return sides[0] if sides else None
    if term.op == "Add" and not _are_alike(net, sides):
        return None
    for one in sides:
        origin = _unmoved(net, one)
        if any(other != one and _lies_behind(net, origin, other) for other in sides):
            return origin
    return _projected(net, term, sides)


def _unmoved(net: Net, value: int) -> int:
    """A value before it was turned into another layout."""
    while (made := net.maker(value, "Transpose", "Reshape")) is not None:
        value = made.inputs[0]
    return value


def _are_alike(net: Net, sides: list[int]) -> bool:
    """What is added to every place (the time, in a diffusion model) is no skip. Axes of one element do not count."""
    shapes = [net.shape(side) for side in sides]
    return any(dims is None for dims in shapes) or len({math.prod(dims) for dims in shapes if dims is not None}) == 1


def _projected(net: Net, term: Term, sides: list[int]) -> int | None:
    """A side that is one projection of what lies behind the other."""
    if term.op not in ("Add", "Concat"):
        return None
    for one in sides:
        made, behind = net.maker(one, *_PROJECTIONS), one
        for _ in range(3):  # a pool, a convolution, its norm
            if made is None:
                break
            behind = made.inputs[0]
            if any(other != one and _lies_behind(net, behind, other) for other in sides):
                return None if _is_parallel(net, term, behind, sides) else behind
            made = net.maker(behind, *_PROJECTIONS)
    return None


def _is_parallel(net: Net, term: Term, source: int, sides: list[int]) -> bool:
    """Branches of one source that are joined are no skip, nor are two projections of it that are added, nor a level of
    a pyramid and the resized one above it.
    """
    resized = any(net.maker(side, *_RESIZES) for side in sides)
    if term.op == "Concat":
        return not resized
    made = [net.maker(side, *_PROJECTIONS) for side in sides]
    return resized or all(each is not None and each.inputs[0] == source for each in made)


def _is_gate(net: Net, value: int) -> bool:
    return net.maker(value, *GATES) is not None


def _joins_channels(net: Net, term: Term) -> bool:
    """Along the axis of features: the second of a picture or a signal, else the last."""
    axis = term.node.attributes.get("axis") if term.node is not None else None
    rank = net.rank(term.outputs[0])
    if not isinstance(axis, int) or rank is None:
        return False
    at = axis % max(rank, 1)
    return at in (1, rank - 1) and rank > 1 and at != 0


def _lies_behind(net: Net, goal: int, value: int) -> bool:
    """Whether a value was computed from another one by something with weights."""
    start = net.makers[goal]
    first = start.at if start is not None else -1
    waiting, seen = [(value, False)], {(value, False)}
    while waiting and len(seen) < _FARTHEST:
        value, weighted = waiting.pop()
        if value == goal:
            if weighted:
                return True
            continue
        made = net.makers[value]
        if made is None or made.at < first or net.fixed[value]:
            continue
        heavy = weighted or made.op in _LEARNED
        fresh = [(given, heavy) for given in net.varying(made) if (given, heavy) not in seen]
        seen.update(fresh)
        waiting.extend(fresh)
    return False
