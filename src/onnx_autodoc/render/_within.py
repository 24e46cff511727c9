"""Data formats keep strings whole, up to a length that no name has: what a file says once, a document says often."""

from typing import Final, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.text import count

MOST: Final = 4_096  # letters
MOST_BYTES: Final = 1 << 25  # of a card, from where on its strings are shortened
_Made = TypeVar("_Made")


def within(value: _Made) -> _Made:
    """The same value, in which every string has an end; how long it was stands there."""
    return _shortened(value)  # type: ignore[return-value]


def whole(document: object) -> bytes | bytearray:
    """A document as JSON, its strings whole unless it is very large, or a string is none."""
    try:
        made = encoded(document)
    except UnicodeEncodeError:
        made = b""
    return made if 0 < len(made) <= MOST_BYTES else encoded(within(document))


def pretty(document: object) -> str:
    """The same for people and for diffs, ending in a line's end."""
    return msgspec.json.format(whole(document), indent=2).decode() + "\n"


def encoded(document: object) -> bytes | bytearray:
    """As JSON, into a buffer of Python's: that of `msgspec.json.encode` dies where it cannot grow."""
    made = bytearray()
    msgspec.json.Encoder().encode_into(document, made)
    return made


def _shortened(value: object) -> object:
    if type(value) is str:
        return writable(value) if len(value) <= MOST else f"{writable(value[:MOST])}… ({count(len(value))} characters)"
    if isinstance(value, Struct):
        return _struct(value)
    if isinstance(value, tuple):
        found = tuple(map(_shortened, value))
        return value if all(one is other for one, other in zip(value, found)) else found
    if isinstance(value, list):
        return list(map(_shortened, value))
    if isinstance(value, dict):
        return {_shortened(key): _shortened(item) for key, item in value.items()}
    return value


def _struct(value: Struct) -> Struct:
    fields = {name: getattr(value, name) for name in value.__struct_fields__}
    found = {name: _shortened(field) for name, field in fields.items()}
    changed = {name: field for name, field in found.items() if field is not fields[name]}
    return replace(value, **changed) if changed else value


def writable(text: str) -> str:
    """Bytes of a path that are no UTF-8 come as halves of letters, which no document can hold."""
    return text.encode("utf-8", "backslashreplace").decode() if _is_broken(text) else text


def _is_broken(text: str) -> bool:
    return not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text)
