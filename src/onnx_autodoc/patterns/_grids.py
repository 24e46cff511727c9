"""Heads of detectors: boxes and scores for each cell of grids of several sizes, joined to one list.

joined   Concat over grids of [box, score …]           YOLO: one output, 4 + classes (or 5 + classes) for each place
apart    boxes [places, 4] and scores [places, classes] SSD, and with queries instead of grids DETR
chosen   an operator picks boxes that do not overlap
"""

import math
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import is_integer
from onnx_autodoc.patterns._net import Net, Term
from onnx_autodoc.patterns._output_trace import Tail, batch, width

_CONVS: Final = frozenset(("conv", "conv-norm-act", "depthwise-separable", "inverted-residual"))
_RESIZED: Final = frozenset(("Resize", "Upsample", "GridSample"))
_MOVES: Final = frozenset(("Transpose", "Reshape", "Concat", "Slice", "Gather", "Flatten"))
BOX: Final = 4


class Grid(Struct, frozen=True):
    """`places` is how many boxes there are, `wide` how many numbers each has, `parts` what they are made up of, and
    `squashed` whether a sigmoid made each part a score.
    """

    places: int
    wide: int
    scales: int
    parts: tuple[int, ...] = ()
    squashed: tuple[bool, ...] = ()

    @property
    def classes(self) -> int | None:
        """What is left of a joined list: after the box, and after the score that there is anything at all."""
        if self.parts[:1] == (BOX,) and len(self.parts) > 1:
            scored = len(self.parts) == 3 and self.parts[1] == 1 and self.squashed[2]
            return self.parts[2] if scored else self.parts[1]
        return self.wide - BOX - 1 if self.wide > BOX + 1 else None

    @property
    def kind(self) -> str:
        """More than a box and its scores: points of three numbers, or an angle."""
        more = self.parts[2] if len(self.parts) == 3 and not self.squashed[2] else 0
        return "pose" if more > 3 and more % 3 == 0 else "oriented" if more == 1 else "detection"


def chosen(net: Net, tail: Tail) -> Term | None:
    """The operator that picks boxes: those that do not overlap, or the best ones of several grids."""
    picker = next((term for term in tail.terms if "NonMaxSuppression" in term.op or "NMS" in term.op), None)
    if picker is not None or len(_cells(net, tail)) < 2:
        return picker
    return next((term for term in tail.terms if term.op == "TopK"), None)


def part(net: Net, tail: Tail, picker: Term) -> str | None:
    """What of the chosen boxes an output holds: four numbers each, a label, a score, or which ones they are."""
    known = net.knowns[tail.value]
    if tail.value in picker.outputs:
        return "picked"
    if known is not None and known.shape and known.shape[-1] == BOX:
        return "boxes"
    if known is not None and is_integer(known.dtype):
        return "argmax"
    return "scores" if known is None or known.shape is None or len(known.shape) < 3 else None


def grid(net: Net, tail: Tail) -> Grid | None:
    """The list of boxes that an output is, where convolutions over grids of several sizes made it."""
    cells = _cells(net, tail)
    dims = net.shape(tail.value)
    if len(cells) < 2 or not dims or "Concat" not in tail.ops or tail.ops & _RESIZED:
        return None
    places = next((dim for dim in dims if dim and dim % sum(cells) == 0), None)
    if places is None:
        return None
    wide = math.prod(dims) // (places * batch(net)) or 1
    return Grid(places, wide, len(cells), *_parts(net, tail, wide))


def _cells(net: Net, tail: Tail) -> set[int]:
    """How many cells the grids have that it comes from."""
    made = [net.shape(value) or () for value in tail.ends if net.maker(value, *_CONVS) is not None]
    return {math.prod(dims[2:]) for dims in made if len(dims) == 4} - {0}


def _parts(net: Net, tail: Tail, wide: int) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """What is joined for each place: the widths of the Concat nearest to the output that sum up to all."""
    for term in tail.terms:
        if term.op not in _MOVES:
            break
        axis = _axis(term)
        if term.op != "Concat" or axis is None:
            continue
        values = _joined(net, term, axis)
        sizes = [_size(net, value, term.outputs[0], axis) for value in values]
        if sum(sizes) == wide:
            return tuple(sizes), tuple(net.maker(value, "Sigmoid") is not None for value in values)
    return (), ()


def _joined(net: Net, term: Term, axis: int) -> list[int]:
    """What a Concat joins, with what its first input was joined of before."""
    inner = net.maker(term.inputs[0], "Concat")
    if inner is None or _axis(inner) != axis or _size(net, inner.inputs[0], inner.outputs[0], axis) != BOX:
        return list(term.inputs)
    return [*inner.inputs, *term.inputs[1:]]


def _size(net: Net, value: int, whole: int, axis: int) -> int:
    """How much of the whole along one axis it is; counted, since axes of one element may have been dropped."""
    dims, made = net.shape(value), net.shape(whole)
    if not dims or not made or not -len(made) <= axis < len(made) or not math.prod(made):
        return -1
    return math.prod(dims) * made[axis] // math.prod(made)


def _axis(term: Term) -> int | None:
    axis = term.node.attributes.get("axis") if term.node is not None else None
    return axis if isinstance(axis, int) else None


def raw(net: Net, found: list[Tail]) -> list[Tail]:
    """Outputs that are bare convolutions over three grids or more, all as wide, and not as wide as features are."""
    bare = [(tail, tail.source) for tail in found if tail.source is not None and tail.source.op == "conv"]
    made = [(tail, width(term), net.shape(tail.ends[0]) or ()) for tail, term in bare if term is not None]
    sizes = {dims[2:] for _, _, dims in made if len(dims) == 4}
    widths = {wide for _, wide, _ in made}
    is_list = len(made) == len(found) and len(sizes) == len(made) > 2 and len(widths) == 1
    wide = next(iter(widths), None) if is_list else None
    return [tail for tail, _, _ in made] if wide is not None and wide % 3 == 0 and wide % 16 and wide // 3 > BOX else []
