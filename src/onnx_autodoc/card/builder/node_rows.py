"""The nodes of a model one by one with their costs, and the measured times of the boxes in its diagram."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.analysis import Facts, Row, Share
from onnx_autodoc.architecture import Structure, max_rows
from onnx_autodoc.card import MAX_FIGURE, Box, NodeRow, OutputCell, Verified
from onnx_autodoc.limits import limit_error
from onnx_autodoc.ops import Cost, Dim, Unknown

_UNCOUNTED: Final = Cost(Unknown(""), Unknown(""))
_BEYOND_64_BITS: Final = "a figure exceeds 64 bits"


def node_rows(facts: Facts, places: Mapping[int, str] | None = None) -> Iterator[NodeRow]:
    """Yield every node in file order, those of subgraphs after their node, those of functions after each call.

    `places` are the layers and blocks of nodes by row. The weights of a function's node are in its first row, so that
    rows add up to the total.
    """
    limit = max_rows(facts)
    weights = dict(facts.parameters.nodes)
    for at, row in enumerate(facts.costs.rows()):
        if at >= limit:
            message = f"{facts.model.path}: more than {limit:,} nodes with functions expanded at every call"
            raise limit_error("rows", message)
        yield _node_row(row, weights.pop((row.owner, row.step.at), Share()), (places or {}).get(at))


def _node_row(row: Row, share: Share, block: str | None) -> NodeRow:
    node, cost = row.step.node, row.cost or _UNCOUNTED
    outputs = zip(node.outputs, row.step.outputs)
    figures = cost.macs, cost.flops, cost.read, cost.written
    is_beyond = any(type(figure) is int and figure > MAX_FIGURE for figure in (*figures, share.elements))
    macs, flops, read, written = map(_figure, figures)
    return NodeRow(
        scope=row.scope,
        name=node.name,
        op=node.op,
        domain=node.domain,
        outputs=tuple(OutputCell(name, info.dtype, info.concrete) for name, info in outputs),
        params=min(share.elements, MAX_FIGURE),
        macs=macs,
        flops=flops,
        read_bytes=read,
        written_bytes=written,
        block=block,
        gap=row.gap or (_BEYOND_64_BITS if is_beyond else None),
    )


def _figure(figure: Dim | None) -> int | None:
    return figure if type(figure) is int and figure <= MAX_FIGURE else None


def add_measured_times(structure: Structure, facts: Facts, measured: Verified | None) -> Structure:
    """Return the structure with the measured time of every box.

    The time of a fused kernel counts for the node whose name the kernel has.
    """
    if measured is None or structure.tree is None or not measured.by_node:
        return structure
    paths = (f"{row.scope}/{row.step.node.label(row.step.at)}".removeprefix("/") for row in facts.costs.rows())
    seconds = [measured.by_node.get(path, 0.0) for path in paths]
    return replace(structure, tree=_add_times(structure.tree, structure.box_rows, seconds))


def _add_times(box: Box, rows: Mapping[str, tuple[int, ...]], seconds: Sequence[float]) -> Box:
    children = tuple(_add_times(child, rows, seconds) for child in box.children)
    total = sum(seconds[row] for row in dict.fromkeys(rows[box.id])) if box.id in rows else None
    return replace(box, children=children, seconds=total)
