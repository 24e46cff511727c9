"""What onnxruntime's attention costs where several queries share a key: GroupQueryAttention and its sparse kin.

A score is one query with one key; all are computed, masked or not.
"""

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from onnx_autodoc.ops._attention_prices import ABSENT, lengths
from onnx_autodoc.ops._attention_shapes import head_size, heads_of
from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, Price
from onnx_autodoc.ops._known import Contradiction, Dim, NotKnown, Unknown
from onnx_autodoc.ops._partial_reads import read_of, written_of
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._sizes import one_size
from onnx_autodoc.ops.attention import scores_cost


class Places(Struct, frozen=True):
    """The inputs that add to the price, where an operator has them."""

    cos: int  # the sines follow
    bias: int = ABSENT
    sink: int = ABSENT
    norm: int = ABSENT  # of queries; that of keys follows


class Seen(Struct, frozen=True):
    """Over all sequences: new queries, new keys, keys that are read; over all heads too: scores."""

    tokens: Dim
    fresh: Dim
    keys: Dim
    scores: Dim
    total: Dim | None = None  # keys of the longest sequence, where those in a cache are in one piece


_GROUPED = (
    "queries · keys · (size of a key + size of a value) multiply-adds for each query head, {}; 6 per score: scale, "
    "Softmax; 1 for a bias, 3 for a cap; of queries and new keys 3 per rotated element and as RMSNormalization where "
    "they are normalized; 2 per query and head for a sink; 2 per element that a quantized cache takes in, 1 per "
    "element read of it"
)


def grouped(see: Callable[[Call], Seen], at: Places, over: str) -> Price:
    """The price of such attention; `see` tells how much there is to see, `over` says it."""

    def price(call: Call) -> Cost:
        seen, head = see(call), head_size(call, deep(call, 0, 2)[-1])
        value, capped = call.attr_int("v_head_size", 0) or head, call.attr_float("softcap", 0.0) > 0
        scores = scores_cost((1, 1, 1, head), seen.scores, value, 6 + call.has(at.bias) + 3 * capped)
        sinks = seen.tokens * heads_of(call) * (call.has(at.sink) or call.attr_int("smooth_softmax", 0) == 1)
        other = _prepared(call, seen, head, at) + _quantized(call, seen, head) + 2 * sinks
        return _moved(call, Cost(scores.macs, scores.other + other), seen, at)

    price.__doc__ = _GROUPED.format(over)
    return price


def _prepared(call: Call, seen: Seen, head: Dim, at: Places) -> Dim:
    """Queries and new keys are normalized, then rotated, whole or in part."""
    each: Dim = 4 * head + 3 if call.has(at.norm) else 0
    if call.attr_int("do_rotary", 0):
        each = each + 3 * (2 * deep(call, at.cos)[-1] if call.has(at.cos) else head)
    return each * (seen.tokens * heads_of(call) + seen.fresh * heads_of(call, "kv_num_heads"))


def _quantized(call: Call, seen: Seen, head: Dim) -> Dim:
    """What a quantized cache takes in is scaled and rounded, what is read of it is scaled back."""
    kinds = [call.attr_text(name, "NONE") for name in ("k_quant_type", "v_quant_type")]
    count = sum(kind != "NONE" for kind in kinds)
    return count * heads_of(call, "kv_num_heads") * head * (2 * seen.fresh + seen.keys)


def _moved(call: Call, cost: Cost, seen: Seen, at: Places) -> Cost:
    """Of the tables, a row for each token is read; of a cache with room for more, what is in use."""
    rows = dict.fromkeys((at.cos, at.cos + 1), (0, seen.tokens))
    if seen.total is None or not call.has(3) or not call.has(4):
        return Cost(cost.macs, cost.other, read_of(call, rows))
    new, room, written = _new_keys(call), ranked(call, 3, 4)[2], None
    if type(room) is int and type(seen.total) is int and room >= seen.total:
        written = written_of(call, {1: (2, new), 2: (2, new)})
    caches = dict.fromkeys((3, 4), (2, seen.total - new))
    return Cost(cost.macs, cost.other, read_of(call, rows | caches), written)


# which keys are seen
def group_query(call: Call) -> Seen:
    (batch, new, _), fresh, total = ranked(call, 0, 3), _new_keys(call), _total(call)
    seen, window = total, call.attr_int("local_window_size", -1)
    if call.attr_int("sliding_window_cache", 0) and window > 0:
        seen = _least(total, window + new - 1)  # the cache does not hold more than the first query sees
    return Seen(batch * new, batch * fresh, batch * seen, batch * heads_of(call) * new * seen, seen)


def _new_keys(call: Call) -> Dim:
    return ranked(call, 1, 3)[1] if call.has(1) else ranked(call, 0, 3)[1]


def _total(call: Call) -> Dim:
    """Past and new keys. A cache may be longer: it does not tell, unless there is nothing in it."""
    if not call.has(3) or ranked(call, 3, 4)[2] == 0:
        return _new_keys(call)
    if call.value(6) is None and call.value(5) is not None:
        last = call.ints(5)
        if last and not any(isinstance(each, Unknown) for each in last):
            return max(last) + 1
    return one_size(call, 6)


def _least(one: Dim, other: Dim) -> Dim:
    if isinstance(one, Unknown) or isinstance(other, Unknown):
        return one if isinstance(one, Unknown) else other
    return min(one, other)


def paged(call: Call) -> Seen:
    """Tokens [T, D] of sequences that begin at input 5, each after so many cached ones at input 6."""
    tokens, new, past = ranked(call, 0, 2)[0], lengths(call, 5), call.ints(6)
    if len(new) != len(past):
        raise Contradiction(f"{call.node.op} of {len(new)} sequences with a past for {len(past)}")
    keys = [one + other for one, other in zip(new, past, strict=True)]
    pairs = sum((one * other for one, other in zip(new, keys, strict=True)), start=0)
    return Seen(tokens, tokens, sum(keys, start=0), heads_of(call) * pairs)


def selected(selected_at: int) -> Callable[[Call], Seen]:
    """Each query sees as many keys as may be selected for it, and a window where it has one."""

    def see(call: Call) -> Seen:
        tokens = size(deep(call, 0, 2)[:-1])
        pairs = tokens * (ranked(call, selected_at, 2)[1] + _window(call))
        return Seen(tokens, tokens, pairs, heads_of(call) * pairs)

    return see


def _window(call: Call) -> Dim:
    if call.attr_text("attention_mode", "selected_only") == "selected_only":
        return 0
    window = call.attr_int("local_window_size", -1)
    return window if window >= 0 else Unknown(f"{call.node.op}: how many keys are near a query, the data decide")


def block_sparse(call: Call) -> Seen:
    """Each query sees whole blocks: those in the row of its own block."""
    (batch, new, _), total, side = ranked(call, 0, 3), one_size(call, 7), call.attr_required("sparse_block_size")
    starts = call.value(5)  # [layouts, rows + 1]: where each row begins, for each layout
    if starts is None or starts.dtype == object:
        raise NotKnown(f"{call.node.op}: which blocks of keys it leaves out is only known when the model runs")
    if starts.ndim != 2 or side < 1:
        raise Contradiction(f"{call.node.op} with blocks of {side} tokens and rows {starts.shape}")
    blocks: list[int] = np.diff(starts, axis=1).sum(axis=0).tolist()
    turns = heads_of(call) // max(len(starts), 1)  # heads take the layouts in turn
    return Seen(
        batch * new, batch * new, batch * total, batch * turns * side * _rows(call, blocks, side, total, new), total
    )


def _rows(call: Call, blocks: list[int], side: int, total: Dim, new: Dim) -> Dim:
    """The blocks that each of the last `new` of `total` queries sees, in sum."""
    if isinstance(total, Unknown) or isinstance(new, Unknown):
        return total if isinstance(total, Unknown) else new
    if not new <= total <= side * len(blocks):
        raise Contradiction(f"{call.node.op} of {new} new tokens of {total}, in {len(blocks)} rows of blocks")
    first = total - new
    rows = range(first // side, -(-total // side))
    return sum(blocks[row] * (min(total, (row + 1) * side) - max(first, row * side)) for row in rows)
