"""Canonicalization of fused operators: attention, norms, embeddings and activations."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.patterns.attributes import (
    AttentionAttributes,
    EmbeddingAttributes,
    LinearAttributes,
    NormAttributes,
)
from onnx_autodoc.patterns.node_context import Canonicalizer, NodeContext, OperatorKey, by_domain

# Attention


def _add_attention_core(
    node: NodeContext,
    attributes: AttentionAttributes,
    operands: tuple[int, int, int],
    others: Sequence[int],
    width: int | None,
    packed: bool,
) -> None:
    """Add a fused attention that reads `operands` (queries, keys and values) and `others`.

    `width` is the width of the queries, or of queries, keys and values if they are packed in one tensor.
    """
    heads, kv_heads = attributes.heads or 0, attributes.kv_heads or 0
    parts = heads + 2 * kv_heads if packed else heads
    head_dim = width // parts if width and parts and width % parts == 0 else None
    attributes = replace(
        attributes,
        form=node.op_type,
        heads=heads or None,
        kv_heads=kv_heads or None,
        head_dim=head_dim if attributes.head_dim is None else attributes.head_dim,
        queries=operands[0],
    )
    data = [value for value in (*operands, *others) if value and not node.net.constant[value]]
    node.add("attention-core", data, attributes=attributes)


def _query_width(node: NodeContext) -> int | None:
    dims = node.net.shape(node.input(0))
    return dims[-1] if dims and len(dims) < 5 else None


def _add_attention(node: NodeContext) -> None:
    """com.microsoft Attention(x, W, b, mask, past, bias): projects its input, then attends."""
    weight = node.net.shape(node.input(1))
    width = weight[-1] if weight else None
    projection = LinearAttributes(
        in_features=weight[0] if weight else None,
        out_features=width,
        biased=bool(node.input(2)),
        weight=node.input(1),
    )
    qkv = node.add_side("linear", node.present_inputs(0, 1, 2), attributes=projection)
    heads = node.count_attribute("num_heads")
    sizes = node.ints_attribute("qkv_hidden_sizes")
    attributes = AttentionAttributes(
        heads=heads,
        kv_heads=heads,
        causal=bool(node.int_attribute("unidirectional")),
        rotary=bool(node.int_attribute("do_rotary")),
        keys=qkv,
        values=qkv,
    )
    width = sizes[0] if sizes else width
    _add_attention_core(node, attributes, (qkv, 0, 0), node.inputs[3:], width, packed=not sizes)


def _add_multi_head_attention(node: NodeContext) -> None:
    """MultiHeadAttention(q, k, v, bias, mask, bias, past key, past value)."""
    q, k, v = node.input(0), node.input(1), node.input(2)
    heads = node.count_attribute("num_heads")
    dims = node.net.shape(q)
    has_head_axis = bool(dims and len(dims) == 5)
    attributes = AttentionAttributes(
        heads=heads,
        kv_heads=heads,
        head_dim=dims[-1] if dims and has_head_axis else None,
        causal=bool(node.int_attribute("unidirectional")) or None,
        keys=k or q,
        values=v or q,
    )
    packed = not k and not has_head_axis
    _add_attention_core(node, attributes, (q, k, v), node.inputs[4:], _query_width(node), packed)


def _add_group_query_attention(node: NodeContext) -> None:
    """GroupQueryAttention(q, k, v, past key, past value, lengths …): causal by definition."""
    q, k, v = node.input(0), node.input(1), node.input(2)
    attributes = AttentionAttributes(
        heads=node.count_attribute("num_heads"),
        kv_heads=node.count_attribute("kv_num_heads"),
        causal=True,
        rotary=bool(node.int_attribute("do_rotary")),
        windowed=node.int_attribute("local_window_size", -1) > 0,
        keys=k or q,
        values=v or q,
    )
    _add_attention_core(node, attributes, (q, k, v), node.inputs[3:7], _query_width(node), packed=not k)


def _add_standard_attention(node: NodeContext) -> None:
    """ai.onnx Attention, from opset 23 on: (q, k, v, mask, past key, past value)."""
    q, k, v = node.input(0), node.input(1), node.input(2)
    dims, key_dims = node.net.shape(q), node.net.shape(k)
    heads, width = node.count_attribute("q_num_heads"), _query_width(node)
    if dims and len(dims) == 4:
        heads, width = dims[1], dims[1] * dims[-1]
    kv_heads = key_dims[1] if key_dims and len(key_dims) == 4 else node.count_attribute("kv_num_heads") or heads
    attributes = AttentionAttributes(
        heads=heads,
        kv_heads=kv_heads,
        causal=bool(node.int_attribute("is_causal")) or None,
        keys=k,
        values=v,
        masks=node.present_inputs(3),
    )
    _add_attention_core(node, attributes, (q, k, v), node.inputs[4:], width, packed=False)


# Norms, embeddings and activations


def _norm(kind: str) -> Canonicalizer:
    # outputs after the first are statistics
    attributes = NormAttributes(scaled=kind != "batch-norm")
    return lambda node: node.add(kind, node.inputs, node.outputs[:1], attributes)


def _add_skip_norm(node: NodeContext) -> None:
    """SkipLayerNormalization(x, skip, …): a residual Add, then a norm. The fourth output is the sum."""
    kind, bias_index = ("rms-norm", 3) if "Simplified" in node.op_type else ("layer-norm", 4)
    sum_output = node.outputs[3] if len(node.outputs) > 3 else node.new_value()
    bias = [value for value in node.inputs[bias_index:] if value]
    data = node.add_side("Add", (node.input(0), bias[0])) if bias else node.input(0)
    node.add_side("Add", (data, node.input(1)), sum_output)
    node.add(kind, (sum_output, *(value for value in node.inputs[2:4] if value)), node.outputs[:1])


def _add_embed_norm(node: NodeContext) -> None:
    """EmbedLayerNormalization(ids, types, token, position, type, γ, β, …): three tables, two sums, a norm."""
    has_types = node.op_type.startswith("Q") or (node.input(1) and node.input(4))
    total = _add_lookup(node, 0, 2, "token")
    if has_types:
        rows = _add_lookup(node, 1, 4, "type")
        total = node.add_side("Add", (total, rows))
    if node.input(7) and len(node.outputs) > 1:
        node.add_side("ReduceSum", (node.input(7),), node.outputs[1])  # number of unmasked tokens
    sum_output = node.outputs[2] if len(node.outputs) > 2 else None
    positioned = node.add_side("Add", (total, node.input(3)), sum_output)
    node.add("layer-norm", (positioned, node.input(5), node.input(6)), node.outputs[:1])


def _add_lookup(node: NodeContext, ids: int, table: int, role: str) -> int:
    dims = node.net.shape(node.input(table)) or ()
    attributes = EmbeddingAttributes(
        role=role, rows=dims[0] if dims else None, out_features=dims[1] if len(dims) > 1 else None
    )
    return node.add_side("embedding", (node.input(ids), node.input(table)), attributes=attributes)


def _activation(kind: str) -> Canonicalizer:
    return lambda node: node.add(kind, (node.input(0),))


def _add_biased_gelu(node: NodeContext) -> None:
    bias = node.input(1)
    data = node.add_side("Add", (node.input(0), bias)) if bias else node.input(0)
    node.add("gelu", (data,))


def _add_quick_gelu(node: NodeContext) -> None:
    """x·σ(αx): SiLU for α = 1."""
    alpha = node.step.node.attributes.get("alpha", 1.702)
    is_silu = isinstance(alpha, int | float) and abs(alpha - 1) < 1e-3
    node.add("silu" if is_silu else "gelu", node.inputs[:1])


def _add_group_norm(node: NodeContext) -> None:
    """GroupNorm, with SiLU after it where its attribute `activation` is set."""
    data = node.input(0)
    if node.op_type.startswith("Skip"):
        data = node.add_side("Add", (data, node.input(3)), node.outputs[1] if len(node.outputs) > 1 else None)
    inputs = (data, node.input(1), node.input(2))
    if not node.int_attribute("activation"):
        node.add("group-norm", inputs, node.outputs[:1])
        return
    normed = node.new_value()
    node.add("group-norm", inputs, (normed,))
    node.add_side("silu", (normed,), node.outputs[0])


_BATCH_NORM: Final = {"BatchNormalization": _norm("batch-norm")}
_SIMPLIFIED_NORM: Final = {"SimplifiedLayerNormalization": _norm("rms-norm")}  # of either domain
CANONICALIZERS: Final[dict[OperatorKey, Canonicalizer]] = {
    **by_domain(
        "",
        {
            "Attention": _add_standard_attention,
            "LayerNormalization": _norm("layer-norm"),
            **_SIMPLIFIED_NORM,
            "RMSNormalization": _norm("rms-norm"),
            **_BATCH_NORM,
            "GroupNormalization": _norm("group-norm"),
            "Gelu": _activation("gelu"),
            "Swish": _activation("silu"),
            "HardSwish": _activation("hard-swish"),
            "Mish": _activation("mish"),
        },
    ),
    **by_domain(
        "com.microsoft",
        {
            **dict.fromkeys(
                ("Attention", "PackedAttention", "QAttention", "DecoderMaskedSelfAttention"), _add_attention
            ),
            "MultiHeadAttention": _add_multi_head_attention,
            "PackedMultiHeadAttention": _add_multi_head_attention,
            "DecoderMaskedMultiHeadAttention": _add_multi_head_attention,
            **dict.fromkeys(("GroupQueryAttention", "SparseAttention", "PagedAttention"), _add_group_query_attention),
            **_SIMPLIFIED_NORM,
            "SkipLayerNormalization": _add_skip_norm,
            "SkipSimplifiedLayerNormalization": _add_skip_norm,
            **dict.fromkeys(("EmbedLayerNormalization", "QEmbedLayerNormalization"), _add_embed_norm),
            **dict.fromkeys(("GroupNorm", "SkipGroupNorm"), _add_group_norm),
            "Gelu": _activation("gelu"),
            "BiasGelu": _add_biased_gelu,
            "FastGelu": _add_biased_gelu,
            "QuickGelu": _add_quick_gelu,
        },
    ),
    **by_domain("com.ms.internal.nhwc", _BATCH_NORM),
}
