"""How much memory activations take while the model runs, node by node, and where the most.

The card's timeline has the worst of each stretch of nodes. No chart of fewer than four points, or of a flat line.
"""

from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._axes import Scale, of_memory, plain
from onnx_autodoc.render.charts._chart import MARGIN, WIDTH, Chart, framed, holds
from onnx_autodoc.render.charts._plot import rules
from onnx_autodoc.render.charts._svg import box, dot, line, path, words
from onnx_autodoc.render.charts._text import BOLD, SMALL, fit, width
from onnx_autodoc.text import count, named, plural
from onnx_autodoc.text import memory as in_memory

_HEAD: Final = "Activations in memory"
_LEAST: Final = 4
_AIR: Final = 4.0  # for a peak at the very end
_TOP: Final = 48.0
_BOTTOM: Final = 210.0
_HEIGHT: Final = 232.0


def memory(card: Card) -> Chart | None:
    sizes = [moment.bytes for moment in card.memory.timeline]
    if len(sizes) < _LEAST or len(set(sizes)) == 1:
        return None
    up = of_memory(max(sizes), _BOTTOM, _TOP)
    left = max(width(_said(mark), SMALL) for mark in up.marks) + MARGIN
    across = Scale(0.0, float(len(sizes)), left, WIDTH - _AIR, False, ())
    pieces = [words(0, 14, _HEAD, "head", soft=_note(card)), *rules(up, left, WIDTH, _said)]
    pieces += [*_area(sizes, across, up), *_targets(card, across), *_peak(card, sizes, across, up)]
    pieces += [line(left, _BOTTOM, WIDTH, _BOTTOM, "axis"), words(left, _BOTTOM + 16, "first node", "small")]
    pieces.append(words(WIDTH, _BOTTOM + 16, f"last of {plural(card.graph.nodes, 'node')}", "small", "end"))
    return framed("memory", "Memory over the run", _alt(card, max(sizes)), _HEIGHT, pieces)


def _said(nbytes: float) -> str:
    return plain(in_memory(int(nbytes))) if nbytes else "0"


def _note(card: Card) -> str:
    each = -(-card.graph.nodes // max(1, len(card.memory.timeline)))
    stretch = f"the most of every {each} nodes" if each > 1 else "while each node runs"
    return fit(", ".join(filter(None, (stretch, holds(card)))), WIDTH - width(_HEAD) * BOLD - MARGIN, end=True)


def _area(sizes: list[int], across: Scale, up: Scale) -> list[str]:
    """A level for each point: what is alive while its nodes run."""
    steps = [(across.at(at + side), up.at(size)) for at, size in enumerate(sizes) for side in (0, 1)]
    foot = [(steps[-1][0], up.start), (steps[0][0], up.start)]
    return [path(steps + foot, "area", closed=True), path(steps, "curve")]


def _targets(card: Card, across: Scale) -> list[str]:
    """Nothing to see: where a pointer finds the exact number."""
    wide = across.at(1) - across.at(0)
    return [
        box(across.at(at), _TOP, wide, _BOTTOM - _TOP, "none", f"node {count(moment.at)}: {count(moment.bytes)} bytes")
        for at, moment in enumerate(card.memory.timeline)
    ]


def _peak(card: Card, sizes: list[int], across: Scale, up: Scale) -> list[str]:
    """The place and the name of the most, in the band above the plot, on the side where there is room."""
    at = sizes.index(max(sizes))
    x, y = across.at(at + 0.5), up.at(max(sizes))
    where = f" at {named(card.memory.peak_node, 200)}" if card.memory.peak_node else ""
    text = fit(f"peak {_least(card)}{in_memory(max(sizes))}{where}", WIDTH - across.start)
    start = min(max(across.start, x - width(text) / 2), WIDTH - width(text))
    return [line(x, 40, x, y, "thread"), dot(x, y, 3.5, "peak", text), words(start, 34, text)]


def _least(card: Card) -> str:
    return "at least " if card.memory.unsized else ""


def _alt(card: Card, most: int) -> str:
    where = f" at {named(card.memory.peak_node, 80)}" if card.memory.peak_node else ""
    sizes = f" ({holds(card)})" if holds(card) else ""
    return f"Peak of activations: {_least(card)}{in_memory(most)}{where}{sizes}."
