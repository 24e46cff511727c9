"""What onnxruntime's attention costs where each query has its own key, and what it projects.

A score is one query with one key; all are computed, masked or not. B batch, S new tokens, N heads, H numbers of a head.
"""

from itertools import pairwise

from onnx_autodoc.ops._attention_shapes import (
    Sight,
    crosses,
    decoder_sight,
    heads_of,
    merged_sight,
    multi_head_sight,
    qkv_widths,
    shares_buffer,
)
from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, Price
from onnx_autodoc.ops._fusion import total
from onnx_autodoc.ops._known import Contradiction, Dim
from onnx_autodoc.ops._partial_reads import Cuts, read_of, written_of
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops.attention import scores_cost

ABSENT = 1 << 10  # where an operator has no such input

_SCORES = "queries · keys · (size of a key + size of a value) multiply-adds for each head; 6 per score: scale, Softmax"
_MERGED = (
    f"elements of the weight multiply-adds for each token, 1 per result of them for a bias; over past and new keys, "
    f"{_SCORES}; 1 for each of mask and bias of scores; 3 per rotated element"
)


def _seen(call: Call, sight: Sight, *masks: int, each: int = 6) -> Cost:
    return scores_cost(sight.queries, sight.total, sight.values[3], each + sum(map(call.has, masks)))


def _in_place(call: Call, cost: Cost, sight: Sight, caches: dict[int, int], axis: int) -> Cost:
    """A cache in a longer buffer: of the inputs, what is in use is read; of their outputs, the new is written."""
    new = sight.keys[2]
    read: Cuts = dict.fromkeys(caches, (axis, sight.total - new))
    return Cost(
        cost.macs, cost.other, read_of(call, read), written_of(call, dict.fromkeys(caches.values(), (axis, new)))
    )


# the projections are inside
def merged(past_at: int, length_at: int, masks: tuple[int, ...], scaled: int = 0) -> Price:
    """The price of attention with one weight for Q, K and V; `scaled`: other arithmetic of what it projects."""

    def price(call: Call) -> Cost:
        sight, weight = merged_sight(call, past_at, length_at), ranked(call, 1, 2)
        tokens = sight.queries[0] * sight.queries[2]
        projected = Cost(tokens * size(weight), tokens * weight[1] * (scaled + call.has(2)))
        cost = total(projected, _seen(call, sight, *masks), _rotated(call, sight))
        shared = call.has(past_at) and shares_buffer(call)
        return _in_place(call, cost, sight, {past_at: 1}, 3) if shared else cost

    price.__doc__ = f"{_MERGED}; {scaled} per projected element for scales" if scaled else _MERGED
    return price


def _rotated(call: Call, sight: Sight) -> Cost:
    """New queries and keys are rotated, whole or in part."""
    if not call.attr_int("do_rotary", 0):
        return Cost()
    batch, heads, new, head = sight.queries
    return Cost(other=3 * 2 * batch * heads * new * (call.attr_int("rotary_embedding_dim", 0) or head))


def ordered(call: Call) -> Cost:
    """as Attention, of three weights; 2 per element of what is projected, of scores, of their Softmax and of the
    output: scale, round"""
    (batch, new, _), heads, weights = ranked(call, 0, 3), heads_of(call), [ranked(call, at, 2) for at in (5, 6, 7)]
    tokens, widths = batch * new, [weight[1] for weight in weights]
    biases = sum((size(call.shape(at)) for at in (11, 12, 13) if call.has(at)), start=0)
    projected = Cost(tokens * sum(map(size, weights), start=0), tokens * (biases + 2 * sum(widths, start=0)))
    masks = call.has(17) + call.has(19)
    scores = scores_cost((batch, heads, new, widths[0] // heads), new, widths[2] // heads, 10 + masks)
    return total(projected, scores, Cost(other=2 * size(call.output())))


# tokens of many sequences without padding
def packed(call: Call) -> Cost:
    """as Attention, over the keys of each query's own sequence; not counted where only the data tell how long those
    are"""
    (tokens, _), weight, heads, widths = ranked(call, 0, 2), ranked(call, 1, 2), heads_of(call), qkv_widths(call)
    projected = Cost(tokens * size(weight), tokens * weight[1] * call.has(2))
    queries = (1, heads, 1, widths[0] // heads)
    return total(projected, scores_cost(queries, _squares(call, 4), widths[2] // heads, 6 + call.has(5)))


def packed_multi_head(call: Call) -> Cost:
    """as MultiHeadAttention, over the keys of each query's own sequence; not counted where only the data tell how long
    those are"""
    query, heads = deep(call, 0, 2), heads_of(call)
    if len(query) == 4:  # [T, N, 3, H]
        keys = values = query[3]
    else:
        keys, values = query[1] // heads, ranked(call, 2, 2)[1] // heads
    scores = scores_cost((1, heads, 1, keys), _squares(call, 5), values, 6 + call.has(6))
    return total(scores, Cost(other=query[0] * heads * (2 * keys + values) * call.has(3)))


def _squares(call: Call, at: int) -> Dim:
    """The scores of one head, by where each sequence begins and the last one ends."""
    return sum((length * length for length in lengths(call, at)), start=0)


def lengths(call: Call, at: int) -> list[Dim]:
    """Of sequences, by where each begins and the last one ends."""
    places = call.ints(at)
    if not places:
        raise Contradiction(f"{call.node.op} without sequences")
    return [end - begin for begin, end in pairwise(places)]


# the projections are before
def multi_head(call: Call) -> Cost:
    sight = multi_head_sight(call)
    cost = total(_seen(call, sight, 4, 5), _biases(call, sight, 3))
    shared = call.has(6) and call.has(8) and not crosses(call)
    return _in_place(call, cost, sight, {6: 1, 7: 2}, 2) if shared else cost


def decoder_multi_head(call: Call) -> Cost:
    sight = decoder_sight(call)
    cost = total(_seen(call, sight, 3, 4), _biases(call, sight, 10))
    shared = shares_buffer(call) and not crosses(call)
    return _in_place(call, cost, sight, {5: 1, 6: 2}, 2) if shared else cost


multi_head.__doc__ = decoder_multi_head.__doc__ = (
    f"over past and new keys, {_SCORES}; 1 for each of mask and bias of scores; 1 per element of queries and new keys "
    "and values for a bias"
)


def _biases(call: Call, sight: Sight, at: int) -> Cost:
    """Keys and values of a cross attention come with theirs."""
    if not call.has(at):
        return Cost()
    new = 0 if crosses(call) else size(sight.keys) + size(sight.values)
    return Cost(other=size(sight.queries) + new)


# positions
def gemma_rotary(call: Call) -> Cost:
    """3 per element of queries and keys: two multiplications, one addition; 2 per angle: sine, cosine"""
    return Cost(other=3 * (size(call.shape(1)) + size(call.shape(3))) + 2 * size(call.shape(0)))


def relative_position(call: Call) -> Cost:
    """11 per query and key, 13 where both directions count, to find the place of their distance in the table"""
    each = 13 if call.attr_int("is_bidirectional", 0) else 11
    return Cost(other=each * size(call.output()[2:]))


def gated_relative_position(call: Call) -> Cost:
    """size of a head · width of the gates multiply-adds for each token and head; 1 per element of the queries and of
    the output, 2 per gate before they are summed, 6 per token and head"""
    query, heads, gates = deep(call, 0, 2), heads_of(call), ranked(call, 3, 2)
    rows = size(query[:-1]) * heads
    return Cost(rows * size(gates), size(query) + rows * (2 * gates[1] + 6) + size(call.output()))
