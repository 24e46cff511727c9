"""Layers of onnxruntime (com.microsoft) that carry a state from call to call, and the indexers of sparse attention."""

from onnx_autodoc.ops._call import Call
from onnx_autodoc.ops._cost import Cost, uncounted
from onnx_autodoc.ops._known import Contradiction, Dim, Known, Shape, like, nothing, tensor
from onnx_autodoc.ops._operator import Operator, constants, weights
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._state_prices import (
    causal_conv,
    engram_gate,
    gated_delta,
    indexer,
    linear_attention,
    linear_gate,
    post_mix,
    pre_mix,
)
from onnx_autodoc.ops.elementwise import same


def _linear_attention(call: Call) -> list[Known]:
    # query [B, T, Hq * dk], value [B, T, Hkv * dv]: the state is [B, Hkv, dk, dv], or the last `state_window` of them
    query, value = ranked(call, 0, 3), ranked(call, 2, 3)
    heads, kv_heads = call.attr_required("q_num_heads"), call.attr_required("kv_num_heads")
    if heads < 1 or kv_heads < 1:
        raise Contradiction(f"LinearAttention of {heads} and {kv_heads} heads")
    state = (query[0], kv_heads, query[2] // heads, value[2] // kv_heads)
    output = (*query[:2], max(heads, kv_heads) * state[3])
    return [tensor(call.dtype(0), output), tensor(call.dtype(3 if call.has(3) else 0), _windowed(call, state))]


def _windowed(call: Call, state: Shape) -> Shape:
    window = call.attr_int("state_window", 0)
    return (window, *state) if window > 0 else state


def _linear_gate(call: Call) -> list[Known]:
    beta = like(call.known(3), call.shape(3)) if call.has(3) else nothing("LinearAttentionGate without update rates")
    return [*same(call), beta]


def _gated_delta(call: Call) -> list[Known]:
    """Tokens [T, heads, size]; the state [B, value heads, value size, key size] is always float32."""
    query, state = deep(call, 0), ranked(call, 6, 4) if call.has(6) else None
    if call.has(2):
        output, key = deep(call, 2, 3), deep(call, 1, 3)
        keys = key[-2] * key[-1]
        state = state or (ranked(call, 3, 1)[0] - 1, *output[-2:], query[-1])
    elif state is not None:  # q, k and v side by side; the state says how wide each is
        output = (*query[:-1], state[1], state[2])
        keys = (query[-1] - state[1] * state[2]) // 2
    else:
        raise Contradiction("GatedDeltaNet of packed tokens without the state that says how they are packed")
    captured = state[1] + keys + state[1] * state[2]  # decays, keys and deltas of one token
    update = (state[0], call.attr_int("state_update_capacity", 0) * captured)
    return [tensor(call.dtype(0), output), tensor("float32", state), tensor("float32", update)]


def _causal_conv(call: Call) -> list[Known]:
    """The state is what the next call still sees of the last axis: (kernel - 1) * dilation positions."""
    source = deep(call, 0, 3)
    length = (deep(call, 1, 3)[-1] - 1) * call.attr_int("dilation", 1)
    last = call.attr_int("channels_last", 0)
    state = (source[0], length, *source[2:]) if last else (*source[:-1], length)
    return [tensor(call.dtype(0), source), tensor(call.dtype(0), _windowed(call, state))]


def _packed_causal_conv(call: Call) -> list[Known]:
    tokens, state, dtype = ranked(call, 0, 2), ranked(call, 4, 3), call.dtype(0)
    update = (state[0], call.attr_int("state_update_capacity", 0), tokens[-1])
    return [tensor(dtype, shape) for shape in (tokens, state, update)]


def _pre_mix(call: Call) -> list[Known]:
    # streams [..., C, H], or side by side in the last axis, become one
    streams, branches = deep(call, 0, 2), call.attr_int("num_branches", 0)
    if branches > 0:
        return [tensor(call.dtype(0), (*streams[:-1], streams[-1] // branches))]
    return [tensor(call.dtype(0), (*streams[:-2], streams[-1]))]


def _engram_gate(call: Call) -> list[Known]:
    return same(call) * 2


def _capacity(call: Call) -> int:
    """How many entries an indexer gives each query: whole blocks and what is left of one, or the best."""
    mode = call.attr_text("policy_mode", "")
    if mode == "qsa":
        return call.attr_required("token_budget") + call.attr_required("compress_ratio") - 1
    if mode == "csa":
        return call.attr_required("index_topk")
    raise Contradiction(f"{call.node.op} with the policy {mode!r}")


def _indexer(call: Call) -> list[Known]:
    batch, new, _ = ranked(call, 0, 3)
    chosen, past = tensor("int32", (batch, new, _capacity(call))), ranked(call, 7, 3)
    compressed = call.attr_text("policy_mode", "") == "csa"
    closed, buffered = _closed(call, ranked(call, 13, 4)[2], new) if compressed else (new, 0)
    present = past if call.has(12) else (past[0], past[1] + closed, past[2])
    states = [tensor(call.dtype(7), present)]
    if compressed:
        buffer = call.shape(13)
        states.append(tensor(call.dtype(13), (*buffer[:2], buffered, buffer[3])))
    return [chosen, *states]


def _closed(call: Call, buffered: Dim, new: Dim) -> tuple[Dim, Dim]:
    """How many windows fill up, and how many positions wait afterwards: the last full window stays with them."""
    ratio = call.attr_required("compress_ratio")
    if ratio < 1:
        raise Contradiction(f"{call.node.op} compresses {ratio} tokens into one")
    previous = ratio if buffered >= ratio else 0
    waiting = buffered - previous + new
    full = waiting // ratio
    return full, waiting % ratio + (ratio if previous or full > 0 else 0)


def _packed_indexer(call: Call) -> list[Known]:
    tokens = ranked(call, 0, 2)[0]
    gates = like(call.known(14), call.shape(14)) if call.has(14) else nothing("only the policy csa has gates")
    state = ranked(call, 12, 3)
    update = (state[0], call.attr_int("state_update_capacity", 0), state[2])
    return [
        tensor("int32", (tokens, _capacity(call))),
        tensor("int32", (tokens,)),
        like(call.known(12), state),
        like(call.known(13), call.shape(13)),
        gates,
        like(call.known(15), call.shape(15)),
        tensor(call.dtype(12), update),
    ]


def _indexer_cost(call: Call) -> Cost:
    """query width multiply-adds for each query and entry; 3 per score of a head: ReLU, weight, sum; of queries and new
    entries, as RMSNormalization and 3 per rotated element; per element of a new entry, ratio + 1 for a mean (qsa) or
    16 · ratio for a gated mean (csa); as TopK over the entries"""
    compressed = call.attr_text("policy_mode", "") == "csa"
    closed = _closed(call, ranked(call, 13, 4)[2], ranked(call, 0, 3)[1])[0] if compressed else 0
    return indexer(call, closed)


OPERATORS: dict[str, Operator] = {
    "CausalConvWithState": Operator(_causal_conv, cost=causal_conv(2), parts=weights(1, 2)),
    "EngramGate": Operator(_engram_gate, cost=engram_gate),
    "GatedDeltaNet": Operator(_gated_delta, cost=gated_delta, parts=weights(7, 8)),
    "HyperConnectionPostMix": Operator(same, cost=post_mix),
    "HyperConnectionPreMix": Operator(_pre_mix, cost=pre_mix),
    "LinearAttention": Operator(_linear_attention, cost=linear_attention),
    "LinearAttentionGate": Operator(_linear_gate, cost=linear_gate, parts=weights(1, 2)),
    "PackedSparseAttentionIndexer": Operator(
        _packed_indexer,
        cost=uncounted("how many entries each sequence has, the data decide"),
        parts=constants(4, 5),
    ),
    "SparseAttentionIndexer": Operator(_indexer, cost=_indexer_cost, parts=constants(4, 5)),
    "VarlenCausalConvWithState": Operator(_packed_causal_conv, cost=causal_conv(3), parts=weights(1, 3)),
}
