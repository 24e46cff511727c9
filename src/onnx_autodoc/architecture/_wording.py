"""Words for boxes: what a group is called, and its sizes in a few words."""

from collections import Counter
from typing import Final

from onnx_autodoc.architecture._diagram_groups import Group
from onnx_autodoc.patterns import Net, Term, words

_LABELS: Final = {
    "attention": "Attention",
    "attention-block": "Attention",
    "mlp": "MLP",
    "mlp-block": "MLP",
    "gated-mlp": "Gated MLP",
    "moe": "Mixture of experts",
    "encoder-layer": "Encoder layer",
    "decoder-layer": "Decoder layer",
    "layer": "Layer",
    "embedding": "Embedding",
    "patch-embedding": "Patch embedding",
    "conv": "Conv",
    "conv-norm-act": "Conv",
    "linear": "Linear",
    "head": "Head",
    "bottleneck": "Bottleneck",
    "residual-block": "Residual block",
    "inverted-residual": "Inverted residual",
    "depthwise-separable": "Depthwise separable conv",
    "squeeze-excite": "Squeeze-excite",
    "dense-layer": "Dense layer",
    "csp": "CSP block",
    "spp": "Pyramid pooling",
    "inception": "Inception",
    "branches": "Branches",
    "stage": "Stage",
    "lstm": "LSTM",
    "gru": "GRU",
    "rnn": "RNN",
    "layer-norm": "LayerNorm",
    "rms-norm": "RMSNorm",
    "batch-norm": "BatchNorm",
    "group-norm": "GroupNorm",
    "instance-norm": "InstanceNorm",
    "softmax": "Softmax",
    "stft": "Spectrum",
    **dict.fromkeys(words.TREES, "Tree ensemble"),
    "mean": "Mean",
    "add": "Add",
}
_CHANNELED: Final = ("bottleneck", "residual-block", "csp", "spp", "inception", "dense-layer", "inverted-residual")
_TELLING: Final = (("attention",), ("moe", "mlp", "gated-mlp"), words.RECURRENT, ("patch-embedding", "embedding"))
_MOST_KINDS: Final = 3


def label(group: Group) -> str:
    if group.kind in ("attention", "attention-block") and any(_crosses(term) for term in group.terms):
        return "Cross-attention"
    name = _LABELS.get(group.kind, group.kind)
    if group.children or group.kind == words.JOINING:
        return name
    joins = words.JOINING if group.has(words.JOINING) else words.ADDING if _sums(group) else ""
    return f"{name} + {joins}" if joins else name


def _sums(group: Group) -> bool:
    return group.kind in words.RESIZING and group.has(words.ADDING)


def _crosses(term: Term) -> bool:
    return term.op == "attention" and bool(term.facts.get("cross"))


def detail(net: Net, group: Group) -> str | None:
    """A few words on sizes; for a group of several things, which."""
    if group.kind in ("stage", "layer", "branches"):
        return _contents(group)
    if group.kind in _CHANNELED:
        return _channels(net.shape(group.value))
    terms = sorted(group.terms, key=lambda term: (_rank(term), term.at))
    return next((found for term in terms if (found := _of_term(net, term))), None)


def _rank(term: Term) -> int:
    """What a group is about comes first."""
    return next((at for at, kinds in enumerate(_TELLING) if term.op in kinds), len(_TELLING))


def _channels(dims: tuple[int, ...] | None) -> str | None:
    if dims is None or len(dims) < 3:
        return None
    return f"{dims[1]:,} channels at " + "×".join(map(str, dims[2:]))


def _contents(group: Group) -> str | None:
    counts = Counter[str]()
    for child in group.children:
        counts[label(child)] += child.count
    shown = [f"{count} × {name}" if count > 1 else name for name, count in counts.most_common(_MOST_KINDS)]
    return ", ".join(shown) + (" …" if len(counts) > _MOST_KINDS else "") if shown else None


def _of_term(net: Net, term: Term) -> str | None:
    facts = term.facts
    if term.op == "attention" and facts.get("heads"):
        return _heads(term)
    if term.op in ("mlp", "gated-mlp", "head"):
        sizes = [facts.get(key) for key in ("from", "inner", "to")]
        path = " → ".join(f"{size:,}" for size in sizes if size)
        return ", ".join(filter(None, (facts.get("activation"), path)))
    if term.op == "moe" and facts.get("experts"):
        chosen = f", {facts['chosen']} at a time" if facts.get("chosen") else ""
        return f"{facts['experts']} experts{chosen}"
    if term.op in ("embedding", "patch-embedding"):
        return _table(term)
    if term.op in words.RECURRENT and facts.get("hidden"):
        return f"hidden {facts['hidden']:,}" + (", both ways" if facts.get("bidirectional") else "")
    return _map(term)


def _heads(term: Term) -> str:
    facts = term.facts
    text = f"{facts['heads']} heads" if facts["heads"] != 1 else "1 head"
    text += f" × {facts['head_dim']}" if facts.get("head_dim") else ""
    grouped = facts.get("kv_heads") not in (None, facts["heads"])
    return text + (f", {facts['kv_heads']} for keys and values" if grouped else "")


def _table(term: Term) -> str | None:
    facts = term.facts
    if facts.get("patch"):
        return "patches of " + "×".join(map(str, facts["patch"]))
    return f"{facts['rows']:,} × {facts['width']:,}" if facts.get("rows") and facts.get("width") else None


def _map(term: Term) -> str | None:
    facts = term.facts
    if term.op in ("conv", "conv-norm-act", "depthwise-separable", "inverted-residual"):
        kernel = "×".join(map(str, facts.get("kernel") or ()))
        stride = max(facts.get("strides") or (1,))
        parts = [kernel, f"/{stride}" if stride > 1 else "", _widths(facts.get("from"), facts.get("to"))]
        act = f", {facts['act'].lower()}" if facts.get("act") else ""
        return " ".join(filter(None, parts)) + act
    return _widths(facts.get("from"), facts.get("to")) or None if term.op == "linear" else None


def _widths(given: int | None, made: int | None) -> str:
    return f"{given:,} → {made:,}" if given and made else ""
