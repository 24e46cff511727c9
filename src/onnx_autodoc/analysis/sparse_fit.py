"""Exact polynomials with few terms through many points.

The cost of one node, and what it adds to the memory in use, has few terms in the sizes. Each number is fitted over
sets of monomials, from small sets to large ones; every set leaves points to spare, and a polynomial counts only if it
goes through those as well.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import gcd, lcm
from operator import add, mul, sub
from typing import Final

from onnx_autodoc.analysis.polynomial import Expression, Point, Powers, Ratios, monomial, powers_up_to

Support = tuple[Powers, ...]  # a set of monomials
Column = tuple[int, ...]  # one number at each of the points

_SPARE_POINTS: Final = 2  # more than coefficients; one is enough where these are whole
_MIN_SPARE_POINTS: Final = 1


class _SupportFit:
    """The coefficients of one set of monomials as weighted sums of the numbers at `rows`, and the same for the numbers
    at all other points. All weights are integers that are to be divided by `scale`."""

    def __init__(
        self, support: Support, rows: Sequence[int], inverse: Sequence[Column], scale: int, checks: dict[int, Column]
    ) -> None:
        self._support, self._rows, self._inverse, self._scale, self._checks = support, rows, inverse, scale, checks

    @classmethod
    def of(cls, support: Support, points: Sequence[Point]) -> "_SupportFit | None":
        """None where the points do not determine the coefficients."""
        matrix = [tuple(monomial(powers, point) for powers in support) for point in points]
        width = len(support)
        pivots: list[tuple[int, int, list[int]]] = []  # (row, column, the row reduced to that column | its origin)
        for at, numbers in enumerate(matrix):
            row = [*numbers, *(int(other == len(pivots)) for other in range(width))]
            for _, column, pivot in pivots:
                row = _eliminate(row, pivot, column)
            first = next((column for column in range(width) if row[column]), None)
            if first is not None:
                pivots = [(one, column, _eliminate(pivot, row, first)) for one, column, pivot in pivots]
                pivots.append((at, first, row))
            if len(pivots) == width:
                return cls._inverted(support, matrix, pivots)
        return None

    @classmethod
    def _inverted(
        cls, support: Support, matrix: Sequence[Column], pivots: Sequence[tuple[int, int, list[int]]]
    ) -> "_SupportFit":
        width, rows = len(support), [at for at, _, _ in pivots]
        scale = lcm(*(pivot[column] for _, column, pivot in pivots))
        ordered = sorted(pivots, key=lambda each: each[1])
        inverse = [tuple(scale // pivot[column] * item for item in pivot[width:]) for _, column, pivot in ordered]
        checks = {
            at: tuple(sum(map(mul, numbers, weights)) for weights in zip(*inverse))
            for at, numbers in enumerate(matrix)
            if at not in rows
        }
        return cls(support, rows, inverse, scale, checks)

    def solve(self, column: Column) -> Ratios | None:
        known, scale = [column[at] for at in self._rows], self._scale
        for at, weights in self._checks.items():
            if sum(map(mul, weights, known)) != scale * column[at]:
                return None
        totals = [sum(map(mul, weights, known)) for weights in self._inverse]
        whole = not any(total % scale for total in totals)
        if len(self._checks) < _SPARE_POINTS and not whole:
            return None
        pairs = zip(self._support, totals, strict=True)
        return {powers: total // scale if whole else Fraction(total, scale) for powers, total in pairs if total}


def _eliminate(row: list[int], pivot: list[int], column: int) -> list[int]:
    """Make `row` zero in `column`, in whole numbers without a common factor."""
    if not row[column]:
        return row
    one, other = pivot[column], row[column]
    reduced = [one * item - other * more for item, more in zip(row, pivot, strict=True)]
    common = gcd(*reduced) or 1
    return [item // common for item in reduced]


class SparseFitter:
    """Fits columns over the same points. `pixels`: places of a height and a width, whose product counts as one size."""

    def __init__(self, points: Sequence[Point], batched: bool, pixels: tuple[int, int] | None) -> None:
        others = len(points[0]) - batched
        self._points = points
        self._untried = _supports(others, batched, pixels, len(points) - _MIN_SPARE_POINTS)
        monomials = [*_joined(((0,), (1,)) if batched else (), _monomials(others, pixels))]
        self.distinguishes_all = _can_distinguish(points, monomials)
        self._fits: list[_SupportFit] = []  # those that fitted last come first
        self._seen: dict[Column, Ratios | None] = {}

    def fit(self, column: Column) -> Ratios | None:
        if column not in self._seen:
            self._seen[column] = self._fit(column)
        return self._seen[column]

    def _fit(self, column: Column) -> Ratios | None:
        if not any(column):
            return {}
        for at, fit in enumerate(self._fits):
            found = fit.solve(column)
            if found is not None:
                self._fits.insert(0, self._fits.pop(at))
                return found
        for support in self._untried:
            new = _SupportFit.of(support, self._points)
            if new is not None:
                self._fits.append(new)
                found = new.solve(column)
                if found is not None:
                    return found
        return None

    def fit_sum(self, columns: Iterable[Column]) -> Expression | None:
        total: dict[Powers, Fraction | int] = {}
        for column, count in Counter(columns).items():
            found = self.fit(column)
            if found is None:
                return None
            for powers, factor in found.items():
                total[powers] = total.get(powers, 0) + factor * count
        return Expression.from_ratios([total])

    def fit_peak(self, columns: Sequence[Column], least: Sequence[int]) -> Expression | None:
        """The largest of successive levels: the changes between them are fitted. A level before a fall may be it."""
        before = (0,) * len(columns[0])
        changes: list[Column] = []
        for column in columns:
            changes.append(tuple(map(sub, column, before)))
            before = column
        fits: dict[Column, Ratios] = {}
        for change in dict.fromkeys(changes):
            found = self.fit(change)
            if found is None:
                return None
            fits[change] = found
        powers = list(dict.fromkeys(power for found in fits.values() for power in found))
        vectors = {change: tuple(found.get(power, 0) for power in powers) for change, found in fits.items()}
        falls = {change for change in fits if min(change) < 0}
        total: tuple[Fraction | int, ...] = (0,) * len(powers)
        tops: dict[tuple[Fraction | int, ...], None] = {}
        for change in changes:
            if change in falls:
                tops[total] = None
            total = tuple(map(add, total, vectors[change]))
        expression = Expression.largest_of([dict(zip(powers, top, strict=True)) for top in (*tops, total)], least)
        return expression if expression.is_short else None


def _can_distinguish(points: Sequence[Point], monomials: Sequence[Powers]) -> bool:
    """Whether no two monomials are the same at all points, but for a factor."""
    columns = [[monomial(powers, point) for point in points] for powers in monomials]
    return len({tuple(number // (gcd(*column) or 1) for number in column) for column in columns}) == len(columns)


def _supports(others: int, batched: bool, pixels: tuple[int, int] | None, most: int) -> Iterator[Support]:
    """Sets of monomials from small to large, each once."""
    seen: set[frozenset[Powers]] = set()
    for support in _all_supports(others, batched, pixels):
        if len(support) <= most and frozenset(support) not in seen:
            seen.add(frozenset(support))
            yield support


def _all_supports(others: int, batched: bool, pixels: tuple[int, int] | None) -> Iterator[Support]:
    plain, boxes = _monomials(others, pixels), list(_boxes(others, pixels))
    once, each = ((0,),) * batched, ((1,),) * batched
    for form in (each, once):
        yield from (_joined(form, (one,)) for one in plain)
    small = [*combinations(plain, 2), *boxes]
    for form in (each, once):
        yield from (_joined(form, some) for some in small)
    if batched:
        yield from (_joined(once, (one,)) + _joined(each, (two,)) for one, two in product(plain, repeat=2))
        yield from (_joined(once, plain[:1]) + _joined(each, some) for some in small)
        yield from (_joined((*once, *each), some) for some in small)
        yield from (_joined(once, one) + _joined(each, two) for one, two in product(_lines(others), repeat=2))
        yield tuple((power, *(0,) * others) for power in range(3))


def _monomials(others: int, pixels: tuple[int, int] | None) -> list[Powers]:
    squared = [] if pixels is None else [tuple(2 * (at in pixels) for at in range(others))]
    return powers_up_to(2, others) + squared


def _boxes(others: int, pixels: tuple[int, int] | None) -> Iterator[Support]:
    """Products of sizes that each grow by themselves: (1, x), (1, x, y, xy) and so on, and times one of them."""
    if pixels is not None:
        yield tuple(tuple(power * (at in pixels) for at in range(others)) for power in range(3))
    for many in range(1, others + 1):
        for some in combinations(range(others), many):
            singles = [tuple(int(at == one) for at in range(others)) for one in some]
            yield from _around(singles, others)


def _around(singles: Sequence[Powers], others: int) -> Iterator[Support]:
    nothing = (0,) * others
    yield (nothing, *singles)
    for times in singles:
        yield tuple(_times(times, one) for one in singles)
        yield tuple(_times(times, one) for one in (nothing, *singles))
        yield (*singles, *(_times(times, one) for one in singles))
        yield (nothing, *(_times(times, one) for one in (nothing, *singles)))
    yield tuple(product(*(range(1 + any(one[at] for one in singles)) for at in range(others))))
    yield (nothing, *singles, *dict.fromkeys(_times(one, two) for one in singles for two in singles))


def _lines(others: int) -> list[Support]:
    """A sum of all sizes (a past and what is new), and one of them times it."""
    singles = [tuple(int(at == one) for at in range(others)) for one in range(others)]
    return [tuple(singles), *(tuple(_times(times, one) for one in singles) for times in singles)]


def _times(one: Powers, other: Powers) -> Powers:
    return tuple(map(sum, zip(one, other, strict=True)))


def _joined(first: Iterable[Powers], second: Iterable[Powers]) -> Support:
    return tuple(one + other for one, other in product(tuple(first) or ((),), second))
