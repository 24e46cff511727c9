"""The drawing of a model as a row of units: folded layers one by one, each with a mark that alike ones share."""

from collections import Counter
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Box
from onnx_autodoc.text import clean

MOST_UNITS: Final = 2_000  # more alike parts in a row than this stay folded
_PORTS: Final = ("input", "output")

Mark = tuple[object, ...]


class Unit(Struct, frozen=True):
    """One of the `count` that a box stands for; with `times` it stands for so many of them, unopened."""

    box: Box
    mark: Mark
    home: str  # what holds it, as the beginning of its name: "Encoder layer 7, "
    number: int  # among those of its label
    several: bool  # whether there are others of its label
    times: int = 1

    @property
    def name(self) -> str:
        """By its number where there are several of a label."""
        return self.home + label_of(self.box) + (f" {self.number}" if self.several else "")


def units(boxes: tuple[Box, ...], home: str = "") -> list[Unit]:
    """What is computed, in order, without the ports."""
    inner = parts(boxes)
    folded = sum(box.count for box in inner) > MOST_UNITS
    totals, numbers = Counter[str](), Counter[str]()
    for box in inner:
        totals[box.label] += box.count
    found: list[Unit] = []
    for box in inner:
        mark = (*mark_of(box), box.count) if folded else mark_of(box)
        for _ in range(1 if folded else box.count):
            numbers[box.label] += 1
            times = box.count if folded else 1
            found.append(Unit(box, mark, home, numbers[box.label], totals[box.label] > 1, times))
    return found


def leaves(row: list[Unit]) -> list[Unit]:
    """The units of a row opened as far as they are drawn, so that it is no matter what was drawn around what."""
    found: list[Unit] = []
    for unit in row:
        inner = units(unit.box.children, f"{unit.name}, ") if unit.times == 1 else []
        found += leaves(inner) if inner else [unit]
    return found


def parts(boxes: tuple[Box, ...]) -> list[Box]:
    return [box for box in boxes if box.kind not in _PORTS]


def label_of(box: Box) -> str:
    return clean(box.label.strip() or box.kind, 60)


def mark_of(box: Box) -> Mark:
    """Alike boxes have one mark: what they are, what is in them, and what is connected to what."""
    return box.kind, box.label, box.detail, _inside(box.children), wiring(box)


def _inside(boxes: tuple[Box, ...]) -> tuple[tuple[Mark, int], ...]:
    return tuple((mark_of(box), box.count) for box in parts(boxes))


def wiring(box: Box, closed: bool = False) -> tuple[tuple[int, int, str], ...]:
    """Connections between the parts of a box by their places: names of boxes say nothing. `closed`: without ports."""
    places = {child.id: at for at, child in enumerate(parts(box.children))}
    ends = ((places.get(edge.source, -1), places.get(edge.target, -1), edge.kind) for edge in box.edges)
    return tuple(sorted(end for end in ends if not (closed and -1 in end)))


def skips(box: Box) -> int:
    return sum(edge.kind == "skip" for edge in box.edges)


def same_parts(was: Box, now: Box) -> bool:
    """Whether they hold the same parts, in whatever order: branches that run side by side have none."""
    return _unordered(was.children) == _unordered(now.children)


def _unordered(boxes: tuple[Box, ...]) -> frozenset[tuple[object, int]]:
    found = Counter[object]()
    for box in parts(boxes):
        found[box.kind, box.label, box.detail, _unordered(box.children)] += box.count
    return frozenset(found.items())
