"""Polynomials in the sizes of open dimensions: fitted exactly, compared, and written for people."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, lcm, prod
from operator import mul

from onnx_autodoc.text import marked, told

Powers = tuple[int, ...]  # the exponent of each variable
Point = tuple[int, ...]  # the size of each variable
Terms = Mapping[Powers, int]  # coefficients that are not 0
Ratios = Mapping[Powers, Fraction | int]  # the same, while they are fitted
Rows = tuple[tuple[int, ...], ...]

PRIME = (1 << 61) - 1

_RAISED = {1: "", 2: "²", 3: "³"}


def powers_up_to(degree: int, variables: int) -> list[Powers]:
    """The exponents of all monomials of at most that degree."""
    picks = (pick for total in range(degree + 1) for pick in combinations_with_replacement(range(variables), total))
    return [tuple(pick.count(at) for at in range(variables)) for pick in picks]


def monomial(powers: Powers, point: Point) -> int:
    return prod(size**power for size, power in zip(point, powers, strict=True))


def evaluate(terms: Terms, point: Point) -> int:
    return sum(factor * monomial(powers, point) for powers, factor in terms.items())


def settled(matrix: Rows) -> tuple[Rows, Rows] | None:
    """The first rows that settle all unknowns, and the other ones; then each of those as a sum of the first.

    In remainders by the prime; None where the rows do not settle them.
    """
    width = len(matrix[0])
    found: list[tuple[int, int, list[int]]] = []  # (row, the column that it settles, what it was reduced to)
    for at, numbers in enumerate(matrix):
        if len(found) < width:
            row = [number % PRIME for number in (*numbers, *(len(found) == other for other in range(width)))]
            _settle(found, at, row, width)
    if len(found) < width:
        return None
    rows = tuple(at for at, _, _ in found)
    rest = tuple(at for at in range(len(matrix)) if at not in rows)
    inverse = [row[width:] for _, _, row in sorted(found, key=lambda each: each[1])]
    return (rows, rest), tuple(
        tuple(sum(map(mul, matrix[at], column)) % PRIME for column in zip(*inverse)) for at in rest
    )


def _settle(found: list[tuple[int, int, list[int]]], at: int, row: list[int], width: int) -> None:
    """Takes what other rows have settled out of this one, and what is left of it out of them."""
    for _, column, above in found:
        row = _less(row, row[column], above)
    column = next((column for column in range(width) if row[column]), width)
    if column == width:
        return
    factor = pow(row[column], -1, PRIME)
    row = [item * factor % PRIME for item in row]
    found[:] = [(one, two, _less(above, above[column], row)) for one, two, above in found]
    found.append((at, column, row))


def _less(row: list[int], factor: int, other: list[int]) -> list[int]:
    return [(item - factor * more) % PRIME for item, more in zip(row, other, strict=True)] if factor else row


def inverted(matrix: Sequence[Sequence[int]]) -> tuple[Rows, int]:
    """The inverse of rows that settle all unknowns, times a scale that makes it whole."""
    count = len(matrix)
    rows = [[*map(Fraction, row), *(Fraction(at == other) for other in range(count))] for at, row in enumerate(matrix)]
    for at in range(count):
        pivot = next(row for row in range(at, count) if rows[row][at])
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [item / rows[at][at] for item in rows[at]]
        for row in range(count):
            factor = rows[row][at]
            if row != at and factor:
                rows[row] = [item - factor * above for item, above in zip(rows[row], rows[at], strict=True)]
    scale = lcm(*(item.denominator for row in rows for item in row[count:]))
    return tuple(tuple(int(item * scale) for item in row[count:]) for row in rows), scale


def whole(ratios: Ratios, divisor: int) -> Terms:
    return {powers: int(factor * divisor) for powers, factor in sorted(ratios.items(), key=_order) if factor}


def divisor_of(many: Iterable[Ratios]) -> int:
    """The least number that makes all coefficients whole."""
    return lcm(*(factor.denominator for ratios in many for factor in ratios.values()))


def largest(many: Iterable[Terms], least: Sequence[int]) -> list[Terms]:
    """Those of which one is the largest somewhere: none is surely below another one, from the least sizes on."""
    rest = _uncovered((terms, terms) for terms in many)  # most are covered at all sizes, which is told at once
    return [terms for _, terms in _uncovered((_moved(terms, least), terms) for _, terms in rest)]


def _uncovered(pairs: Iterable[tuple[Terms, Terms]]) -> list[tuple[Terms, Terms]]:
    kept: list[tuple[Terms, Terms]] = []
    for one, terms in sorted(pairs, key=_height, reverse=True):
        if not any(_covers(above, one) for above, _ in kept):
            kept.append((one, terms))
    return kept


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


def written(terms: Terms, variables: Sequence[str], divisor: int = 1) -> str:
    """The first variable stands in front if all terms have it: batch·(10,616,832·sequence + 4,608·sequence²)."""
    return _written(terms, [_variable(name) for name in variables], divisor)


def _variable(name: str) -> str:
    """A dimension may be called 8 or seq²: between quotation marks that is seen to be a name."""
    first, *others = name.split(".")
    plain = first.isidentifier() and all(part.isidentifier() or part.isdecimal() for part in others)
    return told(name) if plain else marked(name)


def _written(terms: Terms, variables: Sequence[str], divisor: int = 1) -> str:
    if divisor != 1:
        text = _written(terms, variables)
        return f"{text if ' ' not in text or text.endswith(')') else f'({text})'}/{divisor:,}"
    if not terms:
        return "0"
    ordered = sorted(terms.items(), key=_order)
    if len(ordered) == 1 or any(powers[0] != 1 for powers in terms):
        return _sum(_term(factor, powers, variables) for powers, factor in ordered)
    inner = _sum(_term(factor, powers[1:], variables[1:]) for powers, factor in ordered)
    return f"{variables[0]}·({inner})"


def _sum(texts: Iterable[str]) -> str:
    return " + ".join(texts).replace("+ -", "- ")


def _order(item: tuple[Powers, Fraction | int]) -> tuple[int, list[int]]:
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
