"""Attention: a softmax between two products of computed values, or one fused operator.

    p = Softmax(MatMul(q, k))        with masks, scales and casts in between
    y = MatMul(p, v)                 the linear layers before q, k, v and after y belong to the block

One softmax is one attention block. A softmax whose result is multiplied by a weight (the DFL head of a detector) or is
an output of the model is none. Blocks are found by tracing values, because the ops in between differ by exporter.
"""

from typing import Final

from msgspec.structs import replace

from onnx_autodoc.patterns.attention_attributes import apply_masks, infer_heads, refine_fused_heads
from onnx_autodoc.patterns.attributes import AttentionAttributes
from onnx_autodoc.patterns.net import NO_VALUE, Net, Op
from onnx_autodoc.patterns.tracing import MOVES, BackwardTrace, is_move, ops_behind, skip_moves

_ON_SCORES: Final = MOVES | {"Add", "Sub", "Mul", "Div", "Where", "Clip", "Tanh", "Concat", "Max", "Min", "Relu"}
_FEATURE_MAPS: Final = frozenset(("Relu", "Elu", "softmax", "Sigmoid", "Exp"))  # of linear attention
_MAX_VALUES_NEARBY: Final = 40  # behind keys and values
_MAX_MOVES_TO_WINDOWS: Final = 6
_WINDOWED_RANK: Final = 6  # [batch, rows, rows per window, columns, columns per window, features]
_MAX_OPS_TO_SOFTMAX: Final = 60


class _Scores:
    """The ops between the product of queries and keys and the softmax, with the masks that they add."""

    def __init__(self, net: Net, value: int) -> None:
        self.products: dict[Op, None] = {}
        self.ops: dict[Op, None] = {}
        traced = self._trace(net, value)
        reached = {output for op in self.products for output in op.outputs}
        for op in sorted(traced, key=lambda op: op.position):
            if not reached.isdisjoint(op.inputs) or (op.kind == "linear" and _is_additive(net, op)):
                reached.update(op.outputs)
                self.ops[op] = None
        masking = [op for op in self.ops if op.kind in ("Add", "Sub", "Where")]
        self.masks = dict.fromkeys(value for op in masking for value in op.inputs if value and value not in reached)

    def _trace(self, net: Net, value: int) -> dict[Op, None]:
        """Return the ops behind `value` up to the products, which are recorded."""
        waiting, seen = [value], dict[Op, None]()
        while waiting and len(seen) < _MAX_OPS_TO_SOFTMAX:
            value = waiting.pop()
            op = net.producers[value]
            if op is None or net.constant[value] or op in seen or op in self.products:
                continue
            if op.kind == "MatMul" or (op.kind == "linear" and _has_learned_queries(net, op)):
                self.products[op] = None
            elif op.kind in _ON_SCORES or (op.kind == "linear" and _is_additive(net, op)):
                seen[op] = None
                waiting.extend(net.data_inputs(op) if op.kind != "linear" else ())
        return seen


def find_attention(net: Net) -> None:
    for softmax in net.of("softmax"):
        if softmax in net:
            _match_decomposed(net, softmax)
    for core in net.of("attention-core"):
        fused = core.attention
        traces = [BackwardTrace(net, value or NO_VALUE) for value in (fused.queries, fused.keys, fused.values)]
        masked = apply_masks(net, fused, list(fused.masks))
        _merge_attention(net, [core], traces, core.outputs[0], refine_fused_heads(net, masked, traces))
    _find_linear_attention(net)


def _match_decomposed(net: Net, softmax: Op) -> None:
    scores = _Scores(net, softmax.inputs[0])
    moves, product, value = _find_weighted_sum(net, softmax)
    if product is None or (not scores.products and not scores.ops):
        return
    values = BackwardTrace(net, next((operand for operand in product.inputs if operand != value), value))
    members = [softmax, *scores.products, *scores.ops, *moves, product]
    if not scores.products:
        attributes = AttentionAttributes(form="additive", heads=1, kv_heads=1)
        _merge_attention(net, members, [values], product.outputs[0], attributes)
        return
    first, *other_products = scores.products
    queries, keys = (first.linear.weight or NO_VALUE, first.inputs[0]) if first.kind == "linear" else first.inputs[:2]
    traces = [BackwardTrace(net, queries), BackwardTrace(net, keys), values]
    others = [BackwardTrace(net, operand) for op in other_products for operand in op.inputs]
    attributes = apply_masks(net, infer_heads(net, first, traces), list(scores.masks), first)
    _merge_attention(net, members, [*traces, *others], product.outputs[0], attributes)


def _has_learned_queries(net: Net, op: Op) -> bool:
    """Whether a linear op multiplies projected keys by queries that are weights."""
    dims = net.shape(op.linear.weight or NO_VALUE)
    is_batched = dims is not None and len(dims) > 2 and not op.linear.biased
    return is_batched and bool(BackwardTrace(net, op.inputs[0]).projections(net))


def _is_additive(net: Net, op: Op) -> bool:
    """Whether a linear op computes the scores of additive attention: one number per position, after a Tanh."""
    return op.out_features == 1 and net.producer(op.inputs[0], "Tanh") is not None


def _find_weighted_sum(net: Net, softmax: Op) -> tuple[list[Op], Op | None, int]:
    """Follow a softmax to its product with the values; return the ops in between, the product and what it reads."""
    value, moves = softmax.outputs[0], list[Op]()
    for _ in range(_MAX_OPS_TO_SOFTMAX):
        product = next((op for op in net.consumers[value] if op.kind == "MatMul"), None)
        if product is not None:
            return moves, product, value
        following = [op for op in net.consumers[value] if is_move(net, op) or op.kind in ("Where", "Mul")]
        if len(following) != 1:
            break
        moves.append(following[0])
        value = following[0].outputs[0]
    return moves, None, value


def _find_linear_attention(net: Net) -> None:
    """Find q·(kᵀ·v), all three from projections, without a softmax over positions in between."""
    for outer in net.of("MatMul"):
        if outer not in net:
            continue
        sides = [BackwardTrace(net, value) for value in outer.inputs[:2]]
        for context, queries in (sides, sides[::-1]):
            inner = [net.producer(value, "MatMul") for value in context.ends]
            if len(inner) == 1 and inner[0] is not None and _is_projected(net, queries):
                traces = [queries, *(BackwardTrace(net, value) for value in inner[0].inputs[:2])]
                if all(_is_projected(net, trace) for trace in traces[1:]):
                    attributes = replace(infer_heads(net, inner[0], traces), form="linear")
                    _merge_attention(net, [inner[0], outer, *context.ops], traces, outer.outputs[0], attributes)
                break


def _is_projected(net: Net, trace: BackwardTrace) -> bool:
    """Whether a trace ends in a projection, directly or behind the feature map of linear attention."""
    if trace.projections(net):
        return True
    producers = [net.producer(value, *_FEATURE_MAPS) for value in trace.ends]
    return any(BackwardTrace(net, op.inputs[0]).projections(net) for op in producers if op is not None)


def _merge_attention(
    net: Net, members: list[Op], traces: list[BackwardTrace], output: int, attributes: AttentionAttributes
) -> None:
    """Merge the ops of an attention with its input projections and its output projection."""
    before = [op for trace in traces for op in (*trace.ops, *trace.projections(net))]
    moves, after, value = skip_moves(net, output)
    ops = [*members, *before]
    if after is not None and after.kind in ("linear", "conv") and after.inputs[0] == value:
        ops += [*moves, after]
        output = after.outputs[0]
    model_outputs = [result for op in ops for result in op.outputs if result in net.output_values]
    attributes = replace(
        attributes,
        out_features=after.out_features if after is not None and after in ops else None,
        cross=_is_cross_attention(net, traces),
        windowed=attributes.windowed or _is_windowed(net, traces[0]),
    )
    net.merge("attention", ops, list(dict.fromkeys([output, *model_outputs])), attributes)


def _is_windowed(net: Net, trace: BackwardTrace) -> bool:
    """Whether the input of the queries was split into windows: rows and columns in two axes each."""
    for op in trace.projections(net):
        value = op.inputs[0]
        for _ in range(_MAX_MOVES_TO_WINDOWS):
            move = net.producer(value, *MOVES)
            if move is None:
                break
            value = move.inputs[0]
            if (net.rank(value) or 0) >= _WINDOWED_RANK:
                return True
    return False


def _is_cross_attention(net: Net, traces: list[BackwardTrace]) -> bool:
    """Whether the values come from another source than the queries."""
    if len(traces) < 3:
        return True
    query_sources, value_sources = (_projected_values(net, trace) for trace in (traces[0], traces[2]))
    if not query_sources or not query_sources.isdisjoint(value_sources):
        return False
    # both may be views of one value, a convolution and a norm away
    return _values_nearby(net, query_sources).isdisjoint(_values_nearby(net, value_sources))


def _values_nearby(net: Net, values: set[int]) -> set[int]:
    """Return the values and those shortly before them, without crossing attention."""
    ops = [
        op for value in values for op in ops_behind(net, value, lambda op: op.kind == "attention", _MAX_VALUES_NEARBY)
    ]
    return values | {value for op in ops for value in net.data_inputs(op)}


def _projected_values(net: Net, trace: BackwardTrace) -> set[int]:
    """Return what the projections read, with what positions were added to."""
    values = {op.inputs[0] for op in trace.projections(net)} or set(trace.ends)
    for value in list(values):
        op = net.producer(value, "Add", "Transpose", "Reshape")
        values |= set(net.data_inputs(op)) if op is not None else set()
    return values
