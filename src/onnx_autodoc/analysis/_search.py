"""The search for formulas on one lattice: points worked out, fitted, proven at others, and the lattice made finer."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final

from msgspec import Struct, structs

from onnx_autodoc.analysis._cost_cache import Meter
from onnx_autodoc.analysis._fitting import Parts, Sums, fitted, value_of
from onnx_autodoc.analysis._polynomial import Point
from onnx_autodoc.analysis._sample_points import Places
from onnx_autodoc.analysis._variables import Variable
from onnx_autodoc.shapes import Role

_POINTS: Final = (1, 3, 7)  # beside the card's and one for each variable: few at first, more where they do not tell
_MOST_MISSED: Final = 4  # points in a row at which it does not run
_PROOF: Final = 3
_SHOWN: Final = 3
_WAYS: Final = 32  # parts of the way from the smallest sizes to the card's
_PRIMES: Final = (2, 3, 5, 7)


class Found(Struct, frozen=True):
    """Formulas by quantity, and the sizes at which they hold."""

    variables: Sequence[Variable] = ()
    sums: Mapping[str, Sums] = {}
    steps: Mapping[str, int] = {}
    least: Mapping[str, int] = {}
    checked: Sequence[Point] = ()
    parted: bool = False  # some hold only where sizes in one role are alike, and were left out


NOTHING: Final = Found()


class Search:
    """For formulas that hold at sizes so many steps apart."""

    def __init__(self, meter: Meter, steps: Mapping[str, int], far: bool) -> None:
        self._meter, self._steps = meter, steps
        self._all = sorted(meter.variables.all, key=lambda each: each.role is not Role.BATCH)
        self._places = Places(self._all, steps, far)
        self._groups = self._places.groups()
        self._known: dict[Point, Parts] = {self._places.own(): meter.parts}

    def found(self) -> Found:
        whole = self._proven(self._explored())
        sums = self._joined(whole)
        found = self._bounded(sums, self._finest(sums)) if sums else NOTHING
        return structs.replace(found, parted=len(sums) < len(whole))

    def _explored(self) -> Mapping[str, Sums]:
        """With few points, then with more, as long as that gives more formulas; where it gave none, to the end."""
        sums: Mapping[str, Sums] = {}
        for count in (len(self._all) + more for more in _POINTS):
            before, known = len(sums), len(self._known)
            self._explore(count)
            if len(self._known) > known:
                fits = self._fitted()
                sums = {name: each for name, each in fits.items() if self._are_whole({name: each}, self._steps)}
            if len(sums) == len(self._meter.parts) or 0 < len(sums) <= before:
                break
        return sums

    def _bounded(self, sums: Mapping[str, Sums], steps: Mapping[str, int]) -> Found:
        """With the smallest sizes at which they hold. On a finer lattice, others may be the largest at small ones."""
        sums = {name: each.above(self._places.smallest(steps)) for name, each in sums.items()}
        least = self._least(sums, steps)
        sums = {name: few for name, each in sums.items() if (few := each.above(least)).are_few}
        return Found(self._all, sums, steps, sizes_at(self._all, least), tuple(self._checked(sums)))

    def _proven(self, sums: Mapping[str, Sums]) -> Mapping[str, Sums]:
        """On a lattice, or where the smallest sizes were left out, those that are right at the next steps too."""
        if not self._steps and self._is_right(sums, self._places.smallest()):
            return sums
        points = list(islice(self._places.around(self._steps), 0, _PROOF * (len(self._all) + 1), len(self._all) + 1))
        every = [{name: each} for name, each in sums.items()]
        return {name: one[name] for one in every for name in one if all(self._is_right(one, at) for at in points)}

    def _joined(self, sums: Mapping[str, Sums]) -> Mapping[str, Sums]:
        """Those that are right too where sizes in one role are far apart, as far as it runs there."""
        points = [at for at in self._places.apart() if self._meter.at(sizes_at(self._all, at)) is not None]
        return {name: each for name, each in sums.items() if all(self._is_right({name: each}, at) for at in points)}

    def _fitted(self) -> Mapping[str, Sums]:
        """Through all points; through all but the smallest if that gives more: a window may be too large for it."""
        sums = fitted(self._known, self._all, self._steps)
        left_out = {self._places.smallest()} - {self._places.own()}
        rest = {point: parts for point, parts in self._known.items() if point not in left_out}
        if len(sums) == len(self._meter.parts) or len(rest) == len(self._known):
            return sums
        return max(sums, fitted(rest, self._all, self._steps), key=len)

    def _explore(self, count: int) -> None:
        """More points, until there are so many beside the card's."""
        missed = 0
        for group in self._groups:
            point = next(filter(self._runs, group), None)
            missed = missed + 1 if point is None else 0
            if len(self._known) > count or missed > _MOST_MISSED:
                return

    def _runs(self, point: Point) -> bool:
        sizes = sizes_at(self._all, point)
        parts = self._meter.at(sizes)
        if parts is not None:
            self._known[point] = parts
        return parts is not None

    def _finest(self, sums: Mapping[str, Sums]) -> Mapping[str, int]:
        """The steps divided as long as the formulas stay right: all at once, then each by itself."""
        steps = self._steps
        if not steps or self._holds(sums, dict.fromkeys(steps, 1)):
            return {}
        for prime in _PRIMES:
            steps = self._divided(sums, steps, list(steps), prime)
        for name, prime in product(steps if len(steps) > 1 else (), _PRIMES):
            steps = self._divided(sums, steps, [name], prime)
        return {name: step for name, step in steps.items() if step != 1}

    def _divided(
        self, sums: Mapping[str, Sums], steps: Mapping[str, int], names: Sequence[str], prime: int
    ) -> Mapping[str, int]:
        """By a prime as often as they stay right, found by halves: what holds on a lattice does so on coarser ones."""
        finer = [steps]
        while all(finer[-1][name] % prime == 0 for name in names):
            finer.append({**finer[-1], **{name: finer[-1][name] // prime for name in names}})
        right, wrong = 0, len(finer)
        while wrong - right > 1:
            middle = (right + wrong) // 2 if right or len(names) > 1 else 1  # one alone seldom goes further than all
            right, wrong = (middle, wrong) if self._holds(sums, finer[middle]) else (right, middle)
        return finer[right]

    def _holds(self, sums: Mapping[str, Sums], steps: Mapping[str, int]) -> bool:
        points = (self._places.finer(steps, turn) for turn in range(2))
        return self._are_whole(sums, steps) and all(self._is_right(sums, point) for point in points)

    def _are_whole(self, sums: Mapping[str, Sums], steps: Mapping[str, int]) -> bool:
        """Half of a size is no size: points that happen to be even must not hide what is rounded at others."""
        return all(each.at(point) >= 0 for point in self._places.around(steps) for each in sums.values())

    def _is_right(self, sums: Mapping[str, Sums], point: Point) -> bool:
        parts = self._meter.at(sizes_at(self._all, point))
        return parts is not None and all(each.at(point) == value_of(name, parts) for name, each in sums.items())

    def _checked(self, sums: Mapping[str, Sums]) -> Iterator[Point]:
        """The first points that were tried: half of the card's sizes, far above, far below."""
        return islice((point for point in list(self._known)[1:] if self._is_right(sums, point)), _SHOWN)

    def _least(self, sums: Mapping[str, Sums], steps: Mapping[str, int]) -> Point:
        """The smallest sizes on a straight way from the smallest of all to the card's at which the formulas hold."""
        low = self._places.smallest(steps)
        wrong, right = -1, _WAYS
        while right - wrong > 1:
            part = (wrong + right) // 2 if wrong >= 0 else 0
            if self._is_right(sums, self._places.between(low, steps, part, _WAYS)):
                right = part
            else:
                wrong = part
        found = self._places.between(low, steps, right, _WAYS)
        return found if right < _WAYS or self._is_right(sums, found) else self._places.own()


def sizes_at(variables: Sequence[Variable], point: Point) -> dict[str, int]:
    return {variable.name: size for variable, size in zip(variables, point, strict=True)}
