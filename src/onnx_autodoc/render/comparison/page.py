"""The comparison as one HTML file, side by side: no scripts, nothing loaded, text of a model file escaped."""

from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, FunctionLoader
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Box
from onnx_autodoc.compare import Comparison
from onnx_autodoc.render.comparison.sections import comparison_sections
from onnx_autodoc.render.comparison.text import format_headline, model_names
from onnx_autodoc.render.content import Diagram, Paragraph, Section, Strong
from onnx_autodoc.render.diagram import draw_diagram
from onnx_autodoc.render.html.templates import join_assets, make_policy, read_asset, template_environment

_STYLES: Final = ("page.css", "parts.css", "print.css")
_OWN_ASSETS: Final = ("comparison.html", "comparison.css")
_CHANGE_SIGNS: Final = {"changed": "≠", "gone": "−", "added": "+"}  # changes are visible without color


class DiagramPair(Struct, frozen=True):
    """The diagrams of two models; `now` is None where one stands for all models."""

    name: str
    was: Markup
    now: Markup | None


def render_html(comparison: Comparison) -> str:
    style = join_assets(_STYLES) + _read_asset("comparison.css")
    pairs, same = _draw_pairs(comparison)
    return (
        _environment()
        .get_template("comparison.html")
        .render(
            comparison=comparison,
            headline=format_headline(comparison),
            names=model_names(comparison),
            sections=tuple(map(_adapt_section, comparison_sections(comparison))),
            diagram_pairs=pairs,
            same_diagram=same,
            style=Markup(style),  # noqa: S704  (package files)
            policy=make_policy([], [style]),
            sizes=None,
        )
    )


def _adapt_section(section: Section) -> Section:
    """Remove what the page shows elsewhere: the relation (its header), and diagrams (side by side)."""
    if section.id == "summary":
        evidence = tuple(
            block for block in section.blocks if not (isinstance(block, Paragraph) and isinstance(block.text, Strong))
        )
        return replace(section, title="Evidence", blocks=evidence)
    first = next((index for index, block in enumerate(section.blocks) if isinstance(block, Diagram)), None)
    return section if first is None else replace(section, blocks=section.blocks[: first - 1])


def _draw_pairs(comparison: Comparison) -> tuple[list[DiagramPair], list[str]]:
    """Return a pair for each model whose diagram differs (or the one that all share), and the names of the others."""
    first, names = comparison.models[0].tree, model_names(comparison)
    pairs, same = [], []
    for diff, side, name in zip(comparison.diffs, comparison.models[1:], names[1:]):
        if first is None or side.tree is None:
            continue
        if diff.marks_was or diff.marks_is:
            pairs.append(DiagramPair(name, _draw_marked(first, diff.marks_was), _draw_marked(side.tree, diff.marks_is)))
        else:
            same.append(name)
    if first is None or comparison.empty:
        return [], same
    return pairs or [DiagramPair(names[0], _draw_marked(first, {}), None)], same


def _draw_marked(tree: Box, marks: dict[str, str]) -> Markup:
    """Draw a diagram with a sign before the label of each box that differs."""
    boxes = tuple(
        replace(box, label=f"{_CHANGE_SIGNS[marks[box.id]]} {box.label.strip() or box.kind}")
        if box.id in marks
        else box
        for box in tree.children
    )
    return Markup(draw_diagram(replace(tree, children=boxes)))  # noqa: S704  (it escapes all text)


def _read_asset(name: str) -> str:
    """Read an asset of this package, or one of the card's page."""
    if name not in _OWN_ASSETS:
        return read_asset(name)
    return files("onnx_autodoc.render.comparison").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    return template_environment().overlay(loader=FunctionLoader(_read_asset))
