"""A README with front matter and a generated part between two comments; all other bytes belong to its authors.

Front matter is parsed by PyYAML, whose marks say where to insert fields and tags. Its pure Python loader is used, since
the C library is a native parser of untrusted bytes.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

import yaml
from msgspec import Struct

from onnx_autodoc.text import sanitize

Fields = Mapping[str, str | list[str]]

BEGIN: Final = (
    "<!-- onnx-autodoc: begin. Written by onnx-autodoc; everything up to the end mark is replaced when it runs again,"
    " so write before or after it. -->"
)
END: Final = "<!-- onnx-autodoc: end -->"
_MARK: Final = "<!-- onnx-autodoc:"
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")
_LINE_BREAK: Final = re.compile(r"\r\n|\n|\r|$")
_BEGIN_LINE: Final = re.compile(r"<!-- onnx-autodoc: begin\b(?:(?!-->).)*-->\s*")
_END_LINE: Final = re.compile(r"<!-- onnx-autodoc: end -->\s*")
_FENCE: Final = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})(.*)")  # also in lists and quotes
# As the Hub and huggingface_hub (repocard.py) find front matter, after a byte order mark.
_BLOCK: Final = re.compile(r"(\s*---(?:\r\n|\r|\n))([\S\s]*?)((?:\r\n|\r|\n)---[ \t]*(?:\r\n|\n|$))")
_EMPTY_BLOCK: Final = re.compile(r"(\s*---(?:\r\n|\n))()(---[ \t]*(?:\r\n|\n|$))")
_PLAIN_SCALAR: Final = re.compile(r"[a-z][a-z0-9+.-]*(_[a-z0-9]+)*")
_RESERVED_SCALARS: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
# Control characters, and those that only some parsers take for a line break.
_ODD_CHARACTERS: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_REFUSED_TOKENS: Final = {
    yaml.TagToken: "has a tag",
    yaml.DirectiveToken: "is a YAML directive",
    yaml.DocumentStartToken: "begins or ends a document",
    yaml.DocumentEndToken: "begins or ends a document",
}


def enclose(body: str) -> str:
    """Return text between the marks; it cannot contain one of them."""
    return f"{BEGIN}\n\n{escape_marks(body).strip(chr(10))}\n\n{END}\n"


def escape_marks(text: str) -> str:
    return text.replace(_MARK, _MARK.replace("<!", "< !"))


def find_generated(text: str) -> tuple[int, int] | None:
    """Return the offsets of the generated part without its marks; None where there is none.

    Raise ValueError where the marks are ambiguous, or where nothing can be appended.
    """
    marks: list[tuple[int, int]] = []
    fence, offset = "", 0
    for line in _LINE.findall(text):
        is_inside = len(marks) == 1
        is_mark = bool((_END_LINE if is_inside else _BEGIN_LINE).fullmatch(line)) and len(marks) < 2
        fence = fence if is_inside or is_mark else _fence_after(fence, line)
        if is_mark and fence:
            raise ValueError(f"the mark `{_MARK} …` stands in a code fence")
        if is_mark:
            marks.append((offset, offset + len(line)))
        elif _MARK in line:
            raise ValueError(f"`{_MARK} …` stands where it does not belong: the marks are two, each on its own line")
        offset += len(line)
    if len(marks) == 1:
        raise ValueError("the mark `onnx-autodoc: begin` has no `onnx-autodoc: end` after it")
    if not marks and fence:
        raise ValueError("a code fence is never closed: nothing can be added after it")
    return (marks[0][1], marks[1][0]) if marks else None


def _fence_after(fence: str, line: str) -> str:
    """Return the fence that is open after a line, or ""."""
    match = _FENCE.match(line)
    if match is None:
        return fence
    signs, more = match[1], match[2]
    if fence:
        return "" if signs.startswith(fence) and not more.strip() else fence
    return "" if signs[0] == "`" and "`" in more else signs


class ReadmeParts(Struct, frozen=True):
    """A README in parts that concatenate to it; without front matter, all of it is `after`."""

    before: str
    block: str | None
    closing: str
    after: str


def split_readme(text: str) -> ReadmeParts:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    match = _BLOCK.match(text, len(mark)) or _EMPTY_BLOCK.match(text, len(mark))
    if match:
        return ReadmeParts(mark + match[1], match[2], match[3], text[match.end() :])
    first_line = re.split(r"[\r\n]", text[len(mark) :].lstrip(), maxsplit=1)[0]
    if first_line == "---":
        raise ValueError("its front matter begins with `---` and never ends")
    if first_line.rstrip() == "---":
        raise ValueError("blanks follow the `---` on its first line: the Hub takes that for no front matter")
    return ReadmeParts(mark, None, "", text[len(mark) :])


class FrontMatter(Struct, frozen=True):
    """Front matter with the YAML nodes of its values by key, in order; `margin` is the column of its keys."""

    block: str
    entries: tuple[tuple[str, Any], ...]
    margin: int
    anchors: tuple[int, ...]  # offsets of anchors and aliases

    @property
    def fields(self) -> dict[str, str | list[str]]:
        """Return scalars and lists of scalars."""
        return {
            key: [item.value for item in node.value] if isinstance(node, yaml.SequenceNode) else node.value
            for key, node in self.entries
        }

    def source(self, key: str) -> str:
        """Return the source text of the values of a key."""
        nodes = (node for name, node in self.entries if name == key)
        return " ".join(self.block[node.start_mark.index : node.end_mark.index] for node in nodes)

    def plain_list(self, key: str) -> Any | None:
        """Return the node of a list of scalars that can be extended: one per line or all on one line, no anchors."""
        nodes = [node for name, node in self.entries if name == key]
        if len(nodes) != 1 or not isinstance(nodes[0], yaml.SequenceNode):
            return None
        node = nodes[0]
        start, end = node.start_mark.index, node.end_mark.index
        last = node.value[-1].end_mark.index if node.value else start + 1
        has_anchor = any(self.block.rfind(":", 0, start) < offset < end for offset in self.anchors)
        is_plain = all(map(_is_plain_item, node.value)) and bool(node.value or node.flow_style)
        if has_anchor or not is_plain:
            return None
        if node.flow_style and (node.start_mark.line != node.end_mark.line or self.block[last : end - 1].strip()):
            return None
        return node


def _is_plain_item(node: Any) -> bool:
    is_line = isinstance(node, yaml.ScalarNode) and node.start_mark.line == node.end_mark.line
    return is_line and bool(node.value or node.style)


def parse_front_matter(block: str) -> FrontMatter:
    """Parse a block mapping; raise ValueError with a line number where it is anything else."""
    match = _ODD_CHARACTERS.search(block)
    if match:
        _refuse(block, match.start(), f"holds the character U+{ord(match[0]):04X}")
    try:
        anchors = tuple(_scan_anchors(block))
        root = yaml.compose(block, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        _refuse(block, mark.index if mark else 0, error.problem or "is not YAML")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if root is None:
        return FrontMatter(block, (), 0, ())
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        _refuse(block, root.start_mark.index, "is not a key of a mapping")
    for key, _ in root.value:
        if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
            _refuse(block, key.start_mark.index, "has a key that is not a plain word")
    entries = tuple((key.value, value) for key, value in root.value)
    return FrontMatter(block, entries, root.start_mark.column, anchors)


def _scan_anchors(block: str) -> Iterator[int]:
    """Yield the offsets of anchors and aliases; refuse tags, directives and document marks."""
    for token in yaml.scan(block, Loader=yaml.SafeLoader):
        if type(token) in _REFUSED_TOKENS:
            _refuse(block, token.start_mark.index, _REFUSED_TOKENS[type(token)])
        if isinstance(token, (yaml.AnchorToken, yaml.AliasToken)):
            yield token.start_mark.index


def _refuse(block: str, offset: int, reason: str) -> NoReturn:
    line = len(re.findall(r"\r\n|\n|\r", block[:offset])) + 1
    raise ValueError(f"line {line} {sanitize(reason)}")


def add_fields(matter: FrontMatter, fields: Fields, ending: str) -> str:
    """Return the block with fields appended."""
    lines, block = [" " * matter.margin + line for line in write_fields(fields)], matter.block
    if block.endswith(("\n", "\r")):
        return block + "".join(line + ending for line in lines)
    return ending.join([*filter(None, [block]), *lines])


def add_items(block: str, node: Any, items: list[str], ending: str) -> str:
    """Return a block with items added to a list that `FrontMatter.plain_list` found in it, in the list's style."""
    scalars = [write_scalar(item) for item in items]
    if node.flow_style:
        at = node.value[-1].end_mark.index if node.value else node.start_mark.index + 1
        added = ", ".join(scalars) if not node.value else "".join(f", {scalar}" for scalar in scalars)
    else:
        line_break = _LINE_BREAK.search(block, node.value[-1].end_mark.index)
        at = line_break.start() if line_break else len(block)
        indent = " " * node.start_mark.column
        added = "".join(f"{ending}{indent}- {scalar}" for scalar in scalars)
    return block[:at] + added + block[at:]


def write_fields(fields: Fields) -> list[str]:
    """Return the YAML lines of some fields."""
    lines = []
    for key, value in fields.items():
        if isinstance(value, list):
            lines += [f"{key}:", *(f"- {write_scalar(item)}" for item in value)]
        else:
            lines.append(f"{key}: {write_scalar(value)}")
    return lines


def write_scalar(text: str) -> str:
    """Return a word that every YAML parser reads as a string, or a JSON string."""
    is_plain = _PLAIN_SCALAR.fullmatch(text) and text not in _RESERVED_SCALARS
    return text if is_plain else json.dumps(sanitize(text), ensure_ascii=False)
