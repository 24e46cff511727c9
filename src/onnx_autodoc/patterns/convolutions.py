"""Convolutions with the norm and the activation around them, and what small nets are built of.

conv-norm-act         act(norm(conv(x))), act(conv(x)), norm(conv(x)); or the other way round, conv(act(norm(x)))
squeeze-excite        Mul(x, σ(conv(act(conv(pool(x))))))
inverted-residual     1×1 wider, depthwise, 1×1 narrower without an activation
depthwise-separable   depthwise, then 1×1
"""

import math
from typing import Final

from onnx_autodoc.patterns._net import Fact, Net, Term
from onnx_autodoc.patterns._pattern import Match
from onnx_autodoc.patterns._rule import Rule, apply
from onnx_autodoc.patterns._words import ACTIVATIONS, NORMS, either

_ACTS: Final = either(*ACTIVATIONS)
_NORMS: Final = either(*NORMS)
_FULL: Final = "conv-norm-act"
_ANY: Final = "conv|conv-norm-act"


def _is_scale(net: Net, found: Match) -> dict[str, Fact] | None:
    """A learned number for each channel (a norm that does not learn any more) or, as in some mobile nets, for all."""
    dims = net.shape(found["S"])
    wide = next((term.facts["to"] for term in found.terms if "to" in term.facts), None)
    return {} if dims is not None and math.prod(dims) in (1, wide) else None


def _noted(net: Net, found: Match) -> dict[str, Fact]:
    facts: dict[str, Fact] = {"norm": None, "act": None}
    for term in found.terms:
        facts |= term.facts if term.op == "conv" else {}
        facts |= {"norm": term.op} if term.op in NORMS else {"act": term.op} if term.op in ACTIVATIONS else {}
    return facts


_SCALED: Final = (
    Rule("conv", ("y = Mul(conv(x), S)",), _is_scale, whole=True),
    Rule("conv", ("y = Add(conv(x), S)",), _is_scale, whole=True),
)
_AFTER: Final = (
    Rule(_FULL, (f"y = {_ACTS}({_NORMS}(conv(x)))",), _noted, whole=True),
    Rule(_FULL, (f"y = {_NORMS}({_ACTS}(conv(x)))",), _noted, whole=True),
    Rule(_FULL, (f"y = {_NORMS}(conv(x))", f"y = {_ACTS}(conv(x))"), _noted, whole=True),
)
_BEFORE: Final = (Rule(_FULL, (f"y = conv({_ACTS}({_NORMS}(x)))",), _noted, whole=True),)
_AFFINE: Final = (
    Rule(_FULL, (f"y = Mul({_FULL}(x), S)",), _is_scale, whole=True),
    Rule(_FULL, (f"y = Add({_FULL}(x), S)",), _is_scale, whole=True),
)
_POOL: Final = "GlobalAveragePool|mean|ReduceMean|AveragePool"
_SQUEEZE: Final = f"{_ANY}|linear|mlp"
_GATE: Final = "Sigmoid|HardSigmoid|relu-6|Clip|Tanh"
_EXCITE: Final = (
    Rule(
        "squeeze-excite",
        (
            f"y = Mul(x, {_GATE}({_SQUEEZE}({_SQUEEZE}({_POOL}(x)))))",
            f"y = Mul(x, {_GATE}({_SQUEEZE}({_ACTS}({_SQUEEZE}({_POOL}(x))))))",
            f"y = Mul(x, {_GATE}({_SQUEEZE}({_POOL}(x))))",
            f"y = Mul(x, Div({_GATE}({_SQUEEZE}({_SQUEEZE}({_POOL}(x)))), 6))",
            f"y = Mul(x, Mul({_GATE}({_SQUEEZE}({_SQUEEZE}({_POOL}(x)))), 0.166667))",
            f"y = Mul(x, {_GATE}(Transpose|Reshape({_SQUEEZE}(Transpose|Reshape({_POOL}(x))))))",
        ),
    ),
)


def find(net: Net) -> None:
    apply(net, _SCALED)
    apply(net, (*_BEFORE, *_AFTER) if _norms_come_first(net) else _AFTER)
    apply(net, (*_AFFINE, *_EXCITE))
    for term in net.of("conv", _FULL):
        if net.terms.get(term.at) is term and term.facts.get("depthwise"):
            _around_depthwise(net, term)


def _norms_come_first(net: Net) -> bool:
    """Whether norms stand before convolutions rather than after them: many do not read one."""
    norms = [term for term in net.of("batch-norm", "group-norm", "instance-norm") if net.of("conv")]
    alone = [term for term in norms if net.maker(term.inputs[0], "conv") is None]
    return 3 * len(alone) > len(norms)


def _around_depthwise(net: Net, middle: Term) -> None:
    before = net.maker(middle.inputs[0], "conv", _FULL)
    members, after = [middle], _next(net, middle)
    if after is not None and after.op == "squeeze-excite":
        members.append(after)
        after = _next(net, after)
    if after is None or after.op not in ("conv", _FULL) or not _is_pointwise(after):
        return
    members.append(after)
    wide = before is not None and _is_pointwise(before) and len(net.readers[before.outputs[0]]) == 1
    if (
        wide
        and before is not None
        and (before.facts["to"] or 0) > (before.facts["from"] or 0)
        and not after.facts.get("act")
    ):
        net.merge("inverted-residual", [before, *members], after.outputs[:1], **_ends(before, after, middle))
    else:
        net.merge("depthwise-separable", members, after.outputs[:1], **_ends(middle, after, middle))


def _ends(first: Term, last: Term, middle: Term) -> dict[str, Fact]:
    return {key: fact for key, fact in middle.facts.items() if key in ("kernel", "strides")} | {
        "from": first.facts.get("from"),
        "to": last.facts.get("to"),
    }


def _next(net: Net, term: Term) -> Term | None:
    return net.reader(term.outputs[0]) if term.outputs[0] not in net.leaving else None


def _is_pointwise(term: Term) -> bool:
    return all(size == 1 for size in term.facts.get("kernel", (0,))) and term.facts.get("group") == 1
