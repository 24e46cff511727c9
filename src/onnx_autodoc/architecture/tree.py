"""The model as a tree of boxes, drawn from the graph: at most 30 on the first level, repeated layers folded."""

from typing import Final

from onnx_autodoc.architecture._boxes import Box, Edge, edge
from onnx_autodoc.architecture._diagram_groups import Group, Sketch
from onnx_autodoc.architecture._fold import fold
from onnx_autodoc.architecture._inside import Inside, parts
from onnx_autodoc.architecture._node_costs import Ledger
from onnx_autodoc.architecture._ports import Ports
from onnx_autodoc.architecture._shrink import shrink
from onnx_autodoc.architecture._units import gather, meet
from onnx_autodoc.architecture._wording import detail, label
from onnx_autodoc.patterns import Net

MOST_BOXES: Final = 30
_FAR: Final = 60  # groups between where branches part and meet, once there are too many
_MOST_CHILDREN: Final = 30
_DEEPEST: Final = 4  # boxes in boxes


def sketched(net: Net, ledger: Ledger, most: int) -> Sketch:
    """Groups that a person would draw, at most so many."""
    sketch = Sketch(net)
    gather(sketch)
    fold(sketch)
    if len(sketch.groups) > most:
        meet(sketch, _FAR)
        fold(sketch)
    shrink(sketch, most, lambda group: ledger.spent(group.terms).macs or 0)
    return sketch


def tree(name: str, sketch: Sketch, ports: Ports, ledger: Ledger) -> tuple[Box, dict[str, tuple[int, ...]]]:
    """The drawing, and by the id of each box the rows whose numbers it has."""
    drawing = _Drawing(sketch, ledger)
    ids = {group: f"b{at}" for at, group in enumerate(sketch.groups)}
    boxes = [drawing.box(group, ids[group], drawing.entering(group)) for group in sketch.groups]
    edges = [*drawing.edges(ids), *ports.edges(sketch, ids)]
    spent = ledger.spent(sketch.net)
    drawing.rows["model"] = tuple(row for term in sketch.net for row in term.rows)
    root = Box(
        id="model",
        kind="model",
        label=name,
        detail=None,
        count=1,
        params=spent.params,
        macs=ledger.total,
        share=1.0 if ledger.total else None,
        nodes=spent.nodes,
        repeats=False,
        children=(*ports.givers, *boxes, *ports.takers),
        edges=tuple(edges),
        weight_bytes=spent.stored,
    )
    return root, drawing.rows


class _Drawing:
    def __init__(self, sketch: Sketch, ledger: Ledger) -> None:
        self._sketch, self._net, self._ledger = sketch, sketch.net, ledger
        self.rows: dict[str, tuple[int, ...]] = {}

    def box(self, group: Group, name: str, entering: set[int], depth: int = 0) -> Box:
        spent = self._ledger.spent(group.terms)
        self.rows[name] = tuple(row for term in group.terms for row in term.rows)
        total = self._ledger.total
        opened = depth < _DEEPEST and (group.children or group.skip)
        inner = parts(group) if opened else []
        if group.count > 1:
            entering = self._handed_on(group)
        inside = Inside(self._net, inner if 1 < len(inner) <= _MOST_CHILDREN else [], entering, name)
        return Box(
            id=name,
            kind=group.kind,
            label=label(group),
            detail=detail(self._net, group),
            count=group.count,
            params=spent.params,
            macs=spent.macs,
            share=spent.macs / total if total and spent.macs is not None else None,
            nodes=spent.nodes,
            repeats=group.count > 1,
            children=(*inside.doors, *(self.box(child, at, set(), depth + 1) for child, at in inside.ids.items())),
            edges=inside.edges,
            weight_bytes=spent.stored,
        )

    def _handed_on(self, group: Group) -> set[int]:
        """What the last of several alike reads of those before it."""
        own = set(group.turns[-1])
        others = set(group.terms) - own
        return {value for term in own for value in term.inputs if self._net.makers[value] in others}

    def entering(self, group: Group) -> set[int]:
        """What a group reads of the one that it goes on from."""
        givers = self._sketch.givers(group)
        if not givers:
            return set()
        main = set(givers[0].terms)
        values = {value for term in group.terms for value in term.inputs}
        return {value for value in values if self._net.makers[value] in main}

    def edges(self, ids: dict[Group, str]) -> list[Edge]:
        found: list[Edge] = []
        for group in self._sketch.groups:
            values, givers = self._sketch.before(group), self._sketch.givers(group)
            for giver in givers:
                kind = "skip" if giver is not givers[0] and self._sketch.comes_from(givers[0], giver) else "data"
                found.append(edge(self._net, ids[giver], ids[group], values[giver], kind))
        return found
