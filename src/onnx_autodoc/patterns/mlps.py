"""Two linear maps with an activation between them, gated ones, and experts among which a router picks.

mlp         linear(act(linear(x)))
gated-mlp   linear(Mul(act(linear(x)), linear(x)))     the two inner maps may be one, cut in halves
"""

from typing import Final

from onnx_autodoc.patterns._net import Fact, Net, Term
from onnx_autodoc.patterns._pattern import Match
from onnx_autodoc.patterns._rule import Rule, apply
from onnx_autodoc.patterns._words import ACTIVATIONS, GATES, either

_ACTS: Final = either(*ACTIVATIONS, "Tanh", "Sigmoid")
_NORMS: Final = "layer-norm|batch-norm"
_TURNED: Final = "Reshape|Transpose|Flatten"
_CUTS: Final = frozenset(("Split", "Slice", "Reshape", "Transpose", "Gather"))


def _keeps_features(net: Net, found: Match) -> dict[str, Fact] | None:
    """As many numbers go into the second map as came out of the first: places were not joined in between."""
    second, first = (term.facts for term in found.terms if term.op == "linear")
    return {} if first.get("to") is not None and first.get("to") == second.get("from") else None


RULES: Final = (
    Rule("mlp", (f"y = linear({_ACTS}(linear(x)))", f"y = linear({_ACTS}(Add(linear(x), B)))"), whole=True),
    Rule("mlp", (f"y = linear(square({_ACTS}(linear(x))))",), whole=True),
    # Gemm wants two axes: batch and places are folded for it
    Rule("mlp", (f"y = linear(Reshape({_ACTS}(Reshape(linear(x)))))",), _keeps_features, whole=True),
    Rule("mlp", (f"y = linear({_ACTS}({_NORMS}(linear(x))))", f"y = linear({_NORMS}({_ACTS}(linear(x))))"), whole=True),
    # with a convolution over the places in between
    Rule("mlp", (f"y = linear({_ACTS}({_TURNED}({_TURNED}(conv({_TURNED}({_TURNED}(linear(x))))))))",), whole=True),
    Rule("mlp", (f"y = linear({_ACTS}(mlp(x)))", f"y = linear({_ACTS}({_NORMS}(mlp(x))))"), whole=True),
)


def find(net: Net) -> None:
    for gate in net.of("Mul"):
        if net.terms.get(gate.at) is gate:
            _gated(net, gate)
    apply(net, RULES)
    for term in net.of("MoE", "QMoE"):
        net.rename(term, "moe")
    for term in net.of("mlp"):
        acts = [part.op for part in term.within() if part.op in ACTIVATIONS or part.op in GATES]
        term.facts |= {"activation": acts[0] if acts else None} | _widths(term)


def _widths(term: Term) -> dict[str, int | None]:
    linears = [part for part in term.within() if part.op == "linear" and part.facts]
    if not linears:
        return {}
    first, last = linears[0].facts, linears[-1].facts
    return {"from": first.get("from"), "inner": first.get("to"), "to": last.get("to")}


def _gated(net: Net, gate: Term) -> None:
    sides = net.varying(gate)
    if len(sides) != 2:
        return
    for one, other in (sides, sides[::-1]):
        act = net.maker(one, *ACTIVATIONS, "Sigmoid", "Tanh")
        if act is None:
            continue
        left, up = _origin(net, act.inputs[0]), _origin(net, other)
        if left and up and left[-1].inputs[0] == up[-1].inputs[0] and (left[-1] is not up[-1] or len(left) > 1):
            _claim(net, gate, act, [*left, *up])
            return


def _origin(net: Net, value: int) -> list[Term]:
    """Back over cuts to the linear map that made a value; empty if there is none."""
    found: list[Term] = []
    while (term := net.makers[value]) is not None and len(found) < 6:
        found.append(term)
        if term.op == "linear":
            return found
        if term.op not in _CUTS:
            return []
        value = term.inputs[0]
    return []


def _claim(net: Net, gate: Term, act: Term, before: list[Term]) -> None:
    """With the map after it. A gate that no map follows is a gated linear unit: it stays what it is."""
    members, output = [*before, act, gate], gate.outputs[0]
    last = net.reader(output)
    while last is not None and last.op in ("layer-norm", "rms-norm") and output not in net.leaving:
        members.append(last)
        output = last.outputs[0]
        last = net.reader(output)
    if last is None or last.op != "linear" or output in net.leaving:
        return
    inner = last.facts.get("from")
    facts = {"activation": act.op, "from": before[-1].facts.get("from"), "inner": inner, "to": last.facts.get("to")}
    net.merge("gated-mlp", [*members, last], last.outputs, **facts)
