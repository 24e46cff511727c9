"""Charts of the card's numbers, as SVG.

A chart is a function from a `Card` to a drawn chart, and a row in `CHARTS`; it returns None where it does not apply.
`bars` and `lines` draw the forms that several charts share. SVG elements carry CSS classes only: a page includes
`STYLE` once, and `standalone` makes a file.
"""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.errors import BadInput
from onnx_autodoc.render.charts.device_charts import device_memory, throughput, token_rates
from onnx_autodoc.render.charts.model_charts import batch_scaling, kv_cache, operators, overview, parameters, work
from onnx_autodoc.render.charts.roofline import roofline
from onnx_autodoc.render.charts.style import STYLE, standalone
from onnx_autodoc.render.charts.svg import Chart
from onnx_autodoc.render.charts.timeline import memory_timeline

__all__ = ["CHARTS", "STYLE", "Chart", "chart_files", "draw_chart", "draw_charts", "standalone"]

_PNG_WIDTH: Final = 1440  # pixels: sharp at twice the width of a page

CHARTS: Final[dict[str, Callable[[Card], Chart | None]]] = {
    "overview": overview,
    "operators": operators,
    "parameters": parameters,
    "work": work,
    "memory": memory_timeline,
    "fit": device_memory,
    "throughput": throughput,
    "tokens": token_rates,
    "roofline": roofline,
    "scaling": batch_scaling,
    "cache": kv_cache,
}


def draw_charts(card: Card) -> dict[str, Chart]:
    """Draw all charts that apply, by name."""
    drawn = ((name, draw_chart(name, card)) for name in CHARTS)
    return {name: chart for name, chart in drawn if chart is not None}


def draw_chart(name: str, card: Card) -> Chart | None:
    """Draw one chart; None where it does not apply, or where numbers exceed a float (products of dims of 2^62)."""
    try:
        return CHARTS[name](card)
    except OverflowError:
        return None


def chart_files(card: Card, suffix: str) -> dict[str, str | bytes]:
    """Return the charts as SVG or PNG files, by file name."""
    files = {name: standalone(chart) for name, chart in draw_charts(card).items()}
    if suffix == ".svg":
        return {f"{name}.svg": svg for name, svg in files.items()}
    return {f"{name}.png": _rasterize(svg) for name, svg in files.items()}


def _rasterize(svg: str) -> bytes:
    try:
        import resvg_py
    except ImportError:
        raise BadInput("PNG charts need resvg: pip install 'onnx-autodoc[png]'") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=_PNG_WIDTH, background="white"))
