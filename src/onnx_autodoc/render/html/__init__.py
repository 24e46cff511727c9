"""The card as one page: a single file that asks nothing of any network and runs nothing that is not in it.

What stands in it comes from render/sections; here is how it looks (assets/), what it lets a reader do, and the policy
that keeps every word of a model file a word.
"""

from onnx_autodoc.card import Card
from onnx_autodoc.render._report import Report

__all__ = ["render_fragment", "render_html", "render_print"]


def render_html(report: Report) -> str:
    """The page. Templates and their library are loaded only when one is written."""
    from onnx_autodoc.render.html._page import page

    return page(report)


def render_print(report: Report) -> str:
    """The page for paper: no scripts, nothing folded, nothing to press."""
    from onnx_autodoc.render.html._still import printed

    return printed(report.card)


def render_fragment(card: Card) -> str:
    """A piece of a page for a notebook: what the model is, costs, takes and gives."""
    from onnx_autodoc.render.html._still import fragment

    return fragment(card)
