"""The front matter of a README: YAML between two lines of three dashes, as the Hub finds it.

What people wrote stays as it is, byte for byte: fields that are missing become lines at its end, tags become items of
the list of tags.
"""

import json
import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.render._yaml_lines import Entry, entries, unquoted
from onnx_autodoc.text import clean

Fields = Mapping[str, str | list[str]]

# How the Hub and its library find it (huggingface_hub, repocard.py); a mark of byte order comes off before.
_BLOCK: Final = re.compile(r"(\s*---(?:\r\n|\r|\n))([\S\s]*?)((?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$))")
_EMPTY: Final = re.compile(r"(\s*---(?:\r\n|\n))()(---[ \t]*(?:\r\n|\n|$))")
_ROW: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_PLAIN: Final = re.compile(r"[a-z][a-z0-9+.-]*(_[a-z0-9]+)*")
_WORDS: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
_ITEM: Final = re.compile(r"( *)-[ ]+(\S.*)$")
_FLOW: Final = re.compile(r"(\s*\[)(.*?)(\s*\](?:\s+\#.*|\s*))$")
_IN_FLOW: Final = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s,\[\]{}"'#][^,\[\]{}#]*)\s*(,|$)""")


class Split(Struct, frozen=True):
    """A README in its parts, which make it up again: without front matter, all is `after`."""

    before: str
    block: str | None
    closing: str
    after: str


def split(text: str) -> Split:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    found = _BLOCK.match(text, len(mark)) or _EMPTY.match(text, len(mark))
    if found:
        return Split(mark + found[1], found[2], found[3], text[found.end() :])
    first = re.split(r"[\r\n]", text[len(mark) :].lstrip(), maxsplit=1)[0]
    if first == "---":
        raise ValueError("its front matter begins with `---` and never ends")
    if first.rstrip() == "---":
        raise ValueError("blanks follow the `---` on its first line: the Hub takes that for no front matter")
    return Split(mark, None, "", text[len(mark) :])


def line_break(text: str) -> str:
    """The one that the text uses first."""
    found = re.search(r"\r?\n", text)
    return found[0] if found else "\n"


def written(fields: Fields) -> list[str]:
    """The lines of some fields."""
    lines = []
    for key, value in fields.items():
        lines.append(f"{key}:" if isinstance(value, list) else f"{key}: {scalar(value)}")
        lines += [f"- {scalar(item)}" for item in value] if isinstance(value, list) else []
    return lines


def scalar(text: str) -> str:
    """A word that no reader takes for anything else, or a text in double quotes, which are those of JSON."""
    plain = _PLAIN.fullmatch(text) and text not in _WORDS
    return text if plain else json.dumps(clean(text), ensure_ascii=False)


def read(block: str) -> dict[str, str | list[str]]:
    """The fields of a front matter that `written` wrote."""
    lines = [bare(row) for row in rows_of(block)]
    found: dict[str, str | list[str]] = {}
    for entry in entries(lines):
        items = listed(lines, entry)
        found[entry.key] = unquoted(entry.value) or "" if items is None else items
    return found


def listed(lines: list[str], entry: Entry) -> list[str] | None:
    """The items of a list of plain words or texts, one to a line or in brackets on one line; None of any other."""
    return _in_brackets(entry.value) if entry.value.strip().startswith("[") else _one_to_a_line(lines, entry)


def _one_to_a_line(lines: list[str], entry: Entry) -> list[str] | None:
    if entry.value.strip() and not entry.value.strip().startswith("#"):
        return None
    rows = [line for line in lines[entry.first + 1 : entry.end] if line.strip() and not line.lstrip().startswith("#")]
    found = [_ITEM.match(row) for row in rows]
    if len({item[1] if item else None for item in found} - {None}) != 1:
        return None  # none at all, or a line that goes on with the item before it
    words = [unquoted(item[2]) if item else None for item in found]
    return [word for word in words if word is not None] if None not in words else None


def _in_brackets(value: str) -> list[str] | None:
    found = _FLOW.match(value)
    if found is None:
        return None
    rest, words, more = found[2], [], bool(found[2].strip())
    while more:
        item = _IN_FLOW.match(rest)
        word = unquoted(item[1]) if item else None
        if item is None or word is None:
            return None
        words.append(word)
        rest, more = rest[item.end() :], item[2] == ","
    return words


def with_items(rows: list[str], entry: Entry, new: list[str], ending: str) -> list[str]:
    """The rows with more items in one of their lists, in the form that the list has."""
    items = [scalar(item) for item in new]
    if entry.value.strip().startswith("["):
        return [*rows[: entry.first], _longer(rows[entry.first], entry.value, items), *rows[entry.first + 1 :]]
    last = max(at for at in range(entry.first + 1, entry.end) if _ITEM.match(bare(rows[at])))
    dash = rows[last][: rows[last].index("-")] + "- "
    return with_rows(rows, last + 1, [dash + item for item in items], ending)


def _longer(row: str, value: str, items: list[str]) -> str:
    """A list in brackets with more items at its end."""
    found = _FLOW.match(value)
    assert found is not None, "`listed` took it for a list"
    line = bare(row)
    head = line[: len(line) - len(value)] + found[1] + found[2]
    return head + (", " if found[2] else "") + ", ".join(items) + found[3] + row[len(line) :]


def rows_of(block: str) -> list[str]:
    """Its lines, each with the break that ends it."""
    return _ROW.findall(block) if block else []


def bare(row: str) -> str:
    return row.rstrip("\r\n")


def with_rows(rows: list[str], at: int, new: list[str], ending: str) -> list[str]:
    """The rows with new ones at a place; the last row of all has no break."""
    if not rows:
        return _broken(new, ending)[:-1] + new[-1:]
    if at < len(rows) or rows[-1] != bare(rows[-1]):
        return [*rows[:at], *_broken(new, ending), *rows[at:]]
    return [*rows[:-1], rows[-1] + ending, *_broken(new, ending)[:-1], *new[-1:]]


def _broken(lines: list[str], ending: str) -> list[str]:
    return [line + ending for line in lines]
