"""The sizes that the shapes and the prices of onnxruntime's attention share.

B batch, S new tokens, P cached ones, L keys of this call, N heads, H numbers of a head.
"""

from msgspec import Struct

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._known import Contradiction, Dim, NotKnown, Shape
from onnx_autodoc.ops._ranks import ranked
from onnx_autodoc.ops._sizes import one_size


class Sight(Struct, frozen=True):
    """Queries [B, N, S, H] that see `total` keys; the keys and values [B, N, L, H] of this call; the result's width."""

    queries: Shape
    total: Dim
    keys: Shape
    values: Shape
    width: Dim


def heads_of(call: Call, name: str = "num_heads") -> int:
    heads = call.attr_required(name)
    if heads < 1:
        raise Contradiction(f"{call.node.op} with {heads} heads")
    return heads


def qkv_widths(call: Call) -> Shape:
    """The three widths of a merged Q, K, V weight at input 1; they are equal unless an attribute says otherwise."""
    widths = call.attr_ints("qkv_hidden_sizes")
    if widths and len(widths) != 3:
        raise Contradiction(f"{call.node.op} wants three qkv_hidden_sizes, there are {len(widths)}")
    return widths or (ranked(call, 1, 2)[1] // 3,) * 3


def shares_buffer(call: Call) -> bool:
    return call.attr_int("past_present_share_buffer", 0) != 0


def merged_sight(call: Call, past_at: int, length_at: int) -> Sight:
    """Of [B, S, D] with merged weights: keys and values are cached together, [2, B, N, P, H]."""
    (batch, new, _), heads, (query, _, value) = ranked(call, 0, 3), heads_of(call), qkv_widths(call)
    total = new
    if call.has(past_at) and shares_buffer(call):
        if not call.has(length_at):
            raise NotKnown(f"{call.node.op}: how much of its shared cache is in use is not said")
        total = one_size(call, length_at) + new
    elif call.has(past_at):
        total = ranked(call, past_at, 5)[3] + new
    keys, values = (batch, heads, new, query // heads), (batch, heads, new, value // heads)
    return Sight(keys, total, keys, values, value)


def multi_head_sight(call: Call) -> Sight:
    """Of MultiHeadAttention, packed or not."""
    query, heads = call.shape(0), heads_of(call)
    if len(query) == 5:  # packed q, k, v: [B, S, N, 3, H]
        packed = (query[0], query[2], query[1], query[4])
        return Sight(packed, _with_past(call, packed), packed, packed, query[2] * query[4])
    batch, new, wide = ranked(call, 0, 3)
    width, keys, values = _keys_and_values(call, heads)
    return Sight((batch, heads, new, wide // heads), _with_past(call, keys), keys, values, width)


def _keys_and_values(call: Call, heads: int) -> tuple[Dim, Shape, Shape]:
    """The width of the result, and the new keys and values as [B, N, L, H]."""
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
    (_, length, key_width), value_width = ranked(call, 1, 3), ranked(call, 2, 3)[2]
    keys, values = (batch, heads, length, key_width // heads), (batch, heads, length, value_width // heads)
    return value_width, keys, values


def crosses(call: Call) -> bool:
    """Keys of 4 dimensions are those of a cross attention, cached as they are."""
    return call.has(1) and call.rank(1) == 4


def _with_past(call: Call, keys: Shape) -> Dim:
    if not call.has(6) or crosses(call):
        return keys[2]
    past = ranked(call, 6, 4)
    return (one_size(call, 8) if call.has(8) else past[2]) + keys[2]


def decoder_sight(call: Call) -> Sight:
    """Of DecoderMaskedMultiHeadAttention: one new token, [B, 1, D]."""
    (batch, new, _), heads = ranked(call, 0, 3), heads_of(call)
    if crosses(call):  # over [B, N, L, H]
        key, value = call.shape(1), ranked(call, 2, 4)
        return Sight((batch, heads, new, key[3]), key[2], key, value, value[1] * value[3])
    if not call.has(5) or not call.has(6):
        raise NotKnown(f"{call.node.op} without a cache: how wide its values are is not said")
    past, past_values = ranked(call, 5, 4), ranked(call, 6, 4)
    total = (one_size(call, 7) if shares_buffer(call) else past[2]) + new
    keys, values = (batch, heads, new, past[3]), (batch, heads, new, past_values[3])
    return Sight(keys, total, keys, values, heads * values[3])


def head_size(call: Call, width: Dim) -> Dim:
    """H by the width of the query, which holds keys and values too where those are not apart."""
    heads = heads_of(call)
    return width // heads if call.has(1) else width // (heads + 2 * heads_of(call, "kv_num_heads"))
