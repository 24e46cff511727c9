"""Costs as formulas in the dynamic dimensions: exact, or none.

The costs are evaluated at a few other sizes, and the figures of each node are fitted separately: a polynomial with few
terms that goes through all points, of which there are more than coefficients, is right except by accident. Their sum is
the formula. The memory in use while each node runs is a polynomial as well; the peak is the maximum of those that no
other one exceeds everywhere.

Sizes that are rounded (a stride that does not divide an image) break every polynomial, but in a pattern that repeats:
at sizes whole steps apart there is one. Coarse steps are tried, then finer ones as long as the formula holds.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Final

from msgspec import Struct, structs

from onnx_autodoc.analysis.polynomial import Expression, Point, SparseFitter, Terms, evaluate
from onnx_autodoc.analysis.size_variables import SampleLattice, SizeVariables, Variable
from onnx_autodoc.ir import Model
from onnx_autodoc.shapes import Binding, Role

PEAK: Final = "peak_activation_bytes"
MAX_WORK: Final = 36_000  # rules applied at other sizes, in total: under a second

_MAX_VARIABLES: Final = 3  # besides the batch
MAX_AXES: Final = 2000  # with a size: each is bound again at some dozen points
_MAX_RULES_PER_NODE: Final = 2  # more are applied where loops are unrolled: large sizes are expensive there
_MIN_POINTS: Final = 1  # and one for each variable
_IMAGE_ROLES: Final = {Role.HEIGHT, Role.WIDTH, Role.SAMPLES}  # sizes that strides round
_UNROUNDED_ROLES: Final = {Role.BATCH, Role.PAST, Role.TOTAL}
_COARSE_STEPS: Final = (64, 64 * 105, 1024 * 15)  # multiples of usual strides, patches and hops
_POINTS: Final = (1, 3, 7)  # besides the card's and one for each variable: few at first, more where they do not suffice
_MAX_FAILURES: Final = 4  # points in a row at which the model does not run
_PROOF_POINTS: Final = 3
_MAX_CHECKS: Final = 3  # on the card
_WAY_PARTS: Final = 32  # from the smallest sizes to the card's
_PRIMES: Final = (2, 3, 5, 7)

Breakdown = Mapping[str, tuple[int, ...]]  # figure -> numbers whose sum it is; of the peak, whose maximum it is
Measure = Callable[[Binding], Breakdown]
Expressions = Mapping[str, Expression]  # by figure


def total_of(name: str, parts: Breakdown) -> int:
    return max(parts[name]) if name == PEAK else sum(parts[name])


class Formula(Struct, frozen=True):
    """Exact expressions by figure, in the variables; None for a figure that has none."""

    variables: tuple[Variable, ...] = ()
    expressions: Mapping[str, str | None] = {}
    terms: Mapping[str, Sequence[Terms]] = {}  # where there are several, the largest one holds
    divisors: Mapping[str, int] = {}  # of a figure's terms, without remainder; 1 where left out
    checked_at: tuple[Mapping[str, int], ...] = ()
    steps: Mapping[str, int] = {}  # by variable: the distance of sizes at which it holds; 1 where left out
    least: Mapping[str, int] = {}  # by variable: the smallest size at which it holds

    def at(self, sizes: Mapping[Role, int]) -> dict[str, int]:
        """Return each figure with other sizes for the variables of some roles, and the card's for the others."""
        point = tuple(sizes.get(variable.role, variable.size) for variable in self.variables)
        largest = {name: max(evaluate(each, point) for each in terms) for name, terms in self.terms.items()}
        return {name: number // self.divisors.get(name, 1) for name, number in largest.items()}


class _SampleCosts:
    """The costs of one model at other sizes, each evaluated once, within `MAX_WORK`."""

    def __init__(self, variables: SizeVariables, parts: Breakdown, work: int, measure: Measure, far: bool) -> None:
        self.variables, self.parts, self.far = variables, parts, far
        self._work, self._left, self._measure = work, MAX_WORK, measure
        self._seen: dict[object, Breakdown | None] = {_axes_key(variables.bind({})): parts}

    def can_afford(self, points: int) -> bool:
        return points * self._work <= self._left

    def at(self, point: Point) -> Breakdown | None:
        """Return None where the model does not run, a figure is lost, other nodes run, or no work is left."""
        binding = self.variables.bind(_sizes_at(self.variables.all, point))
        key = _axes_key(binding)
        if key not in self._seen and self.can_afford(1):
            self._left -= self._work
            parts = self._measure(binding)
            same = parts and all(len(parts.get(name, ())) == len(own) for name, own in self.parts.items())
            self._seen[key] = parts if same else None
        return self._seen.get(key)


def _axes_key(binding: Binding) -> object:
    """Return the sizes of all axes: the same for different variables that give the same sizes."""
    return tuple(sorted(binding.axes.items()))


def _sizes_at(variables: Sequence[Variable], point: Point) -> dict[str, int]:
    return {variable.name: size for variable, size in zip(variables, point, strict=True)}


def fit_formula(
    model: Model, binding: Binding, parts: Breakdown, work: int, measure: Measure, role: Role | None = None
) -> Formula:
    """Fit the figures of the card, `parts`, for which `work` rules were applied; `measure` evaluates other bindings.

    With a role, in the sizes of that role only, all of them as one variable.
    """
    if len(binding.axes) > MAX_AXES:
        return Formula()
    variables = SizeVariables(model, binding)
    if role is not None:
        variables.all = tuple(variable for variable in variables.all if variable.role is role)
        variables.merge_roles()
    far = work <= _MAX_RULES_PER_NODE * model.node_count
    samples = _SampleCosts(variables, parts, work + model.graph.port_count, measure, far)
    if not parts or not samples.can_afford(_MIN_POINTS + len(variables.all)):
        return Formula()
    best = _search_lattices(samples)
    if best.needs_equal_sizes:
        variables.merge_roles()
        best = max(best, _search_lattices(samples), key=lambda result: len(result.expressions))
    if not best.expressions:
        return Formula()
    names = [variable.name for variable in best.variables]
    reduced = {name: expression.reduced() for name, expression in best.expressions.items()}
    return Formula(
        variables=tuple(best.variables),
        expressions={name: reduced[name].to_text(names) if name in reduced else None for name in parts},
        terms={name: expression.terms for name, expression in reduced.items()},
        divisors={name: expression.divisor for name, expression in reduced.items() if expression.divisor != 1},
        checked_at=tuple(_sizes_at(best.variables, point) for point in best.checked),
        steps=best.steps,
        least=best.least,
    )


class _SearchResult(Struct, frozen=True):
    """Formulas by figure, and the sizes at which they hold."""

    variables: Sequence[Variable] = ()
    expressions: Expressions = {}
    steps: Mapping[str, int] = {}
    least: Mapping[str, int] = {}
    checked: Sequence[Point] = ()
    needs_equal_sizes: bool = False  # some hold only where all sizes of one role are equal, and were left out


def _search_lattices(samples: _SampleCosts) -> _SearchResult:
    best = _SearchResult()
    for steps in _lattice_steps(samples):
        result = _FormulaSearch(samples, steps).run()
        best = max(best, result, key=lambda result: len(result.expressions))
        lacks_compute = any(name in samples.parts and name not in best.expressions for name in ("macs", "flops"))
        if (steps and "macs" in result.expressions) or not lacks_compute:
            break
    return best


def _lattice_steps(samples: _SampleCosts) -> Iterator[Mapping[str, int]]:
    """Yield the steps to try, after leaving out the variables that cannot be varied."""
    variables = samples.variables
    if not _can_vary_all(samples) and len({variable.role for variable in variables.all}) < len(variables.all):
        variables.merge_roles()
    if not _can_vary_all(samples):
        variables.all = tuple(variable for at, variable in enumerate(variables.all) if _can_vary(samples, at))
    if not variables.all or not _can_vary_all(samples):
        return
    if not {variable.role for variable in variables.all} & _IMAGE_ROLES:
        yield {}
    names = [variable.name for variable in variables.all if variable.role not in _UNROUNDED_ROLES]
    for step in _COARSE_STEPS if names else ():
        yield dict.fromkeys(names, step)


def _can_vary_all(samples: _SampleCosts) -> bool:
    """Return whether the model runs at some sizes that all differ from the card's."""
    variables = samples.variables.all
    roles = {variable.role for variable in variables}
    if len(variables) - (Role.BATCH in roles) > _MAX_VARIABLES or not variables:
        return False
    step = _COARSE_STEPS[0] if roles & _IMAGE_ROLES else 1
    steps = {variable.name: step for variable in variables if variable.role not in _UNROUNDED_ROLES}
    return _runs_at_any(samples, SampleLattice(variables, steps, samples.far).off_card())


def _can_vary(samples: _SampleCosts, which: int) -> bool:
    variables = samples.variables.all
    step = _COARSE_STEPS[0] if variables[which].role in _IMAGE_ROLES else 1
    return _runs_at_any(samples, SampleLattice(variables, {variables[which].name: step}, far=False).along(which))


def _runs_at_any(samples: _SampleCosts, points: Iterable[Point]) -> bool:
    return any(samples.at(point) is not None for point in points)


class _FormulaSearch:
    """The search on one lattice of sizes: sample, fit, verify at other points, refine the lattice."""

    def __init__(self, samples: _SampleCosts, steps: Mapping[str, int]) -> None:
        self._samples, self._steps, self._variables = samples, steps, samples.variables.all
        self._lattice = SampleLattice(self._variables, steps, samples.far)
        self._groups = self._lattice.groups()
        self._known: dict[Point, Breakdown] = {self._lattice.card: samples.parts}

    def run(self) -> _SearchResult:
        proven = self._prove(self._explore())
        points = [point for point in self._lattice.spread_roles() if self._samples.at(point) is not None]
        general = self._keep_right(proven, points)
        result = self._bound(general, self._refine(general)) if general else _SearchResult()
        return structs.replace(result, needs_equal_sizes=len(general) < len(proven))

    def _explore(self) -> Expressions:
        """Fit with few points, then with more while that gives more formulas; where it gave none, to the end."""
        fitted: Expressions = {}
        for count in (len(self._variables) + more for more in _POINTS):
            before, known = len(fitted), len(self._known)
            self._sample(count)
            if len(self._known) > known:
                fits = self._fit()
                fitted = {name: fit for name, fit in fits.items() if _are_whole({name: fit}, self._lattice)}
            if len(fitted) == len(self._samples.parts) or 0 < len(fitted) <= before:
                break
        return fitted

    def _sample(self, count: int) -> None:
        """Evaluate points until there are `count` besides the card's."""
        failures = 0
        for group in self._groups:
            failures += 1
            for point in group:
                parts = self._samples.at(point)
                if parts is not None:
                    self._known[point], failures = parts, 0
                    break
            if len(self._known) > count or failures > _MAX_FAILURES:
                return

    def _fit(self) -> Expressions:
        """Fit through all points; without the smallest one if that gives more: a window may be larger than it."""
        fitted = self._fit_points(list(self._known))
        rest = [point for point in self._known if point != self._lattice.smallest or point == self._lattice.card]
        if len(fitted) == len(self._samples.parts) or len(rest) == len(self._known):
            return fitted
        return max(fitted, self._fit_points(rest), key=len)

    def _fit_points(self, points: Sequence[Point]) -> Expressions:
        """Return the figures of which every number has a polynomial through all points."""
        roles = [variable.role for variable in self._variables]
        batched = roles[0] is Role.BATCH
        sizes = roles[batched:]
        is_image = Role.HEIGHT in sizes and Role.WIDTH in sizes
        fitter = SparseFitter(
            points, batched, (sizes.index(Role.HEIGHT), sizes.index(Role.WIDTH)) if is_image else None
        )
        fitted: dict[str, Expression] = {}
        for name in self._samples.parts if fitter.distinguishes_all else ():
            rows = [self._known[point][name] for point in points]
            fit = fitter.fit_peak(rows, self._lattice.smallest) if name == PEAK else fitter.fit_sum(zip(*rows))
            if fit is not None:
                fitted[name] = fit
        return fitted

    def _prove(self, fitted: Expressions) -> Expressions:
        """Return those that are right at the next steps too; without steps the smallest sizes are proof enough."""
        if not self._steps and self._are_right(fitted, self._lattice.smallest):
            return fitted
        stride = len(self._variables) + 1
        return self._keep_right(fitted, list(islice(self._lattice.around(), 0, _PROOF_POINTS * stride, stride)))

    def _keep_right(self, fitted: Expressions, points: Sequence[Point]) -> Expressions:
        return {
            name: fit for name, fit in fitted.items() if all(self._are_right({name: fit}, point) for point in points)
        }

    def _are_right(self, fitted: Expressions, point: Point) -> bool:
        parts = self._samples.at(point)
        return parts is not None and all(fit.at(point) == total_of(name, parts) for name, fit in fitted.items())

    def _refine(self, fitted: Expressions) -> Mapping[str, int]:
        """Divide the steps as long as the formulas stay right: all at once, then each separately."""
        steps = self._steps
        if not steps or self._hold(fitted, dict.fromkeys(steps, 1)):
            return {}
        for prime in _PRIMES:
            steps = self._divide(fitted, steps, list(steps), prime)
        for name, prime in product(steps if len(steps) > 1 else (), _PRIMES):
            steps = self._divide(fitted, steps, [name], prime)
        return {name: step for name, step in steps.items() if step != 1}

    def _divide(
        self, fitted: Expressions, steps: Mapping[str, int], names: Sequence[str], prime: int
    ) -> Mapping[str, int]:
        """Divide by a prime as often as the formulas hold, found by bisection: a coarser lattice is a subset."""
        finer = [steps]
        while all(finer[-1][name] % prime == 0 for name in names):
            finer.append({**finer[-1], **{name: finer[-1][name] // prime for name in names}})
        right, wrong = 0, len(finer)
        while wrong - right > 1:
            middle = (right + wrong) // 2 if right or len(names) > 1 else 1  # one alone seldom goes further than all
            right, wrong = (middle, wrong) if self._hold(fitted, finer[middle]) else (right, middle)
        return finer[right]

    def _hold(self, fitted: Expressions, steps: Mapping[str, int]) -> bool:
        finer = SampleLattice(self._variables, steps, self._samples.far)
        points = (finer.odd_steps(self._lattice, turn) for turn in range(2))
        return _are_whole(fitted, finer) and all(self._are_right(fitted, point) for point in points)

    def _bound(self, fitted: Expressions, steps: Mapping[str, int]) -> _SearchResult:
        """Find the smallest sizes at which the formulas hold; small sizes may have another maximum."""
        lattice = SampleLattice(self._variables, steps, self._samples.far)
        fitted = {name: fit.above(lattice.smallest) for name, fit in fitted.items()}
        least = self._find_least(fitted, lattice)
        bounded = {name: fit.above(least) for name, fit in fitted.items()}
        printable = {name: fit for name, fit in bounded.items() if fit.is_printable}
        # The first points are half of the card's sizes, far above and far below.
        checked = (point for point in list(self._known)[1:] if self._are_right(printable, point))
        return _SearchResult(
            self._variables, printable, steps, _sizes_at(self._variables, least), tuple(islice(checked, _MAX_CHECKS))
        )

    def _find_least(self, fitted: Expressions, lattice: SampleLattice) -> Point:
        """Return the smallest sizes on a straight line from the smallest to the card's at which formulas hold."""
        wrong, right = -1, _WAY_PARTS
        while right - wrong > 1:
            part = (wrong + right) // 2 if wrong >= 0 else 0
            if self._are_right(fitted, lattice.between(part, _WAY_PARTS)):
                right = part
            else:
                wrong = part
        point = lattice.between(right, _WAY_PARTS)
        return point if right < _WAY_PARTS or self._are_right(fitted, point) else lattice.card


def _are_whole(fitted: Expressions, lattice: SampleLattice) -> bool:
    """Return whether no figure is a fraction near the card: points that happen to be even must not hide rounding."""
    return all(fit.at(point) >= 0 for point in lattice.around() for fit in fitted.values())
