"""The parts that a model is made of: few enough to compare, and all of it."""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.card import Box, Card
from onnx_autodoc.render._palette import family
from onnx_autodoc.render.charts._parts import boxes

_MOST: Final = 10
_MOSTLY: Final = 0.5  # the share of weights or work from which on a repeated layer is opened


class Part(Struct, frozen=True):
    """Alike boxes together. `macs` is None where nothing of it is known."""

    label: str
    detail: str
    kind: str
    count: int
    params: int
    macs: int | None

    def __add__(self, other: "Part") -> "Part":
        detail = self.detail if self.detail == other.detail else ""
        known = [macs for macs in (self.macs, other.macs) if macs is not None]
        sums = self.count + other.count, self.params + other.params, sum(known) if known else None
        return Part(self.label, detail, self.kind, *sums)


def parts(card: Card) -> list[Part]:
    """In the order of the data: alike by name and detail, by name alone where that leaves too many."""
    found = [part for box in boxes(card) for part in _opened(box, card) if part.params or part.macs != 0]
    few = _joined(found, detail=True)
    if len(few) > _MOST:
        few = _joined(found, detail=False)
    return few if len(few) <= _MOST else _cut(few, card)


def _cut(found: list[Part], card: Card) -> list[Part]:
    """The largest, and one for all others."""
    ranked = sorted(range(len(found)), key=lambda at: (-_most(found[at], card), at))
    kept = set(ranked[: _MOST - 1])
    folded = [part for at, part in enumerate(found) if at not in kept]
    rest = sum(folded[1:], folded[0])
    label = f"{len(folded)} more kinds of parts"
    return [*(found[at] for at in sorted(kept)), Part(label, "", "rest", 1, rest.params, rest.macs)]


def _joined(found: list[Part], detail: bool) -> list[Part]:
    alike: dict[tuple[str, str], Part] = {}
    for part in found:
        key = part.label, part.detail if detail else ""
        alike[key] = alike[key] + part if key in alike else part
    return list(alike.values())


def _opened(box: Box, card: Card) -> Iterator[Part]:
    """What is in a repeated layer that is most of the model, where its parts sum to it; else the box itself."""
    inner = [child for child in box.children if child.kind != "input"]
    sums = sum(child.params for child in inner) * box.count, sum(child.macs or 0 for child in inner) * box.count
    if box.repeats and sums == (box.params, box.macs) and _most(_part(box, 1), card) > _MOSTLY:
        yield from (_part(child, box.count) for child in inner)
    else:
        yield _part(box, 1)


def _part(box: Box, times: int) -> Part:
    macs = box.macs * times if box.macs is not None else None
    return Part(box.label, box.detail or "", f"of-{family(box.kind)}", box.count * times, box.params * times, macs)


def _most(part: Part, card: Card) -> float:
    """Its share of the weights or of the work, whichever is larger."""
    return max(_share(part.params, card.parameters.total), _share(part.macs, card.compute.macs))


def _share(value: int | None, total: int | None) -> float:
    return value / total if value and total else 0.0
