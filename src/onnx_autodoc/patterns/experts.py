"""Mixtures of experts, and maps that stand outside the layers: told by where they are.

moe    between the ends of one skip, a router picks few of many: TopK(softmax(linear(x)))
head   an mlp that no skip goes around, in a model whose other ones stand in skips
"""

from typing import Final

from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._regions import regions
from onnx_autodoc.patterns._tracing import behind
from onnx_autodoc.patterns._words import NORMS

_ROUTING: Final = frozenset(
    ("softmax", "Sigmoid", "Add", "Mul", "Div", "Reshape", "linear", "ReduceSum", "TopK", "Where")
)


def find(net: Net) -> None:
    found = {end: terms for end, terms in regions(net).items() if end.op == "Add"}
    inside = {term for terms in found.values() for term in terms}
    stray = [term for term in net.of("mlp") if term not in inside]
    if any(term.op == "mlp" for term in inside):
        for term in stray:
            net.rename(term, "head")
    for end, terms in found.items():
        router = _router(net, terms)
        if router is not None and not any(term.op == "attention" for term in terms):
            _claim(net, end, terms, router)


def _router(net: Net, terms: list[Term]) -> tuple[Term, Term] | None:
    """The pick of experts among some terms, and the map whose scores it picks by."""
    for pick in terms:
        if pick.op == "TopK":
            trail = behind(net, pick.inputs[0], lambda term: term.op not in _ROUTING, 30)
            linear = next((term for term in trail if term.op == "linear"), None)
            return (pick, linear) if linear is not None else None
    return None


def _claim(net: Net, end: Term, terms: list[Term], router: tuple[Term, Term]) -> None:
    pick, linear = router
    inner = [term for term in terms if not (term.op in NORMS and end.facts["around"] in term.inputs)]
    outputs = [value for value in end.inputs if net.makers[value] in inner]
    chosen = net.shape(pick.outputs[0])
    if outputs:
        net.merge("moe", inner, outputs, experts=linear.facts["to"], chosen=chosen[-1] if chosen else None)
