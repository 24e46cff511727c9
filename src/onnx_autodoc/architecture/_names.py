"""What groups are called: by what is in them."""

from collections import Counter
from typing import Final

from onnx_autodoc.patterns import Term, words

_FFN: Final = ("mlp", "gated-mlp", "moe")
_CONVS: Final = ("conv", "conv-norm-act")


def unit_kind(terms: list[Term], join: str) -> str:
    """The kind of what a skip goes around (`join` is its kind), or of branches that meet."""
    kinds = Counter(term.op for term in terms)
    attends = any(kinds[kind] for kind in words.MIXERS)
    maps = any(kinds[kind] for kind in _FFN)
    if attends or maps:
        return transformer_kind(terms) if attends and maps else "attention-block" if attends else "mlp-block"
    if kinds["inverted-residual"]:
        return "inverted-residual"
    convs = [term for term in terms if term.op in _CONVS]
    if join == "add":
        return _residual(convs)
    if join == "concat":
        return "csp" if any(kinds[cut] for cut in words.CUTTING) else "dense-layer"
    return _meeting(terms, kinds, len(convs))


def _residual(convs: list[Term]) -> str:
    sizes = [max(term.facts.get("kernel") or (1,), default=1) for term in convs]
    wide = [size for size in sizes if size > 1]
    pointwise = len(sizes) - len(wide)
    return "bottleneck" if pointwise >= 2 and len(wide) == 1 else "residual-block"


def _meeting(terms: list[Term], kinds: Counter[str], convs: int) -> str:
    joined = kinds[words.JOINING]
    skipped = any(term.facts.get("skip") == "add" for term in terms)
    pools = sum(kinds[pool] for pool in words.POOLS)
    if convs < 2 and not (joined and pools >= 2):
        return "branches"
    if joined and pools >= 2 and convs <= 3:
        return "spp"
    if joined and (skipped or any(kinds[cut] for cut in words.CUTTING)):
        return "csp"
    return "inception" if joined and convs >= 2 else "squeeze-excite" if kinds["squeeze-excite"] else "branches"


def transformer_kind(terms: list[Term]) -> str:
    """A layer with a mixer and a map: it decodes if it looks back only, or at what was encoded."""
    seen = [term for term in terms if term.op == "attention"]
    if not seen:
        return "layer"
    decodes = any(term.facts.get("causal") or term.facts.get("cross") for term in seen)
    return "decoder-layer" if decodes else "encoder-layer"
