"""Polynomials in the sizes of open dimensions: fitted exactly, with whole coefficients, and written for people."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, lcm, prod
from operator import mul

Powers = tuple[int, ...]  # the exponent of each variable
Point = tuple[int, ...]  # the size of each variable
Terms = Mapping[Powers, int]  # coefficients that are not 0
Solver = Callable[[Sequence[int]], Terms | None]

_RAISED = {1: "", 2: "²", 3: "³"}


def powers_up_to(degree: int, variables: int) -> list[Powers]:
    """The exponents of all monomials of at most that degree."""
    picks = (pick for total in range(degree + 1) for pick in combinations_with_replacement(range(variables), total))
    return [tuple(pick.count(at) for at in range(variables)) for pick in picks]


def monomial(powers: Powers, point: Point) -> int:
    return prod(size**power for size, power in zip(point, powers, strict=True))


def evaluate(terms: Terms, point: Point) -> int:
    return sum(factor * monomial(powers, point) for powers, factor in terms.items())


def fit(basis: Sequence[Powers], values: Mapping[Point, int]) -> Terms | None:
    """The only polynomial over these monomials with these values, if its coefficients are whole."""
    return solver(basis, list(values))(list(values.values()))


def solver(basis: Sequence[Powers], points: Sequence[Point]) -> Solver:
    """Fits many polynomials over the same monomials by their values at the same points."""
    inverse = _inverted([[Fraction(monomial(powers, point)) for powers in basis] for point in points])
    if inverse is None:
        return _unsolved
    scale = lcm(*(item.denominator for row in inverse for item in row))
    rows = [[int(item * scale) for item in row] for row in inverse]

    def solve(values: Sequence[int]) -> Terms | None:
        sums = [sum(map(mul, row, values)) for row in rows]
        whole = not any(total % scale for total in sums)
        return {powers: total // scale for powers, total in zip(basis, sums, strict=True) if total} if whole else None

    return solve


def _unsolved(values: Sequence[int]) -> None:
    """Nothing is told by values at points that do not settle the coefficients."""


def _inverted(matrix: list[list[Fraction]]) -> list[list[Fraction]] | None:
    """Gauss and Jordan, in fractions; None where there is no single solution."""
    count = len(matrix)
    rows = [[*row, *(Fraction(at == other) for other in range(count))] for at, row in enumerate(matrix)]
    for at in range(count):
        pivot = next((row for row in range(at, count) if rows[row][at]), None)
        if pivot is None:
            return None
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [item / rows[at][at] for item in rows[at]]
        for row in range(count):
            factor = rows[row][at]
            if row != at and factor:
                rows[row] = [item - factor * above for item, above in zip(rows[row], rows[at], strict=True)]
    return [row[count:] for row in rows]


def largest(many: Iterable[Terms], least: Sequence[int]) -> list[Terms]:
    """Those of which one is the largest somewhere: none is surely below another one, from the least sizes on."""
    kept: list[tuple[Terms, Terms]] = []
    for moved, terms in sorted(((_moved(terms, least), terms) for terms in many), key=_height, reverse=True):
        if not any(_covers(above, moved) for above, _ in kept):
            kept.append((moved, terms))
    return [terms for _, terms in kept]


def _height(pair: tuple[Terms, Terms]) -> int:
    return sum(pair[0].values())


def _covers(one: Terms, other: Terms) -> bool:
    return all(one.get(powers, 0) >= other.get(powers, 0) for powers in one.keys() | other.keys())


def _moved(terms: Terms, least: Sequence[int]) -> Terms:
    """The same polynomial in what the sizes are above the least ones."""
    found = Counter[Powers]()
    for powers, factor in terms.items():
        for lower in product(*(range(power + 1) for power in powers)):
            parts = zip(powers, lower, least, strict=True)
            found[lower] += factor * prod(comb(power, low) * size ** (power - low) for power, low, size in parts)
    return found


def written(terms: Terms, variables: Sequence[str]) -> str:
    """The first variable stands in front if all terms have it: batch·(10,616,832·sequence + 4,608·sequence²)."""
    if not terms:
        return "0"
    ordered = sorted(terms.items(), key=_order)
    if len(ordered) == 1 or any(powers[0] != 1 for powers in terms):
        return _sum(_term(factor, powers, variables) for powers, factor in ordered)
    inner = _sum(_term(factor, powers[1:], variables[1:]) for powers, factor in ordered)
    return f"{variables[0]}·({inner})"


def _sum(texts: Iterable[str]) -> str:
    return " + ".join(texts).replace("+ -", "- ")


def _order(item: tuple[Powers, int]) -> tuple[int, list[int]]:
    powers, _ = item
    return sum(powers), [-power for power in powers]


def _term(factor: int, powers: Powers, variables: Sequence[str]) -> str:
    names = list(_factors(powers, variables))
    number = f"{factor:,}"
    if not names:
        return number
    return "·".join(names) if factor == 1 else "·".join([number, *names])


def _factors(powers: Iterable[int], variables: Sequence[str]) -> Iterator[str]:
    for power, name in zip(powers, variables, strict=True):
        if power:
            yield name + _RAISED.get(power, f"^{power}")
