"""Attention over a sequence, what it rotates and what it caches."""

from onnx_autodoc.ops._attention_shapes import heads_of
from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, Price, free
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, tensor
from onnx_autodoc.ops._operator import Cached, Operator, constants
from onnx_autodoc.ops._partial_reads import read_of
from onnx_autodoc.ops._ranks import deep, parted
from onnx_autodoc.ops._state_prices import linear_attention
from onnx_autodoc.ops.elementwise import same


def _attention(call: Call) -> list[Known]:
    """Y, the keys and values with those of the past before them, the scores."""
    q, k, v = (_heads(call, at, name) for at, name in ((0, "q_num_heads"), (1, "kv_num_heads"), (2, "kv_num_heads")))
    batch, heads, steps, _ = q
    parted(call, heads, k[1], "heads of queries")
    y: Shape = (batch, steps, heads * v[3]) if call.rank(0) == 3 else (batch, heads, steps, v[3])
    keys, values = _with_past(call, 4, k), _with_past(call, 5, v)
    return [
        tensor(call.dtype(0), y),
        tensor(call.dtype(1), keys),
        tensor(call.dtype(2), values),
        tensor(call.dtype(0), (batch, heads, steps, keys[2])),
    ]


def _heads(call: Call, at: int, name: str) -> tuple[Dim, Dim, Dim, Dim]:
    """[batch, heads, steps, size of a head], unpacked where the input is [batch, steps, heads * size]."""
    shape = call.shape(at)
    if len(shape) == 4:
        batch, heads, steps, size = shape
        return batch, heads, steps, size
    if len(shape) != 3:
        raise Contradiction(f"{call.node.op} of {len(shape)} dimensions, not 3 or 4")
    batch, steps, packed = shape
    return batch, call.attr_required(name), steps, _size_of_head(call, packed, name)


def _size_of_head(call: Call, packed: Dim, name: str) -> Dim:
    heads = call.attr_required(name)
    if heads < 1 or (type(packed) is int and packed % heads):
        raise Contradiction(f"{call.node.op}'s {packed} features do not split into {heads} heads")
    return packed // heads


def _with_past(call: Call, at: int, now: tuple[Dim, Dim, Dim, Dim]) -> tuple[Dim, Dim, Dim, Dim]:
    if not call.has(at):
        return now
    past, (batch, heads, steps, size) = call.shape(at), now
    if len(past) != 4:
        raise Contradiction(f"{call.node.op}'s past has {len(past)} dimensions, not 4")
    return batch, heads, past[2] + steps, size


def _rotary(call: Call) -> list[Known]:
    x = call.shape(0)
    if len(x) == 3:
        _size_of_head(call, x[2], "num_heads")
    return same(call)


def _linear_attention(call: Call) -> list[Known]:
    """Y [B, T, q heads * d_v], state [B, kv heads, d_k, d_v] from query and key of d_k per head, value of d_v."""
    q, v = call.shape(0), call.shape(2)
    if len(q) != 3 or len(v) != 3:
        raise Contradiction(f"LinearAttention of {len(q)} and {len(v)} dimensions, not 3")
    d_k, d_v = _size_of_head(call, q[2], "q_num_heads"), _size_of_head(call, v[2], "kv_num_heads")
    state = (q[0], call.attr_required("kv_num_heads"), d_k, d_v)
    y = (q[0], q[1], call.attr_required("q_num_heads") * d_v)
    return [tensor(call.dtype(0), y), tensor(call.dtype(3 if call.has(3) else 0), state)]


def scores_cost(queries: Shape, keys: Dim, value: Dim, each: int = 6) -> Cost:
    """Attention of queries [batch, heads, steps, size of a head] over so many keys, with values of so many elements.

    Queries times keys, scores times values; `each` is the other arithmetic of a score: 1 for the scale, 5 for Softmax.
    """
    batch, heads, steps, head = queries
    scores = batch * heads * steps * keys
    return Cost(scores * (head + value), scores * each)


def _attention_cost(call: Call) -> Cost:
    """queries · keys · (size of a key + size of a value) multiply-adds for each head; 6 per score: scale, Softmax; 1
    for a mask, 3 for a cap"""
    q, k, v = _heads(call, 0, "q_num_heads"), _heads(call, 1, "kv_num_heads"), _heads(call, 2, "kv_num_heads")
    capped = call.attr_float("softcap", 0.0) > 0
    return scores_cost(q, _with_past(call, 4, k)[2], v[3], 6 + call.has(3) + 3 * capped)


def rotary(tables_at: int) -> Price:
    """The price of turning by angles; the tables of cosines and sines are at this input and the next."""

    def price(call: Call) -> Cost:
        """3 per rotated element: two multiplications, one addition; reads a row of the tables for each token"""
        x, part = deep(call, 0, 3), call.attr_int("rotary_embedding_dim", 0)
        elements, tokens = size(x), x[0] * x[-2]
        if part > 0:
            elements = tokens * part * (x[1] if len(x) == 4 else heads_of(call))
        return Cost(other=3 * elements, read=read_of(call, {tables_at: (0, tokens), tables_at + 1: (0, tokens)}))

    return price


OPERATORS: dict[str, Operator] = {
    "Attention": Operator(_attention, cost=_attention_cost, caches=(Cached(4, 1), Cached(5, 2))),
    "LinearAttention": Operator(_linear_attention, cost=linear_attention),
    "RotaryEmbedding": Operator(_rotary, cost=rotary(1), parts=constants(1, 2)),
    "TensorScatter": Operator(same, cost=free, caches=(Cached(0, 0, axis="axis"),)),
}
