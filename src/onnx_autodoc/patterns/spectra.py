"""A spectrum written as a convolution: a long window slid over one channel of samples, the result squared.

stft   conv(x, W[2·bins, 1, window]), its halves squared and added; or the operator itself
"""

from typing import Final

from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._tracing import is_move

_SHORTEST: Final = 64  # samples of a window
_FEWEST: Final = 17  # frequencies
_SQUARED: Final = frozenset(("square", "Abs", "Sqrt", "ReduceL2", "ReduceSumSquare"))
_FARTHEST: Final = 12


def find(net: Net) -> None:
    for term in net.of("conv"):
        facts = term.facts
        long = max(facts["kernel"] or (0,)) >= _SHORTEST and facts["from"] == 1 and (facts["to"] or 0) >= _FEWEST
        if long and not facts["biased"] and not facts["transposed"] and _is_squared(net, term):
            net.rename(term, "stft")
    for term in net.of("STFT", "DFT"):
        net.rename(term, "stft")


def _is_squared(net: Net, conv: Term) -> bool:
    """Forward over moves: whether a square comes next."""
    waiting = list(conv.outputs[:1])
    for _ in range(_FARTHEST):
        readers = [term for value in waiting for term in net.readers[value]]
        if any(term.op in _SQUARED for term in readers):
            return True
        waiting = [value for term in readers if is_move(net, term) or term.op == "Neg" for value in term.outputs]
    return False
