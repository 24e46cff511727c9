"""Attributes of attention blocks: heads from projections and products, causality and position biases from masks."""

import math
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.patterns.attributes import AttentionAttributes, EinsumAttributes
from onnx_autodoc.patterns.net import NO_VALUE, Net, Op
from onnx_autodoc.patterns.tracing import BackwardTrace, ops_behind

_COMPARISONS: Final = frozenset(("Less", "LessOrEqual", "Greater", "GreaterOrEqual"))
_LEARNED: Final = frozenset(("linear", "conv", "MatMul", "layer-norm", "rms-norm", "attention", "embedding", "softmax"))
_INDEX_DTYPES: Final = ("int32", "int64")  # a square of these holds distances between positions
_MAX_VALUES_NEARBY: Final = 40
_MAX_VALUES_BEHIND_MASK: Final = 400


# Heads


def infer_heads(net: Net, product: Op, traces: list[BackwardTrace]) -> AttentionAttributes:
    """Return the attributes of decomposed attention.

    `product` multiplies queries and keys; `traces` lead back from queries, keys and values.
    """
    batched_heads, head_dim = _einsum_heads(net, product) or _matmul_heads(net, product)
    widths = [_projection_width(net, trace) for trace in traces]
    heads = kv_heads = batched_heads
    if head_dim and not _is_packed(net, traces):
        heads = _ratio(widths[0], head_dim) or batched_heads
        kv_heads = _ratio(widths[1], head_dim) or _cached_heads(net, traces[1]) or batched_heads
    elif head_dim and batched_heads and widths[0] and widths[0] % head_dim == 0:
        # values may be wider than keys: then the remainder is not a number of heads
        remainder = (widths[0] // head_dim - batched_heads) // 2
        kv_heads = remainder if remainder and batched_heads % remainder == 0 else batched_heads
    rotary = any(_is_rotary(trace) for trace in traces[:2])
    return AttentionAttributes(form="plain", heads=heads, kv_heads=kv_heads, head_dim=head_dim, rotary=rotary)


def refine_fused_heads(net: Net, attributes: AttentionAttributes, traces: list[BackwardTrace]) -> AttentionAttributes:
    """Correct the attributes of a fused operator whose keys were repeated for each head before it."""
    if any(_is_rotary(trace) for trace in traces[:2]):
        attributes = replace(attributes, rotary=True)
    head_dim = attributes.head_dim
    kv_heads = _ratio(_projection_width(net, traces[1]), head_dim) if head_dim and not _is_packed(net, traces) else None
    if kv_heads and kv_heads < (attributes.heads or 0):
        return replace(attributes, kv_heads=kv_heads)
    return attributes


def _matmul_heads(net: Net, product: Op) -> tuple[int | None, int | None]:
    """Return heads and head size of […, heads, tokens, size] × […, heads, size, tokens], with axes of 1 anywhere."""
    has_learned_queries = product.kind == "linear"  # the same for the whole batch
    queries = product.linear.weight if has_learned_queries else product.inputs[0]
    left, scores = net.shape(queries or NO_VALUE), net.shape(product.outputs[0])
    if not left or not scores or len(scores) < 2 or not math.prod(scores):
        return None, None
    heads = scores[-3] if len(scores) > 2 else 1
    return heads, left[-1] if has_learned_queries else math.prod(left) * scores[-1] // math.prod(scores)


def _einsum_heads(net: Net, product: Op) -> tuple[int | None, int | None] | None:
    """Heads are the last axis that both operands and the result have; the head size is summed over."""
    equation = product.attributes.equation if isinstance(product.attributes, EinsumAttributes) else ""
    operands, _, result = equation.replace(" ", "").partition("->")
    left, _, right = operands.partition(",")
    dims, left_dims = net.shape(product.outputs[0]), net.shape(product.inputs[0])
    if dims is None or left_dims is None or len(result) != len(dims):
        return None
    sizes = dict(zip(result, dims))
    shared = [letter for letter in result if letter in left and letter in right]
    others = math.prod(sizes.get(letter, 1) for letter in left)
    return (sizes[shared[-1]] if len(shared) > 1 else 1), math.prod(left_dims) // max(others, 1)


def _projection_width(net: Net, trace: BackwardTrace) -> int | None:
    """Return the width of a projection if the trace ends in exactly one."""
    widths = {op: op.out_features for op in trace.projections(net)}
    return next(iter(widths.values())) if len(widths) == 1 else None


def _is_packed(net: Net, traces: list[BackwardTrace]) -> bool:
    """Whether one projection computes queries and keys."""
    queries, keys = (set(trace.projections(net)) for trace in traces[:2])
    return bool(queries & keys)


def _cached_heads(net: Net, trace: BackwardTrace) -> int | None:
    """Return the heads of keys that are an input of the model: [batch, heads, tokens, size]."""
    for value in trace.ends:
        dims = net.shape(value)
        if net.producers[value] is None and dims is not None and len(dims) == 4:
            return dims[1]
    return None


def _ratio(width: int | None, head_dim: int) -> int | None:
    return width // head_dim if width and width % head_dim == 0 else None


def _is_rotary(trace: BackwardTrace) -> bool:
    """Whether a trace passes a rotary embedding: one operator, or halves swapped and one of them negated."""
    kinds = {op.kind for op in trace.ops}
    return "RotaryEmbedding" in kinds or ("Neg" in kinds and "Concat" in kinds) or ("Sub" in kinds and "Mul" in kinds)


# Masks


def apply_masks(
    net: Net, attributes: AttentionAttributes, masks: list[int], scores: Op | None = None
) -> AttentionAttributes:
    """Add what the masks of an attention show: whether it is causal, whether it has a relative position bias."""
    if any(_is_pairwise(net, value, scores) and _is_causal(net, value) for value in masks):
        attributes = replace(attributes, causal=True)
    heads = attributes.heads
    shapes = [net.shape(value) for value in masks]
    if heads and heads > 1 and any(dims and len(dims) > 2 and dims[-3] == heads and dims[-1] > 1 for dims in shapes):
        attributes = replace(attributes, relative_bias=True)
    return attributes


def _is_pairwise(net: Net, mask: int, scores: Op | None) -> bool:
    """Whether a mask can differ between pairs of positions. A padding mask hides the same keys from all queries."""
    has_axes = scores is not None and not isinstance(scores.attributes, EinsumAttributes)
    score_dims = net.shape(scores.outputs[0]) if scores is not None and has_axes else None
    dims = net.shape(mask)
    return not score_dims or dims is None or math.prod(dims) % max(math.prod(score_dims[-2:]), 1) == 0


def _is_causal(net: Net, mask: int) -> bool:
    """Whether a mask compares positions, selects a triangle, or is a square constant."""
    if _is_square(net, mask):
        return True
    for op in ops_behind(net, mask, lambda op: op.kind in _LEARNED, _MAX_VALUES_BEHIND_MASK):
        if op.kind == "Trilu" or (
            op.kind in _COMPARISONS
            and len(op.inputs) == 2
            and all(_enumerates_positions(net, operand) for operand in op.inputs)
        ):
            return True
        if any(_is_square(net, value) for value in op.inputs):
            return True
    return False


def _enumerates_positions(net: Net, value: int) -> bool:
    """Whether a value is computed from a range or a stored list. A single number or a size is not."""
    trace = list(ops_behind(net, value, lambda op: op.kind in ("Shape", "Size"), _MAX_VALUES_NEARBY))
    values = {value, *(item for op in trace for item in op.inputs)} - {NO_VALUE}
    stored = [net.shape(item) or () for item in values if net.producers[item] is None]
    return any(op.kind in ("Range", "CumSum") for op in trace) or any(max(dims, default=1) > 1 for dims in stored)


def _is_square(net: Net, value: int) -> bool:
    """Whether a value is a constant [1, 1, positions, positions]."""
    dims, producer = net.shape(value), net.producers[value]
    is_stored = value in net.weights or (producer is not None and producer.kind == "Constant")
    if not is_stored or dims is None or len(dims) < 2 or net.dtype(value) in _INDEX_DTYPES:
        return False
    return dims[-1] == dims[-2] > 1 and all(dim == 1 for dim in dims[:-2])
