"""What differs between models, in every format: one function each, from a `Comparison` to a text.

A format is a file here with one function, and a line in `COMPARISONS`.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Final

from msgspec import Struct

from onnx_autodoc.compare import Comparison
from onnx_autodoc.text import quiet, quiet_json

__all__ = ["COMPARISONS", "ComparisonFormat", "render_comparison_terminal"]


class ComparisonFormat(Struct, frozen=True):
    render: Callable[[Comparison], str]
    suffix: str


def render_comparison_terminal(comparison: Comparison, color: bool = False) -> str:
    """For a terminal. Its library is loaded only when it is drawn."""
    from onnx_autodoc.render.comparison.terminal import render_terminal

    return render_terminal(comparison, color)


def _late(module: str, last: Callable[[str], str] = str) -> Callable[[Comparison], str]:
    """A renderer that is loaded when it is used. `last` looks at what it wrote."""

    def render(comparison: Comparison) -> str:
        made: str = getattr(import_module(f"{__name__}.{module}"), f"render_{module}")(comparison)
        return last(made)

    return render


COMPARISONS: Final[dict[str, ComparisonFormat]] = {
    "terminal": ComparisonFormat(_late("terminal", quiet), ".txt"),
    "markdown": ComparisonFormat(_late("markdown", quiet), ".md"),
    "html": ComparisonFormat(_late("html"), ".html"),
    "json": ComparisonFormat(_late("json", quiet_json), ".json"),
}
