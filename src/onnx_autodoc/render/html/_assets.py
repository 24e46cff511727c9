"""The files that the page is made of, and the policy under which a browser runs them."""

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Final

# In the order in which they need each other. The first one runs before anything is drawn: no flash of the wrong theme.
EARLY: Final = ("theme.js",)
PAGE: Final = (
    "numbers.js",
    "nodes.js",
    "tips.js",
    "tables.js",
    "node-table.js",
    "search.js",
    "sliders.js",
    "page.js",
)
VENDOR: Final = ("vendor.js",)
GRAPH: Final = ("boxes.js", "layout.js", "canvas.js", "tree.js", "graph.js")
STYLES: Final = ("page.css", "parts.css", "graph.css", "print.css")


@cache
def asset(name: str) -> str:
    return files("onnx_autodoc.render.html").joinpath("assets", name).read_text(encoding="utf-8")


def joined(names: tuple[str, ...], sign: str = "\n") -> str:
    """One text of several files, as it stands inside of its element."""
    return sign.join(asset(name).rstrip("\n") for name in names) + "\n"


def policy(scripts: list[str], styles: list[str]) -> str:
    """Nothing is loaded from anywhere; of scripts and styles only these very texts count."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_digest, scripts))}",
            f"style-src {' '.join(map(_digest, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
