"""The card without scripts: for paper (and what makes a PDF of it), and as a piece of a notebook."""

from collections.abc import Iterator
from typing import Any, Final

from markupsafe import Markup
from msgspec.structs import replace

from onnx_autodoc.card import Box, Card
from onnx_autodoc.render._blocks import Block, Diagram, Note, Paragraph, Section, Strong, Table
from onnx_autodoc.render._drawing import drawing, inside
from onnx_autodoc.render.charts import charts, standalone
from onnx_autodoc.render.html._assets import STYLES, asset, joined
from onnx_autodoc.render.html._figures import keys
from onnx_autodoc.render.html._page import environment
from onnx_autodoc.render.sections import _figures as known
from onnx_autodoc.render.sections import card_sections
from onnx_autodoc.text import plural

_MOST_ROWS: Final = 40  # of a table on paper
_SHOWN: Final = ("in-short", "key-numbers", "interface")  # in a notebook: what it is, costs, takes and gives


def printed(card: Card) -> str:
    """The whole card for paper: pictures bring their own style, since not every reader gives them the page's."""
    sections = tuple(map(_unfolded, card_sections(card)))
    style = Markup(joined(STYLES))  # noqa: S704  (our own files)
    pictures = {chart.name: replace(chart, svg=standalone(chart)) for chart in charts(card)}
    tree = _tree(sections)
    drawn = Markup(drawing(tree)) if tree is not None else None  # noqa: S704
    more = {"picture": drawn, "inside": inside(tree) if tree is not None else None}
    return _rendered("print.html", card, sections, style=style, keys=keys(card), charts=pictures, **more)


def fragment(card: Card) -> str:
    """What a notebook shows of a card. Its style is bound to its own element."""
    sections = tuple(section for section in card_sections(card) if section.id in _SHOWN)
    return _rendered("fragment.html", card, sections, style=Markup(asset("fragment.css")))  # noqa: S704


def _rendered(template: str, card: Card, sections: tuple[Section, ...], **more: Any) -> str:
    given = {"card": card, "sections": sections, "sizes": known.sizes(card), **more}
    return environment().get_template(template).render(given)


def _unfolded(section: Section) -> Section:
    """Paper cannot be clicked: what is folded on a screen stands open, and what is very long is cut and says so."""
    blocks = (piece for block in section.blocks for piece in (_open(block) if isinstance(block, Table) else (block,)))
    return replace(section, blocks=tuple(blocks))


def _open(table: Table) -> Iterator[Block]:
    if table.folded is not None:
        yield Paragraph((Strong(f"{table.folded[:1].upper()}{table.folded[1:]}"),))
    yield replace(table, folded=None, rows=table.rows[:_MOST_ROWS])
    more = len(table.rows) - _MOST_ROWS
    if more > 0:
        yield Note((f"{plural(more, 'more row')}: in the HTML page and in the JSON card.",))


def _tree(sections: tuple[Section, ...]) -> Box | None:
    return next((it.tree for one in sections for it in one.blocks if isinstance(it, Diagram)), None)
