"""Residual connections: an Add, Concat, Sub or Mul one of whose operands was computed from the other.

Learned weights must be in between, and one operand may be a projection of an ancestor of the other. Biases and
masks have a constant operand; activations, norms and rotary embeddings were matched before: none of them is a residual.
"""

import math
from typing import Final

from onnx_autodoc.patterns.attributes import Residual
from onnx_autodoc.patterns.block_kinds import GATES, NORMS, WEIGHTED
from onnx_autodoc.patterns.net import Net, Op

_MAX_LAYOUT_CHANGES: Final = 16
_MAX_VALUES: Final = 600  # visited for one residual
_MAX_VALUES_OF_CONCAT: Final = 6000  # concats are few, and those of a U-Net bypass all the rest of it
_MAX_VALUES_PER_OP: Final = 100  # visited for all residuals, per op of the net
_MAX_VALUES_PER_OP_OF_LARGE_NET: Final = 10
_MAX_OPERANDS: Final = 16
_MAX_PROJECTION_OPS: Final = 3  # a pool, a convolution, its norm
_KINDS: Final = {"Add": "add", "Concat": "concat", "Sub": "subtract", "Mul": "gate"}
_PROJECTIONS: Final = ("conv", "conv-norm-act", "linear", "batch-norm", "AveragePool", "MaxPool", "Pad", "Slice")
_LEARNED: Final = frozenset((*WEIGHTED, *NORMS))
_RESIZES: Final = frozenset(("Resize", "Upsample"))


def find_residuals(net: Net) -> None:
    """Set `Op.residual` and `Op.top_down` where residual connections and levels of feature pyramids end."""
    search = _AncestorSearch(net)
    for op in net.of(*_KINDS):
        operands = net.data_inputs(op)[:_MAX_OPERANDS]
        if len(operands) < 2 or (op.kind != "Concat" and len(operands) > 2):
            continue
        sources = [net.producer(value, *_RESIZES, "conv", "conv-norm-act") for value in operands]
        is_upsampled = any(op is not None and (op.kind in _RESIZES or op.conv.transposed) for op in sources)
        op.top_down = op.kind in ("Add", "Concat") and is_upsampled
        start = _find_start(search, op, operands)
        if start is not None:
            op.residual = Residual(_KINDS[op.kind], start)


def _find_start(search: "_AncestorSearch", op: Op, operands: list[int]) -> int | None:
    """Return the value at which the residual connection that ends at `op` begins."""
    net = search.net
    if op.kind == "Concat" and not _joins_channels(net, op):
        return None
    if op.kind == "Mul" and all(net.producer(value, *GATES) is None for value in operands):
        return None
    if op.kind == "Sub":
        return operands[0] if search.is_ancestor(operands[0], operands[1]) else None
    if op.kind == "Add":
        shapes = [net.shape(value) for value in operands]
        sizes = {math.prod(dims) for dims in shapes if dims is not None}
        if len(sizes) > 1 and None not in shapes:
            return None  # a broadcast operand (the timestep of a diffusion model) is no residual
    max_values = _MAX_VALUES_OF_CONCAT if op.kind == "Concat" else _MAX_VALUES
    for operand in operands:
        start = net.before_layout_change(operand, _MAX_LAYOUT_CHANGES)
        if any(other != operand and search.is_ancestor(start, other, max_values) for other in operands):
            return start
    return _find_projected_start(search, op, operands) if op.kind in ("Add", "Concat") else None


def _find_projected_start(search: "_AncestorSearch", op: Op, operands: list[int]) -> int | None:
    """Return the value of which one operand is a projection, and from which another one was computed."""
    net = search.net
    for operand in operands:
        projection = net.producer(operand, *_PROJECTIONS)
        for _ in range(_MAX_PROJECTION_OPS):
            if projection is None:
                break
            start = projection.inputs[0]
            if any(other != operand and search.is_ancestor(start, other) for other in operands):
                return None if _are_parallel(net, op, start, operands) else start
            projection = net.producer(start, *_PROJECTIONS)
    return None


def _are_parallel(net: Net, op: Op, start: int, operands: list[int]) -> bool:
    """Whether operands are parallel branches: concatenated, two projections that are added, or a pyramid level."""
    is_resized = any(net.producer(value, *_RESIZES) for value in operands)
    if op.kind == "Concat":
        return not is_resized
    projections = [net.producer(value, *_PROJECTIONS) for value in operands]
    return is_resized or all(layer is not None and layer.inputs[0] == start for layer in projections)


def _joins_channels(net: Net, op: Op) -> bool:
    """Whether a Concat joins features: the second axis of an image or a signal, else the last."""
    axis, rank = op.node_attribute("axis"), net.rank(op.outputs[0]) or 0
    return isinstance(axis, int) and rank > 1 and axis % rank in (1, rank - 1)


class _AncestorSearch:
    """Searches backward through a net. Their total is bounded in proportion to its size."""

    def __init__(self, net: Net) -> None:
        self.net = net
        ops = len(net.ops)
        self._values_left = min(20_000 + _MAX_VALUES_PER_OP * ops, 500_000 + _MAX_VALUES_PER_OP_OF_LARGE_NET * ops)

    def is_ancestor(self, ancestor: int, value: int, max_values: int = _MAX_VALUES) -> bool:
        """Whether `value` was computed from `ancestor` by something with weights."""
        producer = self.net.producers[ancestor]
        first_position = producer.position if producer is not None else -1
        waiting, seen, is_found = [(value, False)], {(value, False)}, False
        while waiting and not is_found and len(seen) < min(max_values, self._values_left):
            value, is_learned = waiting.pop()
            is_found = value == ancestor and is_learned
            op = self.net.producers[value]
            if op is None or op.position < first_position or self.net.constant[value] or value == ancestor:
                continue
            is_learned = is_learned or op.kind in _LEARNED
            unseen = [item for operand in self.net.data_inputs(op) if (item := (operand, is_learned)) not in seen]
            seen.update(unseen)
            waiting.extend(unseen)
        self._values_left -= len(seen)
        return is_found


# The ops that residual connections bypass

_MAX_BYPASSED_OPS: Final = 600
_MAX_VISITS_PER_OP: Final = 40  # beyond that, residuals are not followed
_BYPASSING: Final = ("add", "concat")


def find_bypassed_ops(net: Net) -> dict[Op, list[Op]]:
    """Return the ops between the start and the end of each add and concat residual, by the op where it ends.

    Short ones are searched first; the lists of those beyond the limit of visits are empty.
    """
    ends = [(op, op.residual.start) for op in net if op.residual is not None and op.residual.kind in _BYPASSING]
    visits_left, bypassed = 1000 + _MAX_VISITS_PER_OP * len(net.ops), dict[Op, list[Op]]()
    positions = {start: producer.position for _, start in ends if (producer := net.producers[start]) is not None}
    ends.sort(key=lambda item: (item[0].position - positions.get(item[1], 0), item[0].position))
    for end, start in ends:
        visited = _ops_between(net, end, start) if visits_left > 0 else set()
        bypassed[end] = _reached_ops(visited, start) if len(visited) < _MAX_BYPASSED_OPS else []
        visits_left -= max(4 * len(bypassed[end]), len(visited), 4)
    return dict(sorted(bypassed.items(), key=lambda item: item[0].position))


def _ops_between(net: Net, end: Op, start: int) -> set[Op]:
    """Return the ops that `end` depends on and that come after the producer of `start`."""
    producer = net.producers[start]
    first_position = producer.position if producer is not None else -1
    waiting, ops = list(end.inputs), set[Op]()
    while waiting and len(ops) < _MAX_BYPASSED_OPS:
        value = waiting.pop()
        op = net.producers[value]
        if value == start or op is None or op in ops or net.constant[value] or op.position <= first_position:
            continue
        ops.add(op)
        waiting.extend(op.inputs)
    return ops


def _reached_ops(ops: set[Op], start: int) -> list[Op]:
    """Return those of `ops` that are computed from `start`, in order."""
    reached, computed = {start}, list[Op]()
    for op in sorted(ops, key=lambda op: op.position):
        if not reached.isdisjoint(op.inputs):
            reached.update(op.outputs)
            computed.append(op)
    return computed
