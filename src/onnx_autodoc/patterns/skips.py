"""Skip connections: where something computed meets what it was computed from.

A sum, a join, a difference or a product whose one side lies behind the other, with weights in between; or behind it but
for one projection. Biases, masks, activations, norms and rotations are not among them: constants have no side that was
computed, and the others were claimed before.
"""

import math
from typing import Final

from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._words import GATES, NORMS, WEIGHTED

_TURNS: Final = 16  # one after the other: more is no change of layout
_FARTHEST: Final = 600  # values looked at for one skip
_FARTHEST_JOINED: Final = 6000  # joins are few, and those of a U-Net go around all the rest of it
_EACH: Final = 100  # values looked at for all skips, for each term of the net
_EACH_OF_MANY: Final = 10  # where there are very many
_MOST_SIDES: Final = 16
_KINDS: Final = {"Add": "add", "Concat": "concat", "Sub": "subtract", "Mul": "gate"}
_PROJECTIONS: Final = ("conv", "conv-norm-act", "linear", "batch-norm", "AveragePool", "MaxPool", "Pad", "Slice")
_LEARNED: Final = frozenset((*WEIGHTED, *NORMS))
_RESIZES: Final = frozenset(("Resize", "Upsample"))


def find(net: Net) -> None:
    """Mark the skips: `skip` says of which kind, `around` where it begins."""
    ways = _Ways(net)
    for term in net.of(*_KINDS):
        sides = net.varying(term)[:_MOST_SIDES]
        if len(sides) < 2 or (term.op != "Concat" and len(sides) > 2):
            continue
        if term.op in ("Add", "Concat") and any(_is_resized(net, side) for side in sides):
            term.facts["merge"] = "top-down"  # a level of a pyramid, or of a U-Net's way up
        start = _start(ways, term, sides)
        if start is not None:
            term.facts |= {"skip": _KINDS[term.op], "around": start}


def _start(ways: "_Ways", term: Term, sides: list[int]) -> int | None:
    net = ways.net
    if term.op == "Concat" and not _joins_channels(net, term):
        return None
    if term.op == "Mul" and not any(_is_gate(net, side) for side in sides):
        return None
    if term.op == "Sub":
        sides = sides[:1] if ways.lie_behind(sides[0], sides[1]) else []
        return sides[0] if sides else None
    if term.op == "Add" and not _are_alike(net, sides):
        return None
    most = _FARTHEST_JOINED if term.op == "Concat" else _FARTHEST
    for one in sides:
        origin = _unmoved(net, one)
        if any(other != one and ways.lie_behind(origin, other, most) for other in sides):
            return origin
    return _projected(ways, term, sides)


def _is_resized(net: Net, value: int) -> bool:
    made = net.maker(value, *_RESIZES, "conv", "conv-norm-act")
    return made is not None and (made.op in _RESIZES or bool(made.facts.get("transposed")))


def _unmoved(net: Net, value: int) -> int:
    """A value before it was turned into another layout."""
    for _ in range(_TURNS):
        made = net.maker(value, "Transpose", "Reshape")
        if made is None:
            break
        value = made.inputs[0]
    return value


def _are_alike(net: Net, sides: list[int]) -> bool:
    """What is added to every place (the time, in a diffusion model) is no skip. Axes of one element do not count."""
    shapes = [net.shape(side) for side in sides]
    return any(dims is None for dims in shapes) or len({math.prod(dims) for dims in shapes if dims is not None}) == 1


def _projected(ways: "_Ways", term: Term, sides: list[int]) -> int | None:
    """A side that is one projection of what lies behind the other."""
    net = ways.net
    if term.op not in ("Add", "Concat"):
        return None
    for one in sides:
        made, behind = net.maker(one, *_PROJECTIONS), one
        for _ in range(3):  # a pool, a convolution, its norm
            if made is None:
                break
            behind = made.inputs[0]
            if any(other != one and ways.lie_behind(behind, other) for other in sides):
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


class _Ways:
    """Ways back through a net. All of them together are bounded, so that no graph takes more than its size is worth."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self._left = min(20_000 + _EACH * len(net.terms), 500_000 + _EACH_OF_MANY * len(net.terms))

    def lie_behind(self, goal: int, value: int, most: int = _FARTHEST) -> bool:
        """Whether a value was computed from another one by something with weights."""
        start = self.net.makers[goal]
        first = start.at if start is not None else -1
        waiting, seen, found = [(value, False)], {(value, False)}, False
        while waiting and not found and len(seen) < min(most, self._left):
            value, weighted = waiting.pop()
            found = value == goal and weighted
            fresh = [item for item in self._before(value, weighted, goal, first) if item not in seen]
            seen.update(fresh)
            waiting.extend(fresh)
        self._left -= len(seen)
        return found

    def _before(self, value: int, weighted: bool, goal: int, first: int) -> list[tuple[int, bool]]:
        made = self.net.makers[value]
        if made is None or made.at < first or self.net.fixed[value] or value == goal:
            return []
        heavy = weighted or made.op in _LEARNED
        return [(given, heavy) for given in self.net.varying(made)]
