"""The few elements that charts are drawn with. Words of a model become text here and nowhere else: cleaned and escaped.

Nothing has an id, since many charts stand in one page, and nothing has a colour: a kind is a class (`_style.py`).
Numbers have one decimal, so that the same card gives the same bytes everywhere.
"""

from typing import Final
from xml.sax.saxutils import escape

from onnx_autodoc.text import clean

_SPACE: Final = "\u00a0"  # one that no renderer drops before a tspan
_LONGEST: Final = 400  # letters of any text: what nobody would read is not written


def said(text: str) -> str:
    """The only way that words come into a picture."""
    return escape(clean(text, _LONGEST))


def number(value: float) -> str:
    return f"{value:.1f}"


def words(x: float, y: float, text: str, kind: str = "", anchor: str = "start", soft: str = "") -> str:
    """One line of text; `soft` follows it in a lighter ink."""
    where = f'x="{number(x)}" y="{number(y)}"'
    side = f' text-anchor="{anchor}"' if anchor != "start" else ""
    more = f'<tspan class="soft">{_SPACE}{said(soft)}</tspan>' if soft else ""
    return f"<text {where}{side}{_class(kind)}>{said(text)}{more}</text>"


def box(x: float, y: float, width: float, height: float, kind: str, exact: str = "") -> str:
    """A rectangle; `exact` is what a pointer over it shows."""
    size = f'width="{number(width)}" height="{number(height)}"'
    return f'<rect x="{number(x)}" y="{number(y)}" {size}{_class(kind)}>{_title(exact)}</rect>'


def dot(x: float, y: float, radius: float, kind: str, exact: str = "") -> str:
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"{_class(kind)}>{_title(exact)}</circle>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    start, end = f'x1="{number(x1)}" y1="{number(y1)}"', f'x2="{number(x2)}" y2="{number(y2)}"'
    return f"<line {start} {end}{_class(kind)}/>"


def path(points: list[tuple[float, float]], kind: str, closed: bool = False) -> str:
    """Straight from point to point."""
    way = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return f'<path d="M{way}{"Z" if closed else ""}"{_class(kind)}/>'


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def _title(exact: str) -> str:
    return f"<title>{said(exact)}</title>" if exact else ""
