"""Norms, embeddings and activations as one operator: several of them bring a sum, a bias or another along."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.patterns._draft import Draft, Speller, Spelling


def _norm(kind: str) -> Speller:
    def spelled(it: Spelling) -> Iterator[Draft]:
        # its first output alone is data: the others are statistics
        yield it.draft(kind, it.inputs, it.outputs[:1], scaled=kind != "batch-norm")

    return spelled


def _skip_norm(kind: str) -> Speller:
    """SkipLayerNormalization(x, skip, …): a sum, then a norm; its fourth output is the sum."""

    def spelled(it: Spelling) -> Iterator[Draft]:
        total = it.outputs[3] if len(it.outputs) > 3 else it.inner()
        bias = [value for value in it.inputs[4 if kind == "layer-norm" else 3 :] if value]
        data = it.input(0)
        if bias:
            biased = it.inner()
            yield it.aside("Add", (data, bias[0]), biased)
            data = biased
        yield it.aside("Add", (data, it.input(1)), total)
        yield it.draft(kind, (total, *(value for value in it.inputs[2:4] if value)), it.outputs[:1])

    return spelled


def _embed_norm(it: Spelling) -> Iterator[Draft]:
    """EmbedLayerNormalization(ids, types, token, position, type, γ, β, …): three tables, two sums, a norm."""
    tables = [(0, 2, "token"), (1, 4, "type")] if it.input(1) and it.input(4) else [(0, 2, "token")]
    if it.node.op.startswith("Q"):
        tables = [(0, 2, "token"), (1, 4, "type")]
    parts = []
    for ids, table, role in tables:
        made = it.inner()
        dims = it.net.shape(it.input(table))
        facts = {"role": role, "rows": dims[0] if dims else None, "width": dims[1] if dims and len(dims) > 1 else None}
        yield it.aside("embedding", (it.input(ids), it.input(table)), made, **facts)
        parts.append(made)
    total = parts[0]
    for part in parts[1:]:
        joined = it.inner()
        yield it.aside("Add", (total, part), joined)
        total = joined
    if it.input(7) and len(it.outputs) > 1:
        yield it.aside("ReduceSum", (it.input(7),), it.outputs[1])  # how many tokens the mask leaves
    placed = it.outputs[2] if len(it.outputs) > 2 else it.inner()
    yield it.aside("Add", (total, it.input(3)), placed)
    yield it.draft("layer-norm", (placed, it.input(5), it.input(6)), it.outputs[:1])


def _activation(kind: str, biased: bool = False) -> Speller:
    def spelled(it: Spelling) -> Iterator[Draft]:
        data = it.input(0)
        if biased and it.input(1):
            made = it.inner()
            yield it.aside("Add", (data, it.input(1)), made)
            data = made
        yield it.draft(kind, (data,))

    return spelled


def _quick_gelu(it: Spelling) -> Iterator[Draft]:
    """x·σ(αx): at α = 1 it is SiLU."""
    alpha = it.node.attributes.get("alpha", 1.702)
    plain = isinstance(alpha, int | float) and abs(alpha - 1) < 1e-3
    yield it.draft("silu" if plain else "gelu", it.inputs[:1])


def _group_norm(it: Spelling) -> Iterator[Draft]:
    """GroupNorm brings SiLU along where its attribute says so."""
    skipped = it.node.op.startswith("Skip")
    data = it.input(0)
    if skipped:
        total = it.outputs[1] if len(it.outputs) > 1 else it.inner()
        yield it.aside("Add", (data, it.input(3)), total)
        data = total
    if not it.number("activation"):
        yield it.draft("group-norm", (data, it.input(1), it.input(2)), it.outputs[:1])
        return
    made = it.inner()
    yield Draft("group-norm", (data, it.input(1), it.input(2)), (made,), {})
    yield it.aside("silu", (made,), it.outputs[0])


SPELLERS: Final[dict[str, Speller]] = {
    "LayerNormalization": _norm("layer-norm"),
    "SimplifiedLayerNormalization": _norm("rms-norm"),
    "RMSNormalization": _norm("rms-norm"),
    "BatchNormalization": _norm("batch-norm"),
    "GroupNormalization": _norm("group-norm"),
    "SkipLayerNormalization": _skip_norm("layer-norm"),
    "SkipSimplifiedLayerNormalization": _skip_norm("rms-norm"),
    **dict.fromkeys(("EmbedLayerNormalization", "QEmbedLayerNormalization"), _embed_norm),
    **dict.fromkeys(("GroupNorm", "SkipGroupNorm"), _group_norm),
    "Gelu": _activation("gelu"),
    "BiasGelu": _activation("gelu", biased=True),
    "FastGelu": _activation("gelu", biased=True),
    "QuickGelu": _quick_gelu,
    "Swish": _activation("silu"),
    "HardSwish": _activation("hard-swish"),
    "Mish": _activation("mish"),
}
