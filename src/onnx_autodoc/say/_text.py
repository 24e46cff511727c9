"""Strings from a model file are data: made safe to print here, once, for every format that people read."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_ELLIPSIS: Final = "…"
# Direction overrides and invisible marks can make a name read as another one.
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
# Letters and marks that Unicode lets a program leave out (Default_Ignorable_Code_Point), and a letter that is a blank.
_IGNORED: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_SELECTORS: Final = frozenset((*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
# What begins a command to whoever runs a job and reads its log, wherever in a line it stands: `##[command]` for
# GitHub's and Azure's runners, `##vso[` for Azure's, `##teamcity[` for TeamCity.
COMMAND: Final = re.compile(r"##(?=[\w.-]*\[)")
_ODD: Final = re.compile(r"[^ -~]")
# One word with a letter in it, as names are; what is a word of ours, or ends a sentence, is none.
_WORD: Final = re.compile(r"(?=.*[^\W\d_])[\w/.:@][\w./:+\-\[\]@#~$&=%]*(?<![.:])")
_OURS: Final = frozenset(("and", "all", "are", "is", "it", "more", "no", "none", "not", "nothing", "others", "unknown"))
_MARKS: Final = str.maketrans({"“": "\\u201c", "”": "\\u201d"})


def clean(text: str, most: int = 200) -> str:
    """One printable line that is no command: what cannot be seen is written as escapes, long texts are shortened."""
    if len(text) > most:
        text = text[: most - 1] + _ELLIPSIS
    text = _ODD.sub(_seen, text)
    return COMMAND.sub(r"#\\x23", text) if "##" in text else text


def named(text: str, most: int = 40) -> str:
    """A name inside of a sentence of ours: in quotation marks, unless it is one plain word.

    A name can say anything ("no problems were found"), and between the marks it is seen to be a name.
    """
    shown = clean(text, most)
    plain = _WORD.fullmatch(shown.strip(_ELLIPSIS)) and shown.lower() not in _OURS
    return shown if plain else f"“{shown.translate(_MARKS)}”"


@lru_cache(4096)
def is_hidden(char: str) -> bool:
    return unicodedata.category(char) in _HIDDEN or char in _IGNORED or ord(char) in _SELECTORS


def _seen(found: re.Match[str]) -> str:
    return escape(found[0]) if is_hidden(found[0]) else found[0]


def escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
