"""The sentences about blocks, each with what a machine needs of it."""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from onnx_autodoc.card import Box
from onnx_autodoc.compare._align import Pair
from onnx_autodoc.compare._types import BlockChange
from onnx_autodoc.compare._units import Unit, label_of, parts
from onnx_autodoc.text import clean, count, plural

_FEW: Final = 4
_LONGEST: Final = 120


def change(kind: str, path: str, was: str | None, now: str | None, text: str, light: bool = False) -> BlockChange:
    return BlockChange(kind=kind, path=path, was=was, now=now, text=text, light=light)


def is_light(*boxes: Box) -> bool:
    return not any(box.params or box.macs for box in boxes)


def said(kind: str, home: str, was: str | None, now: str | None, text: str) -> BlockChange:
    """Of what a box holds, or of the whole drawing."""
    whole = home.removesuffix(", ")
    return change(kind, whole, was, now, f"{whole or 'Between the boxes'}: {text}")


def became(kind: str, path: str, was: str | None, now: str | None, light: bool = False) -> BlockChange:
    """With an arrow, or in quotes where the words have arrows of their own."""
    kind = kind if was and now else "untold"
    old, new = (clean(words, _LONGEST) if words else "not told" for words in (was, now))
    arrows = "→" in old + new
    text = f"{path}: was “{old}”, is “{new}”" if arrows else f"{path}: {old} → {new}"
    return change(kind, path, was, now, text, light)


def grew(mark: object, pairs: list[Pair]) -> BlockChange:
    """How many of a kind there are on either side, those that were changed into it counted with it."""
    here = [pair for pair in pairs if any(unit is not None and unit.mark == mark for unit in pair)]
    unit = next(unit for pair in here for unit in pair if unit is not None and unit.mark == mark)
    was, now = (sum(unit.times for unit in side if unit is not None) for side in zip(*here))
    name = unit.home + label_of(unit.box)
    if was == now:
        return change("moved", name, None, None, f"{name}: as many, elsewhere in the order")
    light = is_light(unit.box)
    return change("count", name, str(was), str(now), f"{name}: {count(was)} → {count(now)} of them", light)


def came(loose: list[Pair], last: Unit | None) -> Iterator[BlockChange]:
    """What came, what went, or what took the place of what, after a unit that is in both."""
    gone, new = ([unit for unit in side if unit is not None] for side in zip(*loose)) if loose else ([], [])
    if not gone and not new:
        return
    where = f"after {last.name}" if last is not None else "at the beginning"
    first = (gone or new)[0]
    old_words, new_words = things(gone), things(new)
    kind = "replaced" if gone and new else "gone" if gone else "added"
    verb = f"{old_words} replaced by {new_words}," if gone and new else f"{old_words or new_words} {kind}"
    inside = first.home.removesuffix(", ")
    near = not inside or (last is not None and last.home == first.home)
    text = f"{verb} {where}" if near else f"{inside}: {verb} {where}"
    light = is_light(*(unit.box for unit in (*gone, *new)))
    yield change(kind, first.name, old_words or None, new_words or None, text, light)


def without_moves(found: list[BlockChange]) -> list[BlockChange]:
    """What went here and came there only moved: branches that run side by side have no order."""
    came_at = {one.now: at for at, one in reversed(list(enumerate(found))) if one.kind == "added"}
    moves = {came_at[one.was]: at for at, one in enumerate(found) if one.kind == "gone" and one.was in came_at}
    apart = {*moves, *moves.values()}  # each that came is of one that went
    moved = [found[at] for at in moves.values()]
    told = [change("moved", one.path, None, None, f"{one.was} elsewhere in the order", one.light) for one in moved]
    return [*(one for at, one in enumerate(found) if at not in apart), *told]


def things(run: list[Unit]) -> str:
    """Alike ones together: "2 × Inception (128 channels at 55×55), MaxPool"."""
    found = []
    for _, group in groupby(run, key=lambda unit: unit.mark):
        alike = list(group)
        total = sum(unit.times for unit in alike)
        found.append((f"{count(total)} × " if total > 1 else "") + described(alike[0].box))
    more = [f"{count(len(found) - _FEW)} more"] if len(found) > _FEW + 1 else []
    return ", ".join([*found[: _FEW if more else _FEW + 1], *more])


def described(box: Box) -> str:
    return f"{label_of(box)} ({clean(box.detail, _LONGEST)})" if box.detail else label_of(box)


def contents(box: Box) -> str:
    counts = Counter[str]()
    for part in parts(box.children):
        counts[label_of(part)] += part.count
    shown = [f"{times} × {name}" if times > 1 else name for name, times in counts.most_common(_FEW)]
    return f"{clean(box.kind, 60)} of {', '.join(shown)}" if shown else clean(box.kind, 60)


def held(pairs: list[Pair]) -> Iterator[BlockChange]:
    """Boxes drawn alike that hold other numbers of parameters: something in them is not drawn."""
    both = {(old.box.id, new.box.id): (old, new) for old, new in pairs if old is not None and new is not None}
    alike = [(old, new) for old, new in both.values() if old.mark == new.mark and old.box.count == new.box.count]
    other = [(old.box, new.box) for old, new in alike if old.box.params != new.box.params]
    if not other:
        return
    shown = [f"{_times(one)}{label_of(one)} {_some(one.params)} → {_some(two.params)}" for one, two in other[:_FEW]]
    more = f" and {count(len(other) - _FEW)} more" if len(other) > _FEW else ""
    was, now = (str(sum(box.params for box in side)) for side in zip(*other))
    text = f"Parameters differ in {plural(len(other), 'box', 'boxes')} drawn alike: {', '.join(shown)}{more}"
    yield change("parameters", "", was, now, text)


def _some(number: int) -> str:
    return count(number) if number else "none"


def _times(box: Box) -> str:
    return f"{count(box.count)} × " if box.count > 1 else ""
