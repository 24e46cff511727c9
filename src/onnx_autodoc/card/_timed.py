"""The drawing with the time that each of its boxes took, where the model was run."""

from collections.abc import Mapping, Sequence

from msgspec import structs

from onnx_autodoc.analysis import Facts
from onnx_autodoc.architecture import Box, Structure
from onnx_autodoc.ir import label
from onnx_autodoc.runtime import Verified


def with_times(structure: Structure, facts: Facts, measured: Verified | None) -> Structure:
    """Times of kernels that several nodes were fused into are at the node whose name they kept, and so in its box."""
    if measured is None or structure.tree is None or not measured.by_node:
        return structure
    ways = (f"{row.scope}/{label(row.step.node, row.step.at)}".removeprefix("/") for row in facts.costs.rows())
    seconds = [measured.by_node.get(way, 0.0) for way in ways]
    return structs.replace(structure, tree=_timed(structure.tree, structure.box_rows, seconds))


def _timed(box: Box, rows: Mapping[str, tuple[int, ...]], seconds: Sequence[float]) -> Box:
    children = tuple(_timed(child, rows, seconds) for child in box.children)
    own = sum(seconds[row] for row in dict.fromkeys(rows[box.id])) if box.id in rows else None
    return structs.replace(box, children=children, seconds=own)
