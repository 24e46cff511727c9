"""Inputs that are alike, as a loop: the keys and values of thirty layers are two lines, not sixty."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from onnx_autodoc.render._snippet_words import filled_in, literal

Item = tuple[str, str]  # the name of an input and the expression that makes it
Family = dict[tuple[str, str, str], dict[int, str]]  # by what stands around a number, and the expression

_FEWEST: Final = 3  # of a numbered row of inputs
_MANY: Final = 8  # of inputs that have nothing in common but their contents
_WIDTH: Final = 100


def loops(items: Sequence[Item]) -> tuple[list[Item], list[str]]:
    """The inputs that stand alone, and the lines of loops that make the others."""
    numbered = _numbered(items)
    taken = {name for members in numbered.values() for name in members.values()}
    left = [item for item in items if item[0] not in taken]
    lines = list(_counted(numbered))
    for made in dict.fromkeys(made for _, made in left):
        names = [name for name, same in left if same == made]
        if len(names) >= _MANY:
            lines += _listed(names, made)
            left = [item for item in left if item[1] != made]
    return left, lines


def _numbered(items: Sequence[Item]) -> Family:
    """Families of inputs whose names differ in one number alone, largest first; each input is in one of them."""
    found: Family = {}
    for name, made in items:
        for match in re.finditer(r"(?<![0-9])(0|[1-9][0-9]{0,5})(?![0-9])", name):
            if match[0].isascii():
                key = (name[: match.start()], name[match.end() :], made)
                found.setdefault(key, {})[int(match[0])] = name
    kept: Family = {}
    taken: set[str] = set()
    for key, members in sorted(found.items(), key=lambda entry: -len(entry[1])):
        free = {number: name for number, name in members.items() if name not in taken}
        if len(free) >= _FEWEST:
            kept[key] = dict(sorted(free.items()))
            taken.update(free.values())
    order = {name: at for at, (name, _) in enumerate(items)}
    return dict(sorted(kept.items(), key=lambda entry: min(order[name] for name in entry[1].values())))


def _counted(numbered: Family) -> Iterator[str]:
    for numbers in dict.fromkeys(tuple(members) for members in numbered.values()):
        counted = f"range({len(numbers)})" if numbers == tuple(range(len(numbers))) else str(numbers)
        yield f"for i in {counted}:"
        for (before, after, made), members in numbered.items():
            if tuple(members) == numbers:
                yield f"    inputs[{filled_in(before, after)}] = {made}"


def _listed(names: Sequence[str], made: str) -> Iterator[str]:
    yield "for name in ("
    line = "   "
    for name in names:
        word = f" {literal(name)},"
        if len(line) + len(word) > _WIDTH and line.strip():
            yield line
            line = "   "
        line += word
    yield line
    yield "):"
    yield f"    inputs[name] = {made}"
