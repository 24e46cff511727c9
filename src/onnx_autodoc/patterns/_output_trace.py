"""The end of a net: from an output back to the weights that made it, and what was done to their result on the way."""

import math
from collections import Counter
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import is_float
from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._words import NORMS, WEIGHTED
from onnx_autodoc.text import told

_SOURCES: Final = frozenset((*WEIGHTED, *NORMS, "head", "bottleneck", "carry", "Loop", "Scan"))
_LINEAR: Final = frozenset(("linear", "conv"))
_LONGEST: Final = 400  # terms of one tail: boxes of a detector take a hundred
_WIDEST: Final = 10 * _LONGEST  # values of one tail
_MOST: Final = 250 * _LONGEST  # terms and values of all tails together


class Tail(Struct, frozen=True, eq=False):
    """`terms` are on the way, near the output first; `sources` made what they work on; `given` are model inputs."""

    output: str
    value: int
    terms: tuple[Term, ...]
    sources: tuple[Term, ...]
    ends: tuple[int, ...]  # what the sources made
    given: tuple[int, ...]
    mixed: bool  # real numbers of the model's inputs come in as well

    @property
    def said(self) -> str:
        """The output in a sentence."""
        return told(self.output)

    @property
    def ops(self) -> frozenset[str]:
        return frozenset(term.op for term in self.terms)

    @property
    def source(self) -> Term | None:
        """The one that it comes from, if it is one. A mask may have come in on the way."""
        return self.sources[0] if len(self.sources) == 1 and not self.mixed else None


def tails(net: Net) -> list[Tail]:
    """Of the outputs in their order, until they have taken more than any model's do."""
    found, left = list[Tail](), _MOST
    for name, value in net.outputs.items():
        if left > 0 and not net.fixed[value]:
            found.append(_tail(net, name, value))
            left -= len(found[-1].terms) + len(found[-1].ends) + len(found[-1].given)
    return found


def _tail(net: Net, name: str, value: int) -> Tail:
    terms, sources, ends, given = dict[Term, None](), dict[Term, None](), list[int](), list[int]()
    waiting, seen = [value], {value}
    while waiting and len(terms) < _LONGEST and len(seen) < _WIDEST:
        found = dict[int, None]()
        for at in waiting:
            term = net.makers[at]
            if term is None:
                given.append(at)
            elif is_source(net, term):
                sources[term] = None
                ends.append(at)
            else:
                terms[term] = None
                found |= dict.fromkeys(each for each in net.varying(term) if each not in seen)
        seen.update(found)
        waiting = list(found)
    mixed = any(known is not None and is_float(known.dtype) for known in map(net.knowns.__getitem__, given))
    return Tail(name, value, tuple(terms), tuple(sources), tuple(ends), tuple(given), mixed)


def is_source(net: Net, term: Term) -> bool:
    """Whether weights are in it, or a stream of features ends there. The sum over a detector's bins has no weights."""
    if term.op in _LINEAR and term.facts.get("to") == 1 and _is_share(net, term.inputs[0]):
        return False
    stacked = term.op == "Concat" and (net.rank(term.outputs[0]) or 0) > (net.rank(term.inputs[0]) or 0)
    return term.op in _SOURCES or ("skip" in term.facts and not stacked)


def _is_share(net: Net, value: int) -> bool:
    """Made by a softmax, perhaps turned after it."""
    for _ in range(3):
        turned = net.maker(value, "Transpose", "Reshape")
        if turned is None:
            break
        value = turned.inputs[0]
    return net.maker(value, "softmax") is not None


def width(term: Term) -> int | None:
    """How many numbers it makes for each place."""
    last = last_map(term)
    found = (last or term).facts.get("to") or term.facts.get("to") or term.facts.get("width")
    return found if isinstance(found, int) else None


def last_map(term: Term) -> Term | None:
    """The last linear map or convolution in it."""
    found = [part for part in term.within() if part.op in _LINEAR and part.facts.get("to")]
    return max(found, key=lambda part: part.at) if found else None


def is_biased(term: Term) -> bool:
    last = last_map(term)
    return bool(last is not None and last.facts.get("biased"))


def batch(net: Net) -> int:
    """How many examples there are: as many as most inputs begin with."""
    if "batch" not in net.notes:
        net.notes["batch"] = _batch(net)
    return int(net.notes["batch"])


def _batch(net: Net) -> int:
    dims = [net.shape(value) or () for value in net.inputs.values()]
    found = Counter(each[0] for each in dims if len(each) > 1)
    return max(found.most_common(1)[0][0], 1) if found else 1


def size(net: Net, value: int, axis: int) -> int | None:
    """One dim, where it is known, whatever the others are."""
    known = net.knowns[value]
    dim = known.shape[axis] if known is not None and known.shape is not None and axis < len(known.shape) else None
    return dim if isinstance(dim, int) else None


def places(net: Net, value: int, wide: int) -> int | None:
    """For how many places of one example there are `wide` numbers; None where that does not come out."""
    dims = net.shape(value)
    if dims is None or not wide:
        return None
    count = math.prod(dims)
    for each in (wide * batch(net), wide):
        if count and count % each == 0:
            return count // each
    return None


def softmax_size(net: Net, term: Term) -> int | None:
    """Over how many numbers a softmax (or an arg max) goes."""
    part = next((part for part in term.within() if part.node is not None), None)
    node = part.node if part is not None else None
    dims = net.shape(term.inputs[0] if node is not None and node.op == "ArgMax" else term.outputs[0])
    if part is None or node is None or not dims:
        return None
    if node.op not in ("Softmax", "LogSoftmax", "Hardmax", "ArgMax", "QLinearSoftmax"):
        return dims[-1]  # written out: over the last axis, as exporters do
    default = 0 if node.op == "ArgMax" else 1 if (part.version or 13) < 13 else -1
    axis = node.attributes.get("axis", default)
    if not isinstance(axis, int) or not -len(dims) <= axis < len(dims):
        return None
    if (part.version or 13) < 13 and node.op != "ArgMax":
        return math.prod(dims[axis % len(dims) :])  # all axes from there on are one
    return dims[axis]
