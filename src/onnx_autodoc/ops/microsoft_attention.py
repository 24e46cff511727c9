"""Attention of onnxruntime (com.microsoft). B batch, S new tokens, P cached ones, N heads, H numbers of a head."""

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import (
    Contradiction,
    Dim,
    Known,
    NotKnown,
    Shape,
    Unknown,
    like,
    merge_dims,
    nothing,
    tensor,
)
from onnx_autodoc.ops._operator import Operator
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._sizes import one_size, sizes
from onnx_autodoc.ops.elementwise import same

_NO_TYPE = "the file's own declaration decides the element type of QK"


def _heads(call: Call, name: str = "num_heads") -> int:
    heads = call.attr_required(name)
    if heads < 1:
        raise Contradiction(f"{call.node.op} with {heads} heads")
    return heads


def _value_width(call: Call, weights_at: int = 1) -> Dim:
    """The last of the three widths of a merged Q, K, V weight; they are equal unless an attribute says otherwise."""
    widths = call.attr_ints("qkv_hidden_sizes")
    if widths and len(widths) != 3:
        raise Contradiction(f"{call.node.op} wants three qkv_hidden_sizes, there are {len(widths)}")
    return widths[2] if widths else ranked(call, weights_at, 2)[1] // 3


def _merged(call: Call, dtype: str | None, past_at: int) -> list[Known]:
    """[B, S, D] with merged weights; keys and values are cached together: [2, B, N, P + S, H]."""
    (batch, new, _), heads, width = ranked(call, 0, 3), _heads(call), _value_width(call)
    past = ranked(call, past_at, 5) if call.has(past_at) else None
    if past is not None and call.attr_int("past_present_share_buffer", 0):
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
    return [tensor(call.dtype(0), (ranked(call, 0, 2)[0], _value_width(call)))]


def _packed_multi_head(call: Call) -> list[Known]:
    # tokens without padding: [T, N, 3, H], or q, k and v apart: [T, N * H]
    query = deep(call, 0, 2)
    width = query[1] * query[3] if len(query) == 4 else ranked(call, 2, 2)[1]
    return [tensor(call.dtype(0), (query[0], width))]


def _multi_head(call: Call) -> list[Known]:
    query, heads = call.shape(0), _heads(call)
    width, keys, values = _keys_and_values(call, query, heads)
    total: Dim = keys[2]
    # Keys of 4 dimensions are those of a cross attention, cached as they are.
    if call.has(6) and not (call.has(1) and call.rank(1) == 4):
        past = ranked(call, 6, 4)
        if call.has(8):  # past and present share a buffer of fixed length
            total = one_size(call, 8) + keys[2]
            keys, values = past, ranked(call, 7, 4)
        else:
            total = past[2] + keys[2]
            keys, values = (*keys[:2], total, keys[3]), (*values[:2], total, values[3])
    dtype = call.dtype(0)
    return [
        tensor(dtype, (*query[:2], width)),
        tensor(dtype, keys),
        tensor(dtype, values),
        Known(None, (query[0], heads, query[1], total), why=_NO_TYPE),
    ]


def _keys_and_values(call: Call, query: Shape, heads: int) -> tuple[Dim, Shape, Shape]:
    """The width of the result, and the new keys and values as [B, N, L, H]."""
    if len(query) == 5:  # packed q, k, v: [B, S, N, 3, H]
        packed = (query[0], query[2], query[1], query[4])
        return query[2] * query[4], packed, packed
    batch, _, width = ranked(call, 0, 3)
    if not call.has(1):
        raise NotKnown(f"{call.node.op} without a key: how wide query, key and value are is not said")
    key = call.shape(1)
    if len(key) == 5:  # packed k, v: [B, L, N, 2, H]
        packed = (key[0], key[2], key[1], key[4])
        return width, packed, packed
    if len(key) == 4:  # keys and values of a cross attention: [B, N, L, H]
        value = ranked(call, 2, 4)
        return value[1] * value[3], key, value
    _, length, key_width = ranked(call, 1, 3)
    value_width = ranked(call, 2, 3)[2]
    keys, values = (batch, heads, length, key_width // heads), (batch, heads, length, value_width // heads)
    return value_width, keys, values


def _decoder_multi_head(call: Call) -> list[Known]:
    """One new token: [B, 1, D]."""
    (batch, new, _), heads, dtype = ranked(call, 0, 3), _heads(call), call.dtype(0)
    if call.has(1) and call.rank(1) == 4:  # cross attention over [B, N, L, H]
        value, gone = ranked(call, 2, 4), nothing("a cross attention adds nothing to the cache")
        scores = Known(None, (batch, heads, new, call.shape(1)[2]), why=_NO_TYPE)
        return [tensor(dtype, (batch, new, value[1] * value[3])), gone, gone, scores]
    if not call.has(5) or not call.has(6):
        raise NotKnown("DecoderMaskedMultiHeadAttention without a cache: how wide its values are is not said")
    past, past_values = ranked(call, 5, 4), ranked(call, 6, 4)
    shared = call.attr_int("past_present_share_buffer", 0)
    total = (one_size(call, 7) if shared else past[2]) + new
    present = [past, past_values] if shared else [(*each[:2], total, each[3]) for each in (past, past_values)]
    return [
        tensor(dtype, (batch, new, heads * past_values[3])),
        *(tensor(dtype, each) for each in present),
        Known(None, (batch, heads, new, total), why=_NO_TYPE),
    ]


def _head_size(call: Call, width: Dim) -> Dim:
    """H by the width of the query, which holds keys and values too where those are not apart."""
    heads = _heads(call)
    return width // heads if call.has(1) else width // (heads + 2 * _heads(call, "kv_num_heads"))


def _group_query(call: Call) -> list[Known]:
    batch, new, width = ranked(call, 0, 3)
    heads, kv_heads, each = _heads(call), _heads(call, "kv_num_heads"), _head_size(call, width)
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
    each = _head_size(call, width)
    fresh = tensor(call.dtype(0), (batch, _heads(call, "kv_num_heads"), new, each))
    present = [like(call.known(at), ranked(call, at, 4)) if call.has(at) else fresh for at in (3, 4)]
    return [tensor(call.dtype(0), (batch, new, _heads(call) * each)), *present]


def _paged(call: Call) -> list[Known]:
    # tokens without padding [T, D]; the caches are blocks that the operator writes in place
    tokens, width = ranked(call, 0, 2)
    each = call.attr_int("v_head_size", 0) or _head_size(call, width)
    caches = [like(call.known(at), call.shape(at)) for at in (3, 4) if call.has(at)]
    return [tensor(call.dtype(0), (tokens, _heads(call) * each)), *caches]


def _decoder_attention(call: Call) -> list[Known]:
    # [S, B, D]: here the sequence comes first
    (new, batch, width), heads = ranked(call, 0, 3), _heads(call)
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
    return [tensor(call.dtype(0), (batch, _heads(call), length, length))]


def _remove_padding(call: Call) -> list[Known]:
    batch, length, width = ranked(call, 0, 3)
    counts: Dim = Unknown("RemovePadding: how many tokens are not padding depends on the data")
    if call.value(1) is not None:
        counts = sum(sizes(call, 1), start=0)
    offsets = [tensor("int32", shape) for shape in ((batch, length), (batch + 1,), (1,))]
    return [tensor(call.dtype(0), (counts, width)), *offsets]


def _restore_padding(call: Call) -> list[Known]:
    return [tensor(call.dtype(0), (*ranked(call, 1, 2), ranked(call, 0, 2)[1]))]


OPERATORS: dict[str, Operator] = {
    "Attention": Operator(_attention),
    "DecoderAttention": Operator(_decoder_attention),
    "DecoderMaskedMultiHeadAttention": Operator(_decoder_multi_head),
    "DecoderMaskedSelfAttention": Operator(_attention),
    "DynamicSparseAttention": Operator(_cached_group_query),
    "GatedRelativePositionBias": Operator(_gated_relative_position),
    "GemmaRotaryEmbedding": Operator(_gemma_rotary),
    "GroupQueryAttention": Operator(_group_query),
    "LongformerAttention": Operator(same),
    "MRotaryEmbedding": Operator(same),
    "MultiHeadAttention": Operator(_multi_head),
    "PackedAttention": Operator(_packed_attention),
    "PackedMultiHeadAttention": Operator(_packed_multi_head),
    "PagedAttention": Operator(_paged),
    "QAttention": Operator(_quantized_attention),
    "QOrderedAttention": Operator(_ordered_attention),
    "QOrderedLongformerAttention": Operator(same),
    "RelativePositionBias": Operator(_relative_position),
    "RemovePadding": Operator(_remove_padding),
    "RestorePadding": Operator(_restore_padding),
    "RotaryEmbedding": Operator(same),
    "SparseAttention": Operator(_cached_group_query),
    "SparsePagedAttention": Operator(_paged),
}
