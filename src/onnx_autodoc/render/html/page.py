"""The pages of a card: the interactive page, the printed one, its PDF, and the fragment for notebooks."""

from collections.abc import Iterator
from typing import Any, Final, NoReturn

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Card
from onnx_autodoc.errors import BadInput
from onnx_autodoc.render import numbers
from onnx_autodoc.render.card_text import capitalize, count_findings
from onnx_autodoc.render.charts import STYLE, draw_charts, standalone
from onnx_autodoc.render.content import Block, Name, Note, Paragraph, Report, Section, Spans, Strong, Table
from onnx_autodoc.render.diagram import draw_diagram, draw_main_layer
from onnx_autodoc.render.html.data import diagram_data, formula_data, make_sliders, pack_rows, to_script_json
from onnx_autodoc.render.html.templates import (
    GRAPH_SCRIPTS,
    PAGE_SCRIPTS,
    STYLES,
    THEME_SCRIPTS,
    VENDOR_SCRIPTS,
    join_assets,
    make_policy,
    read_asset,
    template_environment,
)
from onnx_autodoc.render.numbers import format_sizes
from onnx_autodoc.render.sections import card_sections
from onnx_autodoc.text import pluralize

# cytoscape adds this rule itself if no element has its id, which the policy would block.
_CYTOSCAPE_RULE: Final = ".__________cytoscape_container { position: absolute; }"
_MAX_PRINTED_ROWS: Final = 40
_FRAGMENT_SECTIONS: Final = ("summary", "at-a-glance", "interface")


def render_html(report: Report) -> str:
    card, rows = report.card, pack_rows(report.nodes())
    sections = card_sections(card)
    has_diagram = card.structure.tree is not None
    data = {
        "formula_data": Markup(to_script_json(formula_data(card))),  # noqa: S704  (no character can end the element)
        "node_data": Markup(to_script_json(rows.columns)),  # noqa: S704
        "box_data": Markup(to_script_json(diagram_data(card.structure.tree))) if card.structure.tree else None,  # noqa: S704
    }
    content = {
        "charts": draw_charts(card),
        "key_figures": key_figures(card),
        "sliders": make_sliders(card),
        "slider_figures": slider_figures(card),
        "row_indices": rows.row_indices,
        "rows": rows,
    }
    return _render("page.html", card, sections, **_scripts(has_diagram), **content, **data, **_diagrams(card))


def _scripts(has_diagram: bool) -> dict[str, Any]:
    """Return scripts, styles and the policy for exactly these; a page without a diagram has no graph library."""
    scripts = {"theme_script": join_assets(THEME_SCRIPTS), "page_script": join_assets(PAGE_SCRIPTS)}
    if has_diagram:
        scripts |= {"vendor_script": join_assets(VENDOR_SCRIPTS), "graph_script": join_assets(GRAPH_SCRIPTS)}
    styles = {"style": f"{join_assets(STYLES)}{STYLE}\n", "cytoscape_style": _CYTOSCAPE_RULE}
    policy = make_policy(list(scripts.values()), list(styles.values()))
    safe = {name: Markup(text) for name, text in (scripts | styles).items()}  # noqa: S704  (package files)
    absent = {"vendor_script": None, "graph_script": None}
    return {**absent, **safe, "policy": policy, "licenses": read_asset("LICENSES.txt")}


def _diagrams(card: Card) -> dict[str, Any]:
    """Return the still diagram and its main layer."""
    tree = card.structure.tree
    if tree is None:
        return {"diagram": None, "main_layer": None}
    return {"diagram": Markup(draw_diagram(tree)), "main_layer": draw_main_layer(tree)}  # noqa: S704


def render_print(report: Report) -> str:
    """Return the page for paper: no scripts, nothing collapsed; charts bring their style, which some tools need."""
    card = report.card
    sections = tuple(_expand_tables(section) for section in card_sections(card))
    charts = {name: replace(chart, svg=standalone(chart)) for name, chart in draw_charts(card).items()}
    style = Markup(join_assets(STYLES))  # noqa: S704  (package files)
    content = {"style": style, "key_figures": key_figures(card), "charts": charts}
    return _render("print.html", card, sections, **content, **_diagrams(card))


def render_fragment(card: Card) -> str:
    """Return summary, key figures and interface for a notebook; the style applies to this element only."""
    sections = tuple(section for section in card_sections(card) if section.id in _FRAGMENT_SECTIONS)
    return _render("fragment.html", card, sections, style=Markup(read_asset("fragment.css")))  # noqa: S704


def _render(template: str, card: Card, sections: tuple[Section, ...], **values: Any) -> str:
    values = {"card": card, "sections": sections, "sizes": format_sizes(card), **values}
    return template_environment().get_template(template).render(values)


def _expand_tables(section: Section) -> Section:
    blocks = (part for block in section.blocks for part in (_expand(block) if isinstance(block, Table) else (block,)))
    return replace(section, blocks=tuple(blocks))


def _expand(table: Table) -> Iterator[Block]:
    if table.summary is not None:
        yield Paragraph(Strong(capitalize(table.summary)))
    yield replace(table, summary=None, rows=table.rows[:_MAX_PRINTED_ROWS])
    left = len(table.rows) - _MAX_PRINTED_ROWS
    if left > 0:
        yield Note(f"{pluralize(left, 'more row')}: see the HTML page or the JSON card.")


def render_pdf(report: Report) -> bytes:
    try:
        from weasyprint import HTML
    except ImportError:
        raise BadInput("PDF needs weasyprint: pip install 'onnx-autodoc[pdf]'") from None
    except OSError:
        raise BadInput("PDF needs the pango library: on Debian, apt install libpangoft2-1.0-0") from None
    pdf: bytes = HTML(string=render_print(report), url_fetcher=_refuse_url).write_pdf()
    return pdf


def _refuse_url(url: str, *_: object, **__: object) -> NoReturn:
    """Refuse every URL: the page is complete, and text of a model file must not cause requests."""
    raise ValueError("URLs are not fetched")


class KeyFigure(Struct, frozen=True):
    label: str
    text: Spans


def key_figures(card: Card) -> tuple[KeyFigure, ...]:
    """Return the figures of the page's header."""
    opset, precision, cache = card.model.opsets.get("ai.onnx"), card.model.precision.label, card.memory.kv_cache
    per_token = (KeyFigure("KV cache per token", numbers.memory(cache.bytes_per_token)),) if cache is not None else ()
    return (
        KeyFigure("Parameters", numbers.parameters(card)),
        KeyFigure("Weights", numbers.weights(card)),
        KeyFigure("Compute", numbers.cost(card, "compute.macs")),
        KeyFigure("Peak activations", numbers.cost(card, "memory.peak_activation_bytes")),
        *per_token,
        KeyFigure("Precision", Name(precision) if precision else "none"),
        KeyFigure("Opset", str(opset) if opset else "no ai.onnx"),
        KeyFigure("Findings", count_findings(card.findings)),
    )


def slider_figures(card: Card) -> tuple[KeyFigure, ...]:
    """Return the figures that follow the sliders: those with a formula, and those derived from them."""
    terms = set(card.compute.formula.terms)
    candidates = (
        ("MACs", numbers.cost(card, "compute.macs"), {"macs"}),
        ("FLOPs", numbers.cost(card, "compute.flops"), {"flops"}),
        ("Bytes moved", numbers.cost(card, "compute.bytes_moved"), {"bytes_moved"}),
        ("Intensity", numbers.intensity(card), {"flops", "bytes_moved"}),
        ("Peak activations", numbers.cost(card, "memory.peak_activation_bytes"), {"peak_activation_bytes"}),
        ("Memory for one run", numbers.run_memory(card), {"peak_activation_bytes"}),
    )
    figures = [KeyFigure(label, number) for label, number, needed in candidates if needed <= terms]
    if "kv_cache_bytes" in terms and card.memory.kv_cache is not None:
        figures.append(KeyFigure("KV cache", numbers.kv_cache(card)))
    return tuple(figures)
