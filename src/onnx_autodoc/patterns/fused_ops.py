"""Canonicalization of fused operators: attention, norms, embeddings and activations."""

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.patterns.attributes import (
    NO_ATTRIBUTES,
    AttentionAttributes,
    EmbeddingAttributes,
    LinearAttributes,
    NormAttributes,
)
from onnx_autodoc.patterns.node_context import Canonicalizer, NodeContext, OpSpec

# Attention


def _attention_attributes(
    node: NodeContext, heads: int, kv_heads: int, width: int | None, packed: bool
) -> AttentionAttributes:
    """`width` is the width of the queries, or of queries, keys and values if they are packed in one tensor."""
    parts = heads + 2 * kv_heads if packed else heads
    return AttentionAttributes(
        form=node.node.op,
        heads=heads or None,
        kv_heads=kv_heads or None,
        head_dim=width // parts if width and parts and width % parts == 0 else None,
    )


def _last_dim(node: NodeContext, value: int) -> int | None:
    dims = node.net.shape(value)
    return dims[-1] if dims and len(dims) < 5 else None


def _data(node: NodeContext, *values: int) -> list[int]:
    return [value for value in values if value and not node.net.constant[value]]


def _attention(node: NodeContext) -> Iterator[OpSpec]:
    """com.microsoft Attention(x, W, b, mask, past, bias): projects its input, then attends."""
    if node.node.domain != "com.microsoft":
        yield from _standard_attention(node)
        return
    weight = node.net.shape(node.input(1))
    width = weight[-1] if weight else None
    qkv = node.new_value()
    projection = LinearAttributes(
        in_features=weight[0] if weight else None,
        out_features=width,
        biased=bool(node.input(2)),
        weight=node.input(1),
    )
    yield node.side_op("linear", node.present_inputs(0, 1, 2), qkv, projection)
    heads = node.int_attribute("num_heads")
    sizes = node.ints_attribute("qkv_hidden_sizes")
    attributes = replace(
        _attention_attributes(node, heads, heads, sizes[0] if sizes else width, packed=not sizes),
        causal=bool(node.int_attribute("unidirectional")),
        rotary=bool(node.int_attribute("do_rotary")),
        queries=qkv,
        keys=qkv,
        values=qkv,
    )
    yield node.main_op("attention-core", [qkv, *_data(node, *node.inputs[3:])], attributes=attributes)


def _multi_head_attention(node: NodeContext) -> Iterator[OpSpec]:
    """MultiHeadAttention(q, k, v, bias, mask, bias, past key, past value)."""
    q, k, v = node.input(0), node.input(1), node.input(2)
    heads = node.int_attribute("num_heads")
    dims = node.net.shape(q)
    has_head_axis = bool(dims and len(dims) == 5)
    attributes = _attention_attributes(node, heads, heads, _last_dim(node, q), packed=not k and not has_head_axis)
    attributes = replace(
        attributes,
        head_dim=dims[-1] if dims and has_head_axis else attributes.head_dim,
        causal=bool(node.int_attribute("unidirectional")) or None,
        queries=q,
        keys=k or q,
        values=v or q,
    )
    yield node.main_op("attention-core", _data(node, q, k, v, *node.inputs[4:]), attributes=attributes)


def _group_query_attention(node: NodeContext) -> Iterator[OpSpec]:
    """GroupQueryAttention(q, k, v, past key, past value, lengths …): causal by definition."""
    q, k, v = node.input(0), node.input(1), node.input(2)
    heads, kv_heads = node.int_attribute("num_heads"), node.int_attribute("kv_num_heads")
    attributes = replace(
        _attention_attributes(node, heads, kv_heads, _last_dim(node, q), packed=not k),
        causal=True,
        rotary=bool(node.int_attribute("do_rotary")),
        windowed=node.int_attribute("local_window_size", -1) > 0,
        queries=q,
        keys=k or q,
        values=v or q,
    )
    yield node.main_op("attention-core", _data(node, q, k, v, *node.inputs[3:7]), attributes=attributes)


def _standard_attention(node: NodeContext) -> Iterator[OpSpec]:
    """ai.onnx Attention, from opset 23 on: (q, k, v, mask, past key, past value)."""
    q, k, v = node.input(0), node.input(1), node.input(2)
    dims, key_dims = node.net.shape(q), node.net.shape(k)
    has_head_axis = dims is not None and len(dims) == 4
    heads = dims[1] if dims and has_head_axis else node.int_attribute("q_num_heads")
    kv_heads = key_dims[1] if key_dims and len(key_dims) == 4 else node.int_attribute("kv_num_heads") or heads
    width = heads * dims[-1] if dims and has_head_axis else _last_dim(node, q)
    attributes = replace(
        _attention_attributes(node, heads, kv_heads, width, packed=False),
        causal=bool(node.int_attribute("is_causal")) or None,
        queries=q,
        keys=k,
        values=v,
        masks=node.present_inputs(3),
    )
    yield node.main_op("attention-core", _data(node, q, k, v, *node.inputs[4:]), attributes=attributes)


# Norms, embeddings and activations


def _norm(kind: str) -> Canonicalizer:
    def canonicalizer(node: NodeContext) -> Iterator[OpSpec]:
        # outputs after the first are statistics
        yield node.main_op(kind, node.inputs, node.outputs[:1], NormAttributes(scaled=kind != "batch-norm"))

    return canonicalizer


def _skip_norm(kind: str) -> Canonicalizer:
    """SkipLayerNormalization(x, skip, …): a residual Add, then a norm. The fourth output is the sum."""

    def canonicalizer(node: NodeContext) -> Iterator[OpSpec]:
        total = node.outputs[3] if len(node.outputs) > 3 else node.new_value()
        bias = [value for value in node.inputs[4 if kind == "layer-norm" else 3 :] if value]
        data = node.input(0)
        if bias:
            biased = node.new_value()
            yield node.side_op("Add", (data, bias[0]), biased)
            data = biased
        yield node.side_op("Add", (data, node.input(1)), total)
        yield node.main_op(kind, (total, *(value for value in node.inputs[2:4] if value)), node.outputs[:1])

    return canonicalizer


def _embed_norm(node: NodeContext) -> Iterator[OpSpec]:
    """EmbedLayerNormalization(ids, types, token, position, type, γ, β, …): three tables, two sums, a norm."""
    has_types = node.node.op.startswith("Q") or (node.input(1) and node.input(4))
    tables = [(0, 2, "token"), (1, 4, "type")] if has_types else [(0, 2, "token")]
    embedded: list[int] = []
    for ids, table, role in tables:
        rows = node.new_value()
        dims = node.net.shape(node.input(table))
        attributes = EmbeddingAttributes(
            role=role,
            rows=dims[0] if dims else None,
            out_features=dims[1] if dims and len(dims) > 1 else None,
        )
        yield node.side_op("embedding", (node.input(ids), node.input(table)), rows, attributes)
        embedded.append(rows)
    total = embedded[0]
    for rows in embedded[1:]:
        joined = node.new_value()
        yield node.side_op("Add", (total, rows), joined)
        total = joined
    if node.input(7) and len(node.outputs) > 1:
        yield node.side_op("ReduceSum", (node.input(7),), node.outputs[1])  # number of unmasked tokens
    positioned = node.outputs[2] if len(node.outputs) > 2 else node.new_value()
    yield node.side_op("Add", (total, node.input(3)), positioned)
    yield node.main_op("layer-norm", (positioned, node.input(5), node.input(6)), node.outputs[:1])


def _activation(kind: str, biased: bool = False) -> Canonicalizer:
    def canonicalizer(node: NodeContext) -> Iterator[OpSpec]:
        data = node.input(0)
        if biased and node.input(1):
            total = node.new_value()
            yield node.side_op("Add", (data, node.input(1)), total)
            data = total
        yield node.main_op(kind, (data,))

    return canonicalizer


def _quick_gelu(node: NodeContext) -> Iterator[OpSpec]:
    """x·σ(αx): SiLU for α = 1."""
    alpha = node.node.attributes.get("alpha", 1.702)
    is_silu = isinstance(alpha, int | float) and abs(alpha - 1) < 1e-3
    yield node.main_op("silu" if is_silu else "gelu", node.inputs[:1])


def _group_norm(node: NodeContext) -> Iterator[OpSpec]:
    """GroupNorm, with SiLU after it where its attribute `activation` is set."""
    data = node.input(0)
    if node.node.op.startswith("Skip"):
        total = node.outputs[1] if len(node.outputs) > 1 else node.new_value()
        yield node.side_op("Add", (data, node.input(3)), total)
        data = total
    inputs = (data, node.input(1), node.input(2))
    if not node.int_attribute("activation"):
        yield node.main_op("group-norm", inputs, node.outputs[:1])
        return
    normed = node.new_value()
    yield OpSpec("group-norm", inputs, (normed,), NO_ATTRIBUTES)
    yield node.side_op("silu", (normed,), node.outputs[0])


CANONICALIZERS: Final[dict[str, Canonicalizer]] = {
    **dict.fromkeys(("Attention", "PackedAttention", "QAttention", "DecoderMaskedSelfAttention"), _attention),
    "MultiHeadAttention": _multi_head_attention,
    "PackedMultiHeadAttention": _multi_head_attention,
    "DecoderMaskedMultiHeadAttention": _multi_head_attention,
    **dict.fromkeys(("GroupQueryAttention", "SparseAttention", "PagedAttention"), _group_query_attention),
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
