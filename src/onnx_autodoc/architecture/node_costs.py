"""Costs and weights of each node by its row, for the totals of blocks and boxes."""

from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.card import Part
from onnx_autodoc.limits import current_limits
from onnx_autodoc.patterns import Net, Op, block_kinds

_DEFAULT_MAX_ROWS: Final = 100_000
_MAX_ROWS_PER_NODE: Final = 8


def max_rows(facts: Facts) -> int:
    """Return how many rows are held at once: functions that call functions can require any number."""
    return current_limits().rows or _DEFAULT_MAX_ROWS + _MAX_ROWS_PER_NODE * facts.nodes_total


class CostTotal(Struct, frozen=True):
    """`macs` is None if those of all nodes are unknown."""

    params: int = 0
    macs: int | None = 0
    nodes: int = 0
    params_by_dtype: dict[str, int] = {}
    weight_bytes: int = 0  # as stored in the file


class NodeCosts:
    """MACs by row and, after `assign_weights`, weights by the row of the node that uses them."""

    def __init__(self, facts: Facts) -> None:
        limit = max_rows(facts)
        rows = list(islice(facts.costs.rows(), limit + 1))
        self.is_complete = len(rows) <= limit
        self.is_counted = [row.cost is not None for row in rows]
        total = facts.costs.total
        is_unknown = not total.macs and any(cost.macs for cost in total.missing.values())
        self.total_macs = None if is_unknown else total.macs
        macs = [row.cost.macs if row.cost is not None else None for row in rows]
        self._macs = [number if isinstance(number, int) else None for number in macs]
        self._params: dict[int, Counter[str]] = {}  # by row and dtype
        self._weight_bytes = Counter[int]()  # by row
        self._places = [(row.owner, row.step.at) for row in rows]

    def assign_weights(self, facts: Facts, net: Net) -> None:
        """Assign each weight to its first reader, or if that is not on the net (a call, a branch), to one that is."""
        leaves = [op for op in net.walk() if not op.parts]
        rows_on_net = {row for op in leaves for row in op.rows}
        rows: dict[object, int] = {}
        for row, place in enumerate(self._places):
            if place not in rows or (rows[place] not in rows_on_net and row in rows_on_net):
                rows[place] = row
        readers, reader_rows = _first_readers(net, leaves), dict(rows)
        for weight in facts.parameters.held:
            first = rows.get(weight.place)
            reader_row = first if first in rows_on_net else readers.get(weight.name, first)
            if reader_row is not None:
                self._params.setdefault(reader_row, Counter())[weight.dtype] += weight.elements
                reader_rows[weight.place] = reader_row
        for place, share in facts.parameters.nodes.items():
            if place in reader_rows:
                self._weight_bytes[_computing_row(net, reader_rows[place])] += share.nbytes

    def total_of(self, ops: Iterable[Op]) -> CostTotal:
        rows = list(dict.fromkeys(row for op in ops for row in op.rows))
        known = [self._macs[row] for row in rows]
        macs = sum(number for number in known if number is not None)
        params = sum((self._params[row] for row in rows if row in self._params), Counter[str]())
        return CostTotal(
            params=params.total(),
            macs=None if None in known and not macs else macs,
            nodes=len(rows),
            params_by_dtype=dict(params),
            weight_bytes=sum(self._weight_bytes[row] for row in rows),
        )


def _computing_row(net: Net, row: int) -> int:
    """Return the row of the node whose result `row` forwards: scales of activations belong to what computes these."""
    producer = net.producers[net.identity_rows[row]] if row in net.identity_rows else None
    return producer.row if producer is not None else row


def _first_readers(net: Net, leaves: list[Op]) -> dict[str, int]:
    """Return by the name of each constant the first row on the net that reads it, transposed or dequantized."""
    first_readers: dict[str, int] = {}
    seen: set[int] = set()
    for op in sorted(leaves, key=lambda op: op.position):
        waiting = [value for value in op.inputs if net.constant[value] and value not in seen]
        while waiting:
            value = waiting.pop()
            seen.add(value)
            producer = net.producers[value]
            if value in net.weights or (producer is not None and producer.kind == "Constant"):
                first_readers.setdefault(net.names[value], op.row)
            operands = producer.inputs if producer is not None else ()
            waiting.extend(operand for operand in operands if operand not in seen)
    return first_readers


def count_blocks(net: Net, costs: NodeCosts, counted: Iterable[str]) -> dict[str, tuple[int, CostTotal]]:
    """Return the number and the cost of the blocks of each kind; blocks within blocks count too."""
    ops_by_kind: dict[str, list[Op]] = {}
    for op in net.walk():
        ops_by_kind.setdefault(block_kinds.OPERATOR_BLOCKS.get(op.kind, op.kind), []).append(op)
    return {kind: (len(ops), costs.total_of(ops)) for kind in counted if (ops := ops_by_kind.get(kind))}


def share_compute(net: Net, costs: NodeCosts) -> tuple[Part, ...]:
    """Return the MACs by part of the model, largest first; `other` are those outside all blocks."""
    if not costs.total_macs:
        return ()
    macs = Counter[str]()
    for op in net:
        for part, ops in _compute_parts(op):
            macs[part] += costs.total_of(ops).macs or 0
    macs["other"] += costs.total_macs - macs.total()
    shares = [Part(part, number, number / costs.total_macs) for part, number in macs.items() if number]
    return tuple(sorted(shares, key=lambda share: (-share.macs, share.part)))


def _compute_parts(op: Op) -> list[tuple[str, list[Op]]]:
    if op.kind == "attention":
        projections = [part for part in op.parts if part.kind in ("linear", "conv")]
        scores = [part for part in op.parts if part.kind not in ("linear", "conv")]
        return [("attention projections", projections), ("attention scores and context", scores)]
    if op.kind in block_kinds.FEED_FORWARD:
        return [("mixture of experts" if op.kind == "moe" else "MLP", [op])]
    if any(part.kind in block_kinds.CONVOLUTIONS for part in op.walk()):
        return [("convolutions", [op])]
    if op.kind in block_kinds.RECURRENT:
        return [("recurrent cells", [op])]
    return [("linear layers" if op.kind in ("linear", "head", "embedding") else "other", [op])]
