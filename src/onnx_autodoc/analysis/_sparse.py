"""Polynomials with few terms through many points: what one node costs, or adds to what is alive, has few.

Each number is fitted by itself. The sets of monomials are tried from few to many, those that fitted before come first,
and each has points to spare: one that fits goes through those as well.
"""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import gcd
from operator import mul

from onnx_autodoc.analysis._polynomial import (
    PRIME,
    Point,
    Powers,
    Ratios,
    Rows,
    inverted,
    monomial,
    powers_up_to,
    settled,
)

Support = tuple[Powers, ...]
Column = tuple[int, ...]  # one number at each of the points

_SPARE = 2  # points more than coefficients; one is enough where these are whole
_LEAST_SPARE = 1


class _Fit:
    """How a column is tested for a set of monomials, and how its coefficients follow from some of its numbers.

    Most columns do not fit most sets: the test is done in the remainders by a large prime, where arithmetic is cheap.
    """

    def __init__(self, support: Support, matrix: Rows, rows: Rows, checks: Rows) -> None:
        self._support, self._matrix, self._rows, self._checks = support, matrix, rows, checks
        self._exact: tuple[Rows, int] | None = None

    def solved(self, column: Column) -> Ratios | None:
        rows, rest = self._rows
        some = [column[row] for row in rows]
        for at, weights in zip(rest, self._checks, strict=True):
            if (sum(map(mul, weights, some)) - column[at]) % PRIME:
                return None
        return self._right(column, some)

    def _right(self, column: Column, some: Sequence[int]) -> Ratios | None:
        self._exact = self._exact or inverted([self._matrix[row] for row in self._rows[0]])
        inverse, scale = self._exact
        found = [sum(map(mul, row, some)) for row in inverse]
        if any(sum(map(mul, self._matrix[at], found)) != scale * column[at] for at in self._rows[1]):
            return None
        spare, whole = len(self._rows[1]), not any(total % scale for total in found)
        if spare < _SPARE and not whole:
            return None
        pairs = zip(self._support, found, strict=True)
        return {powers: total // scale if whole else Fraction(total, scale) for powers, total in pairs if total}


class Sparse:
    """Fits columns over the same points. `pixels`: places of a height and a width, whose product counts as one size."""

    def __init__(self, points: Sequence[Point], batched: bool, pixels: tuple[int, int] | None) -> None:
        others = len(points[0]) - batched
        self._points = points
        self._waiting = _supports(others, batched, pixels, len(points) - _LEAST_SPARE)
        self.is_telling = _tell_apart(points, [*_joined(((0,), (1,)) if batched else (), _monomials(others, pixels))])
        self._fits: list[_Fit] = []
        self._seen: dict[Column, Ratios | None] = {}

    def fitted(self, column: Column) -> Ratios | None:
        if column not in self._seen:
            self._seen[column] = self._fitted(column)
        return self._seen[column]

    def _fitted(self, column: Column) -> Ratios | None:
        if not any(column):
            return {}
        for at, fit in enumerate(self._fits):
            found = fit.solved(column)
            if found is not None:
                self._fits.insert(0, self._fits.pop(at))
                return found
        for support in self._waiting:
            fit_ = self._fit(support)
            if fit_ is not None:
                self._fits.append(fit_)
                found = fit_.solved(column)
                if found is not None:
                    return found
        return None

    def _fit(self, support: Support) -> _Fit | None:
        matrix = tuple(tuple(monomial(powers, point) for powers in support) for point in self._points)
        found = settled(matrix)
        return _Fit(support, matrix, *found) if found is not None else None


def _tell_apart(points: Sequence[Point], monomials: Sequence[Powers]) -> bool:
    """Whether no two monomials are the same at all points, but for a factor."""
    columns = [[monomial(powers, point) for point in points] for powers in monomials]
    return len({tuple(number // (gcd(*column) or 1) for number in column) for column in columns}) == len(columns)


def _supports(others: int, batched: bool, pixels: tuple[int, int] | None, most: int) -> Iterator[Support]:
    """Sets of monomials from few to many, none twice."""
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
