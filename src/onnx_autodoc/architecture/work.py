"""Where the multiply-adds are, in words that people use: every one of them in just one part."""

from collections import Counter
from typing import Final

from msgspec import Struct

from onnx_autodoc.architecture._node_costs import Ledger
from onnx_autodoc.patterns import Net, Term, words

_MAPS: Final = ("mlp", "gated-mlp", "moe")


class Part(Struct, frozen=True):
    part: str
    macs: int
    share: float


def work(net: Net, ledger: Ledger) -> tuple[Part, ...]:
    """The parts that have any, the largest first; `other` is what no block holds."""
    if not ledger.total:
        return ()
    found = Counter[str]()
    for term in net:
        for name, terms in _parts(term):
            found[name] += ledger.spent(terms).macs or 0
    found["other"] += ledger.total - found.total()
    rows = [Part(name, macs, macs / ledger.total) for name, macs in found.items() if macs]
    return tuple(sorted(rows, key=lambda part: (-part.macs, part.part)))


def _parts(term: Term) -> list[tuple[str, list[Term]]]:
    if term.op == "attention":
        projections = [part for part in term.parts if part.op in ("linear", "conv")]
        scores = [part for part in term.parts if part.op not in ("linear", "conv")]
        return [("projections of attention", projections), ("attention itself", scores)]
    if term.op in _MAPS:
        return [("mixture of experts" if term.op == "moe" else "MLP", [term])]
    if any(part.op in words.CONVOLVING for part in term.within()):
        return [("convolutions", [term])]
    if term.op in words.RECURRENT:
        return [("recurrent cells", [term])]
    return [("linear maps" if term.op in ("linear", "head", "embedding") else "other", [term])]
