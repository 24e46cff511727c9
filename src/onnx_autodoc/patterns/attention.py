"""Attention: softmax between two products of computed things, or one operator that does it all.

    p = Softmax(MatMul(q, k))        masks, scales and casts in between
    y = MatMul(p, v)                 q, k, v from linear maps, y into one: they belong to it

One softmax is one attention. A softmax whose result meets a weight (the DFL head of a detector) or leaves the model is
none. Found by following values, since what lies on the way differs from exporter to exporter.
"""

from typing import Final

from onnx_autodoc.patterns._heads import heads_of, repeated
from onnx_autodoc.patterns._masks import masked
from onnx_autodoc.patterns._net import Fact, Net, Term
from onnx_autodoc.patterns._tracing import MOVES, Trail, behind, is_move, onward

_ON_SCORES: Final = MOVES | {"Add", "Sub", "Mul", "Div", "Where", "Clip", "Tanh", "Concat", "Max", "Min", "Relu"}
_NEARBY: Final = 40  # values behind keys and values that are looked at
_MOVED: Final = 6  # moves between the cut and the projection
_CUT_RANK: Final = 6  # [batch, rows, in a window, columns, in a window, features]
_LONGEST: Final = 60  # terms between a product and its softmax


class Scores:
    """What lies between the first product and the softmax: back over masks and scales, a bounded way."""

    def __init__(self, net: Net, value: int) -> None:
        self.products: dict[Term, None] = {}
        self.terms: dict[Term, None] = {}
        self.masks: dict[int, None] = {}
        seen = self._behind(net, value)
        reached = {made for term in self.products for made in term.outputs}
        for term in sorted(seen, key=lambda term: term.at):
            if not reached.isdisjoint(term.inputs) or (term.op == "linear" and _is_additive(net, term)):
                reached.update(term.outputs)
                self.terms[term] = None
        self.masks = {
            given: None
            for term in self.terms
            if term.op in ("Add", "Sub", "Where")
            for given in term.inputs
            if given and given not in reached
        }

    def _behind(self, net: Net, value: int) -> dict[Term, None]:
        """The terms on the way to products; the products are noted."""
        waiting, seen = [value], dict[Term, None]()
        while waiting and len(seen) < _LONGEST:
            value = waiting.pop()
            term = net.makers[value]
            if term is None or net.fixed[value] or term in seen or term in self.products:
                continue
            if term.op == "MatMul" or (term.op == "linear" and _asks(net, term)):
                self.products[term] = None
            elif term.op in _ON_SCORES or (term.op == "linear" and _is_additive(net, term)):
                seen[term] = None
                waiting.extend(net.varying(term) if term.op != "linear" else ())
        return seen


def find(net: Net) -> None:
    for softmax in net.of("softmax"):
        if net.terms.get(softmax.at) is softmax:
            _decomposed(net, softmax)
    for core in net.of("attention-core"):
        trails = [Trail(net, core.facts[key]) for key in ("queries", "keys", "values")]
        facts = masked(net, list(core.facts.get("masks", ())), core.facts) | repeated(net, core.facts, trails)
        _claim(net, [core], trails, core.outputs[0], {**core.facts, **facts})
    _without_softmax(net)


def _decomposed(net: Net, softmax: Term) -> None:
    scores = Scores(net, softmax.inputs[0])
    moves, product, value = _weighing(net, softmax)
    if product is None or (not scores.products and not scores.terms):
        return
    values = next((given for given in product.inputs if given != value), value)
    if not scores.products:
        _additive(net, softmax, scores, [*moves, product], values)
        return
    first = next(iter(scores.products))
    sides = (first.facts["weight"], first.inputs[0]) if first.op == "linear" else first.inputs
    trails = [Trail(net, sides[0]), Trail(net, sides[1]), Trail(net, values)]
    others = [Trail(net, given) for term in list(scores.products)[1:] for given in term.inputs]
    facts = heads_of(net, first, trails)
    facts |= masked(net, list(scores.masks), facts, first)
    members = [softmax, *scores.products, *scores.terms, *moves, product]
    _claim(net, members, [*trails, *others], product.outputs[0], facts)


def _asks(net: Net, term: Term) -> bool:
    """Learned queries, the same for every input: a product of them with keys that were projected."""
    dims = net.shape(term.facts["weight"])
    wide = dims is not None and len(dims) > 2 and not term.facts["biased"]
    return wide and bool(Trail(net, term.inputs[0]).projections(net))


def _is_additive(net: Net, term: Term) -> bool:
    """Scores as one number for each place, out of a tanh."""
    return term.facts.get("to") == 1 and net.maker(term.inputs[0], "Tanh") is not None


def _weighing(net: Net, softmax: Term) -> tuple[list[Term], Term | None, int]:
    """Forward from a softmax to the product with what it weighs."""
    value, moves = softmax.outputs[0], list[Term]()
    for _ in range(_LONGEST):
        product = next((term for term in net.readers[value] if term.op == "MatMul"), None)
        if product is not None:
            return moves, product, value
        ahead = [term for term in net.readers[value] if is_move(net, term) or term.op in ("Where", "Mul")]
        if len(ahead) != 1:
            return moves, None, value
        moves.append(ahead[0])
        value = ahead[0].outputs[0]
    return moves, None, value


def _additive(net: Net, softmax: Term, scores: Scores, after: list[Term], values: int) -> None:
    trails = [Trail(net, values)]
    facts = {"heads": 1, "kv_heads": 1, "head_dim": None, "form": "additive"}
    _claim(net, [softmax, *scores.terms, *after], trails, after[-1].outputs[0], facts)


def _without_softmax(net: Net) -> None:
    """Linear attention: q·(kᵀ·v), all three from projections, with no softmax over places in between."""
    for outer in net.of("MatMul"):
        if net.terms.get(outer.at) is not outer:
            continue
        sides = [Trail(net, value) for value in outer.inputs[:2]]
        for side, other in (sides, reversed(sides)):
            inner = [net.maker(value, "MatMul") for value in side.ends]
            if len(inner) == 1 and inner[0] is not None and _activated(net, other):
                _linear_attention(net, outer, inner[0], side, other)
                break


def _linear_attention(net: Net, outer: Term, inner: Term, side: Trail, other: Trail) -> None:
    trails = [Trail(net, value) for value in inner.inputs[:2]]
    if not all(_activated(net, trail) for trail in trails):
        return
    facts = heads_of(net, inner, [other, *trails]) | {"form": "linear"}
    _claim(net, [inner, outer, *side.terms], [other, *trails], outer.outputs[0], facts)


_KERNELS: Final = frozenset(("Relu", "Elu", "softmax", "Sigmoid", "Exp"))


def _activated(net: Net, trail: Trail) -> bool:
    """From a projection, perhaps through the kernel's activation."""
    if trail.projections(net):
        return True
    made = [net.makers[value] for value in trail.ends]
    inner = [Trail(net, term.inputs[0]) for term in made if term is not None and term.op in _KERNELS]
    return any(each.projections(net) for each in inner)


def _claim(net: Net, members: list[Term], trails: list[Trail], output: int, facts: dict[str, Fact]) -> None:
    """One term of it all: with the projections before it and the one after it."""
    before = [term for trail in trails for term in (*trail.terms, *trail.projections(net))]
    moves, after, value = onward(net, output)
    whole = [*members, *before]
    if after is not None and after.op in ("linear", "conv") and after.inputs[0] == value:
        whole += [*moves, after]
        output = after.outputs[0]
    kept = [made for term in whole for made in term.outputs if made in net.leaving]
    wide = after.facts["to"] if after is not None and after in whole else None
    facts |= {"cross": _crosses(net, trails), "width": wide, "windowed": _is_windowed(net, trails[0])}
    net.merge("attention", whole, list(dict.fromkeys([output, *kept])), **facts)


def _is_windowed(net: Net, trail: Trail) -> bool:
    """Whether what is asked about was cut into windows before: rows and columns split in two each."""
    for term in trail.projections(net):
        value = term.inputs[0]
        for _ in range(_MOVED):
            made = net.maker(value, *MOVES)
            if made is None:
                break
            value = made.inputs[0]
            if (net.rank(value) or 0) >= _CUT_RANK:
                return True
    return False


def _crosses(net: Net, trails: list[Trail]) -> bool:
    """Whether the values come from elsewhere than the queries."""
    if len(trails) < 3:
        return True
    asking, asked = (_sources(net, trail) for trail in (trails[0], trails[2]))
    if not asking or not asking.isdisjoint(asked):
        return False
    # both may be views of one thing, a convolution and a norm away
    return _origins(net, asking).isdisjoint(_origins(net, asked))


def _origins(net: Net, values: set[int]) -> set[int]:
    """Values, and those close behind them, attention not in between."""
    trail = [term for value in values for term in behind(net, value, lambda term: term.op == "attention", _NEARBY)]
    return values | {value for term in trail for value in net.varying(term)}


def _sources(net: Net, trail: Trail) -> set[int]:
    """What the projections read; positions may have been added to it before."""
    found = {term.inputs[0] for term in trail.projections(net)} or set(trail.ends)
    for value in list(found):
        term = net.maker(value, "Add", "Transpose", "Reshape")
        found |= set(net.varying(term)) if term is not None else set()
    return found
