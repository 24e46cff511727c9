"""JSON outputs: the card by its published schema, node rows, and results of other commands.

Strings are shortened only above a length that no real name has, since documents repeat strings of the file.
"""

from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.render.content import Report
from onnx_autodoc.text import format_count

MAX_STRING_LENGTH: Final = 4_096  # characters, of nodes and of very large documents
MAX_DOCUMENT_BYTES: Final = 1 << 25  # above which strings are shortened


def render_json(report: Report) -> str:
    return format_json(report.card)


def render_nodes(report: Report) -> str:
    """Return one JSON object per line and node, in file order; each repeats its scope, so strings are bounded."""
    return "".join(f"{encode(bound_strings(row)).decode()}\n" for row in report.nodes())


def format_json(document: object) -> str:
    """Return indented JSON that ends in a newline."""
    return msgspec.json.format(encode_bounded(document), indent=2).decode() + "\n"


def encode_bounded(document: object) -> bytes | bytearray:
    """Encode a document; strings are shortened if it is very large or a string is no valid text."""
    try:
        encoded = encode(document)
    except UnicodeEncodeError:
        encoded = bytearray()
    return encoded if 0 < len(encoded) <= MAX_DOCUMENT_BYTES else encode(bound_strings(document))


def encode(document: object) -> bytearray:
    """Encode into a Python buffer: `msgspec.json.encode` crashes where its own buffer cannot grow."""
    buffer = bytearray()
    msgspec.json.Encoder().encode_into(document, buffer)
    return buffer


def bound_strings(value: object) -> object:
    """Return the value with every string shortened to `MAX_STRING_LENGTH`, followed by its length."""
    if type(value) is str:
        if len(value) <= MAX_STRING_LENGTH:
            return escape_surrogates(value)
        return f"{escape_surrogates(value[:MAX_STRING_LENGTH])}… ({format_count(len(value))} characters)"
    if isinstance(value, Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        bounded = {name: bound_strings(field) for name, field in fields.items()}
        changed = {name: field for name, field in bounded.items() if field is not fields[name]}
        return replace(value, **changed) if changed else value
    if isinstance(value, tuple):
        items = tuple(map(bound_strings, value))
        return value if all(item is original for item, original in zip(items, value)) else items
    if isinstance(value, list):
        return list(map(bound_strings, value))
    if isinstance(value, dict):
        return {bound_strings(key): bound_strings(item) for key, item in value.items()}
    return value


def escape_surrogates(text: str) -> str:
    """Escape bytes of a path that are no UTF-8, which Python represents as surrogates and JSON cannot hold."""
    if text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-8", "backslashreplace").decode()
