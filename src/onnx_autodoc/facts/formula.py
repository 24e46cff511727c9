"""Costs as formulas in the open dimensions: exact, or not at all.

The costs are worked out at a few more sizes, and what each node takes is fitted by itself: a polynomial with few terms
that goes through all of these points, of which there are more than coefficients, is right or a strange accident. Their
sum is the formula. What is alive while each node runs is a polynomial of its own; the peak is the largest of those that
none of the others covers.

Sizes that are rounded (a stride that does not divide a picture) break every polynomial, but they do so in a pattern
that repeats: at sizes whole steps apart there is one. Coarse steps are tried, then finer ones as long as it holds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.facts._fitting import Parts, Sums, fitted, value_of
from onnx_autodoc.facts._points import Places
from onnx_autodoc.facts._polynomial import Point, Terms, written
from onnx_autodoc.facts._variables import Variable, Variables
from onnx_autodoc.graph import Model, all_graphs
from onnx_autodoc.resolve import Binding, Role

MOST_WORK: Final = 36_000  # rules applied at other sizes, all together: about a second
_MOST_OTHERS: Final = 3  # variables beside the batch
_LOOPS: Final = 2  # rules applied for each node of the file: where loops are followed pass by pass, far is dear
_POINTS: Final = (1, 3, 7)  # beside the card's and one for each variable: few at first, more where they do not tell
_ENOUGH: Final = 1  # and one for each variable
_MOST_MISSED: Final = 4  # points in a row at which it does not run
_PICTURES: Final = (Role.HEIGHT, Role.WIDTH, Role.SAMPLES)  # sizes that strides round
_UNROUNDED: Final = (Role.BATCH, Role.PAST, Role.TOTAL)
_COARSE: Final = (64, 64 * 105, 1024 * 15)  # steps: what strides, patches and hops divide
_PROOF: Final = 3
_SHOWN: Final = 3
_WAYS: Final = 32  # parts of the way from the smallest sizes to the card's
_PRIMES: Final = (2, 3, 5, 7)

Measure = Callable[[Binding], Parts | None]


class Formula(Struct, frozen=True):
    """Exact expressions by quantity, in the variables; None for a quantity that has none."""

    variables: tuple[Variable, ...] = ()
    expressions: Mapping[str, str | None] = {}
    terms: Mapping[str, Sequence[Terms]] = {}  # where there are several, the largest one holds
    divisors: Mapping[str, int] = {}  # what a quantity's terms are divided by, without a rest; 1 where left out
    checked_at: tuple[Mapping[str, int], ...] = ()
    steps: Mapping[str, int] = {}  # by variable: sizes at which it holds are so far apart; 1 where left out
    least: Mapping[str, int] = {}  # by variable: the size from which on it holds


NONE: Final = Formula()


class Meter:
    """Costs at other sizes, as long as there is work left to spend on them."""

    def __init__(self, variables: Variables, parts: Parts, work: int, measure: Measure) -> None:
        self.variables, self.parts = variables, parts
        self._work, self._left, self._measure = work, MOST_WORK, measure
        self._seen: dict[tuple[tuple[str, int], ...], Parts | None] = {}

    def affords(self, points: int) -> bool:
        return points * self._work <= self._left

    def at(self, sizes: Mapping[str, int]) -> Parts | None:
        """None where it does not run, where less is known than on the card, other nodes run, or no work is left."""
        key = tuple(sorted(sizes.items()))
        if key not in self._seen and not self.affords(1):
            return None
        if key not in self._seen:
            self._left -= self._work
            found = self._measure(self.variables.at(sizes))
            alike = found and all(len(found.get(name, ())) == len(own) for name, own in self.parts.items())
            self._seen[key] = found if alike else None
        return self._seen[key]


def formula(
    model: Model, binding: Binding, parts: Parts, work: int, measure: Measure, role: Role | None = None
) -> Formula:
    """`parts` are those of the card, `work` what they took; `measure` gives them for another binding.

    With a role, in the sizes of that role alone, all of them as one.
    """
    variables = Variables(model, binding)
    if role is not None:
        variables.kept([each for each in variables.all if each.role is role])
        variables.merged()
    far = work <= _LOOPS * sum(len(graph.nodes) for graph in all_graphs(model))
    meter, best = Meter(variables, parts, work, measure), NONE
    for steps in _lattices(meter, far) if parts and meter.affords(_ENOUGH + len(variables.all)) else ():
        found = _Search(meter, steps, far).found()
        best = max(best, found, key=lambda each: len(each.terms))
        if (steps and "macs" in found.terms) or not _is_rounded(best, parts):
            break
    return best


def _lattices(meter: Meter, far: bool) -> Iterator[Mapping[str, int]]:
    """Steps worth trying, once it is known which variables can be varied at all."""
    variables = meter.variables
    if not _varies(meter, far) and len({each.role for each in variables.all}) < len(variables.all):
        variables.merged()
    if not _varies(meter, far):
        variables.kept([each for at, each in enumerate(variables.all) if _varies_alone(meter, at)])
    if not variables.all or not _varies(meter, far):
        return
    roles = {each.role for each in variables.all}
    if not roles.intersection(_PICTURES):
        yield {}
    for step in _COARSE:
        names = [each.name for each in variables.all if each.role not in _UNROUNDED]
        if names:
            yield dict.fromkeys(names, step)


def _varies(meter: Meter, far: bool) -> bool:
    """Whether it runs at some sizes that all are others than the card's."""
    every = meter.variables.all
    if not every or sum(each.role is not Role.BATCH for each in every) > _MOST_OTHERS:
        return False
    step = _COARSE[0] if {each.role for each in every}.intersection(_PICTURES) else 1
    steps = {each.name: step for each in every if each.role not in _UNROUNDED}
    points = Places(every, steps, far).others()
    return any(meter.at(_sizes(every, point)) is not None for point in points)


def _varies_alone(meter: Meter, which: int) -> bool:
    every = meter.variables.all
    step = _COARSE[0] if every[which].role in _PICTURES else 1
    points = Places(every, {every[which].name: step}, False).alone(which)
    return any(meter.at(_sizes(every, point)) is not None for point in points)


def _is_rounded(found: Formula, parts: Parts) -> bool:
    """Multiply-adds and arithmetic have no formula: not so what is cut off where a table ends."""
    return any(name in parts and name not in found.terms for name in ("macs", "flops"))


def _sizes(variables: Sequence[Variable], point: Point) -> dict[str, int]:
    return {variable.name: size for variable, size in zip(variables, point, strict=True)}


class _Search:
    """For formulas that hold at sizes so many steps apart."""

    def __init__(self, meter: Meter, steps: Mapping[str, int], far: bool) -> None:
        self._meter, self._steps = meter, steps
        self._all = sorted(meter.variables.all, key=lambda each: each.role is not Role.BATCH)
        self._places = Places(self._all, steps, far)
        self._groups = self._places.groups()
        self._known: dict[Point, Parts] = {self._places.own(): meter.parts}

    def found(self) -> Formula:
        sums: Mapping[str, Sums] = {}
        for count in (len(self._all) + more for more in _POINTS):
            before = len(self._known)
            self._explore(count)
            if len(self._known) > before:
                fits = self._fitted()
                sums = {name: each for name, each in fits.items() if self._are_whole({name: each}, self._steps)}
            if len(sums) == len(self._meter.parts):
                break
        sums = self._proven(sums)
        return self._written(sums, self._finest(sums)) if sums else NONE

    def _proven(self, sums: Mapping[str, Sums]) -> Mapping[str, Sums]:
        """On a lattice, or where the smallest sizes were left out, those that are right at the next steps too."""
        if not self._steps and self._is_right(sums, self._places.smallest()):
            return sums
        points = list(islice(self._places.around(self._steps), 0, _PROOF * (len(self._all) + 1), len(self._all) + 1))
        every = [{name: each} for name, each in sums.items()]
        return {name: one[name] for one in every for name in one if all(self._is_right(one, at) for at in points)}

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
        sizes = _sizes(self._all, point)
        parts = self._meter.at(sizes)
        if parts is not None:
            self._known[point] = parts
        return parts is not None

    def _finest(self, sums: Mapping[str, Sums]) -> Mapping[str, int]:
        """The steps divided as long as the formulas stay right: all at once, then each by itself."""
        steps = dict(self._steps)
        if not steps or self._holds(sums, dict.fromkeys(steps, 1)):
            return {}
        for names in (list(steps), *([name] for name in steps if len(steps) > 1)):
            for prime in _PRIMES:
                while all(steps[name] % prime == 0 for name in names):
                    finer = steps | {name: steps[name] // prime for name in names}
                    if not self._holds(sums, finer):
                        break
                    steps = finer
        return {name: step for name, step in steps.items() if step != 1}

    def _holds(self, sums: Mapping[str, Sums], steps: Mapping[str, int]) -> bool:
        points = (self._places.finer(steps, turn) for turn in range(2))
        return self._are_whole(sums, steps) and all(self._is_right(sums, point) for point in points)

    def _are_whole(self, sums: Mapping[str, Sums], steps: Mapping[str, int]) -> bool:
        """Half of a size is no size: points that happen to be even must not hide what is rounded at others."""
        return all(each.at(point) >= 0 for point in self._places.around(steps) for each in sums.values())

    def _is_right(self, sums: Mapping[str, Sums], point: Point) -> bool:
        parts = self._meter.at(_sizes(self._all, point))
        return parts is not None and all(each.at(point) == value_of(name, parts) for name, each in sums.items())

    def _checked(self, sums: Mapping[str, Sums]) -> Iterator[Point]:
        """The first points that were tried: half of the card's sizes, far above, far below."""
        return islice((point for point in list(self._known)[1:] if self._is_right(sums, point)), _SHOWN)

    def _least(self, sums: Mapping[str, Sums], steps: Mapping[str, int]) -> dict[str, int]:
        """The smallest sizes on a straight way from the smallest of all to the card's at which the formulas hold."""
        low = self._places.smallest(steps)
        wrong, right = -1, _WAYS
        while right - wrong > 1:
            part = (wrong + right) // 2 if wrong >= 0 else 0
            if self._is_right(sums, self._places.between(low, steps, part, _WAYS)):
                right = part
            else:
                wrong = part
        found = zip(self._all, self._places.between(low, steps, right, _WAYS), strict=True)
        return {each.name: 1 if each.role is Role.BATCH else size for each, size in found}

    def _written(self, sums: Mapping[str, Sums], steps: Mapping[str, int]) -> Formula:
        names = [variable.name for variable in self._all]
        return Formula(
            variables=tuple(self._all),
            expressions={name: _either(sums[name], names) if name in sums else None for name in self._meter.parts},
            terms={name: each.terms for name, each in sums.items()},
            divisors={name: each.divisor for name, each in sums.items() if each.divisor != 1},
            checked_at=tuple(_sizes(self._all, point) for point in self._checked(sums)),
            steps=steps,
            least=self._least(sums, steps),
        )


def _either(sums: Sums, names: Sequence[str]) -> str:
    texts = [written(each, names, sums.divisor) for each in sums.terms]
    return texts[0] if len(texts) == 1 else f"max({'; '.join(texts)})"
