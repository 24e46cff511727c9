"""Polynomials in the sizes of dynamic dimensions: evaluated, compared and written as text."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, gcd, lcm, prod
from operator import ge
from typing import Final

from msgspec import Struct

from onnx_autodoc.text import quote, quote_name

Powers = tuple[int, ...]  # the exponent of each variable
Point = tuple[int, ...]  # the size of each variable
Terms = Mapping[Powers, int]  # coefficients that are not 0
Ratios = Mapping[Powers, Fraction | int]  # the same, before they are multiplied by a common divisor

_MAX_ALTERNATIVES: Final = 16  # polynomials in one max()
_SUPERSCRIPTS: Final = {1: "", 2: "²", 3: "³"}


def powers_up_to(degree: int, variables: int) -> list[Powers]:
    """The exponents of all monomials of at most that degree."""
    picks = (pick for total in range(degree + 1) for pick in combinations_with_replacement(range(variables), total))
    return [tuple(pick.count(at) for at in range(variables)) for pick in picks]


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
    def from_ratios(cls, many: Sequence[Ratios]) -> "Expression":
        divisor = lcm(*(factor.denominator for ratios in many for factor in ratios.values()))
        ordered = [sorted(ratios.items(), key=_order) for ratios in many]
        terms = [{powers: int(factor * divisor) for powers, factor in items if factor} for items in ordered]
        return cls(terms, divisor)

    @classmethod
    def largest_of(cls, many: Sequence[Ratios], least: Sequence[int]) -> "Expression":
        every = cls.from_ratios(many)
        return cls((), every.divisor, every.terms).above(least)

    def at(self, point: Point) -> int:
        """-1 where the result is not whole."""
        number, rest = divmod(max(evaluate(each, point) for each in self.terms), self.divisor)
        return number if not rest else -1

    def above(self, least: Sequence[int]) -> "Expression":
        """With all polynomials that can be the largest one from these sizes on."""
        if not self.candidates or tuple(self.least) == tuple(least):
            return self
        higher = bool(self.least) and all(map(ge, least, self.least))
        kept = find_largest(self.terms if higher else self.candidates, least)
        return Expression(kept, self.divisor, self.candidates, tuple(least))

    def reduced(self) -> "Expression":
        """In lowest terms."""
        common = gcd(self.divisor, *(factor for each in self.terms for factor in each.values()))
        lower = [{powers: factor // common for powers, factor in each.items()} for each in self.terms]
        return Expression(lower, self.divisor // common)

    @property
    def is_short(self) -> bool:
        return len(self.terms) <= _MAX_ALTERNATIVES

    def format(self, variables: Sequence[str]) -> str:
        texts = [format_terms(each, variables, self.divisor) for each in self.terms]
        return texts[0] if len(texts) == 1 else f"max({'; '.join(texts)})"


def find_largest(many: Iterable[Terms], least: Sequence[int]) -> list[Terms]:
    """Those that no other one is at least as large as at all sizes from `least` on."""
    rest = _undominated((terms, terms) for terms in many)  # most are dominated at all sizes, which is quick to see
    return [terms for _, terms in _undominated((_shift(terms, least), terms) for _, terms in rest)]


def _undominated(pairs: Iterable[tuple[Terms, Terms]]) -> list[tuple[Terms, Terms]]:
    kept: list[tuple[Terms, Terms]] = []
    for one, terms in sorted(pairs, key=lambda pair: sum(pair[0].values()), reverse=True):
        if not any(_dominates(above, one) for above, _ in kept):
            kept.append((one, terms))
    return kept


def _dominates(one: Terms, other: Terms) -> bool:
    return all(one.get(powers, 0) >= other.get(powers, 0) for powers in one.keys() | other.keys())


def _shift(terms: Terms, least: Sequence[int]) -> Terms:
    """The same polynomial in the differences between the sizes and the least ones."""
    found = Counter[Powers]()
    for powers, factor in terms.items():
        for lower in product(*(range(power + 1) for power in powers)):
            parts = zip(powers, lower, least, strict=True)
            found[lower] += factor * prod(comb(power, low) * size ** (power - low) for power, low, size in parts)
    return found


def format_terms(terms: Terms, variables: Sequence[str], divisor: int = 1) -> str:
    """The first variable is factored out if all terms have it: batch·(10,616,832·sequence + 4,608·sequence²)."""
    names = [_format_variable(name) for name in variables]
    ordered = sorted(terms.items(), key=_order)
    if not terms:
        text = "0"
    elif len(ordered) == 1 or any(powers[0] != 1 for powers in terms):
        text = _join_terms(_format_term(factor, powers, names) for powers, factor in ordered)
    else:
        inner = _join_terms(_format_term(factor, powers[1:], names[1:]) for powers, factor in ordered)
        text = f"{names[0]}·({inner})"
    if divisor == 1:
        return text
    return f"{text if ' ' not in text or text.endswith(')') else f'({text})'}/{divisor:,}"


def _format_variable(name: str) -> str:
    """In quotation marks where it could be read as a number or a term (8, seq²)."""
    first, *others = name.split(".")
    plain = first.isidentifier() and all(part.isidentifier() or part.isdecimal() for part in others)
    return quote_name(name) if plain else quote(name)


def _join_terms(texts: Iterable[str]) -> str:
    return " + ".join(texts).replace("+ -", "- ")


def _order(item: tuple[Powers, Fraction | int]) -> tuple[int, list[int]]:
    powers, _ = item
    return sum(powers), [-power for power in powers]


def _format_term(factor: int, powers: Powers, variables: Sequence[str]) -> str:
    names = list(_factors(powers, variables))
    number = f"{factor:,}"
    if not names:
        return number
    return "·".join(names) if factor == 1 else "·".join([number, *names])


def _factors(powers: Iterable[int], variables: Sequence[str]) -> Iterator[str]:
    for power, name in zip(powers, variables, strict=True):
        if power:
            yield name + _SUPERSCRIPTS.get(power, f"^{power}")
