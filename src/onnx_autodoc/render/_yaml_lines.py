"""The lines of a YAML mapping, read as far as needed to add to it without touching it: which keys stand where.

No YAML library is loaded, none keeps comments and quotes, and what must be known is little. Whatever is not plainly
understood is refused with its line; then nothing is written.
"""

import json
import re
from typing import Final, NoReturn

from msgspec import Struct

_QUOTED: Final = r""""(?:[^"\\]|\\.)*"|'(?:[^']|'')*'"""
_FIRST: Final = r"""[^\s\-?:,\[\]{}\#&*!|>'"%@`]|[-?:](?=\S)"""  # of a plain word
_KEY: Final = re.compile(rf"({_QUOTED}|(?:{_FIRST})(?:[^:\#]|:(?=\S)|(?<=\S)\#)*?)\s*:(?=\s|$)")
_TEXTS: Final = re.compile(_QUOTED)
_WHOLE: Final = re.compile(rf"({_QUOTED})(?:\s+\#.*)?")
_BLOCK: Final = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-])(?:\s+\#.*|\s*)$")
_ANCHOR: Final = re.compile(r"&([A-Za-z0-9_-]+)(?:[ ]+|$)")
_ALIAS: Final = re.compile(r"\*([A-Za-z0-9_-]+)(?:[ ]+\#.*)?")
_COMMENT: Final = re.compile(r"(?:^|\s)\#.*$")
# Control characters, and those that only some readers take for the end of a line.
_ODD: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_ESCAPES: Final = re.compile(r"""\\(?:[0abt\tnvfre "/\\N_LP]|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|$)""")


class Entry(Struct, frozen=True):
    """A key of the outermost mapping, and its lines: from `first` up to, not including, `end`."""

    key: str
    first: int
    end: int
    value: str  # what stands behind the colon, comment and all


def entries(lines: list[str]) -> tuple[Entry, ...]:
    """The outermost keys, in order; comments that follow a value belong to it. ValueError where a line is not clear."""
    reader = _Reader()
    for number, line in enumerate(lines):
        reader.take(number, line)
    return reader.done(len(lines))


def unquoted(text: str) -> str | None:
    """A scalar on one line without its quotes and comment; None where it is anything but a plain word or text."""
    text = text.strip()
    if found := _WHOLE.fullmatch(text):
        return _of_quotes(found[1])
    bare = _COMMENT.sub("", text).strip()
    odd = not bare or bare[0] in "[]{},&*!|>%@`\"'#" or re.match(r"[-?:](\s|$)", bare) or re.search(r":(\s|$)", bare)
    return None if odd else bare


def _of_quotes(text: str) -> str | None:
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return str(json.loads(text))
    except ValueError:
        return None


class _Level(Struct, frozen=True):
    column: int
    is_list: bool


class _Reader:
    """What is open while lines are read: levels of indentation, a quoted text, brackets, a block of text."""

    def __init__(self) -> None:
        self._found: list[tuple[str, int, str]] = []
        self._levels: list[_Level] = []
        self._number = 0
        self._quote = ""  # the sign that ends the quoted text that is open
        self._brackets: list[str] = []
        self._ended = False  # a quoted text in brackets has just ended
        self._text_in: int | None = None  # a block of text is open, and this is the column it is deeper than
        self._text_at: int | None = None  # where its first line begins
        self._anchors: set[str] = set()
        self._awaits = True  # the last key or dash has no value yet
        self._goes_on = False  # the last value is a plain text, which deeper lines would continue

    def take(self, number: int, line: str) -> None:
        self._number = number
        if found := _ODD.search(line):
            self._refuse(f"holds the character U+{ord(found[0]):04X}")
        stripped = line.lstrip(" ")
        column = len(line) - len(stripped)
        if self._text_in is not None and (not stripped or column > self._text_in):
            return self._block(column, stripped)
        self._text_in = None
        if self._quote or self._brackets:
            self._inside(line)
        elif stripped.strip() and not stripped.startswith("#"):
            self._structure(column, stripped)
        elif stripped.startswith("#"):
            self._goes_on = False
        return None

    def _block(self, column: int, text: str) -> None:
        """A line of a block of text: none goes back to the left of the first one."""
        self._text_at = column if self._text_at is None and text else self._text_at
        if text and column < (self._text_at or 0):
            self._refuse("goes back to the left inside a block of text")

    def done(self, count: int) -> tuple[Entry, ...]:
        if self._quote or self._brackets:
            self._refuse("opens a quote or a bracket that is never closed")
        ends = [*(first for _, first, _ in self._found[1:]), count]
        return tuple(Entry(key, first, end, value) for (key, first, value), end in zip(self._found, ends))

    def _refuse(self, why: str) -> NoReturn:
        raise ValueError(f"line {self._number + 1} {why}")

    def _structure(self, column: int, text: str) -> None:
        if "\t" in _COMMENT.sub("", _TEXTS.sub("", text)):
            self._refuse("has a tab outside of quotes")
        if column == 0 and re.match(r"(?:---|\.\.\.)(?:\s|$)", text):
            self._refuse("begins or ends a document")
        if self._goes_on and column > self._levels[-1].column:
            return self._continued(text)
        while dash := re.match(r"-(?:[ ]+|$)", text):
            self._enter(column, is_list=True)
            self._awaits, self._goes_on = True, False
            column, text = column + dash.end(), text[dash.end() :]
            if not text or text.startswith("#"):
                return None
        return self._keyed(column, text)

    def _keyed(self, column: int, text: str) -> None:
        found = _KEY.match(text)
        if found is None:
            return self._scalar(column, text)
        self._enter(column, is_list=False)
        value = text[found.end() :]
        if len(self._levels) == 1:
            self._outermost(found[1].strip(), value)
        self._value(value, column)
        return None

    def _outermost(self, key: str, value: str) -> None:
        name = _of_quotes(key) if key[0] in "\"'" else key
        if name is None or name == "<<":
            self._refuse("has a key that is not a plain word")
        self._found.append((name, self._number, value))

    def _scalar(self, column: int, text: str) -> None:
        """A line that is neither a key nor an item: the value of the one before it."""
        anchor = _ANCHOR.match(text)
        if not self._levels or not self._awaits or (anchor and _KEY.match(text, anchor.end())):
            self._refuse("is neither `key: value` nor an item of a list")
        if column <= self._levels[-1].column:
            self._refuse("is not indented as a value")
        self._value(text, self._levels[-1].column)

    def _enter(self, column: int, is_list: bool) -> None:
        """To the level of this line: one that is open, or one below a key or a dash that still waits for its value."""
        levels = self._levels
        while levels and (levels[-1].column > column or self._leaves_list(column, is_list)):
            levels.pop()
            self._awaits = False
        here = _Level(column, is_list)
        if levels and levels[-1] == here:
            return
        under = not levels or levels[-1].column < column or (is_list and levels[-1].column == column)
        if not under or not self._awaits or (not levels and (is_list or self._found)):
            self._refuse("is not indented like the lines around it" if levels else "is not a key of a mapping")
        levels.append(here)

    def _leaves_list(self, column: int, is_list: bool) -> bool:
        """A list may stand as far left as the key that it belongs to."""
        return self._levels[-1] == _Level(column, True) and not is_list

    def _value(self, text: str, column: int) -> None:
        text = text.strip()
        self._awaits = self._goes_on = False
        if not text or text.startswith("#"):
            self._awaits = True
        elif anchor := _ANCHOR.match(text):
            self._anchors.add(anchor[1])
            self._value(text[anchor.end() :], column)
        elif text[0] in "|>":
            if not (header := _BLOCK.match(text)):
                self._refuse("begins a block of text in a way that is not YAML")
            self._text_in, self._text_at = column, 0 if re.search("[1-9]", header[0].partition("#")[0]) else None
        elif text[0] in "\"'[{":
            self._inside(text)
        else:
            self._plain(text)

    def _plain(self, text: str) -> None:
        bare = _COMMENT.sub("", text).strip()
        alias = _ALIAS.fullmatch(text)
        if bare[0] in "@`%,]}&!" or (bare[0] == "*" and not (alias and alias[1] in self._anchors)):
            self._refuse(f"has a value that begins with {bare[0]!r}: it wants quotes")
        if re.match(r"[-?:](\s|$)", bare):
            self._refuse(f"has a value that begins with {bare[0]!r}: it wants quotes")
        if re.search(r":(\s|$)", bare):
            self._refuse("has a colon in its value: it wants quotes")
        self._goes_on = bare == text and bare[0] != "*"

    def _continued(self, text: str) -> None:
        bare = _COMMENT.sub("", text).strip()
        if re.search(r":(\s|$)", bare):
            self._refuse("is a key below a text")
        self._goes_on = bare == text.strip()

    def _inside(self, text: str) -> None:
        """Quotes and brackets, which may go on over lines; nothing but a comment may follow their end."""
        at = 0
        while at < len(text):
            at = self._quoted(text, at) if self._quote else self._bracketed(text, at)
            if not self._quote and not self._brackets:
                rest = text[at:]
                if rest.strip() and not re.match(r"\s+\#", rest):
                    self._refuse("has something after the end of its value")
                return

    def _quoted(self, text: str, at: int) -> int:
        sign = text[at]
        if sign == "\\" and self._quote == '"':
            if not (found := _ESCAPES.match(text, at)):
                self._refuse("has an escape that is not YAML")
            return found.end()
        if sign == self._quote:
            if sign == "'" and text[at + 1 : at + 2] == "'":
                return at + 2
            self._quote, self._ended = "", bool(self._brackets)
        return at + 1

    def _bracketed(self, text: str, at: int) -> int:
        sign, before = text[at], text[:at].rstrip()[-1:]
        begins = before in ("", *",[{:")
        if sign == "#" and (at == 0 or text[at - 1].isspace()):
            return len(text)
        ended, self._ended = self._ended and sign not in " ,]}:", self._ended and sign == " "
        if ended or (sign in "&*!|>%@`" and begins) or (sign == "," and before in tuple(",[{")):
            self._refuse(f"has {sign!r} in brackets, where it cannot be")
        if sign in "\"'" and (begins or not self._brackets):
            self._quote = sign
        elif sign in "[{":
            self._brackets.append("]" if sign == "[" else "}")
        elif sign in "]}" and (not self._brackets or self._brackets.pop() != sign):
            self._refuse("closes a bracket that was not opened")
        return at + 1
