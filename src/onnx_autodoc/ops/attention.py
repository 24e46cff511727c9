"""Attention over a sequence, what it rotates and what it caches."""

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._cost import Cost, each, free
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, tensor
from onnx_autodoc.ops._operator import Operator, constants
from onnx_autodoc.ops.elementwise import same

rotation = each(3, "two multiplications, one addition")


def _attention(call: Call) -> list[Known]:
    """Y, the keys and values with those of the past before them, the scores."""
    q, k, v = (_heads(call, at, name) for at, name in ((0, "q_num_heads"), (1, "kv_num_heads"), (2, "kv_num_heads")))
    batch, heads, steps, _ = q
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


def _linear_cost(call: Call) -> Cost:
    """for each step, size of a key · size of a value multiply-adds per query head and per key head, once more where the
    rule is delta; as many multiplications where it is gated"""
    (batch, steps, _), rule = call.shape(0), call.attr_text("update_rule", "gated_delta")
    d_k = _size_of_head(call, call.shape(0)[2], "q_num_heads")
    state = batch * steps * d_k * _size_of_head(call, call.shape(2)[2], "kv_num_heads")
    updates = call.attr_required("kv_num_heads") * (2 if "delta" in rule else 1)
    gates = call.attr_required("kv_num_heads") if "gated" in rule else 0
    return Cost(state * (call.attr_required("q_num_heads") + updates), state * gates)


OPERATORS: dict[str, Operator] = {
    "Attention": Operator(_attention, cost=_attention_cost),
    "LinearAttention": Operator(_linear_attention, cost=_linear_cost),
    "RotaryEmbedding": Operator(same, cost=rotation, parts=constants(1, 2)),
    "TensorScatter": Operator(same, cost=free),
}
