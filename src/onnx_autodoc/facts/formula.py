"""Costs as formulas in the open dimensions: exact, or not at all.

The costs are worked out at a few more sizes; the smallest set of monomials whose one polynomial through these points
has whole coefficients and is right at further points, where every size is another, is the formula. Sizes that are
rounded (a stride that does not divide a picture) break every polynomial, and then there is none. What is alive while
each node runs is a polynomial of its own; the peak is the largest of those that none of the others covers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from msgspec import Struct

from onnx_autodoc.facts._polynomial import (
    Point,
    Powers,
    Solver,
    Terms,
    evaluate,
    largest,
    powers_up_to,
    solver,
    written,
)
from onnx_autodoc.facts._variables import Variable, Variables
from onnx_autodoc.graph import Model, all_graphs
from onnx_autodoc.resolve import Binding, Role

MOST_WORK: Final = 36_000  # rules applied at other sizes, all together: about a second
_MOST_OTHERS: Final = 3  # variables beside the batch
_FEW: Final = 8
_LARGE: Final = 64  # sizes from here on are varied downwards: tables of positions end somewhere
_STEPS: Final = (0, 3, 7)  # how far off the card's size
_SMALL_STEPS: Final = (0, 1, 2)
_CHECK: Final = 3  # the step of the check: far off, so that no rounding hides
_FAR: Final = (40, 4)  # times the card's size, or less: what holds up to some size (a window, a table) must not hide
_LOOPS: Final = 2  # rules applied for each node of the file: where loops are followed pass by pass, far is dear
_MOST_TERMS: Final = 8  # polynomials of which one is the largest

Figures = Mapping[str, tuple[int, ...]]  # quantity -> numbers, the largest of which is its value


class Formula(Struct, frozen=True):
    """Exact expressions by quantity, in the variables; None for a quantity that has none."""

    variables: tuple[Variable, ...] = ()
    expressions: Mapping[str, str | None] = {}
    terms: Mapping[str, Sequence[Terms]] = {}  # where there are several, the largest one holds
    checked_at: tuple[Mapping[str, int], ...] = ()
    steps: Mapping[str, int] = {}  # by variable: sizes at which it holds are so far apart; 1 where left out


NONE: Final = Formula()


def formula(
    model: Model, binding: Binding, figures: Figures, work: int, measure: Callable[[Binding], Figures | None]
) -> Formula:
    """`figures` are those of the card, `work` what they took; `measure` gives them for another binding."""
    variables = Variables(model, binding)
    if not variables.all or not figures:
        return NONE
    far = _FAR if work <= _LOOPS * sum(len(graph.nodes) for graph in all_graphs(model)) else ()
    found = _Search(variables, figures, work, measure, far).found()
    if found is None and len({each.role for each in variables.all}) < len(variables.all):
        variables.merged()
        found = _Search(variables, figures, work, measure, far).found()
    return found or NONE


class _Search:
    def __init__(
        self,
        variables: Variables,
        figures: Figures,
        work: int,
        measure: Callable[[Binding], Figures | None],
        far: Sequence[int],
    ) -> None:
        self._variables = variables
        self._all = sorted(variables.all, key=lambda each: each.role is not Role.BATCH)
        self._batched = self._all[0].role is Role.BATCH
        self._others = len(self._all) - self._batched
        self._measure = measure
        self._ups = [self._resized(times, 1) for times in far]
        self._downs = [self._resized(1, times) for times in _FAR]
        self._work, self._left = work, MOST_WORK
        self._values: dict[Point, Figures | None] = {self._point([0] * len(self._all)): figures}
        self._figures = figures

    def found(self) -> Formula | None:
        """None where the variables cannot be varied one by one."""
        if self._others > _MOST_OTHERS:
            return None
        check = self._point([_CHECK] * len(self._all))
        terms: dict[str, Sequence[Terms]] = {}
        for basis, points in self._guesses():
            open_ = [name for name in self._figures if name not in terms]
            if not open_ or not self._affordable([*points, check, *self._ups[:1], *self._downs[:1]]):
                break
            if any(self._figures.keys() - (self._at(point) or {}).keys() for point in (*points, check)):
                return None  # at other sizes it cannot run, or less is known
            self._look_far()
            solve = solver(basis, points)
            fitted = {name: self._fitted(name, solve, points) for name in open_}
            terms |= {name: found for name, found in fitted.items() if found}
        return self._written(terms, check)

    def _look_far(self) -> None:
        """At much larger and at much smaller sizes, if it runs there."""
        for way in (self._ups, self._downs):
            for point in way:
                if not self._figures.keys() - (self._at(point) or {}).keys():
                    break

    def _guesses(self) -> Iterator[tuple[list[Powers], list[Point]]]:
        """Sets of monomials from few to many, each with as many points that settle its coefficients.

        A model does its work for each item of a batch, and most do it for each token; so these come first.
        """
        once, batch = [(0,)] * self._batched, [(1,)] * self._batched
        one, two = powers_up_to(1, self._others), powers_up_to(2, self._others)
        tokens = self._tokens()
        if tokens is not None:
            each = [tuple(power + (at == tokens) for at, power in enumerate(powers)) for powers in one]
            yield _joined(batch, each), self._points(once, one)
        yield _joined(batch, one), self._points(once, one)
        if (pixels := self._pixels()) is not None:
            by_pixel = [tuple(power * (at in pixels) for at in range(self._others)) for power in range(3)]
            by_row = [tuple(step * (at == pixels[0]) for at in range(self._others)) for step in range(3)]
            yield _joined(batch, by_pixel), self._points(once, by_row)
        yield _joined(batch, two), self._points(once, two)
        if self._batched:
            both = [(0,), (1,)]
            yield _joined(both, two), self._points(both, two)

    def _tokens(self) -> int | None:
        roles = [each.role for each in self._all[self._batched :]]
        return roles.index(Role.SEQUENCE) if Role.SEQUENCE in roles else None

    def _pixels(self) -> tuple[int, int] | None:
        """Height and width: work for each pixel, and attention between all of them, goes by their product.

        To settle its powers, other heights are enough.
        """
        roles = [each.role for each in self._all[self._batched :]]
        both = Role.HEIGHT in roles and Role.WIDTH in roles
        return (roles.index(Role.HEIGHT), roles.index(Role.WIDTH)) if both else None

    def _points(self, batch: Sequence[Powers], others: Sequence[Powers]) -> list[Point]:
        """The exponents of the monomials as steps away from the card's sizes: these points settle them."""
        return [self._point(steps) for steps in _joined(batch, others)]

    def _point(self, steps: Sequence[int]) -> Point:
        return tuple(_moved(self._all[at].size, step, at) for at, step in enumerate(steps))

    def _resized(self, up: int, down: int) -> Point:
        return tuple(each.size + 4 if each.role is Role.BATCH else each.size * up // down + 1 for each in self._all)

    def _affordable(self, points: Sequence[Point]) -> bool:
        return sum(point not in self._values for point in points) * self._work <= self._left

    def _at(self, point: Point) -> Figures | None:
        if point not in self._values:
            self._left -= self._work
            self._values[point] = self._measure(self._variables.at(self._sizes(point)))
        return self._values[point]

    def _sizes(self, point: Point) -> dict[str, int]:
        return {variable.name: size for variable, size in zip(self._all, point, strict=True)}

    def _fitted(self, name: str, solve: Solver, points: Sequence[Point]) -> Sequence[Terms] | None:
        """Polynomials that are right wherever the quantity is known, the largest of which is it."""
        known = {point: found[name] for point, found in self._values.items() if found and name in found}
        if len({len(numbers) for numbers in known.values()}) > 1:
            return None
        fitted = []
        for column in set(zip(*known.values(), strict=True)):
            values = dict(zip(known, column, strict=True))
            terms = solve([values[point] for point in points])
            if terms is None or any(evaluate(terms, point) != value for point, value in values.items()):
                return None
            fitted.append(terms)
        found = largest(fitted, [0 if each.role is Role.PAST else 1 for each in self._all])
        return found if len(found) <= _MOST_TERMS else None

    def _written(self, terms: Mapping[str, Sequence[Terms]], check: Point) -> Formula | None:
        if not terms:
            return NONE
        names = [variable.name for variable in self._all]
        expressions = {name: _either(terms[name], names) if name in terms else None for name in self._figures}
        return Formula(tuple(self._all), expressions, terms, (self._sizes(check),))


def _either(terms: Sequence[Terms], names: Sequence[str]) -> str:
    texts = [written(each, names) for each in terms]
    return texts[0] if len(texts) == 1 else f"max({'; '.join(texts)})"


def _joined(first: Sequence[Powers], second: Sequence[Powers]) -> list[Powers]:
    return [one + other for one, other in product(first or [()], second)]


def _moved(size: int, step: int, which: int) -> int:
    """A size some way off the card's: downwards from a large one, upwards from a small one."""
    if step == _CHECK:
        return size // 2 + 1 + 2 * which if size >= _FEW else size + 4 + which  # no two sizes alike
    return size - _STEPS[step] if size >= _LARGE else size + _SMALL_STEPS[step]
