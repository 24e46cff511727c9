"""The timeline: activations in memory by step, with their peak marked."""

from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts import svg
from onnx_autodoc.render.numbers import at_least
from onnx_autodoc.text import display_name, format_bytes, format_count, pluralize

_MIN_MOMENTS: Final = 4
_PADDING: Final = 4.0  # for a peak at the very end
_TOP: Final = 48.0
_BOTTOM: Final = 210.0
_HEIGHT: Final = 232.0


def memory_timeline(card: Card) -> svg.Chart | None:
    """Show activations in memory over the run; None for fewer than four points or a constant level."""
    levels = [moment.bytes for moment in card.memory.timeline]
    if len(levels) < _MIN_MOMENTS or len(set(levels)) == 1:
        return None
    peak = at_least(card, "memory.peak_activation_bytes") + format_bytes(max(levels))
    node, bindings = card.memory.peak_node, svg.format_bindings(card)
    short, long = (f" at {display_name(node, length)}" if node else "" for length in (80, 200))
    nodes_per_point = -(-card.graph.nodes // len(levels))
    resolution = f"maximum of every {nodes_per_point} nodes" if nodes_per_point > 1 else "at each node"
    elements = [
        svg.heading("Activations in memory", ", ".join(filter(None, (resolution, bindings)))),
        *_draw_levels(card, f"peak {peak}{long}"),
    ]
    alt = f"Peak activations: {peak}{short}{f' ({bindings})' if bindings else ''}."
    return svg.frame_chart("memory", "Activation memory over the run", alt, _HEIGHT, elements)


def _draw_levels(card: Card, peak_label: str) -> list[str]:
    moments = card.memory.timeline
    levels = [moment.bytes for moment in moments]
    peak = max(levels)
    up = svg.memory_scale(peak, _BOTTOM, _TOP)
    left = svg.tick_width(up, _format_bytes) + svg.MARGIN
    across = svg.Scale(0.0, float(len(levels)), left, svg.WIDTH - _PADDING, False, ())
    outline = [(across.at(step + side), up.at(size)) for step, size in enumerate(levels) for side in (0, 1)]
    base = [(outline[-1][0], up.start), (outline[0][0], up.start)]
    elements = svg.horizontal_grid(up, left, svg.WIDTH, _format_bytes)
    elements += [svg.path(outline + base, "area", closed=True), svg.path(outline, "curve")]
    width = across.at(1) - across.at(0)
    for step, moment in enumerate(moments):  # on invisible rectangles that cover the plot
        tooltip = f"node {format_count(moment.at)}: {format_count(moment.bytes)} bytes"
        elements.append(svg.rect(across.at(step), _TOP, width, _BOTTOM - _TOP, "none", tooltip))
    x, y = across.at(levels.index(peak) + 0.5), up.at(peak)
    label = svg.fit_text(peak_label, svg.WIDTH - left)
    start = min(max(left, x - svg.text_width(label) / 2), svg.WIDTH - svg.text_width(label))  # inside the chart
    return [
        *elements,
        svg.line(x, 40, x, y, "thread"),
        svg.circle(x, y, 3.5, "peak", label),
        svg.text(start, 34, label),
        svg.line(left, _BOTTOM, svg.WIDTH, _BOTTOM, "axis"),
        svg.text(left, _BOTTOM + 16, "first node", "small"),
        svg.text(svg.WIDTH, _BOTTOM + 16, f"last of {pluralize(card.graph.nodes, 'node')}", "small", "end"),
    ]


def _format_bytes(nbytes: float) -> str:
    return svg.strip_zeros(format_bytes(int(nbytes))) if nbytes else "0"
