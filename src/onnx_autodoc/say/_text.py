"""Strings from a model file are data: made safe to print here, once, for every format that people read."""

import unicodedata
from typing import Final

_ELLIPSIS: Final = "…"
# Direction overrides and invisible marks can make a name read as another one.
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def clean(text: str, most: int = 200) -> str:
    """One printable line: controls and invisible characters are written as escapes, long texts are shortened."""
    if len(text) > most:
        text = text[: most - 1] + _ELLIPSIS
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(char) if unicodedata.category(char) in _HIDDEN else char for char in text)


def _escaped(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
