"""ONNX Autodoc: model documentation from ONNX files.

>>> from onnx_autodoc import card
>>> card("model.onnx").graph.nodes_total
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = [
    "AutodocError",
    "BadInput",
    "Card",
    "LimitReached",
    "Limits",
    "Operator",
    "__version__",
    "card",
    "check",
    "compare",
    "register_operator",
    "within",
]

if TYPE_CHECKING:
    from onnx_autodoc.api import Card, card
    from onnx_autodoc.api.comparison import compare
    from onnx_autodoc.api.gate import check
    from onnx_autodoc.errors import AutodocError, BadInput, LimitReached
    from onnx_autodoc.limits import Limits, within
    from onnx_autodoc.ops import Operator, register_operator

# Public name -> the module that defines it, imported on first use: `onnx-autodoc --help` needs none of them.
_PUBLIC_NAMES = {
    **dict.fromkeys(("Card", "card"), "api"),
    "check": "api.gate",
    "compare": "api.comparison",
    **dict.fromkeys(("AutodocError", "BadInput", "LimitReached"), "errors"),
    **dict.fromkeys(("Limits", "within"), "limits"),
    **dict.fromkeys(("Operator", "register_operator"), "ops"),
}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC_NAMES:
        return getattr(import_module(f"onnx_autodoc.{_PUBLIC_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Package(ModuleType):
    """Keeps the functions `card` and `compare` public: importing the packages of the same names must not hide them."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _PUBLIC_NAMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
