"""Attention, rotary embeddings and KV caches."""

from onnx_autodoc.ops.call import Call, check_divisible, shape_of_min_rank, shape_of_rank, size
from onnx_autodoc.ops.cost import Cost, CostRule, bytes_read, free
from onnx_autodoc.ops.input_constraints import ZERO, rotary_position
from onnx_autodoc.ops.operator import KVCacheInputs, Operator, Trait, WorkClass, constants
from onnx_autodoc.ops.shape_rules import same
from onnx_autodoc.ops.values import Contradiction, Dim, Shape, ValueInfo, tensor


def _attention(call: Call) -> list[ValueInfo]:
    """Infer the output, past and new keys and values, and the scores."""
    q, k, v = (_heads(call, at, name) for at, name in ((0, "q_num_heads"), (1, "kv_num_heads"), (2, "kv_num_heads")))
    batch, heads, steps, _ = q
    check_divisible(call, heads, k[1], "query heads")
    y: Shape = (batch, steps, heads * v[3]) if call.rank(0) == 3 else (batch, heads, steps, v[3])
    keys, values = _with_past(call, 4, k), _with_past(call, 5, v)
    return [
        tensor(call.dtype(0), y),
        tensor(call.dtype(1), keys),
        tensor(call.dtype(2), values),
        tensor(call.dtype(0), (batch, heads, steps, keys[2])),
    ]


def _heads(call: Call, at: int, name: str) -> tuple[Dim, Dim, Dim, Dim]:
    """Return an input as [batch, heads, steps, head size]; it may be [batch, steps, heads * head size]."""
    shape = call.shape(at)
    if len(shape) == 4:
        batch, heads, steps, head = shape
        return batch, heads, steps, head
    if len(shape) != 3:
        raise Contradiction(f"{call.node.op} requires rank 3 or 4, got rank {len(shape)}")
    batch, steps, packed = shape
    return batch, call.attr_required(name), steps, _head_size(call, packed, name)


def _head_size(call: Call, packed: Dim, name: str) -> Dim:
    heads = call.attr_required(name)
    if heads < 1 or (type(packed) is int and packed % heads):
        raise Contradiction(f"features of {call.node.op} ({packed}) are not divisible by its heads ({heads})")
    return packed // heads


def _with_past(call: Call, at: int, new: tuple[Dim, Dim, Dim, Dim]) -> tuple[Dim, Dim, Dim, Dim]:
    if not call.has(at):
        return new
    past, (batch, heads, steps, head) = call.shape(at), new
    if len(past) != 4:
        raise Contradiction(f"{call.node.op} requires rank 4 for its past, got rank {len(past)}")
    return batch, heads, past[2] + steps, head


def _rotary(call: Call) -> list[ValueInfo]:
    x = call.shape(0)
    if len(x) == 3:
        _head_size(call, x[2], "num_heads")
    return same(call)


def _linear_attention(call: Call) -> list[ValueInfo]:
    """Y [B, T, q heads * d_v], state [B, kv heads, d_k, d_v] from query and key of d_k per head, value of d_v."""
    q, v = call.shape(0), call.shape(2)
    if len(q) != 3 or len(v) != 3:
        raise Contradiction(f"LinearAttention requires rank 3 for query and value, got ranks {len(q)} and {len(v)}")
    d_k, d_v = _head_size(call, q[2], "q_num_heads"), _head_size(call, v[2], "kv_num_heads")
    state = (q[0], call.attr_required("kv_num_heads"), d_k, d_v)
    y = (q[0], q[1], call.attr_required("q_num_heads") * d_v)
    return [tensor(call.dtype(0), y), tensor(call.dtype(3 if call.has(3) else 0), state)]


def scores_cost(queries: Shape, keys: Dim, value: Dim, score_ops: int = 6) -> Cost:
    """Return the cost of queries [batch, heads, steps, head size] over `keys` keys and values of size `value`.

    `score_ops`: other operations per score, 1 for the scale and 5 for Softmax.
    """
    batch, heads, steps, head = queries
    scores = batch * heads * steps * keys
    return Cost(scores * (head + value), scores * score_ops)


def _attention_cost(call: Call) -> Cost:
    """queries · keys · (key size + value size) MACs per head; 6 FLOPs per score: scale, Softmax; 1 more per score for a
    mask, 3 for a softcap"""
    q, k, v = _heads(call, 0, "q_num_heads"), _heads(call, 1, "kv_num_heads"), _heads(call, 2, "kv_num_heads")
    capped = call.attr_float("softcap", 0.0) > 0
    return scores_cost(q, _with_past(call, 4, k)[2], v[3], 6 + call.has(3) + 3 * capped)


def rotary(tables_at: int) -> CostRule:
    """Return the rule of rotary embeddings; cosines and sines are at this input and the next."""

    def rule(call: Call) -> Cost:
        """3 FLOPs per rotated element: two multiplies, one add; reads one row of the tables per token"""
        x, part = shape_of_min_rank(call, 0, 3), call.attr_int("rotary_embedding_dim", 0)
        elements, tokens = size(x), x[0] * x[-2]
        if part > 0:
            elements = tokens * part * (x[1] if len(x) == 4 else heads_of(call))
        return Cost(other=3 * elements, read=bytes_read(call, {tables_at: (0, tokens), tables_at + 1: (0, tokens)}))

    return rule


def heads_of(call: Call, name: str = "num_heads") -> int:
    heads = call.attr_required(name)
    if heads < 1:
        raise Contradiction(f"{call.node.op} requires at least one head, got {heads}")
    return heads


RECURRENCE = (
    "key size · value size MACs per output head and per key head, twice per key head for a delta rule; key size · "
    "value size FLOPs per key head for a gated rule"
)


def recurrence_cost(call: Call, steps: Dim, heads: tuple[Dim, Dim], state: Dim) -> Cost:
    """Return the cost of `steps` steps of a state of `state` numbers per head; `heads` of outputs and of keys."""
    output_heads, key_heads = heads
    update = call.attr_text("update_rule", "gated_delta")
    products = output_heads + key_heads * (2 if "delta" in update else 1)
    return Cost(steps * state * products, steps * state * (key_heads if "gated" in update else 0))


def linear_attention_cost(call: Call) -> Cost:
    (batch, steps, width), values = shape_of_rank(call, 0, 3), shape_of_rank(call, 2, 3)[2]
    heads, kv_heads = call.attr_required("q_num_heads"), call.attr_required("kv_num_heads")
    if heads < 1 or kv_heads < 1:
        raise Contradiction(f"LinearAttention requires positive head counts, got {heads} and {kv_heads}")
    state = (width // heads) * (values // kv_heads)
    return recurrence_cost(call, batch * steps, (max(heads, kv_heads), kv_heads), state)


linear_attention_cost.__doc__ = f"per step, {RECURRENCE}"


OPERATORS: dict[str, Operator] = {
    "Attention": Operator(
        _attention, cost=_attention_cost, kv_caches=(KVCacheInputs(4, 1), KVCacheInputs(5, 2)), work=WorkClass.ATTENTION
    ),
    "LinearAttention": Operator(_linear_attention, cost=linear_attention_cost, work=WorkClass.ATTENTION),
    "RotaryEmbedding": Operator(
        _rotary,
        cost=rotary(1),
        roles=constants(1, 2),
        traits={Trait.PRECEDES_SCORES},
        work=WorkClass.POINTWISE,
        constraints={3: rotary_position(1, 3)},
    ),
    "TensorScatter": Operator(
        same, cost=free, kv_caches=(KVCacheInputs(0, 0, axis="axis"),), work=WorkClass.MOVE, constraints={2: ZERO}
    ),
}
