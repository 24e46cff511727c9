"""The family of a model, from its blocks and their shares of the compute."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.architecture.node_costs import NodeCosts
from onnx_autodoc.card import AttentionKind
from onnx_autodoc.patterns import Net, Op, block_kinds
from onnx_autodoc.text import pluralize

_LINEAR_BLOCKS: Final = ("linear", "mlp", "gated-mlp", "moe", "head")
_MAX_STEM_CONVS: Final = 4  # convolutions that only preprocess an image
_MIN_CONVS_WITH_NORM: Final = 8  # a network with so many convolutions hardly trains without a norm
_MIN_BIASED_SHARE: Final = 0.8
_MAX_SPECTRUM_LINEARS: Final = 2  # of a spectrogram: to mel bands, to cosines
_NOTABLE_SHARE: Final = 0.1
_MAIN_SHARE: Final = 0.5


class Family(Struct, frozen=True):
    name: str
    evidence: tuple[str, ...]


class BlockCensus:
    """The ops of each kind, at any depth, and their share of the compute."""

    def __init__(self, net: Net, costs: NodeCosts, has_cache: bool, roles: Mapping[str, str]) -> None:
        self.net, self._costs = net, costs
        self.has_cache = has_cache or "present state" in roles.values()
        self.reads_image = any(role.startswith("image") for role in roles.values())
        self.ops: dict[str, list[Op]] = {}
        for op in net.walk():
            self.ops.setdefault(op.kind, []).append(op)
        bypassed = [ops for end, ops in net.residuals.items() if end.residual_kind == "add"]
        self.has_residual_attention = any(op.kind == "attention" for ops in bypassed for op in ops)

    def count(self, *kinds: str) -> int:
        return sum(len(self.ops.get(kind, ())) for kind in kinds)

    def share(self, *kinds: str) -> float:
        """Return the share of the MACs; where these are unknown, of the ops that have MACs."""
        total = self._costs.total_macs
        if not total:
            return self.count(*kinds) / max(self.count("conv", "linear", "attention", *kinds), 1)
        macs = self._costs.total_of(op for kind in kinds for op in self.ops.get(kind, ())).macs
        return (macs or 0) / total

    def count_residuals(self, kind: str) -> int:
        return sum(op.residual_kind == kind for op in self.net)


def find_family(net: Net, costs: NodeCosts, has_cache: bool, roles: Mapping[str, str]) -> Family:
    """Return the family of a model. `has_cache`: it has a KV cache; `roles` are those of inputs and outputs."""
    census = BlockCensus(net, costs, has_cache, roles)
    for find in _FAMILY_RULES:
        family = find(census)
        if family is not None:
            return family
    return Family("unknown", ("no matched block determines the family",))


def _tree_ensemble(census: BlockCensus) -> Family | None:
    count = census.count(*block_kinds.TREES)
    return Family("tree-ensemble", (pluralize(count, "tree ensemble"),)) if count else None


def _diffusion_unet(census: BlockCensus) -> Family | None:
    """A U-Net of convolutions with a sinusoidal embedding of the timestep."""
    concats = census.count_residuals("concat")
    has_timestep = census.count(*block_kinds.SINUSOIDS) and census.count("group-norm")
    if not concats or not has_timestep or not census.count("conv") or census.share("conv") < _NOTABLE_SHARE:
        return None
    return Family("diffusion-unet", (pluralize(concats, "concat skip connection"), "sinusoidal timestep embedding"))


# Transformers


def _transformer(census: BlockCensus) -> Family | None:
    attention = [op for op in census.net.of("attention") if op.attention.form != "additive"]
    is_minor = len(attention) < 2 and census.share("attention", *_LINEAR_BLOCKS) < census.share("conv")
    is_recurrent = census.count(*block_kinds.RECURRENT) and not census.has_residual_attention
    if not attention or is_minor or is_recurrent:
        return None
    evidence = [pluralize(len(attention), "attention block")]
    conv_share = census.share("conv")
    if census.count("conv") and conv_share >= _MAIN_SHARE and not census.count("patch-embedding"):
        return Family("hybrid", (*evidence, f"{_percent(conv_share)} of MACs in convolutions"))
    return _transformer_variant(census, attention, evidence)


def _transformer_variant(census: BlockCensus, attention: list[Op], evidence: list[str]) -> Family:
    cross = [op for op in attention if op.attention.cross]
    causal = [op for op in attention if op.attention.causal]
    if cross and census.reads_image and census.count("conv") > _MAX_STEM_CONVS:
        return Family("hybrid", (*evidence, pluralize(census.count("conv"), "convolution") + " before attention"))
    if cross:
        evidence.append(f"{len(cross)} of them cross-attention")
        has_encoder = any(not _reads_model_input(census.net, op) for op in cross)
        is_encoder_decoder = has_encoder and len(attention) > len(cross) + len(causal)
        return Family("encoder-decoder" if is_encoder_decoder else "transformer-decoder", tuple(evidence))
    has_patches = bool(census.count("patch-embedding"))
    if has_patches and any(op.embedding.role == "token" for op in census.ops.get("embedding", ())):
        return Family("hybrid", (*evidence, "patch embedding and token embedding"))
    if causal or census.has_cache:
        reason = f"{len(causal)} of them causal" if causal else "KV cache"
        return Family("transformer-decoder", (*evidence, reason))
    if has_patches:
        return Family("vision-transformer", (*evidence, "patch embedding"))
    return _encoder_variant(census, evidence)


def _reads_model_input(net: Net, op: Op) -> bool:
    return any(net.producers[value] is None for value in net.data_inputs(op))


def _encoder_variant(census: BlockCensus, evidence: list[str]) -> Family:
    convs, share = census.count("conv"), census.share("conv")
    is_hierarchical = census.count("layer-norm") > census.count("batch-norm")  # image tokens in all stages
    if census.reads_image and len(census.net.of("attention")) > 1 and share < _MAIN_SHARE and is_hierarchical:
        return Family("vision-transformer", (*evidence, f"{pluralize(convs, 'convolution')} between stages"))
    has_many_convs = convs > 2 and (convs > census.count("attention") or share > _NOTABLE_SHARE)
    if has_many_convs or (convs and census.reads_image):
        return Family("hybrid", (*evidence, pluralize(convs, "convolution")))
    return Family("transformer-encoder", (*evidence, "none of them causal"))


# Other networks


def _recurrent(census: BlockCensus) -> Family | None:
    count = census.count(*block_kinds.RECURRENT)
    if not count:
        return None
    names = " and ".join(kind.upper() for kind in block_kinds.RECURRENT if census.count(kind))
    cells, conv_share = pluralize(count, f"{names} cell"), census.share("conv")
    if conv_share >= _NOTABLE_SHARE:
        return Family("hybrid", (cells, f"{_percent(conv_share)} of MACs in convolutions"))
    return Family("rnn", (cells,))


def _spectrum(census: BlockCensus) -> Family | None:
    """A spectrum and at most the linear layers to its bands and their cosines, without a network after it."""
    count, has_convs = census.count(*block_kinds.SPECTRA), census.count(*block_kinds.CONV_FILTERS)
    has_network = has_convs or census.count("mlp", "gated-mlp", "embedding")
    if not count or has_network or census.count("linear") > _MAX_SPECTRUM_LINEARS:
        return None
    return Family("preprocessing", (pluralize(count, "spectral transform"), "no network after it"))


def _state_space(census: BlockCensus) -> Family | None:
    """State-space models, for which there is no family: a learned decay and a causal depthwise convolution."""
    has_sequence_conv = any(op.conv.depthwise and len(op.conv.kernel) == 1 for op in census.ops.get("conv", ()))
    if not has_sequence_conv or not all(map(census.count, block_kinds.STATE_SPACE_DECAY)):
        return None
    return Family("unknown", ("state-space layers: no attention or recurrent cells, decay with a learned step size",))


def _mlp_mixer(census: BlockCensus) -> Family | None:
    """MLPs over positions and over channels in turn; at most one convolution, which embeds patches."""
    count, residuals = census.count("mlp", "gated-mlp"), census.count_residuals("add")
    if census.count("conv") > 1 or count < 2 or not residuals:
        return None
    return Family("mlp", (pluralize(count, "MLP"), pluralize(residuals, "skip connection")))


def _cnn(census: BlockCensus) -> Family | None:
    """Depthwise convolutions have a small share of the MACs: with one in every layer it is still a CNN."""
    filters = block_kinds.CONV_FILTERS
    count, linears, share = census.count(*filters), census.count("linear"), census.share(*filters)
    is_minor = linears > 1 and (count <= _MAX_STEM_CONVS or count * 4 < linears)
    if not count or (share < _NOTABLE_SHARE and is_minor):
        return None
    evidence = [pluralize(count, "convolution"), f"{_percent(share)} of MACs in convolutions"]
    convs = census.ops.get("conv", [])
    is_biased = sum(op.linear.biased for op in convs) >= len(convs) * _MIN_BIASED_SHARE
    if not census.count(*block_kinds.NORMS) and len(convs) >= _MIN_CONVS_WITH_NORM and is_biased:
        evidence.append("no normalization: BatchNorm was folded into the convolutions, as their biases indicate")
    return Family("cnn", tuple(evidence))


def _mlp(census: BlockCensus) -> Family | None:
    count = census.count("linear")
    if count == 1 and not census.count(*block_kinds.ACTIVATIONS, *block_kinds.GATES):
        return Family("unknown", ("a single linear layer",))
    evidence = (pluralize(count, "linear layer"), "no convolution, attention or recurrence")
    return Family("mlp", evidence) if count else None


def _preprocessing(census: BlockCensus) -> Family | None:
    if not census.count(*block_kinds.PREPROCESSING) or census.count(*block_kinds.CLASSICAL_MODELS):
        return None
    return Family("preprocessing", ("preprocessing operators (scaling, encoding, slicing), no predictor",))


_FAMILY_RULES: Final[tuple[Callable[[BlockCensus], Family | None], ...]] = (
    *(_tree_ensemble, _diffusion_unet, _transformer, _recurrent, _spectrum, _state_space, _mlp_mixer),
    *(_cnn, _mlp, _preprocessing),
)


def _percent(share: float) -> str:
    return f"{share * 100:.0f}%"


class ModelSizes(Struct, frozen=True):
    layers: int | None = None
    hidden: int | None = None
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    vocab: int | None = None
    context: int | None = None
    patch: tuple[int, ...] | None = None


def find_attention_kinds(net: Net) -> tuple[AttentionKind, ...]:
    """Return the kinds of attention in a net, most frequent first."""
    attention = [op.attention for op in net.walk() if op.kind == "attention"]
    counts = Counter(
        (
            *(attributes.form, attributes.heads, attributes.kv_heads, attributes.head_dim, attributes.cross),
            *(bool(attributes.causal), attributes.rotary, attributes.windowed, attributes.relative_bias),
        )
        for attributes in attention
    )
    return tuple(AttentionKind(count, *kind) for kind, count in counts.most_common())


def find_sizes(net: Net, family: str) -> ModelSizes:
    attention = net.of("attention")
    self_attention = [op for op in attention if not op.attention.cross] or attention
    tokens = [op for op in net.of("embedding") if op.embedding.role == "token"]
    positions = [op for op in net.of("embedding") if op.embedding.role == "position"]
    patches = net.of("patch-embedding")
    return ModelSizes(
        layers=_count_layers(net) if family != "cnn" else None,
        hidden=_hidden_size(net, self_attention),
        heads=_most_common(op.attention.heads for op in self_attention),
        kv_heads=_most_common(op.attention.kv_heads for op in self_attention),
        head_dim=_most_common(op.attention.head_dim for op in self_attention),
        vocab=max((op.embedding.rows for op in tokens if op.embedding.rows), default=None),
        context=_most_common(op.embedding.rows for op in positions),
        patch=patches[0].embedding.patch if patches else None,
    )


def _most_common(numbers: Iterable[int | None]) -> int | None:
    counts = Counter(number for number in numbers if number is not None)
    return counts.most_common(1)[0][0] if counts else None


def _count_layers(net: Net) -> int | None:
    """Count residual connections around attention, else recurrent layers in sequence, else residuals around MLPs."""
    bypassed = [ops for end, ops in net.residuals.items() if end.residual_kind == "add"]
    attention = {op for ops in bypassed for op in ops if op.kind == "attention" and not op.attention.cross}
    if attention:
        return len(attention)
    cells = net.of(*block_kinds.RECURRENT)
    if cells:
        return min(_recurrent_depth(net), len({_weights_of(net, op) for op in cells}))
    feed_forward = [next((op for op in ops if op.kind in block_kinds.FEED_FORWARD), None) for ops in bypassed]
    widths = [(op.kind, op.in_features, op.mlp.inner_features) for op in feed_forward if op is not None]
    return len(widths) // _find_period(widths) if widths else None


def _weights_of(net: Net, cell: Op) -> tuple[int, ...]:
    """Return the weights of a cell: one that is unrolled over time is one layer."""
    return tuple(sorted(value for value in cell.inputs if net.constant[value] and value in net.weights))


def _recurrent_depth(net: Net) -> int:
    """Return the largest number of recurrent layers in sequence; both directions of one are parallel."""
    depth: dict[int, int] = {}
    for op in net:
        before = max((depth.get(value, 0) for value in op.inputs), default=0)
        depth.update(dict.fromkeys(op.outputs, before + (op.kind in block_kinds.RECURRENT)))
    return max(depth.values(), default=0)


def _find_period(items: list[tuple[str, int | None, int | None]]) -> int:
    """Return after how many items they repeat (token mixing, then channel mixing)."""
    for period in range(1, len(items) // 2 + 1):
        if items == (items[:period] * len(items))[: len(items)]:
            return period
    return 1


def _hidden_size(net: Net, attention: list[Op]) -> int | None:
    """Return the output width of attention, else the state size of cells, else the width of residuals around MLPs."""
    width = _most_common(op.out_features for op in attention)
    if width is None:
        width = _most_common(op.recurrent.hidden for op in net.of(*block_kinds.RECURRENT))
    if width is None:
        feed_forward = block_kinds.FEED_FORWARD
        ends = [end for end, ops in net.residuals.items() if any(op.kind in feed_forward for op in ops)]
        width = _most_common(dims[-1] for end in ends if (dims := net.shape(end.outputs[0])))
    return width
