"""What onnxruntime's layers with a state cost, and the indexers of its sparse attention."""

from onnx_autodoc.ops._call import Call, size
from onnx_autodoc.ops._cost import Cost, Price
from onnx_autodoc.ops._fusion import activated, total
from onnx_autodoc.ops._known import Contradiction, Dim, Shape
from onnx_autodoc.ops._ranks import deep, ranked
from onnx_autodoc.ops._sizes import one_size
from onnx_autodoc.ops.convolution import conv_cost

_RULE = (
    "size of a key · size of a value multiply-adds per result head and per key head, once more where the rule is "
    "delta; as many multiplications where it is gated"
)


def _recurrence(call: Call, steps: Dim, heads: tuple[Dim, Dim], state: Dim) -> Cost:
    """So many steps of a state of so many numbers in each head; heads of results and heads of keys."""
    results, keys = heads
    rule = call.attr_text("update_rule", "gated_delta")
    updates = keys * (2 if "delta" in rule else 1)
    return Cost(steps * state * (results + updates), steps * state * (keys if "gated" in rule else 0))


def linear_attention(call: Call) -> Cost:
    (batch, steps, width), values = ranked(call, 0, 3), ranked(call, 2, 3)[2]
    heads, kv_heads = call.attr_required("q_num_heads"), call.attr_required("kv_num_heads")
    if heads < 1 or kv_heads < 1:
        raise Contradiction(f"LinearAttention of {heads} and {kv_heads} heads")
    state = (width // heads) * (values // kv_heads)
    return _recurrence(call, batch * steps, (max(heads, kv_heads), kv_heads), state)


linear_attention.__doc__ = f"for each step, {_RULE}"


def gated_delta(call: Call) -> Cost:
    query, (*tokens, heads, value) = deep(call, 0), _made(call, 3)
    steps, key = size(tuple(tokens)), ranked(call, 6, 4)[3] if call.has(6) else query[-1]
    cost = _recurrence(call, steps, (heads, heads), key * value)
    both = size(query) + size(call.shape(1)) if call.has(1) else size(query) - steps * heads * value
    return total(cost, Cost(other=_delta_gates(call) + _normed(call, both, key)))


gated_delta.__doc__ = (
    f"for each token, {_RULE}; 5 per decay by Softplus, 1 per update rate by sigmoid, as LpNormalization of queries "
    "and keys where they are normalized"
)


def _made(call: Call, rank: int) -> Shape:
    made = call.output()
    if len(made) < rank:
        raise Contradiction(f"{call.node.op} gives {len(made)} dimensions, not {rank}")
    return made


def _delta_gates(call: Call) -> Dim:
    decays = call.attr_text("gate_activation", "none") != "none" and call.has(4)
    rates = call.attr_text("beta_activation", "none") != "none" and call.has(5)
    return (5 * size(call.shape(4)) if decays else 0) + (size(call.shape(5)) if rates else 0)


def _normed(call: Call, elements: Dim, length: Dim) -> Dim:
    if not call.attr_int("qk_l2_norm", 0):
        return 0
    if type(length) is int and length < 1:
        raise Contradiction(f"{call.node.op} of heads without elements")
    return 3 * elements + elements // length


def linear_gate(call: Call) -> Cost:
    """5 per decay: bias, Softplus, scale; 1 per update rate: sigmoid"""
    return Cost(other=5 * size(call.shape(0)) + (size(call.shape(3)) if call.has(3) else 0))


def causal_conv(bias_at: int) -> Price:
    def price(call: Call) -> Cost:
        return conv_cost(call, 1, bias_at)

    price.__doc__ = "kernel multiply-adds for each element of the output; 1 per element for a bias"
    return activated(price)


def engram_gate(call: Call) -> Cost:
    """11 per element: two RMSNormalizations, product, sum, gate; 13 per row: those two, root, sign, sigmoid; and as
    RMSNormalization where the result is normalized too"""
    key = deep(call, 0)
    elements, rows = size(key), size(key[:-1])
    again = any(call.node.outputs[1:])
    return Cost(other=elements * (15 if again else 11) + rows * (16 if again else 13))


def pre_mix(call: Call) -> Cost:
    """2 per element of the streams: product, sum; 1 per element of the output where it is scaled"""
    scaled = call.attr_float("reduction_scale", 1.0) != 1
    return Cost(other=2 * size(call.shape(0)) + scaled * size(call.output()))


def post_mix(call: Call) -> Cost:
    """2 per element: product, sum; where streams are mixed, as many multiply-adds per element as there are streams"""
    elements = size(call.output())
    return Cost(elements * deep(call, 3, 2)[-1] if call.has(3) else 0, 2 * elements)


# indexers
def indexer(call: Call, closed: Dim) -> Cost:
    """Queries of some heads with each entry that stands for several keys; `closed` entries are new."""
    query, head, ratio = ranked(call, 0, 3), ranked(call, 7, 3)[2], call.attr_required("compress_ratio")
    if ratio < 1 or (type(head) is int and head < 1):
        raise Contradiction(f"{call.node.op} compresses {ratio} keys of {head} numbers into one")
    tokens, wide = query[0] * query[1], query[2] - (0 if call.has(1) else head)
    pooled = call.attr_text("policy_mode", "") == "qsa"
    past = one_size(call, 12) if call.has(12) else call.shape(7)[1]
    entries = (past + query[1]) // ratio if pooled else past + closed
    scores = tokens * (wide // head) * entries
    made = query[0] * (entries if pooled else closed)
    prepared = (tokens * (wide // head) + made) * _row(call, head, pooled)
    compressed = made * head * (ratio + 1 if pooled else 16 * ratio)
    return Cost(scores * head, 3 * scores + prepared + compressed + _best(call, tokens * entries, ratio))


def _row(call: Call, head: Dim, pooled: bool) -> Dim:
    """A query or an entry is normalized and rotated in part."""
    return 4 * head + 3 + 3 * deep(call, 4)[-1] * (1 if pooled else 2)


def _best(call: Call, entries: Dim, ratio: int) -> Dim:
    """As TopK."""
    pooled = call.attr_text("policy_mode", "") == "qsa"
    kept = call.attr_required("token_budget") // ratio if pooled else call.attr_required("index_topk")
    return kept.bit_length() * entries
