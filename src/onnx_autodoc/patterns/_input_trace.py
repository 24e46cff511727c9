"""Where an input of the model goes: the light steps it takes, and the first weights that it meets."""

from typing import Final

from onnx_autodoc.ir import is_float
from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._output_trace import is_source
from onnx_autodoc.patterns._tracing import is_move

_FARTHEST: Final = 300  # terms followed from one input
_WHOLE: Final = frozenset(("linear", "conv", "layer-norm", "rms-norm", "softmax"))
_JOINING: Final = frozenset(("Mul", "Where", "Div"))
KEEPING: Final = frozenset(("Concat", "ScatterND", "ScatterElements"))  # how new tokens are put beside those before


class Reach:
    """`terms` are the steps on the way; `meets` the blocks at its end, each with the value that it reads; `joins` the
    steps where something else that was computed comes in, as a mask meets what it hides; `left` is read by nobody.
    """

    def __init__(self, net: Net, value: int) -> None:
        self.terms: dict[Term, None] = {}
        self.meets: list[tuple[Term, int]] = []
        self.joins: list[Term] = []
        self.left: list[int] = []
        self.seen = {value}
        waiting = [value]
        while waiting and len(self.terms) < _FARTHEST:
            value = waiting.pop()
            if not net.readers[value] and value not in net.leaving:
                self.left.append(value)
            for term in net.readers[value]:
                waiting.extend(self._step(net, term, value))

    def _step(self, net: Net, term: Term, value: int) -> list[int]:
        if is_source(net, term):
            self.meets.append((term, value))
            return []
        if term.op in _JOINING:
            others = [given for given in net.varying(term) if given not in self.seen]
            if any(_is_computed(net, given) for given in others):
                self.joins.append(term)
                return []
        self.terms[term] = None
        fresh = [made for made in term.outputs if made not in self.seen]
        self.seen.update(fresh)
        return fresh

    @property
    def ops(self) -> frozenset[str]:
        return frozenset(term.op for term in self.terms)

    def met(self, *ops: str) -> list[Term]:
        return [term for term, _ in self.meets if term.op in ops]


def _is_computed(net: Net, value: int) -> bool:
    """A real number that weights had a part in."""
    known = net.knowns[value]
    term = net.makers[value]
    return term is not None and known is not None and is_float(known.dtype) and is_source(net, term)


def readers_inside(term: Term, value: int) -> list[Term]:
    """The parts of a block that read a value: what it is to the block. Maps and norms are not opened."""
    waiting, found = list(term.parts), list[Term]()
    while waiting:
        part = waiting.pop()
        if value not in part.inputs:
            continue
        if part.parts and part.op not in _WHOLE:
            waiting.extend(part.parts)
        else:
            found.append(part)
    return found or [term]


def uses_inside(net: Net, term: Term, value: int) -> list[tuple[Term, int]]:
    """What a block does with a value once it is moved or scaled, and put beside others: parts, with what they read."""
    waiting, found, seen = [value], list[tuple[Term, int]](), {value}
    while waiting:
        at = waiting.pop()
        for part in readers_inside(term, at):
            if part is term:
                continue
            moved = is_move(net, part)
            if not moved:
                found.append((part, at))
            if moved or part.op in KEEPING:
                fresh = [made for made in part.outputs if made not in seen]
                seen.update(fresh)
                waiting.extend(fresh)
    return found


def first_convolution(term: Term) -> Term | None:
    found = [part for part in term.within() if part.op in ("conv", "linear") and part.facts.get("kernel")]
    return min(found, key=lambda part: part.at) if found else None
