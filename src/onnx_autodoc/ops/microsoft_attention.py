"""Attention of onnxruntime (com.microsoft). B batch, S new tokens, P cached tokens, N heads, H head size."""

from onnx_autodoc.ops import attention_costs as cost_rules
from onnx_autodoc.ops.attention import heads_of, rotary
from onnx_autodoc.ops.attention_costs import (
    OptionalInputs,
    crosses,
    decoder_dims,
    head_size,
    multi_head_dims,
    qkv_widths,
    shares_buffer,
)
from onnx_autodoc.ops.call import (
    Call,
    check_divisible,
    check_shape,
    shape_of_min_rank,
    shape_of_rank,
    size_element,
    sizes,
)
from onnx_autodoc.ops.cost import free, uncounted
from onnx_autodoc.ops.dim_specs import rule
from onnx_autodoc.ops.input_constraints import rotary_position, total_tokens
from onnx_autodoc.ops.operator import (
    KVCacheInputs,
    Operator,
    QuantizedInput,
    Trait,
    WorkClass,
    constants,
    of_class,
    scales,
)
from onnx_autodoc.ops.shape_rules import one_output, same, same_as
from onnx_autodoc.ops.values import Dim, Shape, Unknown, ValueInfo, merge_dims, tensor, unknown_value, with_shape

_NO_TYPE = "only the file declares the element type of QK"


def _merged(call: Call, dtype: str | None, past_at: int) -> list[ValueInfo]:
    """[B, S, D] with merged weights; keys and values are cached together: [2, B, N, P + S, H]."""
    (batch, new, input_width), heads, widths = shape_of_rank(call, 0, 3), heads_of(call), qkv_widths(call)
    for width in widths:
        check_divisible(call, width, heads, "columns")
    if call.input_info(1).shape is not None:
        check_shape(call, 1, input_width, shape_of_rank(call, 1, 2)[1])
    past = shape_of_rank(call, past_at, 5) if call.has(past_at) else None
    present: Shape = (2, batch, heads, (past[3] if past else 0) + new, widths[2] // heads)
    if past is not None and shares_buffer(call):
        present = past
    return [tensor(dtype, (batch, new, widths[2])), tensor(dtype, present)]


def _packed_multi_head(call: Call) -> list[ValueInfo]:
    # tokens without padding: packed [T, N, 3, H], or [T, N * H]
    query = shape_of_min_rank(call, 0, 2)
    width = query[1] * query[3] if len(query) == 4 else shape_of_rank(call, 2, 2)[1]
    return [tensor(call.dtype(0), (query[0], width))]


def _multi_head(call: Call) -> list[ValueInfo]:
    dims, dtype = multi_head_dims(call), call.dtype(0)
    batch, heads, new, _ = dims.queries
    keys, values = dims.keys, dims.values
    if call.has(6) and not crosses(call):
        if call.has(8):  # past and present share a buffer of fixed length
            keys, values = shape_of_rank(call, 6, 4), shape_of_rank(call, 7, 4)
        else:
            keys, values = (*keys[:2], dims.total, keys[3]), (*values[:2], dims.total, values[3])
    return [
        tensor(dtype, (batch, new, dims.width)),
        tensor(dtype, keys),
        tensor(dtype, values),
        ValueInfo(None, (batch, heads, new, dims.total), why=_NO_TYPE),
    ]


def _decoder_multi_head(call: Call) -> list[ValueInfo]:
    """One new token: [B, 1, D]."""
    dims, dtype = decoder_dims(call), call.dtype(0)
    batch, heads, new, _ = dims.queries
    scores = ValueInfo(None, (batch, heads, new, dims.total), why=_NO_TYPE)
    output = tensor(dtype, (batch, new, dims.width))
    if crosses(call):
        absent = unknown_value("cross-attention adds nothing to the KV cache")
        return [output, absent, absent, scores]
    caches = shape_of_rank(call, 5, 4), shape_of_rank(call, 6, 4)
    present = caches if shares_buffer(call) else [(*cache[:2], dims.total, cache[3]) for cache in caches]
    return [output, *(tensor(dtype, cache) for cache in present), scores]


def _group_query(call: Call) -> list[ValueInfo]:
    batch, new, width = shape_of_rank(call, 0, 3)
    heads, kv_heads, head = heads_of(call), heads_of(call, "kv_num_heads"), head_size(call, width)
    total, length = size_element(call, 6), shape_of_rank(call, 1, 3)[1] if call.has(1) else new
    present = [_group_query_cache(call, at, (batch, kv_heads, length, head), total) for at in (3, 4)]
    output = tensor(call.dtype(0), (batch, new, heads * head))
    return [output, *present, tensor(call.dtype(0), (batch, heads, new, total))]


def _group_query_cache(call: Call, past_at: int, fresh: Shape, total: Dim) -> ValueInfo:
    """Infer a present cache: written in place if it is long enough, else grown to `total`."""
    quantized = call.attr_text("k_quant_type" if past_at == 3 else "v_quant_type", "NONE") != "NONE"
    if not call.has(past_at):
        is_packed = quantized and call.attr_int("kv_cache_bit_width", 0) == 4  # two numbers per byte
        head = (fresh[3] + 1) // 2 if is_packed else fresh[3]
        return tensor(None if quantized else call.dtype(0), (*fresh[:3], head))
    past = shape_of_rank(call, past_at, 4)
    if call.attr_int("sliding_window_cache", 0):
        length = past[2]
    elif past[2] == 0:
        length = fresh[2]
    elif (unknown := next((dim for dim in (past[2], total) if isinstance(dim, Unknown)), None)) is not None:
        length = merge_dims(past[2], total, unknown.why)
    else:
        length = max(past[2], total)
    return with_shape(call.input_info(past_at), (*fresh[:2], length, past[3] if quantized else fresh[3]))


def _cached_group_query(call: Call) -> list[ValueInfo]:
    """Infer caches of fixed length at inputs 3 and 4; an absent cache starts with the new tokens."""
    batch, new, width = shape_of_rank(call, 0, 3)
    head = head_size(call, width)
    fresh = tensor(call.dtype(0), (batch, heads_of(call, "kv_num_heads"), new, head))
    present = [with_shape(call.input_info(at), shape_of_rank(call, at, 4)) if call.has(at) else fresh for at in (3, 4)]
    return [tensor(call.dtype(0), (batch, new, heads_of(call) * head)), *present]


def _paged(call: Call) -> list[ValueInfo]:
    # tokens without padding [T, D]; the caches are blocks that the operator writes in place
    tokens, width = shape_of_rank(call, 0, 2)
    head = call.attr_int("v_head_size", 0) or head_size(call, width)
    caches = [with_shape(call.input_info(at), call.shape(at)) for at in (3, 4) if call.has(at)]
    return [tensor(call.dtype(0), (tokens, heads_of(call) * head)), *caches]


def _decoder_attention(call: Call) -> list[ValueInfo]:
    # [S, B, D]: sequence first
    (new, batch, width), heads = shape_of_rank(call, 0, 3), heads_of(call)
    why = "DecoderAttention: the length of its KV cache depends on run-time flags"
    cache = tensor(call.dtype(0), (batch, heads, Unknown(why), width // heads))
    return [tensor(call.dtype(0), (new, batch, width)), cache, cache]


def _gated_relative_position(call: Call) -> list[ValueInfo]:
    batch, length = shape_of_rank(call, 6, 2) if call.has(6) else shape_of_rank(call, 0, 3)[:2]
    return [tensor(call.dtype(0), (batch, heads_of(call), length, length))]


def _remove_padding(call: Call) -> list[ValueInfo]:
    batch, length, width = shape_of_rank(call, 0, 3)
    counts: Dim = Unknown("RemovePadding: the number of non-padding tokens is data-dependent")
    if call.value(1) is not None:
        counts = sum(sizes(call, 1), start=0)
    offsets = [tensor("int32", shape) for shape in ((batch, length), (batch + 1,), (1,))]
    return [tensor(call.dtype(0), (counts, width)), *offsets]


_SELECTED = "over as many keys as can be selected, and those of a local window"
_LONGFORMER = uncounted("the number of global tokens is data-dependent")
_KEYS_AND_VALUES = (KVCacheInputs(3, 1), KVCacheInputs(4, 2))
_PAGES = (KVCacheInputs(3, 1, (0, 1)), KVCacheInputs(4, 2, (0, 1)))  # [blocks, tokens of a block, heads, head size]
_MERGED_WEIGHT = Operator(
    lambda call: _merged(call, call.dtype(0), 4),
    cost=cost_rules.merged(4, 6, masks=(3, 5)),
    kv_caches=(KVCacheInputs(4, 1),),
)

OPERATORS: dict[str, Operator] = of_class(
    WorkClass.ATTENTION,
    {
        "Attention": _MERGED_WEIGHT,
        "DecoderAttention": Operator(
            _decoder_attention,
            cost=uncounted("its projections and KV cache depend on run-time flags"),
        ),
        "DecoderMaskedMultiHeadAttention": Operator(
            _decoder_multi_head,
            cost=cost_rules.decoder_multi_head,
            kv_caches=(KVCacheInputs(5, 1), KVCacheInputs(6, 2)),
        ),
        "DecoderMaskedSelfAttention": _MERGED_WEIGHT,
        "DynamicSparseAttention": Operator(
            _cached_group_query,
            cost=cost_rules.grouped(cost_rules.selected(7), OptionalInputs(cos=11, sink=16, norm=14), _SELECTED),
            roles=constants(11, 12),
            kv_caches=_KEYS_AND_VALUES,
        ),
        "GroupQueryAttention": Operator(
            _group_query,
            cost=cost_rules.grouped(
                cost_rules.group_query, OptionalInputs(cos=7, bias=10, sink=11, norm=14), "over past and new keys"
            ),
            roles=constants(7, 8) | scales(12, 13),
            kv_caches=_KEYS_AND_VALUES,
            constraints={5: total_tokens(1), 6: total_tokens(0)},
        ),
        "LongformerAttention": Operator(same, cost=_LONGFORMER),
        "MultiHeadAttention": Operator(
            _multi_head, cost=cost_rules.multi_head, kv_caches=(KVCacheInputs(6, 1), KVCacheInputs(7, 2))
        ),
        "PackedAttention": Operator(
            one_output(lambda call: (shape_of_rank(call, 0, 2)[0], qkv_widths(call)[2])), cost=cost_rules.packed
        ),
        "PackedMultiHeadAttention": Operator(_packed_multi_head, cost=cost_rules.packed_multi_head),
        "PagedAttention": Operator(
            _paged,
            cost=cost_rules.grouped(
                cost_rules.paged,
                OptionalInputs(cos=8, sink=11, norm=12),
                "over the keys of its sequence, if their number is known",
            ),
            roles=constants(8, 9) | scales(14, 15),
            kv_caches=_PAGES,
        ),
        "QAttention": Operator(
            lambda call: _merged(call, call.dtype(3), 8),
            cost=cost_rules.merged(8, cost_rules.ABSENT, masks=(5,), scaled=1),
            roles=scales(3, 4, 6, 7),
            kv_caches=(KVCacheInputs(8, 1),),
            traits={Trait.QOPERATOR},
            quantized=(QuantizedInput(1, 4, 7),),
        ),
        "QOrderedAttention": Operator(
            rule("0: B S _, 7: _ D -> 0: B S D"),
            cost=cost_rules.ordered,
            roles=scales(1, 2, 3, 4, 8, 9, 10, 14, 15, 16),
            traits={Trait.QOPERATOR},
        ),
        "QOrderedLongformerAttention": Operator(
            same, cost=_LONGFORMER, roles=scales(1, 3, 5, 6, 9, 11, 13), traits={Trait.QOPERATOR}
        ),
        "SparseAttention": Operator(
            _cached_group_query,
            cost=cost_rules.grouped(
                cost_rules.block_sparse,
                OptionalInputs(cos=9),
                "over the blocks listed in its row, if they are known",
            ),
            roles=constants(9, 10),
            kv_caches=_KEYS_AND_VALUES,
            constraints={7: total_tokens(0), 8: total_tokens(0)},
        ),
        "SparsePagedAttention": Operator(
            _paged,
            cost=cost_rules.grouped(cost_rules.selected(9), OptionalInputs(cos=14, sink=16, norm=17), _SELECTED),
            roles=constants(14, 15) | scales(19, 20),
            kv_caches=_PAGES,
        ),
    },
) | {
    "GatedRelativePositionBias": Operator(
        _gated_relative_position, cost=cost_rules.gated_relative_position, work=WorkClass.POINTWISE
    ),
    "GemmaRotaryEmbedding": Operator(same_as(1, 3), cost=cost_rules.gemma_rotary, work=WorkClass.POINTWISE),
    "MRotaryEmbedding": Operator(same, cost=rotary(2), roles=constants(2, 3), work=WorkClass.POINTWISE),
    # table [buckets, N] = [1, N, queries, keys]
    "RelativePositionBias": Operator(
        one_output(lambda call: (1, shape_of_rank(call, 0, 2)[1], size_element(call, 1), size_element(call, 2))),
        cost=cost_rules.relative_position,
    ),
    "RemovePadding": Operator(_remove_padding, cost=free, work=WorkClass.MOVE),
    "RestorePadding": Operator(rule("1: B S, 0: _ D -> 0: B S D"), cost=free, work=WorkClass.MOVE),
    "RotaryEmbedding": Operator(
        same,
        cost=rotary(2),
        roles=constants(2, 3),
        traits={Trait.PRECEDES_SCORES},
        work=WorkClass.POINTWISE,
        constraints={1: rotary_position(2, 1)},
    ),
}
