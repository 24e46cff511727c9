"""The timeline: memory by step, with its peak marked."""

from typing import Final

from msgspec import Struct

from onnx_autodoc.render.charts import svg
from onnx_autodoc.text import format_memory

_PADDING: Final = 4.0  # for a peak at the very end
_TOP: Final = 48.0
_BOTTOM: Final = 210.0
_HEIGHT: Final = 232.0


class Timeline(Struct, frozen=True):
    """Bytes by step, each with its tooltip. `peak` labels the highest level, `ends` the first and the last step."""

    name: str
    title: str
    alt: str
    heading: str
    note: str
    levels: tuple[int, ...]
    tooltips: tuple[str, ...]
    peak: str
    ends: tuple[str, str]


def draw_timeline(chart: Timeline) -> svg.Chart:
    peak = max(chart.levels)
    up = svg.memory_scale(peak, _BOTTOM, _TOP)
    left = svg.tick_width(up, _format_bytes) + svg.MARGIN
    across = svg.Scale(0.0, float(len(chart.levels)), left, svg.WIDTH - _PADDING, False, ())
    outline = [(across.at(step + side), up.at(size)) for step, size in enumerate(chart.levels) for side in (0, 1)]
    base = [(outline[-1][0], up.start), (outline[0][0], up.start)]
    elements = [svg.heading(chart.heading, chart.note), *svg.horizontal_grid(up, left, svg.WIDTH, _format_bytes)]
    elements += [svg.path(outline + base, "area", closed=True), svg.path(outline, "curve")]
    width = across.at(1) - across.at(0)
    for step, tooltip in enumerate(chart.tooltips):  # on invisible rectangles that cover the plot
        elements.append(svg.rect(across.at(step), _TOP, width, _BOTTOM - _TOP, "none", tooltip))
    x, y = across.at(chart.levels.index(peak) + 0.5), up.at(peak)
    label = svg.fit_text(chart.peak, svg.WIDTH - left)
    start = min(max(left, x - svg.text_width(label) / 2), svg.WIDTH - svg.text_width(label))  # inside the chart
    elements += [svg.line(x, 40, x, y, "thread"), svg.circle(x, y, 3.5, "peak", label), svg.text(start, 34, label)]
    elements.append(svg.line(left, _BOTTOM, svg.WIDTH, _BOTTOM, "axis"))
    elements.append(svg.text(left, _BOTTOM + 16, chart.ends[0], "small"))
    elements.append(svg.text(svg.WIDTH, _BOTTOM + 16, chart.ends[1], "small", "end"))
    return svg.frame_chart(chart.name, chart.title, chart.alt, _HEIGHT, elements)


def _format_bytes(nbytes: float) -> str:
    return svg.strip_zeros(format_memory(int(nbytes))) if nbytes else "0"
