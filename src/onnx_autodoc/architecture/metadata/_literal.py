"""Text that holds data: JSON, or a Python literal as exporters write with str().

Parsed as data by a small parser of our own. `ast.literal_eval` would do the same, but on a hostile text it may take the
interpreter down with it, as its documentation says; here lengths and nesting are bounded and odd text is None.
"""

import re
from typing import Final

import msgspec

MAX_TEXT: Final = 1 << 21  # the names of 21,843 ImageNet classes take half of that
_MAX_DEPTH: Final = 6
_SHALLOW: Final = 64  # more than any data in a model's metadata
MAX_ITEMS: Final = 1 << 16  # of everything that one text holds; each takes a few microseconds
_MAX_WHOLE: Final = 1 << 53

_TOKEN: Final = re.compile(
    r"""\s*+(?:
    (?P<text>[uU]?(?:'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"))
    |(?P<number>[-+]?\d{1,20}(?:\.\d{0,20})?(?:[eE][-+]?\d{1,3})?)(?![\w.])
    |(?P<word>True|False|None|true|false|null)\b
    |(?P<mark>[\[\](){},:])
    )""",
    re.VERBOSE | re.DOTALL,
)
_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_END: Final = re.compile(r"\s*\Z")
_ESCAPE: Final = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_WORDS: Final = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\n": ""}
_CLOSING: Final = {"[": "]", "(": ")", "{": "}"}


class _Odd(Exception):
    """Not a literal that this parser takes."""


def parsed(text: str) -> object:
    """The data that a text holds, or None where it holds none."""
    if len(text) > MAX_TEXT:
        return None
    try:
        if _is_deep(text):  # the parser of JSON would follow it down the stack of a thread, which may be small
            return None
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        pass
    try:
        return _Parser(text).whole()
    except (_Odd, ValueError, OverflowError):
        return None


def _is_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= _SHALLOW:
        return False
    depth = 0
    for found in _BRACKET.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(found[0], 0)
        if depth > _SHALLOW:
            return True
    return False


def whole(data: object) -> int | None:
    """A count: a number of at least 0, or a text that is one."""
    if isinstance(data, str):
        text = data.strip()
        data = int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None
    if isinstance(data, float) and data.is_integer():
        data = int(data)
    return data if type(data) is int and 0 <= data < _MAX_WHOLE else None


def positive(data: object) -> int | None:
    return whole(data) or None


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._items_left = MAX_ITEMS

    def whole(self) -> object:
        data = self._value(*self._next(), depth=0)
        if not _END.match(self._text, self._at):
            raise _Odd
        return data

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._at)
        if match is None or match.lastgroup is None:
            raise _Odd
        self._at = match.end()
        return match.lastgroup, match[match.lastgroup]

    def _value(self, kind: str, found: str, depth: int) -> object:
        if kind == "text":
            return _unescaped(found)
        if kind == "number":
            return float(found) if any(sign in found for sign in ".eE") else int(found)
        if kind == "word":
            return _WORDS[found]
        if found not in _CLOSING or depth >= _MAX_DEPTH:
            raise _Odd
        items = self._items(_CLOSING[found], depth + 1, pairs=found == "{")
        return dict(items) if found == "{" else [value for _, value in items]

    def _items(self, closing: str, depth: int, pairs: bool) -> list[tuple[int | str, object]]:
        items: list[tuple[int | str, object]] = []
        kind, found = self._next()
        while found != closing or kind != "mark":
            key = self._key(kind, found) if pairs else 0
            value = self._value(*(self._next() if pairs else (kind, found)), depth)
            items.append((key, value))
            self._count()
            kind, found = self._next()
            if (kind, found) == ("mark", ","):
                kind, found = self._next()
            elif (kind, found) != ("mark", closing):
                raise _Odd
        return items

    def _count(self) -> None:
        self._items_left -= 1
        if self._items_left < 0:
            raise _Odd

    def _key(self, kind: str, found: str) -> int | str:
        key = self._value(kind, found, _MAX_DEPTH)
        if self._next() != ("mark", ":") or isinstance(key, bool) or not isinstance(key, int | str):
            raise _Odd
        return key


def _unescaped(found: str) -> str:
    return _ESCAPE.sub(_character, found[found.index(found[-1]) + 1 : -1])


def _character(found: "re.Match[str]") -> str:
    escape = found[1]
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _ESCAPED.get(escape, escape)
