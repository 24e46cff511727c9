"""Make strings from a model file safe to display.

Two layers: `sanitize`, `display_name` and `quote_name` handle one name inside a sentence; `sanitize_text` and
`sanitize_json` handle a whole document before it is written. A name may imitate the tool's own sentences ("no problems
were found"), hide characters, reverse the direction of text or contain a CI runner's logging command.

Logging commands: GitHub's runner accepts `::` after white space at the beginning of a line and `##[` anywhere
(ActionCommand.cs); Azure accepts `##vso[`, TeamCity `##teamcity[`. GitLab's markers need an escape character.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

_ELLIPSIS: Final = "…"
_MAX_NAME_CHARS: Final = 200
# Direction overrides and invisible marks can make a name read as another one.
_HIDDEN_CATEGORIES: Final = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))
# Letters and marks that Unicode lets a program leave out (Default_Ignorable_Code_Point), and the Braille blank.
_IGNORABLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_ALLOWED_SPACES: Final = " \xa0\u200a"  # charts separate letters with the last one
_VARIATION_SELECTORS: Final = frozenset((*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
_CI_COMMAND: Final = re.compile(r"##(?=[\w.-]*\[)")
# At the beginning of a line or after blanks and colours; a blank before it is dropped, so that tables keep their width.
_LEADING_COMMAND: Final = re.compile(r"^((?:[^\S\n]|\x1b\[[0-9;]*m)*?)( ?)::", re.MULTILINE)
_NOT_ASCII: Final = re.compile(r"[^ -~]")
_NOT_ASCII_LINES: Final = re.compile(r"[^ -~\n]")
# One word with a letter in it that does not end like a sentence.
_PLAIN_WORD: Final = re.compile(r"(?=.*[^\W\d_])[\w/.:@][\w./:+\-\[\]@#~$&=%]*(?<![.:])")
_SENTENCE_WORDS: Final = frozenset(("and", "are", "is", "it", "more", "not", "others"))  # And and Not are operators
_ANSWER_WORDS: Final = frozenset(("all", "no", "none", "nothing", "unknown"))  # in any case
_QUOTATION_MARKS: Final = str.maketrans({"“": "\\u201c", "”": "\\u201d"})


def sanitize(text: str, limit: int = 200) -> str:
    """Return one printable line of at most `limit` characters, with hidden characters and CI commands escaped."""
    text = _NOT_ASCII.sub(_escape_match, _shorten(text, limit))
    return _CI_COMMAND.sub(r"#\\x23", text) if "##" in text else text


def display_name(text: str, limit: int = 40) -> str:
    """Return a name for a sentence that is displayed: sanitized, and quoted unless it is one plain word."""
    return _quote_if_needed(sanitize(text, limit))


def quote_name(name: str, limit: int = _MAX_NAME_CHARS) -> str:
    """Return a name for a sentence that is stored as data: quoted unless it is one plain word, not sanitized."""
    return _quote_if_needed(_shorten(name, limit))


def _quote_if_needed(name: str) -> str:
    reserved = name in _SENTENCE_WORDS or name.lower() in _ANSWER_WORDS
    return name if _PLAIN_WORD.fullmatch(name.strip(_ELLIPSIS)) and not reserved else quote(name)


def quote(name: str) -> str:
    """Return a name in quotation marks that it cannot close."""
    return f"“{name.translate(_QUOTATION_MARKS)}”"


def repr_name(name: str, limit: int = _MAX_NAME_CHARS) -> str:
    """Return a shortened name in quotation marks as Python writes them."""
    return repr(_shorten(name, limit))


def sanitize_text(text: str) -> str:
    """Return a document of lines in which nothing is hidden and no line is a command to a CI runner."""
    return escape_ci_commands(escape_hidden(text))


def escape_hidden(text: str) -> str:
    """Escape every hidden character except line ends."""
    return _NOT_ASCII_LINES.sub(_escape_match, text)


def escape_ci_commands(text: str) -> str:
    """Escape the beginning of every command to a CI runner."""
    if "::" in text:
        text = _LEADING_COMMAND.sub(r"\1\\::", text)
    return _CI_COMMAND.sub(r"#\\x23", text) if "##" in text else text


def sanitize_json(text: str) -> str:
    """Escape hidden characters and CI commands in a JSON document by JSON's own escapes: its values stay the same."""
    if "##" in text:
        text = _CI_COMMAND.sub(r"#\\u0023", text)
    return _NOT_ASCII_LINES.sub(lambda match: _json_escape(match[0]) if _is_hidden(match[0]) else match[0], text)


def _json_escape(char: str) -> str:
    """Return the JSON escape of a character, which counts in units of UTF-16."""
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + _ELLIPSIS


@lru_cache(4096)
def _is_hidden(char: str) -> bool:
    """Return whether a character is invisible, or is a space of unusual width that can move the following text."""
    hidden = unicodedata.category(char) in _HIDDEN_CATEGORIES and char not in _ALLOWED_SPACES
    return hidden or char in _IGNORABLE or ord(char) in _VARIATION_SELECTORS


def _escape_match(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii") if _is_hidden(match[0]) else match[0]
