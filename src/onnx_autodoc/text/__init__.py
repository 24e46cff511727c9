"""Numbers and names for people: the only package that rounds, scales, quotes and escapes.

Every string from a model file passes through here before it is displayed, then through the escape of its format.
"""

from onnx_autodoc.text.escaping import (
    display_name,
    escape_ci_commands,
    escape_hidden,
    quote,
    quote_name,
    repr_name,
    sanitize,
    sanitize_json,
    sanitize_text,
)
from onnx_autodoc.text.numbers import (
    format_bytes,
    format_count,
    format_number,
    format_percent,
    format_short,
    format_time,
    pluralize,
)

__all__ = [
    "display_name",
    "escape_ci_commands",
    "escape_hidden",
    "format_bytes",
    "format_count",
    "format_number",
    "format_percent",
    "format_short",
    "format_time",
    "pluralize",
    "quote",
    "quote_name",
    "repr_name",
    "sanitize",
    "sanitize_json",
    "sanitize_text",
]
