"""Sizes at which costs are evaluated again: near those of the card, half of them, far above and far below.

All points lie on one lattice: whole steps away from the card's sizes. No two variables move alike, so that growth with
one is distinguished from growth with another.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import ne
from typing import Final

from onnx_autodoc.analysis.polynomial import Point
from onnx_autodoc.analysis.size_variables import Variable
from onnx_autodoc.shapes import Role

_MIN_HALVED: Final = 8
_MIN_LOWERED: Final = 64  # sizes from here on are varied downwards: position tables are finite
_DOWN: Final = (3, 7, 12, 5, 20, 30, 17, 41, 26, 50, 36)  # below the card's size
_UP: Final = (1, 2, 4, 7, 3, 11, 5, 13, 8, 17, 9)  # steps above the card's size
_FAR: Final = (40, 4, 1)  # times the card's size: shows what holds only up to some size (a window, a table)
_FAR_BATCH: Final = 4098  # above the card's: more tokens than any vocabulary has rows
_SOME_BATCH: Final = 130
_NEIGHBOURS: Final = 17
_TURN: Final = 2  # each variable starts so many moves after the one before


class SampleLattice:
    """The points around one card. `far`: whether sizes far above it may be tried; loops make them expensive."""

    def __init__(self, variables: Sequence[Variable], steps: Mapping[str, int], far: bool) -> None:
        self._variables, self._far = variables, far
        self._steps = [steps.get(each.name, 1) for each in variables]

    def card_point(self) -> Point:
        return tuple(each.size for each in self._variables)

    def groups(self) -> Iterator[Sequence[Point]]:
        """Of each group one point is used: the first at which the model runs."""
        yield [self._half()]
        yield [self._far_above(times) for times in (_FAR if self._far else _FAR[-1:])]
        yield [self.smallest(), *(self._far_below(times) for times in _FAR[:2])]
        for move in range(len(_UP)):
            yield [self._near(move), self._near(move, True)]

    def off_card(self) -> list[Point]:
        """Two points where every size is another than the card's."""
        points = (self._half(), self._near(0), self._near(0, True))
        own = self.card_point()
        return [point for point in points if all(map(ne, point, own))][:2]

    def smallest(self, steps: Mapping[str, int] | None = None) -> Point:
        """All sizes as small as the lattice, or one with other steps, has them."""
        pairs = zip(self._variables, self._steps, strict=True)
        return tuple(_least(each, step if steps is None else steps.get(each.name, 1)) for each, step in pairs)

    def between(self, low: Point, steps: Mapping[str, int], part: int, whole: int) -> Point:
        """So far on the way from there to the card's own sizes; the batch stays."""
        sizes = []
        for each, least in zip(self._variables, low, strict=True):
            step = steps.get(each.name, 1)
            way = 0 if each.role is Role.BATCH else each.size - least
            sizes.append(least + -(-way // step * part // whole) * step)
        return tuple(sizes)

    def finer(self, steps: Mapping[str, int], turn: int) -> Point:
        """A point on a finer lattice: odd steps of it away, others for each variable."""
        return tuple(
            each.size + (0 if steps.get(each.name, 1) == own else steps.get(each.name, 1) * (2 * (at + turn) + 1))
            for at, (each, own) in enumerate(zip(self._variables, self._steps, strict=True))
        )

    def around(self, steps: Mapping[str, int]) -> Iterator[Point]:
        """Points next to the card's with such steps, where a formula must at least be an integer."""
        by = [steps.get(each.name, 1) for each in self._variables]
        for many in range(1, _NEIGHBOURS):
            yield tuple(each.size + step * many for each, step in zip(self._variables, by, strict=True))
            for which in range(len(by)):
                yield tuple(each.size + by[at] * many * (at == which) for at, each in enumerate(self._variables))

    def far_apart(self) -> Iterator[Point]:
        """Of sizes in one role, some as on the card and the others far below: exposes costs by the larger one."""
        roles = [each.role for each in self._variables]
        twice = [at for at, role in enumerate(roles) if role is not Role.BATCH and roles.count(role) > 1]
        for small in (set(twice[::2]), set(twice[1::2])):
            if small:
                below = self._snap([each.size // 4 + 1 for each in self._variables], 0)
                yield tuple(below[at] if at in small else size for at, size in enumerate(self.card_point()))

    def along(self, which: int) -> Iterator[Point]:
        """One variable at other sizes, the others as they are."""
        own = self.card_point()
        for point in (self._near(0), self._near(0, True), self._near(1)):
            if point[which] != own[which]:
                yield (*own[:which], point[which], *own[which + 1 :])

    def _near(self, move: int, down: bool = False) -> Point:
        """Small sizes move up, or down where that does not run; large ones down."""
        sizes = []
        for at, (each, step) in enumerate(zip(self._variables, self._steps, strict=True)):
            turned, batch = (move + _TURN * at) % len(_UP), each.role is Role.BATCH
            if step == 1 and each.size >= _MIN_LOWERED and not batch:
                sizes.append(each.size - _DOWN[turned])
            elif down and not batch:
                sizes.append(max(_least(each, step), each.size - step * _UP[turned]))
            else:
                sizes.append(each.size + step * _UP[turned])
        return tuple(sizes)

    def _half(self) -> Point:
        halves = [each.size // 2 + 1 if each.size >= _MIN_HALVED else each.size + 4 for each in self._variables]
        return self._snap(halves, 1)

    def _far_above(self, times: int) -> Point:
        more = _FAR_BATCH if self._far else _SOME_BATCH
        sizes = [times * each.size + times // _FAR[0] for each in self._variables]
        return self._snap(self._with_batch(sizes, more), -1)

    def _far_below(self, times: int) -> Point:
        return self._snap(self._with_batch([each.size // times + 1 for each in self._variables], 4), 1)

    def _with_batch(self, sizes: Sequence[int], more: int) -> list[int]:
        """With a batch so much larger than the card's."""
        pairs = enumerate(zip(self._variables, sizes, strict=True))
        return [each.size + more + 3 * at if each.role is Role.BATCH else size for at, (each, size) in pairs]

    def _snap(self, sizes: Sequence[int], turn: int) -> Point:
        """The nearest ones on the lattice that are sizes at all, each another step off."""
        snapped = []
        for at, (each, size, step) in enumerate(zip(self._variables, sizes, self._steps, strict=True)):
            moved = each.size + (size - each.size + step // 2) // step * step
            snapped.append(max(_least(each, step), moved + turn * step * at))
        return tuple(snapped)


def _least(variable: Variable, step: int) -> int:
    """The smallest size whole steps away from the card's: a past may be empty."""
    may_be_empty = variable.role is Role.PAST
    return variable.size % step if may_be_empty else (variable.size - 1) % step + 1
