"""The model as a tree of boxes: what a person would draw on a whiteboard, with the numbers beside it.

The root stands for the whole model; its children are the boxes of the first diagram, inputs and outputs among them.
"""

from msgspec import Struct

from onnx_autodoc.patterns import Net


class Edge(Struct, frozen=True):
    """Values that go from one box to another. `kind` is "data", or "skip" for what passes boxes by."""

    source: str
    target: str
    shape: tuple[int, ...] | None
    dtype: str | None
    kind: str


class Box(Struct, frozen=True):
    """A part of the model. `count` alike in a row are folded into one box.

    `params`, `macs`, `share` (of the model's MACs), `nodes` and `weight_bytes` are those of all `count` together, so
    that the boxes of a level sum to what holds them. Where `repeats`, the children are one of the `count` alike, and
    so are their numbers. `label` may hold words of the model file, and `edges` connect children by their `id`.
    """

    id: str
    kind: str
    label: str
    detail: str | None
    count: int
    params: int
    macs: int | None
    share: float | None
    nodes: int
    repeats: bool
    children: tuple["Box", ...]
    edges: tuple[Edge, ...]
    weight_bytes: int = 0  # of its weights as the file stores them, with scales, zero points and statistics
    seconds: float | None = None  # of one run, where the model was run


def edge(net: Net, source: str, target: str, value: int, kind: str = "data") -> Edge:
    known = net.knowns[value]
    return Edge(source, target, net.shape(value), known.dtype if known is not None else None, kind)
