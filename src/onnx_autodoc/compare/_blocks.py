"""What differs between two drawings, as people say it: "Encoder layer 7, Attention: 12 heads × 32 → 11 heads × 32"."""

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from onnx_autodoc.card import Box
from onnx_autodoc.compare._align import Pair, Stretch, aligned, stretches
from onnx_autodoc.compare._sentences import (
    became,
    came,
    change,
    contents,
    described,
    grew,
    held,
    is_light,
    said,
    without_moves,
)
from onnx_autodoc.compare._types import BlockChange
from onnx_autodoc.compare._units import Unit, leaves, mark_of, parts, same_parts, skips, units, wiring
from onnx_autodoc.text import clean, count, plural

MOST_CHANGES: Final = 200
_DEEPEST: Final = 8
_TABLES: Final = "embedding"  # is told by one of its tables
_MOST_LEAVES: Final = 1_000


def block_changes(was: Box | None, now: Box | None) -> tuple[BlockChange, ...]:
    """In the order of the drawing, what is inside of a box under the box's name."""
    if was is None or now is None:
        return () if was is now else (change("changed", "", None, None, "Only one of the models is drawn."),)
    pairs = aligned(units(was.children), units(now.children))
    found = [*without_moves(list(_row("", was, now, 0))), *held(pairs)]
    cut = len(found) - MOST_CHANGES
    if cut > 0:
        found = [*found[:MOST_CHANGES], change("more", "", None, None, f"{plural(cut, 'more difference')} in blocks")]
    return tuple(found)


def box_marks(was: Box | None, now: Box | None) -> tuple[dict[str, str], dict[str, str]]:
    """The boxes of the two drawings that differ, by their ids."""
    if was is None or now is None:
        return {}, {}
    pairs = aligned(units(was.children), units(now.children))
    return _marked(pairs, 0, "gone"), _marked(pairs, 1, "added")


def _marked(pairs: list[Pair], at: int, alone: str) -> dict[str, str]:
    """A box that stands for several is changed where one of them is, or where there are more or fewer of them."""
    lone = {unit.mark for pair in pairs if None in pair for unit in pair if unit is not None}
    states: dict[str, set[str]] = {}
    for pair in pairs:
        unit, other = pair[at], pair[1 - at]
        if unit is not None:
            same = other is not None and unit.mark == other.mark and unit.mark not in lone
            state = alone if other is None else "same" if same else "changed"
            states.setdefault(unit.box.id, set()).add(state)
    return {name: alone if found == {alone} else "changed" for name, found in states.items() if found != {"same"}}


def _row(home: str, was: Box, now: Box, depth: int) -> Iterator[BlockChange]:
    """The parts of one box against those of another."""
    pairs = aligned(units(was.children, home), units(now.children, home))
    told = [each for stretch in stretches(pairs) for each in _stretch(stretch, pairs, depth)]
    found = list(dict.fromkeys(told))  # how many there are is said once
    if found and same_parts(was, now):
        found = [said("moved", home, None, None, "the same parts, drawn in another order")]
    yield from found
    top = not depth
    if skips(was) != skips(now):
        one, two = count(skips(was)), count(skips(now))
        yield said("skips", home, one, two, f"skip connections {one} → {two}")
    elif not found and wiring(was, top) != wiring(now, top):
        yield said("wiring", home, None, None, "the same parts, connected otherwise")


def _stretch(stretch: Stretch, pairs: list[Pair], depth: int) -> list[BlockChange]:
    """Where the rows differ: unit by unit, or part by part if that is the shorter story.

    Layers may be drawn within other borders because of one part among them.
    """
    whole = list(_units(stretch.pairs, pairs, stretch.last, depth))
    if not stretch.was or not stretch.now or all(_counterparts(pair) for pair in stretch.pairs):
        return whole
    finer = _finer(stretch)
    return whole if finer is None or len(finer) > len(whole) else finer


def _counterparts(pair: Pair) -> bool:
    old, new = pair
    return old is not None and new is not None and old.box.kind == new.box.kind


def _finer(stretch: Stretch) -> list[BlockChange] | None:
    """The parts of units one by one; None where these are others, too."""
    old, new = leaves(stretch.was), leaves(stretch.now)
    if max(len(old), len(new)) > _MOST_LEAVES or (old == stretch.was and new == stretch.now):
        return None
    pairs = aligned(old, new)
    same = sum(one is not None and two is not None and one.mark == two.mark for one, two in pairs)
    if same * 3 < max(len(old), len(new)):
        return None
    found = stretches(pairs, stretch.last)
    return [each for inner in found for each in _units(inner.pairs, [], inner.last, _DEEPEST)]


def _units(run: list[Pair], pairs: list[Pair], last: Unit | None, depth: int) -> Iterator[BlockChange]:
    counted: set[object] = set()
    loose: list[Pair] = []
    for key, group in groupby(run, key=_marks):
        alike = list(group)
        one, other = alike[0]
        if one is None or other is None:
            grown = _grown(key, pairs)
            loose += [] if grown else alike
            yield from (grew(key[0] or key[1], pairs),) if grown and (key[0] or key[1]) not in counted else ()
            counted.add(key[0] or key[1])
            continue
        yield from came(loose, last)
        loose, last = [], alike[-1][0]
        yield from _turned(_name(alike), one.box, other.box, depth)
    yield from came(loose, last)


def _marks(pair: Pair) -> tuple[object, object]:
    return tuple(unit and unit.mark for unit in pair)  # type: ignore[return-value]


def _grown(marks: tuple[object, object], pairs: list[Pair]) -> bool:
    """Whether it is one more, or one less, of what both have."""
    at = 0 if marks[0] is not None else 1
    both = [_marks(pair) for pair in pairs if None not in pair]
    return any(each[at] == marks[at] for each in both)


def _name(run: list[Pair]) -> str:
    """Of changed units in a row: "Encoder layers 2–6", "Encoder layer 7 (now 6)"."""
    (first, other), (last, _) = run[0], run[-1]
    assert first is not None
    assert other is not None
    assert last is not None
    if len(run) > 1 and first.box.label == last.box.label and first.home == last.home:
        return f"{first.name.removesuffix(f' {first.number}')}s {first.number}–{last.number}"
    moved = first.several and first.number != other.number and first.box.label == other.box.label
    return f"{first.name} (now {other.number})" if moved and first.home == other.home else first.name


def _turned(path: str, was: Box, now: Box, depth: int) -> Iterator[BlockChange]:
    """One box against the one it became. What its parts say is not said again of the whole."""
    both = depth < _DEEPEST and parts(was.children) and parts(now.children)
    inner = list(_row(f"{path}, ", was, now, depth + 1)) if both else []
    light = is_light(was, now)
    if was.label != now.label:
        yield became("changed", path, described(was), described(now), light)
    elif not inner and was.detail != now.detail and _telling(was, now) == "spelling":
        text = f"{path}: as many parameters, told by another of its tables ({was.detail}, now {now.detail})"
        yield change("spelling", path, was.detail, now.detail, clean(text, 200), light)
    elif not inner and was.detail != now.detail:
        yield became(_telling(was, now), path, was.detail, now.detail, light)
    elif not inner and mark_of(was) == mark_of(now):  # so many that they stayed folded
        counts = str(was.count), str(now.count)
        yield change("count", path, *counts, f"{path}: {count(was.count)} → {count(now.count)} of them", light)
    elif not inner:
        yield became("spelling" if was.kind != now.kind else "changed", path, contents(was), contents(now), light)
    yield from inner


def _telling(was: Box, now: Box) -> str:
    """Whether another thing is told, or as much weight and work in other words."""
    if (was.params, was.macs) != (now.params, now.macs):
        return "changed"
    if was.kind == now.kind:
        return "spelling" if was.kind == _TABLES else "changed"
    return "retold"
