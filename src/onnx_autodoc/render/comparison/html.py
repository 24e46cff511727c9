"""The comparison as one page, side by side: no scripts, nothing loaded, every word of a model file a word."""

from functools import cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, FunctionLoader
from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.card import Box
from onnx_autodoc.compare import Comparison, Diff
from onnx_autodoc.render._blocks import Block, Diagram, Paragraph, Section, Strong
from onnx_autodoc.render._drawing import drawing
from onnx_autodoc.render.comparison import _words as words
from onnx_autodoc.render.comparison._sections import sections
from onnx_autodoc.render.html._assets import asset, joined, policy
from onnx_autodoc.render.html._page import environment

_STYLES: Final = ("page.css", "parts.css", "print.css")
_OWN: Final = ("comparison.html", "comparison.css")
_SIGNS: Final = {"changed": "≠", "gone": "−", "added": "+"}  # no colour says what a sign does not


class Drawing(Struct, frozen=True):
    """The two drawings of one comparison; `now` is None where one stands for all that are drawn alike."""

    name: str
    was: Markup
    now: Markup | None


def render_html(comparison: Comparison) -> str:
    style = joined(_STYLES) + _asset("comparison.css")
    given: dict[str, Any] = {
        "comparison": comparison,
        "headline": words.headline(comparison),
        "names": words.names(comparison),
        "sections": tuple(map(_undrawn, sections(comparison))),
        "drawings": _drawings(comparison),
        "alike": _alike(comparison),
        "style": Markup(style),  # noqa: S704  (our own files)
        "policy": policy([], [style]),
        "sizes": None,
    }
    return _environment().get_template("comparison.html").render(given)


def _undrawn(section: Section) -> Section:
    """The relation is said on top, and drawings stand beside each other here, not one below the other."""
    if section.id == "in-short":
        return replace(section, title="How that is known", blocks=tuple(filter(_untold, section.blocks)))
    blocks = list(section.blocks)
    first = next((at for at, block in enumerate(blocks) if isinstance(block, Diagram)), None)
    return section if first is None else replace(section, blocks=tuple(blocks[: first - 1]))


def _untold(block: Block) -> bool:
    return not (isinstance(block, Paragraph) and isinstance(block.text[0], Strong))


def _drawings(comparison: Comparison) -> list[Drawing]:
    """A pair for each model that is drawn otherwise; if none is, the one drawing that they share."""
    first, known = comparison.models[0].tree, words.names(comparison)
    if first is None or comparison.empty:
        return []
    rows = zip(comparison.diffs, comparison.models[1:], known[1:])
    pairs = [
        Drawing(name, _drawn(first, diff.marks_was), _drawn(side.tree, diff.marks_is))
        for diff, side, name in rows
        if side.tree is not None and _marked(diff)
    ]
    return pairs or [Drawing(known[0], _drawn(first, {}), None)]


def _alike(comparison: Comparison) -> list[str]:
    """Those that are drawn like the first one."""
    first, names = comparison.models[0].tree, words.names(comparison)[1:]
    rows = zip(comparison.diffs, comparison.models[1:], names)
    return [name for diff, side, name in rows if first is not None and side.tree is not None and not _marked(diff)]


def _marked(diff: Diff) -> bool:
    return bool(diff.marks_was or diff.marks_is)


def _drawn(tree: Box, marks: dict[str, str]) -> Markup:
    """With a sign before the name of each box that differs."""
    boxes = [
        replace(box, label=f"{_SIGNS[marks[box.id]]} {_named(box)}") if box.id in marks else box
        for box in tree.children
    ]
    return Markup(drawing(replace(tree, children=tuple(boxes))))  # noqa: S704  (it escapes every word)


def _named(box: Box) -> str:
    return box.label.strip() or box.kind


def _asset(name: str) -> str:
    """Of this folder; what it does not have is a part of the card's page."""
    if name not in _OWN:
        return asset(name)
    return files("onnx_autodoc.render.comparison").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    return environment().overlay(loader=FunctionLoader(_asset))
