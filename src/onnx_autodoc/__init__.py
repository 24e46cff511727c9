"""ONNX Autodoc: a model file goes in, a document that a person can trust comes out.

>>> from onnx_autodoc import card
>>> card("model.onnx").graph.nodes_total
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["AutodocError", "BadInput", "Card", "LimitReached", "__version__", "card"]

if TYPE_CHECKING:
    from onnx_autodoc.api import Card, card
    from onnx_autodoc.errors import AutodocError, BadInput, LimitReached


def __getattr__(name: str) -> Any:
    """Public names are imported when they are asked for: `onnx-autodoc --help` needs none of them."""
    if name in ("Card", "card"):
        from onnx_autodoc import api

        return getattr(api, name)
    if name in ("AutodocError", "BadInput", "LimitReached"):
        from onnx_autodoc import errors

        return getattr(errors, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
