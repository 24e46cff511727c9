"""The frame of a plot: rules across it with their numbers."""

from collections.abc import Callable

from onnx_autodoc.render.charts._axes import Scale
from onnx_autodoc.render.charts._chart import WIDTH
from onnx_autodoc.render.charts._svg import line, words
from onnx_autodoc.render.charts._text import SMALL, width

Say = Callable[[float], str]


def rules(up: Scale, left: float, right: float, say: Say) -> list[str]:
    """Thin lines at the marks of the vertical scale, their numbers to the left."""
    pieces: list[str] = []
    for mark in up.marks:
        y = up.at(mark)
        pieces += [line(left, y, right, y, "grid"), words(left - 6, y + 4, say(mark), "small", "end")]
    return pieces


def feet(across: Scale, top: float, bottom: float, say: Say) -> list[str]:
    """Thin lines at the marks of the horizontal scale, their numbers below."""
    pieces: list[str] = []
    for mark in across.marks:
        x = across.at(mark)
        inside = min(x, WIDTH - width(say(mark), SMALL) / 2)
        pieces += [line(x, top, x, bottom, "grid"), words(inside, bottom + 15, say(mark), "small", "middle")]
    return pieces
