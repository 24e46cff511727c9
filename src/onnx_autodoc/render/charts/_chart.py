"""A chart: a picture of some numbers of the card, and the sentence that says them without it."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Card
from onnx_autodoc.render.charts._svg import number, said
from onnx_autodoc.text import clean, count

WIDTH: Final = 720.0
MARGIN: Final = 8.0
_MOST_DIMS: Final = 3


class Chart(Struct, frozen=True):
    """`alt` has the telling numbers, for those who do not see the picture and as its caption. Both are plain text."""

    name: str
    title: str
    alt: str
    svg: str


def framed(name: str, title: str, alt: str, height: float, pieces: Sequence[str]) -> Chart:
    """As wide as the page allows; a reader's screen reader hears the title and the sentence."""
    head = f'<svg class="chart" role="img" viewBox="0 0 {number(WIDTH)} {number(height)}">'
    named = f"<title>{said(title)}</title><desc>{said(alt)}</desc>"
    return Chart(name, title, clean(alt, 1000), "\n".join((head, named, *pieces, "</svg>")))


def holds(card: Card) -> str:
    """The sizes that the numbers hold for: "at batch 1, sequence 128"; nothing where all were fixed in the file."""
    dims = list(card.assumptions.dims.items())
    few = ", ".join(f"{clean(name, 24)} {count(size)}" for name, size in dims[:_MOST_DIMS])
    more = f", {len(dims) - _MOST_DIMS} more" if len(dims) > _MOST_DIMS else ""
    return f"at {few}{more}" if dims else ""
