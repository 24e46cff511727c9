"""Polynomials in the sizes of open dimensions: fitted exactly, with whole coefficients, and written for people."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import prod

Powers = tuple[int, ...]  # the exponent of each variable
Point = tuple[int, ...]  # the size of each variable
Terms = Mapping[Powers, int]  # coefficients that are not 0

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
    rows = [
        [Fraction(monomial(powers, point)) for powers in basis] + [Fraction(value)] for point, value in values.items()
    ]
    solution = _solved(rows)
    if solution is None or any(factor.denominator != 1 for factor in solution):
        return None
    return {powers: int(factor) for powers, factor in zip(basis, solution, strict=True) if factor}


def _solved(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Gauss and Jordan, in fractions; None where there is no single solution."""
    count = len(rows)
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
    return [row[-1] for row in rows]


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
