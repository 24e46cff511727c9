"""Numbers of many nodes at several sizes, fitted one by one and put together: sums, and the largest of many."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd
from operator import ge
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis._polynomial import Point, Powers, Ratios, Terms, divisor_of, evaluate, largest, whole
from onnx_autodoc.analysis._sparse import Column, Sparse
from onnx_autodoc.analysis._variables import Variable
from onnx_autodoc.shapes import Role

PEAK: Final = "peak_activation_bytes"
Parts = Mapping[str, tuple[int, ...]]  # quantity -> numbers whose sum it is; of the peak, the largest one

_MOST_TERMS: Final = 16  # polynomials of which one is the largest


class Sums(Struct, frozen=True):
    """Polynomials of which the largest one holds, times a divisor that makes their coefficients whole."""

    terms: Sequence[Terms]
    divisor: int = 1
    every: Sequence[Terms] = ()  # with those that are never the largest from the `least` sizes on
    least: Sequence[int] = ()

    def at(self, point: Point) -> int:
        most, rest = divmod(max(evaluate(each, point) for each in self.terms), self.divisor)
        return most if not rest else -1

    def above(self, least: Sequence[int]) -> "Sums":
        """With all that may be the largest one from these sizes on."""
        if not self.every or tuple(self.least) == tuple(least):
            return self
        higher = bool(self.least) and all(map(ge, least, self.least))
        kept = largest(self.terms if higher else self.every, least)
        return Sums(kept, self.divisor, self.every, tuple(least))

    def reduced(self) -> "Sums":
        """In lowest terms."""
        common = gcd(self.divisor, *(factor for each in self.terms for factor in each.values()))
        lower = [{powers: factor // common for powers, factor in each.items()} for each in self.terms]
        return Sums(lower, self.divisor // common)

    @property
    def are_few(self) -> bool:
        return len(self.terms) <= _MOST_TERMS


def value_of(name: str, parts: Parts) -> int:
    return max(parts[name]) if name == PEAK else sum(parts[name])


def fitted(known: Mapping[Point, Parts], variables: Sequence[Variable], steps: Mapping[str, int]) -> dict[str, Sums]:
    """The quantities for which every number has a polynomial through all points."""
    points = list(known)
    sparse = Sparse(points, variables[0].role is Role.BATCH, _pixels(variables))
    if not sparse.is_telling:
        return {}
    least = [0 if each.role is Role.PAST else (each.size - 1) % steps.get(each.name, 1) + 1 for each in variables]
    found: dict[str, Sums] = {}
    for name in known[points[0]]:
        columns = list(zip(*(known[point][name] for point in points), strict=True))
        sums = _worst(columns, sparse, least) if name == PEAK else _sum(columns, sparse)
        if sums is not None:
            found[name] = sums
    return found


def _pixels(variables: Sequence[Variable]) -> tuple[int, int] | None:
    """Height and width: attention between all pixels goes by the square of their product."""
    roles = [each.role for each in variables if each.role is not Role.BATCH]
    both = Role.HEIGHT in roles and Role.WIDTH in roles
    return (roles.index(Role.HEIGHT), roles.index(Role.WIDTH)) if both else None


def _sum(columns: Iterable[Column], sparse: Sparse) -> Sums | None:
    total: dict[Powers, Fraction | int] = {}
    for column, count in Counter(columns).items():
        found = sparse.fitted(column)
        if found is None:
            return None
        _add(total, found, count)
    return _whole([total])


def _worst(columns: Sequence[Column], sparse: Sparse, least: Sequence[int]) -> Sums | None:
    """What is alive changes by one value after the other: the changes are fitted. Before less, there was most."""
    total: dict[Powers, Fraction | int] = {}
    last, tops = (0,) * len(columns[0]), dict[frozenset[tuple[Powers, Fraction | int]], Ratios]()
    for column in columns:
        change = tuple(now - before for now, before in zip(column, last, strict=True))
        found = sparse.fitted(change)
        if found is None:
            return None
        if min(change) < 0:
            tops.setdefault(frozenset(total.items()), dict(total))
        _add(total, found, 1)
        last = column
    many = [*tops.values(), total]
    divisor = divisor_of(many)
    sums = Sums((), divisor, [whole(each, divisor) for each in many]).above(least)
    return sums if sums.are_few else None


def _add(total: dict[Powers, Fraction | int], more: Ratios, times: int) -> None:
    for powers, factor in more.items():
        total[powers] = total.get(powers, 0) + factor * times


def _whole(many: Sequence[Ratios]) -> Sums:
    divisor = divisor_of(many)
    return Sums([whole(each, divisor) for each in many], divisor)
