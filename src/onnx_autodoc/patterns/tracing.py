"""Traces through the net: backward over moves to projections, and forward from an input to the blocks that read it."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Final

from onnx_autodoc.ir import is_float
from onnx_autodoc.ops import find
from onnx_autodoc.patterns.head import is_source
from onnx_autodoc.patterns.net import Net, Op

MOVES: Final = frozenset(
    ("Transpose", "Reshape", "Flatten", "Expand", "Tile", "Slice", "Split", "Gather", "GatherND", "Pad")
)
_ROTATIONS: Final = frozenset(
    ("Neg", "Concat", "RotaryEmbedding", "ScatterND", "ScatterElements", "Roll", "Mul", "Div")
)
_NORM_PARTS: Final = frozenset(
    ("rms-norm", "layer-norm", "batch-norm", "square", "mean", "over-root", "LpNormalization")
)
_MAX_OPS: Final = 80  # between a projection and its product


def is_move(net: Net, op: Op) -> bool:
    """Whether an op only moves or scales its input."""
    return op.kind in MOVES or (op.kind in ("Mul", "Div") and len(net.data_inputs(op)) == 1)


class BackwardTrace:
    """The ops between a value and its projections (moves, scales, rotary embeddings, norms), and where they end."""

    def __init__(self, net: Net, value: int) -> None:
        self.ops: dict[Op, None] = {}
        self.ends: dict[int, None] = {}
        seen = {value}
        waiting = [value]
        while waiting:
            value = waiting.pop()
            op = net.producers[value]
            if net.constant[value]:
                continue
            if op is None or len(self.ops) >= _MAX_OPS or not _is_passed(net, op):
                self.ends[value] = None
                continue
            self.ops[op] = None
            unseen = [operand for operand in net.data_inputs(op) if operand not in seen]
            seen.update(unseen)
            waiting.extend(unseen)

    def projections(self, net: Net) -> list[Op]:
        """Return the linear layers and convolutions at the ends."""
        producers = [net.producers[value] for value in self.ends]
        return [op for op in producers if op is not None and op.kind in ("linear", "conv")]


def _is_passed(net: Net, op: Op) -> bool:
    if op.kind in MOVES or op.kind in _ROTATIONS or op.kind in _NORM_PARTS:
        return True
    if op.kind not in ("Add", "Sub", "Where"):
        return False
    producers = [net.producers[value] for value in net.data_inputs(op)]
    return len(producers) == 1 or all(
        producer is not None and producer.kind in ("Mul", "Neg", "Concat") for producer in producers
    )


def ops_behind(net: Net, value: int, stop: Callable[[Op], bool], max_values: int) -> Iterator[Op]:
    """Yield the ops that `value` depends on, nearest first, constants included, up to those where `stop` holds."""
    waiting, seen = [value], {value}
    while waiting and len(seen) < max_values:
        unseen: list[int] = []
        for operand in waiting:
            op = net.producers[operand]
            if op is None or stop(op):
                continue
            yield op
            unseen += [item for item in op.inputs if item and item not in seen]
            seen.update(op.inputs)
        waiting = list(dict.fromkeys(unseen))


def skip_moves(net: Net, value: int) -> tuple[list[Op], Op | None, int]:
    """Follow `value` over moves that nothing else reads; return them, the op after them and the value that it reads."""
    moves: list[Op] = []
    while (op := net.only_consumer(value)) is not None and value not in net.output_values and len(moves) < _MAX_OPS:
        if not is_move(net, op):
            return moves, op, value
        moves.append(op)
        value = op.outputs[0]
    return moves, None, value


_MAX_TRACED_OPS: Final = 300
_ATOMIC_BLOCKS: Final = frozenset(("linear", "conv", "layer-norm", "rms-norm", "softmax"))
_MASKING: Final = frozenset(("Mul", "Where", "Div"))
APPENDING: Final = frozenset(("Concat", "ScatterND", "ScatterElements"))  # new tokens to a cache
LINEAR_BLOCKS: Final = ("linear", "mlp", "gated-mlp", "head", "conv", "conv-norm-act")


class InputTrace:
    """The way of an input into a net.

    `ops` are passed on the way; `targets` are the blocks at its end, each with the value that it reads; `masked` are
    ops that combine it with computed data, as a mask is combined with what it hides; `unread` are values that nothing
    reads; `visits` counts the values and ops that were looked at.
    """

    def __init__(self, net: Net, value: int) -> None:
        self.ops: dict[Op, None] = {}
        self.targets: list[tuple[Op, int]] = []
        self.masked: list[Op] = []
        self.unread: list[int] = []
        self.visits = 0
        self.seen = {value}
        waiting = [value]
        while waiting and len(self.ops) < _MAX_TRACED_OPS:
            value = waiting.pop()
            self.visits += 1 + len(net.consumers[value])
            if not net.consumers[value] and value not in net.output_values:
                self.unread.append(value)
            for op in net.consumers[value]:
                waiting.extend(self._visit(net, op, value))

    def _visit(self, net: Net, op: Op, value: int) -> list[int]:
        """Record an op that reads `value`; return the values to follow from there."""
        if is_source(net, op):
            self.targets.append((op, value))
            return []
        if op in self.ops:
            return []
        self.visits += len(op.inputs)
        masks = op.kind in _MASKING and any(
            # weights took part in computing a floating-point operand
            is_float(net.dtype(operand)) and producer is not None and is_source(net, producer)
            for operand in net.data_inputs(op)
            if operand not in self.seen
            for producer in (net.producers[operand],)
        )
        if masks:
            self.masked.append(op)
            return []
        self.ops[op] = None
        unseen = [output for output in op.outputs if output not in self.seen]
        self.seen.update(unseen)
        return unseen

    @cached_property
    def kinds(self) -> frozenset[str]:
        return frozenset(op.kind for op in self.ops)

    def targets_of(self, *kinds: str) -> list[Op]:
        return [op for op, _ in self.targets if not kinds or op.kind in kinds]


def consumers_inside(block: Op, value: int) -> list[Op]:
    """Return the parts of a block that read a value; the block itself if none does. Layers and norms stay whole."""
    waiting, consumers = list(block.parts), list[Op]()
    while waiting:
        part = waiting.pop()
        if value not in part.inputs:
            continue
        if part.parts and part.kind not in _ATOMIC_BLOCKS:
            waiting.extend(part.parts)
        else:
            consumers.append(part)
    return consumers or [block]


def uses_inside(net: Net, block: Op, value: int) -> list[tuple[Op, int]]:
    """Return the parts of a block that use a value after moves, scales and appends, each with the value it reads."""
    waiting, uses, seen = [value], list[tuple[Op, int]](), {value}
    while waiting:
        value = waiting.pop()
        for part in consumers_inside(block, value):
            if part is block:
                continue
            moves = is_move(net, part)
            if not moves:
                uses.append((part, value))
            if moves or part.kind in APPENDING:
                unseen = [output for output in part.outputs if output not in seen]
                seen.update(unseen)
                waiting.extend(unseen)
    return uses


def reads_as_key_or_value(net: Net, attention: Op, value: int) -> bool:
    """Whether an attention block uses a value as keys or values without projecting it."""
    uses = uses_inside(net, attention, value)
    is_projected = any(part.kind in LINEAR_BLOCKS for part, _ in uses)
    return not is_projected and any(_is_past(part, read) for part, read in uses)


def _is_past(part: Op, value: int) -> bool:
    """Whether a part multiplies a value, appends to it, or is a fused operator that reads it as its cache."""
    if part.kind == "attention-core" and part.node is not None:
        operator, inputs = find(part.node.domain, part.node.op), part.node.inputs
        slots = [cache.past for cache in operator.kv_caches] if operator is not None else []
        has_cache = any(inputs[slot] for slot in slots if slot < len(inputs))
        fused = part.attention
        return has_cache and value not in (fused.queries, fused.keys, fused.values)
    return part.kind == "MatMul" or part.kind in APPENDING


def first_convolution(block: Op) -> Op | None:
    convs = (part for part in block.walk() if part.kind in ("conv", "linear") and part.conv.kernel)
    return min(convs, key=lambda part: part.position, default=None)
