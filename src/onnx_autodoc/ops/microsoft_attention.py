"""Attention of onnxruntime (com.microsoft). B batch, S new tokens, P cached ones, N heads, H numbers of a head."""

from onnx_autodoc.ops._attention_prices import (
    ABSENT,
    decoder_multi_head,
    gated_relative_position,
    gemma_rotary,
    merged,
    multi_head,
    ordered,
    packed,
    packed_multi_head,
    relative_position,
)
from onnx_autodoc.ops._attention_shapes import (
    crosses,
    decoder_sight,
    head_size,
    heads_of,
    multi_head_sight,
    qkv_widths,
    shares_buffer,
)
from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._cost import free, uncounted
from onnx_autodoc.ops._grouped_prices import Places, block_sparse, group_query, grouped, paged, selected
from onnx_autodoc.ops._known import (
    Dim,
    Known,
    Shape,
    Unknown,
    like,
    merge_dims,
    nothing,
    tensor,
)
from onnx_autodoc.ops._operator import Cached, Operator, constants, scales
from onnx_autodoc.ops._ranks import deep, parted, ranked, sized
from onnx_autodoc.ops._sizes import one_size, sizes
from onnx_autodoc.ops.attention import rotary
from onnx_autodoc.ops.elementwise import same

_NO_TYPE = "the file's own declaration decides the element type of QK"


def _merged(call: Call, dtype: str | None, past_at: int) -> list[Known]:
    """[B, S, D] with merged weights; keys and values are cached together: [2, B, N, P + S, H]."""
    (batch, new, wide), heads, widths = ranked(call, 0, 3), heads_of(call), qkv_widths(call)
    width = widths[2]
    for each in widths:
        parted(call, each, heads, "columns")
    if call.known(1).shape is not None:
        sized(call, 1, wide, ranked(call, 1, 2)[1])
    past = ranked(call, past_at, 5) if call.has(past_at) else None
    if past is not None and shares_buffer(call):
        present: Shape = past
    else:
        present = (2, batch, heads, (past[3] if past else 0) + new, width // heads)
    return [tensor(dtype, (batch, new, width)), tensor(dtype, present)]


def _attention(call: Call) -> list[Known]:
    return _merged(call, call.dtype(0), 4)


def _quantized_attention(call: Call) -> list[Known]:
    return _merged(call, call.dtype(3), 8)  # the results have the type of the input's scale


def _ordered_attention(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), (*ranked(call, 0, 3)[:2], ranked(call, 7, 2)[1]))]


def _packed_attention(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), (ranked(call, 0, 2)[0], qkv_widths(call)[2]))]


def _packed_multi_head(call: Call) -> list[Known]:
    # tokens without padding: [T, N, 3, H], or q, k and v apart: [T, N * H]
    query = deep(call, 0, 2)
    width = query[1] * query[3] if len(query) == 4 else ranked(call, 2, 2)[1]
    return [tensor(call.dtype(0), (query[0], width))]


def _multi_head(call: Call) -> list[Known]:
    sight, dtype = multi_head_sight(call), call.dtype(0)
    batch, heads, new, _ = sight.queries
    keys, values = sight.keys, sight.values
    if call.has(6) and not crosses(call):
        if call.has(8):  # past and present share a buffer of fixed length
            keys, values = ranked(call, 6, 4), ranked(call, 7, 4)
        else:
            keys, values = (*keys[:2], sight.total, keys[3]), (*values[:2], sight.total, values[3])
    return [
        tensor(dtype, (batch, new, sight.width)),
        tensor(dtype, keys),
        tensor(dtype, values),
        Known(None, (batch, heads, new, sight.total), why=_NO_TYPE),
    ]


def _decoder_multi_head(call: Call) -> list[Known]:
    """One new token: [B, 1, D]."""
    sight, dtype = decoder_sight(call), call.dtype(0)
    batch, heads, new, _ = sight.queries
    scores = Known(None, (batch, heads, new, sight.total), why=_NO_TYPE)
    output = tensor(dtype, (batch, new, sight.width))
    if crosses(call):
        gone = nothing("a cross attention adds nothing to the cache")
        return [output, gone, gone, scores]
    caches = ranked(call, 5, 4), ranked(call, 6, 4)
    present = caches if shares_buffer(call) else [(*each[:2], sight.total, each[3]) for each in caches]
    return [output, *(tensor(dtype, each) for each in present), scores]


def _group_query(call: Call) -> list[Known]:
    batch, new, width = ranked(call, 0, 3)
    heads, kv_heads, each = heads_of(call), heads_of(call, "kv_num_heads"), head_size(call, width)
    total, length = one_size(call, 6), ranked(call, 1, 3)[1] if call.has(1) else new
    present = [_group_query_cache(call, at, (batch, kv_heads, length, each), total) for at in (3, 4)]
    output = tensor(call.dtype(0), (batch, new, heads * each))
    return [output, *present, tensor(call.dtype(0), (batch, heads, new, total))]


def _group_query_cache(call: Call, past_at: int, fresh: Shape, total: Dim) -> Known:
    """A cache that is long enough is written in place and keeps its length; a shorter one grows to the total."""
    quantized = call.attr_text("k_quant_type" if past_at == 3 else "v_quant_type", "NONE") != "NONE"
    if not call.has(past_at):
        half = quantized and call.attr_int("kv_cache_bit_width", 0) == 4  # two numbers in each byte
        return tensor(None if quantized else call.dtype(0), (*fresh[:3], (fresh[3] + 1) // 2 if half else fresh[3]))
    past = ranked(call, past_at, 4)
    length = _longer(past[2], total)
    if call.attr_int("sliding_window_cache", 0):
        length = past[2]
    elif past[2] == 0:
        length = fresh[2]
    return like(call.known(past_at), (*fresh[:2], length, past[3] if quantized else fresh[3]))


def _longer(one: Dim, other: Dim) -> Dim:
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return merge_dims(one, other, one.why if isinstance(one, Unknown) else other.why)  # type: ignore[union-attr]
    return max(one, other)


def _cached_group_query(call: Call) -> list[Known]:
    """The cache at inputs 3 and 4 has a fixed length; where there is none, it begins with the new tokens."""
    batch, new, width = ranked(call, 0, 3)
    each = head_size(call, width)
    fresh = tensor(call.dtype(0), (batch, heads_of(call, "kv_num_heads"), new, each))
    present = [like(call.known(at), ranked(call, at, 4)) if call.has(at) else fresh for at in (3, 4)]
    return [tensor(call.dtype(0), (batch, new, heads_of(call) * each)), *present]


def _paged(call: Call) -> list[Known]:
    # tokens without padding [T, D]; the caches are blocks that the operator writes in place
    tokens, width = ranked(call, 0, 2)
    each = call.attr_int("v_head_size", 0) or head_size(call, width)
    caches = [like(call.known(at), call.shape(at)) for at in (3, 4) if call.has(at)]
    return [tensor(call.dtype(0), (tokens, heads_of(call) * each)), *caches]


def _decoder_attention(call: Call) -> list[Known]:
    # [S, B, D]: here the sequence comes first
    (new, batch, width), heads = ranked(call, 0, 3), heads_of(call)
    why = "DecoderAttention: the flags it is given when it runs decide how long the cache is"
    cache = tensor(call.dtype(0), (batch, heads, Unknown(why), width // heads))
    return [tensor(call.dtype(0), (new, batch, width)), cache, cache]


def _gemma_rotary(call: Call) -> list[Known]:
    return [like(call.known(1), call.shape(1)), like(call.known(3), call.shape(3))]


def _relative_position(call: Call) -> list[Known]:
    # table [buckets, N] = [1, N, queries, keys]
    return [tensor(call.dtype(0), (1, ranked(call, 0, 2)[1], one_size(call, 1), one_size(call, 2)))]


def _gated_relative_position(call: Call) -> list[Known]:
    batch, length = ranked(call, 6, 2) if call.has(6) else ranked(call, 0, 3)[:2]
    return [tensor(call.dtype(0), (batch, heads_of(call), length, length))]


def _remove_padding(call: Call) -> list[Known]:
    batch, length, width = ranked(call, 0, 3)
    counts: Dim = Unknown("RemovePadding: how many tokens are not padding depends on the data")
    if call.value(1) is not None:
        counts = sum(sizes(call, 1), start=0)
    offsets = [tensor("int32", shape) for shape in ((batch, length), (batch + 1,), (1,))]
    return [tensor(call.dtype(0), (counts, width)), *offsets]


def _restore_padding(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), (*ranked(call, 1, 2), ranked(call, 0, 2)[1]))]


_SELECTED = "as many of them as may be selected for it, and those of a local window"
_LONGFORMER = uncounted("how many tokens attend to all others, the data decide")
_KEYS_AND_VALUES = (Cached(3, 1), Cached(4, 2))
_PAGES = (Cached(3, 1, (0, 1)), Cached(4, 2, (0, 1)))  # [blocks, tokens of a block, heads, size of a head]

OPERATORS: dict[str, Operator] = {
    "Attention": Operator(_attention, cost=merged(4, 6, masks=(3, 5)), caches=(Cached(4, 1),)),
    "DecoderAttention": Operator(
        _decoder_attention, cost=uncounted("the flags it is given when it runs decide what it projects and caches")
    ),
    "DecoderMaskedMultiHeadAttention": Operator(
        _decoder_multi_head, cost=decoder_multi_head, caches=(Cached(5, 1), Cached(6, 2))
    ),
    "DecoderMaskedSelfAttention": Operator(_attention, cost=merged(4, 6, masks=(3, 5)), caches=(Cached(4, 1),)),
    "DynamicSparseAttention": Operator(
        _cached_group_query,
        cost=grouped(selected(7), Places(cos=11, sink=16, norm=14), _SELECTED),
        parts=constants(11, 12),
        caches=_KEYS_AND_VALUES,
    ),
    "GatedRelativePositionBias": Operator(_gated_relative_position, cost=gated_relative_position),
    "GemmaRotaryEmbedding": Operator(_gemma_rotary, cost=gemma_rotary),
    "GroupQueryAttention": Operator(
        _group_query,
        cost=grouped(group_query, Places(cos=7, bias=10, sink=11, norm=14), "over past and new ones"),
        parts=constants(7, 8) | scales(12, 13),
        caches=_KEYS_AND_VALUES,
    ),
    "LongformerAttention": Operator(same, cost=_LONGFORMER),
    "MRotaryEmbedding": Operator(same, cost=rotary(2), parts=constants(2, 3)),
    "MultiHeadAttention": Operator(_multi_head, cost=multi_head, caches=(Cached(6, 1), Cached(7, 2))),
    "PackedAttention": Operator(_packed_attention, cost=packed),
    "PackedMultiHeadAttention": Operator(_packed_multi_head, cost=packed_multi_head),
    "PagedAttention": Operator(
        _paged,
        cost=grouped(
            paged, Places(cos=8, sink=11, norm=12), "over those of its own sequence, where their number is told"
        ),
        parts=constants(8, 9) | scales(14, 15),
        caches=_PAGES,
    ),
    "QAttention": Operator(
        _quantized_attention,
        cost=merged(8, ABSENT, masks=(5,), scaled=1),
        parts=scales(3, 4, 6, 7),
        caches=(Cached(8, 1),),
    ),
    "QOrderedAttention": Operator(_ordered_attention, cost=ordered, parts=scales(1, 2, 3, 4, 8, 9, 10, 14, 15, 16)),
    "QOrderedLongformerAttention": Operator(same, cost=_LONGFORMER, parts=scales(1, 3, 5, 6, 9, 11, 13)),
    "RelativePositionBias": Operator(_relative_position, cost=relative_position),
    "RemovePadding": Operator(_remove_padding, cost=free),
    "RestorePadding": Operator(_restore_padding, cost=free),
    "RotaryEmbedding": Operator(same, cost=rotary(2), parts=constants(2, 3)),
    "SparseAttention": Operator(
        _cached_group_query,
        cost=grouped(block_sparse, Places(cos=9), "over the blocks that its row lists, where those are told"),
        parts=constants(9, 10),
        caches=_KEYS_AND_VALUES,
    ),
    "SparsePagedAttention": Operator(
        _paged,
        cost=grouped(selected(9), Places(cos=14, sink=16, norm=17), _SELECTED),
        parts=constants(14, 15) | scales(19, 20),
        caches=_PAGES,
    ),
}
