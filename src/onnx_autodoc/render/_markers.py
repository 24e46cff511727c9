"""Our part of a README stands between two comments; everything outside of them belongs to people."""

import re
from typing import Final

BEGIN: Final = (
    "<!-- onnx-autodoc: begin. Written by onnx-autodoc; everything up to the end mark is replaced when it runs again,"
    " so write before or after it. -->"
)
END: Final = "<!-- onnx-autodoc: end -->"

_MARK: Final = "<!-- onnx-autodoc:"
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")
_IS_BEGIN: Final = re.compile(r"<!-- onnx-autodoc: begin\b(?:(?!-->).)*-->\s*")
_IS_END: Final = re.compile(r"<!-- onnx-autodoc: end -->\s*")
# A fence may stand in a list or a quotation.
_FENCE: Final = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(`{3,}|~{3,})(.*)")


def enclosed(body: str) -> str:
    """A text between the marks. No word of it can be taken for one of them."""
    return f"{BEGIN}\n\n{unmarked(body).strip(chr(10))}\n\n{END}\n"


def unmarked(text: str) -> str:
    return text.replace(_MARK, _MARK.replace("<!", "< !"))


def place(text: str) -> tuple[int, int] | None:
    """From where to where our part goes, without its marks; None where there is none.

    ValueError where it is not certain, or where nothing can be added at the end.
    """
    found: list[tuple[int, int]] = []
    fence, at = "", 0
    for line in _LINE.findall(text):
        inside = len(found) == 1
        is_mark = bool((_IS_END if inside else _IS_BEGIN).fullmatch(line)) and len(found) < 2
        fence = fence if inside or is_mark else _fence_after(fence, line)
        if is_mark and fence:
            raise ValueError(f"the mark `{_MARK} …` stands in a code fence")
        if is_mark:
            found.append((at, at + len(line)))
        elif _MARK in line:
            raise ValueError(f"`{_MARK} …` stands where it does not belong: the marks are two, each on its own line")
        at += len(line)
    if len(found) == 1:
        raise ValueError("the mark `onnx-autodoc: begin` has no `onnx-autodoc: end` after it")
    if not found and fence:
        raise ValueError("a code fence is never closed: nothing can be added after it")
    return (found[0][1], found[1][0]) if found else None


def _fence_after(fence: str, line: str) -> str:
    """The fence that is open after a line: the signs that opened it, or nothing."""
    found = _FENCE.match(line)
    if found is None:
        return fence
    signs, more = found[1], found[2]
    if fence:
        return "" if signs.startswith(fence) and not more.strip() else fence
    return "" if signs[0] == "`" and "`" in more else signs
