"""Strings from a model file are data: made safe to print here, once, for every format that people read."""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_ELLIPSIS: Final = "…"
_LONGEST: Final = 200  # letters of a name in a reason
# Direction overrides and invisible marks can make a name read as another one.
_HIDDEN: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))
# Letters and marks that Unicode lets a program leave out (Default_Ignorable_Code_Point), and a letter that is a blank.
_IGNORED: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_BLANKS: Final = " \xa0\u200a"  # the last one parts letters in our own drawings
_SELECTORS: Final = frozenset((*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
# What begins a command to whoever runs a job and reads its log, wherever in a line it stands: `##[command]` for
# GitHub's and Azure's runners, `##vso[` for Azure's, `##teamcity[` for TeamCity.
COMMAND: Final = re.compile(r"##(?=[\w.-]*\[)")
_ODD: Final = re.compile(r"[^ -~]")
# One word with a letter in it, as names are; what is a word of ours, or ends a sentence, is none.
_WORD: Final = re.compile(r"(?=.*[^\W\d_])[\w/.:@][\w./:+\-\[\]@#~$&=%]*(?<![.:])")
_OURS: Final = frozenset(("and", "are", "is", "it", "more", "not", "others"))  # And and Not are operators
_ANSWERS: Final = frozenset(("all", "no", "none", "nothing", "unknown"))  # in small letters or large ones
_MARKS: Final = str.maketrans({"“": "\\u201c", "”": "\\u201d"})


def clean(text: str, most: int = 200) -> str:
    """One printable line that is no command: what cannot be seen is written as escapes, long texts are shortened."""
    text = _ODD.sub(_seen, _short(text, most))
    return COMMAND.sub(r"#\\x23", text) if "##" in text else text


def named(text: str, most: int = 40) -> str:
    """A name inside of a sentence of ours, safe to show."""
    return _seen_as_name(clean(text, most))


def told(name: str, most: int = _LONGEST) -> str:
    """A name inside of a reason of ours: in quotation marks that it cannot close, unless it is one plain word.

    A name can say anything ("no problems were found"), and between the marks it is seen to be a name. What cannot be
    printed is left as it is: a reason is data, and is made safe where it is shown.
    """
    return _seen_as_name(_short(name, most))


def _seen_as_name(shown: str) -> str:
    ours = shown in _OURS or shown.lower() in _ANSWERS
    return shown if _WORD.fullmatch(shown.strip(_ELLIPSIS)) and not ours else marked(shown)


def marked(name: str) -> str:
    """In quotation marks that it cannot close."""
    return f"“{name.translate(_MARKS)}”"


def quoted(name: str, most: int = _LONGEST) -> str:
    """Always in quotation marks, those of Python's texts."""
    return repr(_short(name, most))


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + _ELLIPSIS


@lru_cache(4096)
def is_hidden(char: str) -> bool:
    """A blank of another width can move what follows it to where it seems to be another thing."""
    odd = unicodedata.category(char) in _HIDDEN and char not in _BLANKS
    return odd or char in _IGNORED or ord(char) in _SELECTORS


def _seen(found: re.Match[str]) -> str:
    return escape(found[0]) if is_hidden(found[0]) else found[0]


def escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")
