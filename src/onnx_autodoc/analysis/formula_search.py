"""The search for cost formulas on one lattice of sizes: sample, fit, verify at other points, refine the lattice."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final

from msgspec import Struct, structs

from onnx_autodoc.analysis.polynomial import Expression, Point
from onnx_autodoc.analysis.sample_points import SampleLattice
from onnx_autodoc.analysis.size_variables import SizeVariables, Variable
from onnx_autodoc.analysis.sparse_fit import SparseFitter
from onnx_autodoc.shapes import Binding, Role

PEAK: Final = "peak_activation_bytes"
MAX_WORK: Final = 36_000  # rules applied at other sizes, in total: under a second

_POINTS: Final = (1, 3, 7)  # beside the card's and one for each variable: few at first, more where they do not suffice
_MAX_FAILURES: Final = 4  # points in a row at which the model does not run
_PROOF_POINTS: Final = 3
_MAX_CHECKS: Final = 3  # on the card
_WAY_PARTS: Final = 32  # from the smallest sizes to the card's
_PRIMES: Final = (2, 3, 5, 7)

Breakdown = Mapping[str, tuple[int, ...]]  # figure -> numbers whose sum it is; of the peak, whose maximum it is
Measure = Callable[[Binding], Breakdown]


def total_of(name: str, parts: Breakdown) -> int:
    return max(parts[name]) if name == PEAK else sum(parts[name])


def sizes_at(variables: Sequence[Variable], point: Point) -> dict[str, int]:
    return {variable.name: size for variable, size in zip(variables, point, strict=True)}


class SampleCosts:
    """The costs of one model at other sizes, each evaluated once, within `MAX_WORK`."""

    def __init__(self, variables: SizeVariables, parts: Breakdown, work: int, measure: Measure) -> None:
        self.variables, self.parts = variables, parts
        self._work, self._left, self._measure = work, MAX_WORK, measure
        self._seen: dict[object, Breakdown | None] = {_axes_key(variables.bind({})): parts}

    def can_afford(self, points: int) -> bool:
        return points * self._work <= self._left

    def at(self, sizes: Mapping[str, int]) -> Breakdown | None:
        """None where it does not run, less is known than on the card, other nodes run, or no work is left."""
        binding = self.variables.bind(sizes)
        key = _axes_key(binding)
        if key not in self._seen and self.can_afford(1):
            self._left -= self._work
            found = self._measure(binding)
            alike = found and all(len(found.get(name, ())) == len(own) for name, own in self.parts.items())
            self._seen[key] = found if alike else None
        return self._seen.get(key)


def _axes_key(binding: Binding) -> object:
    """The sizes of all axes: the same for different variables that give the same sizes."""
    return tuple(sorted(binding.axes.items()))


class SearchResult(Struct, frozen=True):
    """Formulas by figure, and the sizes at which they hold."""

    variables: Sequence[Variable] = ()
    expressions: Mapping[str, Expression] = {}
    steps: Mapping[str, int] = {}
    least: Mapping[str, int] = {}
    checked: Sequence[Point] = ()
    needs_equal_sizes: bool = False  # some hold only where all sizes of one role are equal, and were left out


class FormulaSearch:
    """For formulas that hold at sizes whole `steps` apart."""

    def __init__(self, samples: SampleCosts, steps: Mapping[str, int], far: bool) -> None:
        self._samples, self._steps = samples, steps
        self._all = sorted(samples.variables.all, key=lambda each: each.role is not Role.BATCH)
        self._lattice = SampleLattice(self._all, steps, far)
        self._groups = self._lattice.groups()
        self._known: dict[Point, Breakdown] = {self._lattice.card_point(): samples.parts}

    def run(self) -> SearchResult:
        proven = self._prove(self._explore())
        found = self._check_far_apart(proven)
        result = self._bound(found, self._refine(found)) if found else SearchResult()
        return structs.replace(result, needs_equal_sizes=len(found) < len(proven))

    def _explore(self) -> Mapping[str, Expression]:
        """With few points, then with more, as long as that gives more formulas; where it gave none, to the end."""
        found: Mapping[str, Expression] = {}
        for count in (len(self._all) + more for more in _POINTS):
            before, known = len(found), len(self._known)
            self._sample(count)
            if len(self._known) > known:
                fits = self._fit()
                found = {name: each for name, each in fits.items() if self._are_whole({name: each}, self._steps)}
            if len(found) == len(self._samples.parts) or 0 < len(found) <= before:
                break
        return found

    def _sample(self, count: int) -> None:
        """Until there are so many points beside the card's."""
        failures = 0
        for group in self._groups:
            point = next(filter(self._runs, group), None)
            failures = failures + 1 if point is None else 0
            if len(self._known) > count or failures > _MAX_FAILURES:
                return

    def _runs(self, point: Point) -> bool:
        parts = self._samples.at(sizes_at(self._all, point))
        if parts is not None:
            self._known[point] = parts
        return parts is not None

    def _fit(self) -> Mapping[str, Expression]:
        """Through all points; without the smallest one if that gives more: a window may be larger than it."""
        found = self._fit_points(list(self._known))
        smallest = {self._lattice.smallest()} - {self._lattice.card_point()}
        rest = [point for point in self._known if point not in smallest]
        if len(found) == len(self._samples.parts) or len(rest) == len(self._known):
            return found
        return max(found, self._fit_points(rest), key=len)

    def _fit_points(self, points: Sequence[Point]) -> dict[str, Expression]:
        """The figures of which every number has a polynomial through all points."""
        fitter = SparseFitter(points, self._all[0].role is Role.BATCH, self._pixels())
        if not fitter.distinguishes_all:
            return {}
        least = self._lattice.smallest()
        found: dict[str, Expression] = {}
        for name in self._known[points[0]]:
            columns = list(zip(*(self._known[point][name] for point in points), strict=True))
            expression = fitter.fit_peak(columns, least) if name == PEAK else fitter.fit_sum(columns)
            if expression is not None:
                found[name] = expression
        return found

    def _pixels(self) -> tuple[int, int] | None:
        """Places of height and width: attention between all pixels grows by the square of their product."""
        roles = [each.role for each in self._all if each.role is not Role.BATCH]
        both = Role.HEIGHT in roles and Role.WIDTH in roles
        return (roles.index(Role.HEIGHT), roles.index(Role.WIDTH)) if both else None

    def _prove(self, found: Mapping[str, Expression]) -> Mapping[str, Expression]:
        """On a lattice, or where the smallest sizes were left out, those that are right at the next steps too."""
        if not self._steps and self._are_right(found, self._lattice.smallest()):
            return found
        stride = len(self._all) + 1
        points = list(islice(self._lattice.around(self._steps), 0, _PROOF_POINTS * stride, stride))
        return {name: each for name, each in found.items() if self._is_right_at_all(name, each, points)}

    def _check_far_apart(self, found: Mapping[str, Expression]) -> Mapping[str, Expression]:
        """Those that are right too where sizes in one role are far apart, if it runs there."""
        points = [at for at in self._lattice.far_apart() if self._samples.at(sizes_at(self._all, at)) is not None]
        return {name: each for name, each in found.items() if self._is_right_at_all(name, each, points)}

    def _is_right_at_all(self, name: str, expression: Expression, points: Sequence[Point]) -> bool:
        return all(self._are_right({name: expression}, point) for point in points)

    def _are_right(self, found: Mapping[str, Expression], point: Point) -> bool:
        parts = self._samples.at(sizes_at(self._all, point))
        return parts is not None and all(each.at(point) == total_of(name, parts) for name, each in found.items())

    def _are_whole(self, found: Mapping[str, Expression], steps: Mapping[str, int]) -> bool:
        """Points that happen to be even must not hide rounding at others."""
        return all(each.at(point) >= 0 for point in self._lattice.around(steps) for each in found.values())

    def _refine(self, found: Mapping[str, Expression]) -> Mapping[str, int]:
        """Divide the steps as long as the formulas stay right: all at once, then each separately."""
        steps = self._steps
        if not steps or self._hold(found, dict.fromkeys(steps, 1)):
            return {}
        for prime in _PRIMES:
            steps = self._divide(found, steps, list(steps), prime)
        for name, prime in product(steps if len(steps) > 1 else (), _PRIMES):
            steps = self._divide(found, steps, [name], prime)
        return {name: step for name, step in steps.items() if step != 1}

    def _divide(
        self, found: Mapping[str, Expression], steps: Mapping[str, int], names: Sequence[str], prime: int
    ) -> Mapping[str, int]:
        """Divide by a prime as often as the formulas hold, found by bisection: a coarser lattice is a subset."""
        finer = [steps]
        while all(finer[-1][name] % prime == 0 for name in names):
            finer.append({**finer[-1], **{name: finer[-1][name] // prime for name in names}})
        right, wrong = 0, len(finer)
        while wrong - right > 1:
            middle = (right + wrong) // 2 if right or len(names) > 1 else 1  # one alone seldom goes further than all
            right, wrong = (middle, wrong) if self._hold(found, finer[middle]) else (right, middle)
        return finer[right]

    def _hold(self, found: Mapping[str, Expression], steps: Mapping[str, int]) -> bool:
        points = (self._lattice.finer(steps, turn) for turn in range(2))
        return self._are_whole(found, steps) and all(self._are_right(found, point) for point in points)

    def _bound(self, found: Mapping[str, Expression], steps: Mapping[str, int]) -> SearchResult:
        """Find the smallest sizes at which the formulas hold; small sizes may have another maximum."""
        found = {name: each.above(self._lattice.smallest(steps)) for name, each in found.items()}
        least = self._find_least(found, steps)
        found = {name: few for name, each in found.items() if (few := each.above(least)).is_short}
        return SearchResult(self._all, found, steps, sizes_at(self._all, least), tuple(self._checked(found)))

    def _find_least(self, found: Mapping[str, Expression], steps: Mapping[str, int]) -> Point:
        """The smallest sizes on a straight line from the smallest of all to the card's at which the formulas hold."""
        low = self._lattice.smallest(steps)
        wrong, right = -1, _WAY_PARTS
        while right - wrong > 1:
            part = (wrong + right) // 2 if wrong >= 0 else 0
            if self._are_right(found, self._lattice.between(low, steps, part, _WAY_PARTS)):
                right = part
            else:
                wrong = part
        point = self._lattice.between(low, steps, right, _WAY_PARTS)
        return point if right < _WAY_PARTS or self._are_right(found, point) else self._lattice.card_point()

    def _checked(self, found: Mapping[str, Expression]) -> Iterator[Point]:
        """The first sampled points: half of the card's sizes, far above, far below."""
        return islice((point for point in list(self._known)[1:] if self._are_right(found, point)), _MAX_CHECKS)
