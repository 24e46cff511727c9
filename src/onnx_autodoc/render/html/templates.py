"""The files that pages are made of, the template environment, and the content security policy."""

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct

from onnx_autodoc.card import Box
from onnx_autodoc.render.content import Number, to_spans
from onnx_autodoc.text import (
    format_bytes,
    format_count,
    format_number,
    format_short,
    pluralize,
    sanitize,
    sanitize_text,
)

# In the order of their dependencies. The theme script runs before anything is drawn, so that no wrong theme flashes.
THEME_SCRIPTS: Final = ("theme.js",)
PAGE_SCRIPTS: Final = (
    *("numbers.js", "nodes.js", "tips.js", "tables.js"),
    *("node-table.js", "search.js", "sliders.js", "page.js"),
)
VENDOR_SCRIPTS: Final = ("vendor.js",)
GRAPH_SCRIPTS: Final = ("boxes.js", "layout.js", "canvas.js", "tree.js", "graph.js")
STYLES: Final = ("page.css", "parts.css", "graph.css", "print.css")
_MAX_TEXT_LENGTH: Final = 20_000
_MAX_NAME_LENGTH: Final = 240
_TALL_TABLE_ROWS: Final = 16  # from which on a table scrolls
_FEW_BOXES: Final = 5
_MANY_BOXES: Final = 16  # that need more than a screen
# How a number may have been formatted; numbers.js has the same formats under the same names.
_FORMATS: Final[dict[str, Callable[[int], str]]] = {
    "memory": format_bytes,
    "short": format_short,
    "count": format_count,
}


@cache
def read_asset(name: str) -> str:
    return files("onnx_autodoc.render.html").joinpath("assets", name).read_text(encoding="utf-8")


def join_assets(names: tuple[str, ...]) -> str:
    return "\n".join(read_asset(name).rstrip("\n") for name in names) + "\n"


def make_policy(scripts: list[str], styles: list[str]) -> str:
    """Return a policy under which a browser loads nothing and runs only these scripts and styles."""
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


@cache
def template_environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(read_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_escape_hidden,
    )
    environment.filters |= {
        "kind": lambda value: type(value).__name__,
        "spans": to_spans,
        "clean": lambda text: sanitize(text, _MAX_TEXT_LENGTH),
        "clean_name": lambda text: sanitize(text, _MAX_NAME_LENGTH),
        "clean_lines": lambda text: "\n".join(sanitize(line, _MAX_TEXT_LENGTH) for line in text.split("\n")),
        "detect_format": detect_format,
        "format_exact": format_exact,
        "count": format_count,
        "pluralize": pluralize,
        "height_class": _height_class,
        "markup": Markup,
    }
    environment.globals["TALL_TABLE_ROWS"] = _TALL_TABLE_ROWS
    return environment


def _escape_hidden(value: object) -> object:
    """Escape hidden characters of every expression, also of those that no filter has cleaned."""
    return sanitize_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _height_class(tree: Box) -> str:
    """Return the height of the diagram, known before it is drawn so that the page does not shift."""
    boxes = len(tree.children) + max((len(box.children) for box in tree.children if box.repeats), default=0)
    return "few" if boxes <= _FEW_BOXES else "many" if boxes >= _MANY_BOXES else "some"


class NumberFormat(Struct, frozen=True):
    """How a number was formatted: the format's name and the text around the number."""

    name: str
    before: str
    after: str


def detect_format(number: Number) -> NumberFormat | None:
    """Return how a number was formatted, so that a script can format another value; None where that is unclear."""
    if number.quantity is None or number.exact is None:
        return None
    if isinstance(number.exact, float):
        candidates = {"three": format_number(number.exact)}
    else:
        value = int(number.exact)
        with_unit = format_short(value, number.unit) if number.unit not in ("", "bytes") else ""
        candidates = {"unit": with_unit, **{name: formatted(value) for name, formatted in _FORMATS.items()}}
    for name, text in candidates.items():
        if text and text in number.text:
            before, after = number.text.split(text, 1)
            return NumberFormat(name, before, after)
    return None


def format_exact(number: Number) -> str:
    """Return the exact value with its unit."""
    if number.exact is None:
        return ""
    value = format_count(number.exact) if isinstance(number.exact, int) else f"{number.exact:,.6g}"
    return f"{value} {number.unit}".rstrip()
