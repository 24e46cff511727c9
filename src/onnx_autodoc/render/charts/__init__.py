"""Charts: pictures of the card's numbers, as SVG of our own. Each file draws one, and says when it does not.

The pictures have class names only: a page has `STYLE` once, a file of its own is made by `standalone`.
"""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._chart import Chart
from onnx_autodoc.render.charts._style import STYLE, standalone
from onnx_autodoc.render.charts.cache import cache
from onnx_autodoc.render.charts.fit import fit
from onnx_autodoc.render.charts.memory import memory
from onnx_autodoc.render.charts.operators import operators
from onnx_autodoc.render.charts.overview import overview
from onnx_autodoc.render.charts.parameters import parameters
from onnx_autodoc.render.charts.roofline import roofline
from onnx_autodoc.render.charts.scaling import scaling
from onnx_autodoc.render.charts.throughput import throughput
from onnx_autodoc.render.charts.tokens import tokens
from onnx_autodoc.render.charts.work import work

__all__ = ["CHARTS", "STYLE", "Chart", "charts", "standalone"]

CHARTS: Final[tuple[Callable[[Card], Chart | None], ...]] = (
    overview,
    operators,
    parameters,
    work,
    memory,
    fit,
    throughput,
    tokens,
    roofline,
    scaling,
    cache,
)


def charts(card: Card) -> tuple[Chart, ...]:
    """Those that say more than a sentence would, in order."""
    drawn = (_drawn(draw, card) for draw in CHARTS)
    return tuple(chart for chart in drawn if chart is not None)


def _drawn(draw: Callable[[Card], Chart | None], card: Card) -> Chart | None:
    """None where numbers are beyond any scale: dimensions of 2^62 multiply to more than a float holds."""
    try:
        return draw(card)
    except OverflowError:
        return None
