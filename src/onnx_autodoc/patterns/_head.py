"""What is said of one output, and what was done to its numbers last."""

from typing import Final

from msgspec import Struct

from onnx_autodoc.patterns._net import Net
from onnx_autodoc.patterns._output_trace import Tail, softmax_size
from onnx_autodoc.patterns._words import POOLS

_NORMED: Final = frozenset(("LpNormalization", "ReduceL2", "over-root", "root"))
_BY_HAND: Final = (
    frozenset(("square", "ReduceSum", "Pow", "Div")),
    frozenset(("square", "ReduceSum", "Sqrt", "Div")),
)
_SQUASHING: Final = {"Sigmoid": "sigmoid", "HardSigmoid": "sigmoid"}
_PICKING: Final = {"softmax": "softmax", "LogSoftmax": "log-softmax", "ArgMax": "argmax"}


# how many classes there are in the lists that everybody trains on: CIFAR, Places, SUN, ImageNet
USUAL: Final = frozenset((100, 101, 102, 200, 365, 397, 1000, 1001, 10_450, 11_221, 21_841, 21_843))


class Head(Struct, frozen=True):
    """`act` is what was done to the numbers last: softmax, sigmoid, argmax, log-softmax, or nothing. Of an embedding it
    is how it was pooled.
    """

    kind: str
    output: str
    classes: int | None = None
    act: str | None = None
    places: int | None = None
    evidence: str = ""
    values: tuple[int, ...] = ()
    wide: int | None = None  # numbers for each place of a list of boxes


def act_of(net: Net, tail: Tail, wide: int | None = None) -> str | None:
    """A softmax over something else than the `wide` numbers (over time, over places) tells nothing of classes."""
    for term in tail.terms:
        if term.op in _SQUASHING:
            return _SQUASHING[term.op]
        if term.op in _PICKING:
            return _PICKING[term.op] if wide is None or softmax_size(net, term) == wide else None
    return None


def is_scaled(net: Net, tail: Tail) -> bool:
    """A number between two bounds (a mark from 1 to 5, a place in a picture): what a sigmoid made is stretched."""
    for term in tail.terms:
        if term.op in _SQUASHING:
            return False
        if term.op in ("Mul", "Div") and len(net.varying(term)) == 1:
            return any(op in tail.ops for op in _SQUASHING)
    return False


def pooled_by(tail: Tail) -> str | None:
    """Normalised to length one, the mean of all places, through a tanh (the pooler of BERT), or one place taken."""
    if is_normed(tail):
        return "normalised"
    return "mean" if tail.ops & {"ReduceSum", *POOLS} else "tanh" if "Tanh" in tail.ops else None


def is_normed(tail: Tail) -> bool:
    return bool(tail.ops & _NORMED) or any(by_hand <= tail.ops for by_hand in _BY_HAND)


def has_tokens(net: Net) -> bool:
    return any(term.facts.get("role") == "token" for term in net.of("embedding"))
