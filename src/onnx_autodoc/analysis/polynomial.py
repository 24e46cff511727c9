"""Polynomials in the sizes of dynamic dimensions: evaluated, compared, written as text, and fitted through points.

The cost of one node, and its change of the memory in use, has few terms in the sizes. Each number is fitted over sets
of monomials, from small sets to large ones. Every set leaves points to spare, and a polynomial counts only if it goes
through those as well.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, combinations, combinations_with_replacement, compress, product
from math import comb, gcd, lcm, prod
from operator import add, ge, mul, sub
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import MAX_INT64
from onnx_autodoc.text import quote, quote_name

Powers = tuple[int, ...]  # the exponent of each variable
Point = tuple[int, ...]  # the size of each variable
Terms = Mapping[Powers, int]  # coefficients that are not 0
Ratios = Mapping[Powers, Fraction | int]  # the same, before they are multiplied by a common divisor
Support = tuple[Powers, ...]  # a set of monomials
Column = tuple[int, ...]  # one number at each of the points

_MAX_ALTERNATIVES: Final = 16  # polynomials in one max()
_SUPERSCRIPTS: Final = {1: "", 2: "²", 3: "³"}
_SPARE_POINTS: Final = 2  # more than coefficients; one is enough where these are whole
_MIN_SPARE_POINTS: Final = 1


def monomial(powers: Powers, point: Point) -> int:
    return prod(size**power for size, power in zip(point, powers, strict=True))


def evaluate(terms: Terms, point: Point) -> int:
    return sum(factor * monomial(powers, point) for powers, factor in terms.items())


class Expression(Struct, frozen=True):
    """The largest of some polynomials, divided by a number that makes their coefficients whole."""

    terms: Sequence[Terms]
    divisor: int = 1
    candidates: Sequence[Terms] = ()  # of which `terms` are those that can be the largest from the `least` sizes on
    least: Sequence[int] = ()

    @classmethod
    def from_ratios(cls, alternatives: Sequence[Ratios]) -> "Expression":
        divisor = lcm(*(factor.denominator for ratios in alternatives for factor in ratios.values()))
        ordered = [sorted(ratios.items(), key=_order) for ratios in alternatives]
        return cls(
            [{powers: int(factor * divisor) for powers, factor in items if factor} for items in ordered], divisor
        )

    def at(self, point: Point) -> int:
        """Return the value at a point; -1 where it is not whole."""
        number, rest = divmod(max(evaluate(terms, point) for terms in self.terms), self.divisor)
        return number if not rest else -1

    def above(self, least: Sequence[int]) -> "Expression":
        """Return the expression with all polynomials that can be the largest one from these sizes on."""
        if not self.candidates or tuple(self.least) == tuple(least):
            return self
        is_subset = bool(self.least) and all(map(ge, least, self.least))
        largest = find_largest(self.terms if is_subset else self.candidates, least)
        return Expression(largest, self.divisor, self.candidates, tuple(least))

    def reduced(self) -> "Expression":
        """Return the expression in lowest terms."""
        common = gcd(self.divisor, *(factor for terms in self.terms for factor in terms.values()))
        lower = [{powers: factor // common for powers, factor in terms.items()} for terms in self.terms]
        return Expression(lower, self.divisor // common)

    @property
    def is_printable(self) -> bool:
        """Whether it has few alternatives, and coefficients of 64 bits."""
        coefficients = (self.divisor, *(factor for terms in self.terms for factor in terms.values()))
        return len(self.terms) <= _MAX_ALTERNATIVES and max(map(abs, coefficients)) <= MAX_INT64

    def to_text(self, variables: Sequence[str]) -> str:
        texts = [format_terms(terms, variables, self.divisor) for terms in self.terms]
        return texts[0] if len(texts) == 1 else f"max({'; '.join(texts)})"


def find_largest(polynomials: Iterable[Terms], least: Sequence[int]) -> list[Terms]:
    """Return the polynomials that no other one equals or exceeds at all sizes from `least` on."""
    rest = _undominated((terms, terms) for terms in polynomials)  # quick: most are dominated at all sizes
    return [terms for _, terms in _undominated((_shift(terms, least), terms) for _, terms in rest)]


def _undominated(pairs: Iterable[tuple[Terms, Terms]]) -> list[tuple[Terms, Terms]]:
    """Drop each pair whose first polynomial has no coefficient above those of another pair's."""
    largest: list[tuple[Terms, Terms]] = []
    for shifted, terms in sorted(pairs, key=lambda pair: sum(pair[0].values()), reverse=True):
        if not any(_dominates(above, shifted) for above, _ in largest):
            largest.append((shifted, terms))
    return largest


def _dominates(above: Terms, below: Terms) -> bool:
    return all(above.get(powers, 0) >= below.get(powers, 0) for powers in above.keys() | below.keys())


def _shift(terms: Terms, least: Sequence[int]) -> Terms:
    """Return the same polynomial in the differences between the sizes and the least ones."""
    shifted = Counter[Powers]()
    for powers, factor in terms.items():
        for lower in product(*(range(power + 1) for power in powers)):
            parts = zip(powers, lower, least, strict=True)
            shifted[lower] += factor * prod(comb(power, low) * size ** (power - low) for power, low, size in parts)
    return shifted


def format_terms(terms: Terms, variables: Sequence[str], divisor: int = 1) -> str:
    """Format a polynomial; a first variable in all terms is factored out: batch·(10,616,832·seq + 4,608·seq²)."""
    names = [_format_variable(name) for name in variables]
    is_factored = len(terms) > 1 and all(powers[0] == 1 for powers in terms)
    inner = [
        _format_term(factor, powers[is_factored:], names[is_factored:])
        for powers, factor in sorted(terms.items(), key=_order)
    ]
    text = " + ".join(inner).replace("+ -", "- ") or "0"
    if is_factored:
        text = f"{names[0]}·({text})"
    if divisor == 1:
        return text
    return f"{text if ' ' not in text or text.endswith(')') else f'({text})'}/{divisor:,}"


def _format_variable(name: str) -> str:
    """Quote a name that could be read as a number or a term (8, seq²)."""
    first, *others = name.split(".")
    plain = first.isidentifier() and all(part.isidentifier() or part.isdecimal() for part in others)
    return quote_name(name) if plain else quote(name)


def _order(item: tuple[Powers, Fraction | int]) -> tuple[int, list[int]]:
    powers, _ = item
    return sum(powers), [-power for power in powers]


def _format_term(factor: int, powers: Powers, variables: Sequence[str]) -> str:
    pairs = zip(powers, variables, strict=True)
    names = [name + _SUPERSCRIPTS.get(power, f"^{power}") for power, name in pairs if power]
    return "·".join(names if names and factor == 1 else [f"{factor:,}", *names])


class SparseFitter:
    """Fits columns over the same points. `pixels`: places of a height and a width, whose product counts as one size."""

    def __init__(self, points: Sequence[Point], batched: bool, pixels: tuple[int, int] | None) -> None:
        others = len(points[0]) - batched
        self._points, self._untried = points, _supports(others, batched, pixels)
        self._bases: list[_Basis] = []  # those that fitted last come first
        self._seen: dict[Column, Ratios | None] = {}
        # Whether no two monomials are the same at all points, but for a factor.
        monomials = [*_join(((0,), (1,)) if batched else (), _monomials(others, pixels))]
        columns = [[monomial(powers, point) for point in points] for powers in monomials]
        directions = {tuple(number // (gcd(*column) or 1) for number in column) for column in columns}
        self.distinguishes_all = len(directions) == len(columns)

    def fit(self, column: Column) -> Ratios | None:
        if column not in self._seen:
            self._seen[column] = self._fit(column) if any(column) else {}
        return self._seen[column]

    def _fit(self, column: Column) -> Ratios | None:
        for at, basis in enumerate(self._bases):
            ratios = basis.solve(column)
            if ratios is not None:
                self._bases.insert(0, self._bases.pop(at))
                return ratios
        for support in self._untried:
            new = _reduce(support, self._points) if len(support) <= len(self._points) - _MIN_SPARE_POINTS else None
            if new is not None:
                self._bases.append(new)
                ratios = new.solve(column)
                if ratios is not None:
                    return ratios
        return None

    def fit_sum(self, columns: Iterable[Column]) -> Expression | None:
        total: dict[Powers, Fraction | int] = {}
        for column, count in Counter(columns).items():
            ratios = self.fit(column)
            if ratios is None:
                return None
            for powers, factor in ratios.items():
                total[powers] = total.get(powers, 0) + factor * count
        return Expression.from_ratios([total])

    def fit_peak(self, levels: Sequence[Sequence[int]], least: Sequence[int]) -> Expression | None:
        """Fit the maximum of successive levels, given by point, by the changes between them.

        The maximum is at the end or before a fall.
        """
        changes: list[Column] = list(zip(*(map(sub, row, (0, *row)) for row in levels)))
        fits: dict[Column, Ratios] = {}
        for change in dict.fromkeys(changes):
            ratios = self.fit(change)
            if ratios is None:
                return None
            fits[change] = ratios
        powers = list(dict.fromkeys(power for ratios in fits.values() for power in ratios))
        vectors = {change: tuple(ratios.get(power, 0) for power in powers) for change, ratios in fits.items()}
        falls = {change for change in fits if min(change) < 0}
        totals = zip(*map(accumulate, zip(*map(vectors.__getitem__, changes))))
        is_top = (*map(falls.__contains__, changes[1:]), True)
        tops = dict.fromkeys(compress(totals, is_top)) or {(): None}  # empty where every level is 0
        largest: list[tuple[Fraction | int, ...]] = []  # without those that another one equals or exceeds at all sizes
        for top in sorted(tops, key=sum, reverse=True):
            if not any(all(map(ge, above, top)) for above in largest):
                largest.append(top)
        all_tops = Expression.from_ratios([dict(zip(powers, top, strict=True)) for top in largest])
        expression = Expression((), all_tops.divisor, all_tops.terms).above(least)
        return expression if expression.is_printable else None


class _Basis(Struct, frozen=True):
    """Monomials whose coefficients follow from the numbers at some points (`rows`).

    Each coefficient, and the number at each other point, is the sum of the numbers at `rows` times integer weights,
    divided by `scale`.
    """

    support: Support
    rows: Sequence[int]
    scale: int
    checks: Mapping[int, Column]  # weights by point
    coefficients: Sequence[Column]  # weights

    def solve(self, column: Column) -> Ratios | None:
        known, scale = [column[row] for row in self.rows], self.scale
        for at, weights in self.checks.items():
            if sum(map(mul, weights, known)) != scale * column[at]:
                return None
        totals = [sum(map(mul, weights, known)) for weights in self.coefficients]
        whole = not any(total % scale for total in totals)
        if len(self.checks) < _SPARE_POINTS and not whole:
            return None
        pairs = zip(self.support, totals, strict=True)
        return {powers: total // scale if whole else Fraction(total, scale) for powers, total in pairs if total}


def _reduce(support: Support, points: Sequence[Point]) -> _Basis | None:
    """Return the basis by Gauss-Jordan elimination; None where the points do not determine the coefficients."""
    identity = [[int(at == other) for other in range(len(support))] for at in range(len(support))]
    vectors = [[*(monomial(powers, point) for point in points), *unit] for powers, unit in zip(support, identity)]
    rows: list[int] = []
    for at in range(len(support)):
        pivot = vectors[at]
        row = next((row for row in range(len(points)) if pivot[row]), None)
        if row is None:
            return None
        rows.append(row)
        vectors = [vector if vector is pivot else _eliminate(vector, pivot, row) for vector in vectors]
    scale = lcm(*(vector[row] for vector, row in zip(vectors, rows)))
    scaled = [[scale // vector[row] * number for number in vector] for vector, row in zip(vectors, rows)]
    weights = list(zip(*scaled))
    checks = {at: weights[at] for at in range(len(points)) if at not in rows}
    return _Basis(support, rows, scale, checks, weights[len(points) :])


def _eliminate(vector: list[int], pivot: list[int], row: int) -> list[int]:
    """Make `vector` zero in `row`, in whole numbers without a common factor."""
    if not vector[row]:
        return vector
    factor, other = pivot[row], vector[row]
    reduced = [factor * number - other * more for number, more in zip(vector, pivot, strict=True)]
    common = gcd(*reduced) or 1
    return [number // common for number in reduced]


def _supports(others: int, batched: bool, pixels: tuple[int, int] | None) -> Iterator[Support]:
    """Yield sets of monomials from small to large, each once: first with the batch in every term, then in none."""
    seen: set[frozenset[Powers]] = set()
    for support in _all_supports(others, batched, pixels):
        if frozenset(support) not in seen:
            seen.add(frozenset(support))
            yield support


def _all_supports(others: int, batched: bool, pixels: tuple[int, int] | None) -> Iterator[Support]:
    plain = _monomials(others, pixels)
    small = [*combinations(plain, 2), *_boxes(others, pixels)]
    once, each = ((0,),) * batched, ((1,),) * batched
    for form in (each, once):
        yield from (_join(form, (powers,)) for powers in plain)
    for form in (each, once):
        yield from (_join(form, support) for support in small)
    if batched:
        yield from (_join(once, (first,)) + _join(each, (second,)) for first, second in product(plain, repeat=2))
        yield from (_join(once, plain[:1]) + _join(each, support) for support in small)
        yield from (_join((*once, *each), support) for support in small)
        yield from (_join(once, first) + _join(each, second) for first, second in product(_lines(others), repeat=2))
        yield tuple((power, *(0,) * others) for power in range(3))


def _monomials(others: int, pixels: tuple[int, int] | None) -> list[Powers]:
    """Return all monomials up to degree two, and the square of all pixels, by which attention between them grows."""
    picks = (pick for degree in range(3) for pick in combinations_with_replacement(range(others), degree))
    plain = [tuple(pick.count(at) for at in range(others)) for pick in picks]
    return plain if pixels is None else [*plain, tuple(2 * (at in pixels) for at in range(others))]


def _boxes(others: int, pixels: tuple[int, int] | None) -> Iterator[Support]:
    """Yield products of sizes plus a constant: (1, x), (1, x, y, xy) and so on, and these times one of the sizes."""
    if pixels is not None:
        yield tuple(tuple(power * (at in pixels) for at in range(others)) for power in range(3))
    constant, units = (0,) * others, _units(others)
    for count in range(1, others + 1):
        for singles in combinations(units, count):
            yield (constant, *singles)
            for size in singles:
                multiples = tuple(_times(size, single) for single in singles)
                yield multiples
                yield (size, *multiples)
                yield (*singles, *multiples)
                yield (constant, size, *multiples)
            yield tuple(product(*(range(1 + sum(column)) for column in zip(*singles))))
            yield (constant, *singles, *dict.fromkeys(_times(first, second) for first in singles for second in singles))


def _lines(others: int) -> list[Support]:
    """Return the sum of all sizes (a past and new tokens), and this sum times each of them."""
    units = _units(others)
    sums = [tuple(units), *(tuple(_times(size, unit) for unit in units) for size in units)]
    return sums if units else []


def _units(others: int) -> list[Powers]:
    return [tuple(int(at == place) for at in range(others)) for place in range(others)]


def _times(first: Powers, second: Powers) -> Powers:
    return tuple(map(add, first, second))


def _join(batch: Sequence[Powers], others: Sequence[Powers]) -> Support:
    return tuple(first + second for first, second in product(batch or ((),), others))
