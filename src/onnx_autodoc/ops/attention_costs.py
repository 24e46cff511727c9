"""Dims and costs of com.microsoft attention operators."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from msgspec import Struct

from onnx_autodoc.ops.attention import heads_of, scores_cost
from onnx_autodoc.ops.call import Call, shape_of_min_rank, shape_of_rank, size, size_element
from onnx_autodoc.ops.cost import Cost, CostRule, bytes_read, bytes_written
from onnx_autodoc.ops.fused_costs import sum_costs
from onnx_autodoc.ops.values import Contradiction, Dim, InferenceError, Shape, Unknown


class AttentionDims(Struct, frozen=True):
    """Queries [B, N, S, H] over `total` keys; new keys and values [B, N, L, H]; width of the output."""

    queries: Shape
    total: Dim
    keys: Shape
    values: Shape
    width: Dim


def qkv_widths(call: Call) -> Shape:
    """Return the widths of Q, K and V in the merged weight at input 1."""
    widths = call.attr_ints("qkv_hidden_sizes")
    if widths and len(widths) != 3:
        raise Contradiction(f"{call.node.op} requires three qkv_hidden_sizes, got {len(widths)}")
    return widths or (shape_of_rank(call, 1, 2)[1] // 3,) * 3


def shares_buffer(call: Call) -> bool:
    return call.attr_int("past_present_share_buffer", 0) != 0


def merged_dims(call: Call, past_at: int, length_at: int) -> AttentionDims:
    """Return the dims for [B, S, D] and a merged weight; keys and values share a cache [2, B, N, P, H]."""
    (batch, new, _), heads, (query, _, value) = shape_of_rank(call, 0, 3), heads_of(call), qkv_widths(call)
    total = new
    if call.has(past_at) and shares_buffer(call):
        if not call.has(length_at):
            raise InferenceError(f"{call.node.op}: the used length of its shared KV cache is unknown")
        total = size_element(call, length_at) + new
    elif call.has(past_at):
        total = shape_of_rank(call, past_at, 5)[3] + new
    keys, values = (batch, heads, new, query // heads), (batch, heads, new, value // heads)
    return AttentionDims(keys, total, keys, values, value)


def multi_head_dims(call: Call) -> AttentionDims:
    """Return the dims of MultiHeadAttention, packed or not."""
    query, heads = call.shape(0), heads_of(call)
    if len(query) == 5:  # packed q, k, v: [B, S, N, 3, H]
        packed = (query[0], query[2], query[1], query[4])
        return AttentionDims(packed, _count_keys(call, packed), packed, packed, query[2] * query[4])
    batch, new, query_width = shape_of_rank(call, 0, 3)
    width, keys, values = _keys_and_values(call, heads)
    return AttentionDims((batch, heads, new, query_width // heads), _count_keys(call, keys), keys, values, width)


def _keys_and_values(call: Call, heads: int) -> tuple[Dim, Shape, Shape]:
    """Return the width of the output, and new keys and values as [B, N, L, H]."""
    batch, _, width = shape_of_rank(call, 0, 3)
    if not call.has(1):
        raise InferenceError(f"{call.node.op} without a key: the widths of query, key and value are unknown")
    key = call.shape(1)
    if len(key) == 5:  # packed k, v: [B, L, N, 2, H]
        packed = (key[0], key[2], key[1], key[4])
        return width, packed, packed
    if len(key) == 4:  # keys and values of a cross attention: [B, N, L, H]
        value = shape_of_rank(call, 2, 4)
        return value[1] * value[3], key, value
    (_, length, key_width), value_width = shape_of_rank(call, 1, 3), shape_of_rank(call, 2, 3)[2]
    keys, values = (batch, heads, length, key_width // heads), (batch, heads, length, value_width // heads)
    return value_width, keys, values


def crosses(call: Call) -> bool:
    """Whether it is cross attention: its cached keys have 4 dimensions."""
    return call.has(1) and call.rank(1) == 4


def _count_keys(call: Call, keys: Shape) -> Dim:
    """Return the number of past and new keys."""
    if not call.has(6) or crosses(call):
        return keys[2]
    past = shape_of_rank(call, 6, 4)
    return (size_element(call, 8) if call.has(8) else past[2]) + keys[2]


def decoder_dims(call: Call) -> AttentionDims:
    """Return the dims of DecoderMaskedMultiHeadAttention: one new token, [B, 1, D]."""
    (batch, new, _), heads = shape_of_rank(call, 0, 3), heads_of(call)
    if crosses(call):  # over [B, N, L, H]
        key, value = call.shape(1), shape_of_rank(call, 2, 4)
        return AttentionDims((batch, heads, new, key[3]), key[2], key, value, value[1] * value[3])
    if not call.has(5) or not call.has(6):
        raise InferenceError(f"{call.node.op} without a KV cache: the width of its values is unknown")
    past, past_values = shape_of_rank(call, 5, 4), shape_of_rank(call, 6, 4)
    total = (size_element(call, 7) if shares_buffer(call) else past[2]) + new
    keys, values = (batch, heads, new, past[3]), (batch, heads, new, past_values[3])
    return AttentionDims(keys, total, keys, values, heads * values[3])


def head_size(call: Call, width: Dim) -> Dim:
    """Return H from the width of the query, which may include keys and values."""
    heads = heads_of(call)
    return width // heads if call.has(1) else width // (heads + 2 * heads_of(call, "kv_num_heads"))


ABSENT = 1 << 10  # index of an input that an operator lacks

_SCORES = "queries · keys · (key size + value size) MACs per head; 6 FLOPs per score: scale, Softmax"
_MERGED = (
    "one MAC per weight element and token, 1 FLOP per projected element for a bias; over past and new keys, "
    f"{_SCORES}; 1 more per score for each of mask and score bias; 3 per rotated element"
)


def _score_cost(call: Call, dims: AttentionDims, *masks: int) -> Cost:
    return scores_cost(dims.queries, dims.total, dims.values[3], 6 + sum(map(call.has, masks)))


def _in_place(call: Call, cost: Cost, dims: AttentionDims, caches: dict[int, int], axis: int) -> Cost:
    """Count the used part of a cache in a longer buffer as read, and new tokens as written."""
    new = dims.keys[2]
    read = bytes_read(call, dict.fromkeys(caches, (axis, dims.total - new)))
    return Cost(cost.macs, cost.other, read, bytes_written(call, dict.fromkeys(caches.values(), (axis, new))))


# with projections inside
def merged(past_at: int, length_at: int, masks: tuple[int, ...], scaled: int = 0) -> CostRule:
    """Return the rule of attention with a merged QKV weight; `scaled`: operations per projected element."""

    def rule(call: Call) -> Cost:
        dims, weight = merged_dims(call, past_at, length_at), shape_of_rank(call, 1, 2)
        tokens = dims.queries[0] * dims.queries[2]
        projected = Cost(tokens * size(weight), tokens * weight[1] * (scaled + call.has(2)))
        cost = sum_costs(projected, _score_cost(call, dims, *masks))
        if call.attr_int("do_rotary", 0):  # of new queries and keys, whole or in part
            batch, heads, new, head = dims.queries
            rotated = batch * heads * new * (call.attr_int("rotary_embedding_dim", 0) or head)
            cost = Cost(cost.macs, cost.other + 3 * 2 * rotated)
        shared = call.has(past_at) and shares_buffer(call)
        return _in_place(call, cost, dims, {past_at: 1}, 3) if shared else cost

    rule.__doc__ = f"{_MERGED}; {scaled} per projected element for scales" if scaled else _MERGED
    return rule


def ordered(call: Call) -> Cost:
    """as Attention with three weights; 2 FLOPs per element of projections, scores, Softmax and output: scale, round"""
    (batch, new, _), heads = shape_of_rank(call, 0, 3), heads_of(call)
    weights = [shape_of_rank(call, at, 2) for at in (5, 6, 7)]
    tokens, widths = batch * new, [weight[1] for weight in weights]
    biases = sum((size(call.shape(at)) for at in (11, 12, 13) if call.has(at)), start=0)
    projected = Cost(tokens * sum(map(size, weights), start=0), tokens * (biases + 2 * sum(widths, start=0)))
    masks = call.has(17) + call.has(19)
    scores = scores_cost((batch, heads, new, widths[0] // heads), new, widths[2] // heads, 10 + masks)
    return sum_costs(projected, scores, Cost(other=2 * size(call.output())))


# tokens of many sequences without padding
def packed(call: Call) -> Cost:
    """as Attention, over the keys of the query's sequence; unknown if the sequence lengths are data-dependent"""
    (tokens, _), weight = shape_of_rank(call, 0, 2), shape_of_rank(call, 1, 2)
    heads, widths = heads_of(call), qkv_widths(call)
    projected = Cost(tokens * size(weight), tokens * weight[1] * call.has(2))
    queries = (1, heads, 1, widths[0] // heads)
    return sum_costs(projected, scores_cost(queries, _squares(call, 4), widths[2] // heads, 6 + call.has(5)))


def packed_multi_head(call: Call) -> Cost:
    """as MultiHeadAttention, over the keys of the query's sequence; unknown if the sequence lengths are
    data-dependent"""
    query, heads = shape_of_min_rank(call, 0, 2), heads_of(call)
    if len(query) == 4:  # [T, N, 3, H]
        keys = values = query[3]
    else:
        keys, values = query[1] // heads, shape_of_rank(call, 2, 2)[1] // heads
    scores = scores_cost((1, heads, 1, keys), _squares(call, 5), values, 6 + call.has(6))
    return sum_costs(scores, Cost(other=query[0] * heads * (2 * keys + values) * call.has(3)))


def _squares(call: Call, at: int) -> Dim:
    """Return the number of scores of one head."""
    return sum((length * length for length in lengths(call, at)), start=0)


def lengths(call: Call, at: int) -> list[Dim]:
    """Return the lengths of sequences from their offsets."""
    offsets = call.ints(at)
    if not offsets:
        raise Contradiction(f"{call.node.op} requires at least one sequence")
    return [end - begin for begin, end in pairwise(offsets)]


# after the projections
def multi_head(call: Call) -> Cost:
    dims = multi_head_dims(call)
    cost = sum_costs(_score_cost(call, dims, 4, 5), _biases(call, dims, 3))
    shared = call.has(6) and call.has(8) and not crosses(call)
    return _in_place(call, cost, dims, {6: 1, 7: 2}, 2) if shared else cost


def decoder_multi_head(call: Call) -> Cost:
    dims = decoder_dims(call)
    cost = sum_costs(_score_cost(call, dims, 3, 4), _biases(call, dims, 10))
    shared = shares_buffer(call) and not crosses(call)
    return _in_place(call, cost, dims, {5: 1, 6: 2}, 2) if shared else cost


multi_head.__doc__ = decoder_multi_head.__doc__ = (
    f"over past and new keys, {_SCORES}; 1 more per score for each of mask and score bias; 1 per element of queries "
    "and new keys and values for a bias"
)


def _biases(call: Call, dims: AttentionDims, at: int) -> Cost:
    """Return the cost of biases; keys and values of cross attention have theirs already."""
    if not call.has(at):
        return Cost()
    new = 0 if crosses(call) else size(dims.keys) + size(dims.values)
    return Cost(other=size(dims.queries) + new)


# positions
def gemma_rotary(call: Call) -> Cost:
    """3 FLOPs per element of queries and keys: two multiplies, one add; 2 per angle: sin, cos"""
    return Cost(other=3 * (size(call.shape(1)) + size(call.shape(3))) + 2 * size(call.shape(0)))


def relative_position(call: Call) -> Cost:
    """11 FLOPs per query-key pair, 13 if bidirectional, to compute the table index of their distance"""
    return Cost(other=(13 if call.attr_int("is_bidirectional", 0) else 11) * size(call.output()[2:]))


def gated_relative_position(call: Call) -> Cost:
    """head size · gate width MACs per token and head; 1 FLOP per element of the queries and of the output, 2 per gate
    before the sum, 6 per token and head"""
    query, heads, gates = shape_of_min_rank(call, 0, 2), heads_of(call), shape_of_rank(call, 3, 2)
    rows = size(query[:-1]) * heads
    return Cost(rows * size(gates), size(query) + rows * (2 * gates[1] + 6) + size(call.output()))


class OptionalInputs(Struct, frozen=True):
    """Optional inputs that add to the cost."""

    cos: int  # the sines follow
    bias: int = ABSENT
    sink: int = ABSENT
    norm: int = ABSENT  # of queries; that of keys follows


class AttendedKeys(Struct, frozen=True):
    """Over all sequences: new queries, new keys, keys read; over all heads: scores."""

    tokens: Dim
    fresh: Dim
    keys: Dim
    scores: Dim
    total: Dim | None = None  # keys of the longest sequence, if its cache is contiguous


_GROUPED = (
    "queries · keys · (key size + value size) MACs per query head, {}; 6 FLOPs per score: scale, Softmax; 1 more per "
    "score for a bias, 3 for a softcap; for queries and new keys, 3 per rotated element, and RMSNormalization if they "
    "are normalized; 2 per query and head for a sink; 2 per element written to a quantized cache, 1 per element read"
)


def grouped(attend: Callable[[Call], AttendedKeys], at: OptionalInputs, over: str) -> CostRule:
    """Return the rule of attention over the keys that `attend` counts; `over` describes them."""

    def rule(call: Call) -> Cost:
        attended, head = attend(call), head_size(call, shape_of_min_rank(call, 0, 2)[-1])
        value, capped = call.attr_int("v_head_size", 0) or head, call.attr_float("softcap", 0.0) > 0
        scores = scores_cost((1, 1, 1, head), attended.scores, value, 6 + call.has(at.bias) + 3 * capped)
        sinks = attended.tokens * heads_of(call) * (call.has(at.sink) or call.attr_int("smooth_softmax", 0) == 1)
        quantized = sum(call.attr_text(name, "NONE") != "NONE" for name in ("k_quant_type", "v_quant_type"))
        stored = quantized * heads_of(call, "kv_num_heads") * head * (2 * attended.fresh + attended.keys)
        row: Dim = 4 * head + 3 if call.has(at.norm) else 0  # operations on one head of one new query or key
        if call.attr_int("do_rotary", 0):
            row = row + 3 * (2 * shape_of_min_rank(call, at.cos)[-1] if call.has(at.cos) else head)
        prepared = row * (attended.tokens * heads_of(call) + attended.fresh * heads_of(call, "kv_num_heads"))
        other = prepared + stored + 2 * sinks
        return _count_partial_access(call, Cost(scores.macs, scores.other + other), attended, at)

    rule.__doc__ = _GROUPED.format(over)
    return rule


def _count_partial_access(call: Call, cost: Cost, attended: AttendedKeys, at: OptionalInputs) -> Cost:
    """Count one row of the tables per token as read, and the used part of a cache."""
    rows = dict.fromkeys((at.cos, at.cos + 1), (0, attended.tokens))
    if attended.total is None or not call.has(3) or not call.has(4):
        return Cost(cost.macs, cost.other, bytes_read(call, rows))
    new, capacity, written = _new_keys(call), shape_of_rank(call, 3, 4)[2], None
    if type(capacity) is int and type(attended.total) is int and capacity >= attended.total:
        written = bytes_written(call, {1: (2, new), 2: (2, new)})
    caches = dict.fromkeys((3, 4), (2, attended.total - new))
    return Cost(cost.macs, cost.other, bytes_read(call, rows | caches), written)


def group_query(call: Call) -> AttendedKeys:
    (batch, new, _), fresh, total = shape_of_rank(call, 0, 3), _new_keys(call), _total(call)
    attended, window = total, call.attr_int("local_window_size", -1)
    if call.attr_int("sliding_window_cache", 0) and window > 0:
        longest = window + new - 1  # the cache stores no more than the first query attends to
        unknown = next((dim for dim in (total, longest) if isinstance(dim, Unknown)), None)
        attended = min(total, longest) if unknown is None else unknown
    return AttendedKeys(batch * new, batch * fresh, batch * attended, batch * heads_of(call) * new * attended, attended)


def _new_keys(call: Call) -> Dim:
    return shape_of_rank(call, 1, 3)[1] if call.has(1) else shape_of_rank(call, 0, 3)[1]


def _total(call: Call) -> Dim:
    """Return the number of past and new keys; a cache may be longer."""
    if not call.has(3) or shape_of_rank(call, 3, 4)[2] == 0:
        return _new_keys(call)
    if call.value(6) is None and call.value(5) is not None:
        last_keys = call.ints(5)
        if last_keys and not any(isinstance(key, Unknown) for key in last_keys):
            return max(last_keys) + 1
    return size_element(call, 6)


def paged(call: Call) -> AttendedKeys:
    """Count keys of tokens [T, D]; input 5 has offsets of sequences, input 6 their cached lengths."""
    tokens, new, past = shape_of_rank(call, 0, 2)[0], lengths(call, 5), call.ints(6)
    if len(new) != len(past):
        raise Contradiction(f"{call.node.op} has new tokens for {len(new)} and past lengths for {len(past)} sequences")
    keys = [fresh + cached for fresh, cached in zip(new, past, strict=True)]
    pairs = sum((queries * count for queries, count in zip(new, keys, strict=True)), start=0)
    return AttendedKeys(tokens, tokens, sum(keys, start=0), heads_of(call) * pairs)


def selected(selected_at: int) -> Callable[[Call], AttendedKeys]:
    """Return the keys of queries that attend to the selected ones, and to a local window."""

    def attend(call: Call) -> AttendedKeys:
        tokens = size(shape_of_min_rank(call, 0, 2)[:-1])
        window: Dim = 0
        if call.attr_text("attention_mode", "selected_only") != "selected_only":
            window = call.attr_int("local_window_size", -1)
            if window < 0:
                window = Unknown(f"{call.node.op}: the number of keys in the local window is data-dependent")
        pairs = tokens * (shape_of_rank(call, selected_at, 2)[1] + window)
        return AttendedKeys(tokens, tokens, pairs, heads_of(call) * pairs)

    return attend


def block_sparse(call: Call) -> AttendedKeys:
    """Count the keys of queries that attend to the blocks listed in the row of their own block."""
    (batch, new, _), total = shape_of_rank(call, 0, 3), size_element(call, 7)
    side, starts = call.attr_required("sparse_block_size"), call.value(5)  # [layouts, rows + 1]: the start of each row
    if starts is None or starts.dtype == object:
        raise InferenceError(f"{call.node.op}: the skipped blocks of keys are known only at run time")
    if starts.ndim != 2 or side < 1:
        raise Contradiction(
            f"{call.node.op} requires positive blocks and row offsets of rank 2, got {side} and shape {starts.shape}"
        )
    blocks: list[int] = np.diff(starts, axis=1).sum(axis=0).tolist()
    turns = heads_of(call) // max(len(starts), 1)  # heads take the layouts in turn
    scores = batch * turns * side * _sum_blocks(call, blocks, side, total, new)
    return AttendedKeys(batch * new, batch * new, batch * total, scores, total)


def _sum_blocks(call: Call, blocks: list[int], side: int, total: Dim, new: Dim) -> Dim:
    """Return the sum of the blocks of the last `new` of `total` queries."""
    if isinstance(total, Unknown) or isinstance(new, Unknown):
        return total if isinstance(total, Unknown) else new
    if not new <= total <= side * len(blocks):
        raise Contradiction(
            f"{call.node.op} has inconsistent sizes: new tokens {new}, total tokens {total}, block rows {len(blocks)}"
        )
    first = total - new
    rows = range(first // side, -(-total // side))
    return sum(blocks[row] * (min(total, (row + 1) * side) - max(first, row * side)) for row in rows)
