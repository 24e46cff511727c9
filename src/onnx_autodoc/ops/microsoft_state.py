"""Layers of onnxruntime (com.microsoft) with a recurrent state, and indexers of sparse attention."""

from onnx_autodoc.ops.attention import RECURRENCE, linear_attention_cost, recurrence_cost
from onnx_autodoc.ops.call import Call, shape_of_min_rank, shape_of_rank, size, size_element
from onnx_autodoc.ops.convolution import conv_cost
from onnx_autodoc.ops.cost import Cost, CostRule, uncounted
from onnx_autodoc.ops.fused_costs import add_activation
from onnx_autodoc.ops.operator import Operator, WorkClass, constants, weights
from onnx_autodoc.ops.shape_rules import same, same_as
from onnx_autodoc.ops.values import Contradiction, Dim, Shape, ValueInfo, tensor, unknown_value, with_shape


def _gated_delta_cost(call: Call) -> Cost:
    query, output = shape_of_min_rank(call, 0), call.output()
    if len(output) < 3:
        raise Contradiction(f"{call.node.op} requires an output of rank 3 or more, got rank {len(output)}")
    *tokens, heads, value = output
    steps, key = size(tuple(tokens)), shape_of_rank(call, 6, 4)[3] if call.has(6) else query[-1]
    cost = recurrence_cost(call, steps, (heads, heads), key * value)
    normalized = size(query) + size(call.shape(1)) if call.has(1) else size(query) - steps * heads * value
    other: Dim = 0
    if call.attr_text("gate_activation", "none") != "none" and call.has(4):
        other = 5 * size(call.shape(4))
    if call.attr_text("beta_activation", "none") != "none" and call.has(5):
        other = other + size(call.shape(5))
    if call.attr_int("qk_l2_norm", 0):
        if type(key) is int and key < 1:
            raise Contradiction(f"{call.node.op} has a head size of 0")
        other = other + 3 * normalized + normalized // key
    return Cost(cost.macs, cost.other + other)


_gated_delta_cost.__doc__ = (
    f"per token, {RECURRENCE}; 5 per decay with Softplus, 1 per update rate with sigmoid; LpNormalization of queries "
    "and keys if they are normalized"
)


def _linear_gate_cost(call: Call) -> Cost:
    """5 FLOPs per decay: bias, Softplus, scale; 1 per update rate: sigmoid"""
    return Cost(other=5 * size(call.shape(0)) + (size(call.shape(3)) if call.has(3) else 0))


def _causal_conv_cost(bias_at: int) -> CostRule:
    def rule(call: Call) -> Cost:
        """kernel size MACs per output element; 1 FLOP per output element for a bias"""
        return conv_cost(call, 1, bias_at)

    return add_activation(rule)


def _engram_gate_cost(call: Call) -> Cost:
    """11 FLOPs per element: two RMSNormalizations, multiply, add, gate; 13 per row: the two RMSNormalizations, sqrt,
    sign, sigmoid; and RMSNormalization of the output if it is normalized"""
    key = shape_of_min_rank(call, 0)
    elements, rows = size(key), size(key[:-1])
    normalizes_output = any(call.node.outputs[1:])
    return Cost(other=elements * (15 if normalizes_output else 11) + rows * (16 if normalizes_output else 13))


def _pre_mix_cost(call: Call) -> Cost:
    """2 FLOPs per element of the streams: multiply, add; 1 per output element if it is scaled"""
    scaled = call.attr_float("reduction_scale", 1.0) != 1
    return Cost(other=2 * size(call.shape(0)) + scaled * size(call.output()))


def _post_mix_cost(call: Call) -> Cost:
    """2 FLOPs per element: multiply, add; if streams are mixed, as many MACs per element as there are streams"""
    elements = size(call.output())
    return Cost(elements * shape_of_min_rank(call, 3, 2)[-1] if call.has(3) else 0, 2 * elements)


def _linear_attention(call: Call) -> list[ValueInfo]:
    # query [B, T, Hq * dk], value [B, T, Hkv * dv]: the state is [B, Hkv, dk, dv], or the last `state_window` of them
    query, value = shape_of_rank(call, 0, 3), shape_of_rank(call, 2, 3)
    heads, kv_heads = call.attr_required("q_num_heads"), call.attr_required("kv_num_heads")
    if heads < 1 or kv_heads < 1:
        raise Contradiction(f"LinearAttention requires positive head counts, got {heads} and {kv_heads}")
    state = (query[0], kv_heads, query[2] // heads, value[2] // kv_heads)
    output = (*query[:2], max(heads, kv_heads) * state[3])
    return [tensor(call.dtype(0), output), tensor(call.dtype(3 if call.has(3) else 0), _windowed(call, state))]


def _windowed(call: Call, state: Shape) -> Shape:
    window = call.attr_int("state_window", 0)
    return (window, *state) if window > 0 else state


def _linear_gate(call: Call) -> list[ValueInfo]:
    beta = (
        with_shape(call.input_info(3), call.shape(3))
        if call.has(3)
        else unknown_value("LinearAttentionGate has no update rates")
    )
    return [*same(call), beta]


def _gated_delta(call: Call) -> list[ValueInfo]:
    """Tokens [T, heads, size]; the state [B, value heads, value size, key size] is always float32."""
    query, state = shape_of_min_rank(call, 0), shape_of_rank(call, 6, 4) if call.has(6) else None
    if call.has(2):
        output, key = shape_of_min_rank(call, 2, 3), shape_of_min_rank(call, 1, 3)
        keys = key[-2] * key[-1]
        state = state or (shape_of_rank(call, 3, 1)[0] - 1, *output[-2:], query[-1])
    elif state is not None:  # packed q, k and v; the state declares their widths
        output = (*query[:-1], state[1], state[2])
        keys = (query[-1] - state[1] * state[2]) // 2
    else:
        raise Contradiction("GatedDeltaNet with packed tokens requires a state, which declares their widths")
    captured = state[1] + keys + state[1] * state[2]  # decays, keys and deltas of one token
    update = (state[0], call.attr_int("state_update_capacity", 0) * captured)
    return [tensor(call.dtype(0), output), tensor("float32", state), tensor("float32", update)]


def _causal_conv(call: Call) -> list[ValueInfo]:
    """Infer the output and the state: the last (kernel - 1) * dilation positions."""
    source = shape_of_min_rank(call, 0, 3)
    length = (shape_of_min_rank(call, 1, 3)[-1] - 1) * call.attr_int("dilation", 1)
    last = call.attr_int("channels_last", 0)
    state = (source[0], length, *source[2:]) if last else (*source[:-1], length)
    return [tensor(call.dtype(0), source), tensor(call.dtype(0), _windowed(call, state))]


def _packed_causal_conv(call: Call) -> list[ValueInfo]:
    tokens, state, dtype = shape_of_rank(call, 0, 2), shape_of_rank(call, 4, 3), call.dtype(0)
    update = (state[0], call.attr_int("state_update_capacity", 0), tokens[-1])
    return [tensor(dtype, shape) for shape in (tokens, state, update)]


def _pre_mix(call: Call) -> list[ValueInfo]:
    # streams [..., C, H], or side by side in the last axis, become one
    streams, branches = shape_of_min_rank(call, 0, 2), call.attr_int("num_branches", 0)
    if branches > 0:
        return [tensor(call.dtype(0), (*streams[:-1], streams[-1] // branches))]
    return [tensor(call.dtype(0), (*streams[:-2], streams[-1]))]


def _capacity(call: Call) -> int:
    """Return the number of entries that an indexer selects per query."""
    mode = call.attr_text("policy_mode", "")
    if mode == "qsa":
        return call.attr_required("token_budget") + call.attr_required("compress_ratio") - 1
    if mode == "csa":
        return call.attr_required("index_topk")
    raise Contradiction(f"{call.node.op} has an unknown policy_mode: {mode!r}")


def _indexer(call: Call) -> list[ValueInfo]:
    batch, new, _ = shape_of_rank(call, 0, 3)
    selected, past = tensor("int32", (batch, new, _capacity(call))), shape_of_rank(call, 7, 3)
    is_compressed = call.attr_text("policy_mode", "") == "csa"
    closed, buffered = _close_windows(call, shape_of_rank(call, 13, 4)[2], new) if is_compressed else (new, 0)
    present = past if call.has(12) else (past[0], past[1] + closed, past[2])
    outputs = [selected, tensor(call.dtype(7), present)]
    if is_compressed:
        buffer = call.shape(13)
        outputs.append(tensor(call.dtype(13), (*buffer[:2], buffered, buffer[3])))
    return outputs


def _close_windows(call: Call, buffered: Dim, new: Dim) -> tuple[Dim, Dim]:
    """Return how many windows are completed, and how many positions stay buffered with the last full window."""
    ratio = call.attr_required("compress_ratio")
    if ratio < 1:
        raise Contradiction(f"{call.node.op} requires a positive compress_ratio, got {ratio}")
    previous = ratio if buffered >= ratio else 0
    waiting = buffered - previous + new
    full = waiting // ratio
    return full, waiting % ratio + (ratio if previous or full > 0 else 0)


def _packed_indexer(call: Call) -> list[ValueInfo]:
    tokens = shape_of_rank(call, 0, 2)[0]
    gates = (
        with_shape(call.input_info(14), call.shape(14))
        if call.has(14)
        else unknown_value("only policy_mode csa has gates")
    )
    state = shape_of_rank(call, 12, 3)
    update = (state[0], call.attr_int("state_update_capacity", 0), state[2])
    return [
        tensor("int32", (tokens, _capacity(call))),
        tensor("int32", (tokens,)),
        with_shape(call.input_info(12), state),
        with_shape(call.input_info(13), call.shape(13)),
        gates,
        with_shape(call.input_info(15), call.shape(15)),
        tensor(call.dtype(12), update),
    ]


def _indexer_cost(call: Call) -> Cost:
    """query width MACs per query and entry; 3 FLOPs per score of a head: ReLU, weight, add; for queries and new
    entries, RMSNormalization and 3 per rotated element; per element of a new entry, ratio + 1 for a mean (qsa) or 16 ·
    ratio for a gated mean (csa); TopK over the entries"""
    closed: Dim = 0  # windows that the new tokens complete
    if call.attr_text("policy_mode", "") == "csa":
        closed = _close_windows(call, shape_of_rank(call, 13, 4)[2], shape_of_rank(call, 0, 3)[1])[0]
    query, head, ratio = shape_of_rank(call, 0, 3), shape_of_rank(call, 7, 3)[2], call.attr_required("compress_ratio")
    if ratio < 1 or (type(head) is int and head < 1):
        raise Contradiction(f"{call.node.op} requires a positive compress_ratio and head size, got {ratio} and {head}")
    tokens, width = query[0] * query[1], query[2] - (0 if call.has(1) else head)
    is_pooled = call.attr_text("policy_mode", "") == "qsa"
    past = size_element(call, 12) if call.has(12) else call.shape(7)[1]
    entries = (past + query[1]) // ratio if is_pooled else past + closed
    scores = tokens * (width // head) * entries
    new_entries = query[0] * (entries if is_pooled else closed)
    # queries and entries are normalized and rotated in part; the selection costs as TopK
    row = 4 * head + 3 + 3 * shape_of_min_rank(call, 4)[-1] * (1 if is_pooled else 2)
    prepared = (tokens * (width // head) + new_entries) * row
    compressed = new_entries * head * (ratio + 1 if is_pooled else 16 * ratio)
    selected = call.attr_required("token_budget") // ratio if is_pooled else call.attr_required("index_topk")
    return Cost(scores * head, 3 * scores + prepared + compressed + selected.bit_length() * tokens * entries)


OPERATORS: dict[str, Operator] = {
    "CausalConvWithState": Operator(
        _causal_conv, cost=_causal_conv_cost(2), roles=weights(1, 2), work=WorkClass.CONVOLUTION
    ),
    "EngramGate": Operator(same_as(0, 0), cost=_engram_gate_cost, work=WorkClass.POINTWISE),
    "GatedDeltaNet": Operator(_gated_delta, cost=_gated_delta_cost, roles=weights(7, 8), work=WorkClass.ATTENTION),
    "HyperConnectionPostMix": Operator(same, cost=_post_mix_cost, work=WorkClass.POINTWISE),
    "HyperConnectionPreMix": Operator(_pre_mix, cost=_pre_mix_cost, work=WorkClass.POINTWISE),
    "LinearAttention": Operator(_linear_attention, cost=linear_attention_cost, work=WorkClass.ATTENTION),
    "LinearAttentionGate": Operator(
        _linear_gate, cost=_linear_gate_cost, roles=weights(1, 2), work=WorkClass.POINTWISE
    ),
    "PackedSparseAttentionIndexer": Operator(
        _packed_indexer, cost=uncounted("the number of entries per sequence is data-dependent"), roles=constants(4, 5)
    ),
    "SparseAttentionIndexer": Operator(_indexer, cost=_indexer_cost, roles=constants(4, 5)),
    "VarlenCausalConvWithState": Operator(
        _packed_causal_conv, cost=_causal_conv_cost(3), roles=weights(1, 3), work=WorkClass.CONVOLUTION
    ),
}
