"""Which family a model belongs to, from what it is made of and where its work is."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.architecture._node_costs import Ledger
from onnx_autodoc.patterns import Net, Term, words

_MAPS: Final = ("linear", "mlp", "gated-mlp", "moe", "head")
_CONVS: Final = ("conv",)
_FEW: Final = 4  # convolutions that only prepare a picture
_MANY: Final = 8  # convolutions in a row hardly train without a norm
_NEARLY: Final = 0.8
_BANDS: Final = 2  # linear maps of a spectrogram: to bands, to cosines
_SOME: Final = 0.1  # of the work: so much is worth a word
_MOST: Final = 0.5


class Family(Struct, frozen=True):
    name: str
    evidence: tuple[str, ...]


def family(net: Net, ledger: Ledger, cached: bool, roles: Mapping[str, str]) -> Family:
    """`cached`: whether the model keeps keys and values from step to step; `roles` are those of inputs and outputs."""
    kept = cached or "present state" in roles.values()
    look = _Look(net, ledger, kept, any(role.startswith("image") for role in roles.values()))
    for judge in (
        _trees,
        _diffusion,
        _transformer,
        _recurrent,
        _spectral,
        _state_space,
        _mixing,
        _convolutional,
        _maps,
        _prepares,
    ):
        found = judge(look)
        if found is not None:
            return found
    return Family("unknown", ("no block of it tells what family it is",))


class _Look:
    """What is looked at: terms of each kind, at any depth, and their share of the work."""

    def __init__(self, net: Net, ledger: Ledger, cached: bool, pictured: bool) -> None:
        self.net, self.ledger, self.cached, self.pictured = net, ledger, cached, pictured
        self.kinds: dict[str, list[Term]] = {}
        for term in net.everything():
            self.kinds.setdefault(term.op, []).append(term)
        self.attention = net.of("attention")
        around = [terms for end, terms in net.skips.items() if end.facts["skip"] == "add"]
        self.layered = any(term.op == "attention" for terms in around for term in terms)
        self.total = ledger.total or 0

    def count(self, *kinds: str) -> int:
        return sum(len(self.kinds.get(kind, ())) for kind in kinds)

    def share(self, *kinds: str) -> float:
        """Of the multiply-adds; where these are not known, of the terms that have some."""
        if not self.total:
            return self.count(*kinds) / max(self.count("conv", "linear", "attention", *kinds), 1)
        macs = self.ledger.spent(term for kind in kinds for term in self.kinds.get(kind, ())).macs
        return (macs or 0) / self.total


def _trees(look: _Look) -> Family | None:
    count = look.count(*words.TREES)
    return Family("tree-ensemble", (_said(count, "tree ensemble"),)) if count else None


def _diffusion(look: _Look) -> Family | None:
    """Convolutions going down and up again, with a time that is turned into waves and added everywhere."""
    joins = sum(term.facts.get("skip") == "concat" for term in look.net)
    waves = look.count(*words.WAVES)
    if not joins or not waves or not look.count("conv") or look.share("conv") < _SOME or not look.count("group-norm"):
        return None
    return Family("diffusion-unet", (_said(joins, "concat skip"), "a time step turned into sines and cosines"))


def _transformer(look: _Look) -> Family | None:
    plain = [term for term in look.attention if term.facts.get("form") != "additive"]
    few = len(plain) < 2 and look.share("attention", *_MAPS) < look.share("conv")
    if not plain or few or (look.count(*words.RECURRENT) and not look.layered):
        return None
    evidence = [_said(len(plain), "attention block")]
    convs = look.share("conv")
    if look.count("conv") and convs >= _MOST and not look.count("patch-embedding"):
        return Family("hybrid", (*evidence, f"{_percent(convs)} of the multiply-adds are in convolutions"))
    return _with_attention(look, plain, evidence)


def _with_attention(look: _Look, plain: list[Term], evidence: list[str]) -> Family:
    crossing = [term for term in plain if term.facts.get("cross")]
    causal = [term for term in plain if term.facts.get("causal")]
    if crossing and look.pictured and look.count("conv") > _FEW:
        return Family("hybrid", (*evidence, _said(look.count("conv"), "convolution") + " before them"))
    if crossing:
        evidence.append(f"{len(crossing)} of them cross-attention")
        encodes = any(not _is_given(look.net, term) for term in crossing) and len(plain) > len(crossing) + len(causal)
        return Family("encoder-decoder" if encodes else "transformer-decoder", tuple(evidence))
    seen = bool(look.count("patch-embedding"))
    if seen and look.count("embedding") and any(term.facts.get("role") == "token" for term in look.kinds["embedding"]):
        return Family("hybrid", (*evidence, "a tower for pictures and one for text"))
    if causal or look.cached:
        why = f"{len(causal)} of them see only what came before" if causal else "keys and values kept between steps"
        return Family("transformer-decoder", (*evidence, why))
    if seen:
        return Family("vision-transformer", (*evidence, "a picture cut into patches"))
    return _encoding(look, evidence)


def _encoding(look: _Look, evidence: list[str]) -> Family:
    convs = look.count("conv")
    deep = convs > 2 and (convs > look.count("attention") or look.share("conv") > _SOME)
    if look.pictured and len(look.attention) > 1 and look.share("conv") < _MOST and _is_hierarchical(look):
        return Family("vision-transformer", (*evidence, f"{_said(convs, 'convolution')} between stages"))
    if deep or (convs and look.pictured):
        return Family("hybrid", (*evidence, _said(convs, "convolution")))
    return Family("transformer-encoder", (*evidence, "none of them looks back only"))


def _is_hierarchical(look: _Look) -> bool:
    """Tokens of pictures throughout: norms of layers, not of batches."""
    return look.count("layer-norm") > look.count("batch-norm")


def _is_given(net: Net, term: Term) -> bool:
    """Whether what cross attention reads comes from outside: no weights before it."""
    asked = [value for value in term.inputs if not net.fixed[value]]
    return any(net.makers[value] is None for value in asked)


def _recurrent(look: _Look) -> Family | None:
    count = look.count(*words.RECURRENT)
    if not count:
        return None
    convs = look.share("conv")
    names = " and ".join(kind.upper() for kind in words.RECURRENT if look.count(kind))
    if convs >= _SOME:
        return Family(
            "hybrid", (_said(count, f"{names} cell"), f"{_percent(convs)} of the multiply-adds are in convolutions")
        )
    return Family("rnn", (_said(count, f"{names} cell"),))


def _convolutional(look: _Look) -> Family | None:
    """Depthwise filters cost little beside the maps after them: with one in every layer it is still their net."""
    count, maps = look.count(*words.FILTERS), look.count("linear")
    beside = maps > 1 and (count <= _FEW or count * _FEW < maps)
    if not count or (look.share(*words.FILTERS) < _SOME and beside):
        return None
    share = f"{_percent(look.share(*words.FILTERS))} of the multiply-adds in them"
    return Family("cnn", (_said(count, "convolution"), share, *_folded(look)))


def _folded(look: _Look) -> tuple[str, ...]:
    """A net of convolutions without a norm is none that lacks one: exporters fold it into the convolution before it."""
    convs = look.kinds.get("conv", [])
    biased = sum(bool(term.facts.get("biased")) for term in convs)
    if look.count(*words.NORMS) or len(convs) < _MANY or biased < len(convs) * _NEARLY:
        return ()
    return ("no norm is left: BatchNorm was folded into the convolutions, their biases show",)


def _spectral(look: _Look) -> Family | None:
    """A spectrum, and at most the map to its bands and to their cosines: no net comes after it."""
    spectra, maps = look.count(*words.SPECTRA), look.count("linear")
    if not spectra or look.count(*words.FILTERS) or maps > _BANDS or look.count("mlp", "gated-mlp", "embedding"):
        return None
    return Family("preprocessing", (_said(spectra, "spectrum"), "no net comes after it"))


def _state_space(look: _Look) -> Family | None:
    """Decay by a learned step, and a convolution over the last few places: none of the families has a name for it."""
    along = any(term.facts.get("depthwise") and len(term.facts["kernel"]) == 1 for term in look.kinds.get("conv", ()))
    if not along or not all(map(look.count, words.DECAYING)):
        return None
    return Family("unknown", ("state-space layers: neither attention nor recurrence, decay by a learned step",))


def _mixing(look: _Look) -> Family | None:
    """Maps over places and maps over channels in turn; a convolution only cuts the picture."""
    count = look.count("mlp", "gated-mlp")
    skips = sum(term.facts.get("skip") == "add" for term in look.net)
    if look.count("conv") > 1 or count < 2 or not skips:
        return None
    return Family("mlp", (_said(count, "two-layer map"), _said(skips, "skip")))


def _maps(look: _Look) -> Family | None:
    count = look.count("linear")
    bends = look.count(*words.ACTIVATIONS, *words.GATES)
    if not count or (count == 1 and not bends):
        return Family("unknown", ("a single linear map",)) if count else None
    return Family("mlp", (_said(count, "linear map"), "no convolution, attention or recurrence"))


def _prepares(look: _Look) -> Family | None:
    if not look.count(*words.PREPARING) or look.count(*words.CLASSIC):
        return None
    return Family("preprocessing", ("features are scaled, encoded or cut; nothing predicts",))


def _said(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"
