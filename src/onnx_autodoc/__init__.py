"""ONNX Autodoc: a model file goes in, a document that a person can trust comes out.

>>> from onnx_autodoc import card
>>> card("model.onnx").graph.nodes_total
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "AutodocError",
    "BadInput",
    "Card",
    "LimitReached",
    "Limits",
    "__version__",
    "card",
    "check",
    "compare",
    "within",
]

if TYPE_CHECKING:
    from onnx_autodoc.api import Card, card
    from onnx_autodoc.api._check import check
    from onnx_autodoc.api._compare import compare
    from onnx_autodoc.errors import AutodocError, BadInput, LimitReached
    from onnx_autodoc.limits import Limits, within

_HOMES = {
    **dict.fromkeys(("Card", "card"), "api"),
    "check": "api._check",
    "compare": "api._compare",
    **dict.fromkeys(("AutodocError", "BadInput", "LimitReached"), "errors"),
    **dict.fromkeys(("Limits", "within"), "limits"),
}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are asked for: `onnx-autodoc --help` needs none of them."""
    if name in _HOMES:
        return getattr(import_module(f"onnx_autodoc.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
