"""The page put together: sections through the templates, data for the scripts, and the policy over all of it."""

from functools import cache
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from onnx_autodoc.card import Box, Card
from onnx_autodoc.render._blocks import Diagram, Picture, Section
from onnx_autodoc.render._drawing import drawing, inside
from onnx_autodoc.render._report import Report
from onnx_autodoc.render.charts import STYLE, Chart, charts
from onnx_autodoc.render.html._assets import EARLY, GRAPH, PAGE, STYLES, VENDOR, asset, joined, policy
from onnx_autodoc.render.html._data import as_json, boxes, formulas, sliders
from onnx_autodoc.render.html._figures import exactly, keys, moving, written
from onnx_autodoc.render.html._rows import Packed, packed
from onnx_autodoc.render.sections import _figures as known
from onnx_autodoc.render.sections import card_sections
from onnx_autodoc.text import clean, count, plural, quiet

_LONGEST: Final = 20_000  # letters of a paragraph: more is no text
_LONGEST_NAME: Final = 240
_TALL: Final = 16  # rows, from which on a table scrolls within itself
_FEW: Final = 5  # boxes that need little room
_MANY: Final = 16  # boxes that need more than a screen
# cytoscape adds a rule like this by itself where no element of this id is; a page under our policy must bring it.
_CONTAINER: Final = ".__________cytoscape_container { position: absolute; }"


def page(report: Report) -> str:
    card = report.card
    rows = packed(report.nodes())
    sections = card_sections(card)
    tree = next((block.tree for section in sections for block in section.blocks if isinstance(block, Diagram)), None)
    template = environment().get_template("page.html")
    return template.render(**_code(tree is not None), **_content(card, sections, rows), **_data(card, rows, tree))


def _code(graph: bool) -> dict[str, Any]:
    """Scripts, styles and the policy that admits just these. A page without a drawing brings nothing to draw with."""
    scripts = {"early": joined(EARLY), "script": joined(PAGE)}
    if graph:
        scripts |= {"vendor": joined(VENDOR), "graph": joined(GRAPH)}
    styles = {"style": f"{joined(STYLES)}{STYLE}\n", "container": _CONTAINER}
    admitted = policy(list(scripts.values()), list(styles.values()))
    safe = {name: Markup(text) for name, text in (scripts | styles).items()}  # noqa: S704  (our own files)
    return {"vendor": None, "graph": None, **safe, "policy": admitted, "licences": asset("LICENSES.txt")}


def _content(card: Card, sections: tuple[Section, ...], rows: Packed) -> dict[str, Any]:
    return {
        "card": card,
        "sections": sections,
        "charts": _pictures(card),
        "keys": keys(card),
        "sliders": sliders(card),
        "moving": moving(card),
        "places": rows.places,
        "sizes": known.sizes(card),
        "rows": rows,
    }


def _pictures(card: Card) -> dict[str, Chart]:
    return {chart.name: chart for chart in charts(card)}


def _data(card: Card, rows: Packed, tree: Box | None) -> dict[str, Any]:
    return {
        "formula_data": Markup(as_json(formulas(card))),  # noqa: S704  (nothing in it can end its element)
        "node_data": Markup(as_json(rows.columns)),  # noqa: S704
        "box_data": Markup(as_json(boxes(tree))) if tree is not None else None,  # noqa: S704
        "picture": Markup(drawing(tree)) if tree is not None else None,  # noqa: S704
        "inside": inside(tree) if tree is not None else None,
    }


@cache
def environment() -> Environment:
    found = Environment(
        loader=FunctionLoader(asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_final,
    )
    found.filters |= {
        "kind": lambda value: type(value).__name__,
        "said": _said,
        "named": _named,
        "lines": _lines,
        "written": written,
        "exactly": exactly,
        "count": count,
        "plural": plural,
        "drawn": _drawn,
        "room": _room,
        "markup": Markup,
    }
    found.globals["TALL"] = _TALL
    return found


def _final(value: object) -> object:
    """Of every expression of every template: whatever no filter has looked at has no hidden characters, either."""
    return quiet(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _said(text: str) -> str:
    """Any words: invisible characters are made visible. What HTML could take for its own, the template escapes."""
    return clean(text, _LONGEST)


def _named(text: str) -> str:
    """A word of the file: what is longer than this is no name for people."""
    return clean(text, _LONGEST_NAME)


def _lines(text: str) -> str:
    return "\n".join(clean(line, _LONGEST) for line in text.split("\n"))


def _room(tree: Box) -> str:
    """How high the drawing is, known before it is drawn: nothing moves when it comes to life."""
    boxes = len(tree.children) + max((len(box.children) for box in tree.children if box.repeats), default=0)
    return "few" if boxes <= _FEW else "many" if boxes >= _MANY else "some"


def _drawn(block: Picture, pictures: dict[str, Chart]) -> Chart | None:
    return pictures.get(block.chart)
