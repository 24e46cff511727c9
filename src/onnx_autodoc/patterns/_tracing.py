"""Following values through what only moves, turns or scales them: between a projection and the product it goes into."""

from collections.abc import Callable, Iterator
from typing import Final

from onnx_autodoc.patterns._net import Net, Term

MOVES: Final = frozenset(
    ("Transpose", "Reshape", "Flatten", "Expand", "Tile", "Slice", "Split", "Gather", "GatherND", "Pad")
)
_TURNS: Final = frozenset(("Neg", "Concat", "RotaryEmbedding", "ScatterND", "ScatterElements", "Roll", "Mul", "Div"))
_NORMS: Final = frozenset(("rms-norm", "layer-norm", "batch-norm", "square", "mean", "over-root", "LpNormalization"))
_WIDEST: Final = 80  # terms on the way from a projection to its product


def is_move(net: Net, term: Term) -> bool:
    """Whether a term only moves or scales what it reads."""
    return term.op in MOVES or (term.op in ("Mul", "Div") and len(net.varying(term)) == 1)


def _passes(net: Net, term: Term) -> bool:
    """Whether queries or keys go through it on their way: moved, scaled, turned by their position, normalised."""
    if term.op in MOVES or term.op in _TURNS or term.op in _NORMS:
        return True
    if term.op not in ("Add", "Sub", "Where"):
        return False
    made = [net.makers[value] for value in net.varying(term)]
    return len(made) == 1 or all(each is not None and each.op in ("Mul", "Neg", "Concat") for each in made)


class Trail:
    """What lies behind a value: the terms on the way, and the values where the way ends."""

    def __init__(self, net: Net, value: int) -> None:
        self.terms: dict[Term, None] = {}
        self.ends: dict[int, None] = {}
        self.values: dict[int, None] = {value: None}
        waiting = [value]
        while waiting:
            value = waiting.pop()
            term = net.makers[value]
            if net.fixed[value]:
                continue
            if term is None or len(self.terms) >= _WIDEST or not _passes(net, term):
                self.ends[value] = None
                continue
            self.terms[term] = None
            fresh = [given for given in net.varying(term) if given not in self.values]
            self.values.update(dict.fromkeys(fresh))
            waiting.extend(fresh)

    def projections(self, net: Net) -> list[Term]:
        """The linear maps (or convolutions) that it comes from."""
        found = [net.makers[value] for value in self.ends]
        return [term for term in found if term is not None and term.op in ("linear", "conv")]


def behind(net: Net, value: int, stop: Callable[[Term], bool], most: int) -> Iterator[Term]:
    """Every term that a value was made by, near ones first, fixed ones too."""
    waiting, seen = [value], {value}
    while waiting and len(seen) < most:
        found: list[int] = []
        for value in waiting:
            term = net.makers[value]
            if term is None or stop(term):
                continue
            yield term
            found += [given for given in term.inputs if given and given not in seen]
            seen.update(term.inputs)
        waiting = list(dict.fromkeys(found))


def onward(net: Net, value: int) -> tuple[list[Term], Term | None, int]:
    """Forward over moves that nothing else reads: the moves, the term after them, and the value that it reads."""
    moves: list[Term] = []
    while (term := net.reader(value)) is not None and value not in net.leaving and len(moves) < _WIDEST:
        if not is_move(net, term):
            return moves, term, value
        moves.append(term)
        value = term.outputs[0]
    return moves, None, value
