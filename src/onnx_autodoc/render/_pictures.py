"""The charts as files: SVG, or PNG where someone asks for it."""

from onnx_autodoc.card import Card
from onnx_autodoc.errors import BadInput
from onnx_autodoc.render.charts import charts, standalone

_WIDTH = 1440  # pixels: sharp at twice the width of a page


def pictures(card: Card, suffix: str) -> dict[str, str | bytes]:
    drawn = {chart.name: standalone(chart) for chart in charts(card)}
    if suffix == ".svg":
        return {f"{name}.svg": svg for name, svg in drawn.items()}
    return {f"{name}.png": _png(svg) for name, svg in drawn.items()}


def _png(svg: str) -> bytes:
    try:
        import resvg_py
    except ImportError:
        raise BadInput("pictures as PNG need resvg: pip install 'onnx-autodoc[png]'") from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, width=_WIDTH, background="white"))
