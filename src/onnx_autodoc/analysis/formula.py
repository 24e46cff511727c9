"""Costs as formulas in the open dimensions: exact, or not at all.

The costs are worked out at a few more sizes, and what each node takes is fitted by itself: a polynomial with few terms
that goes through all of these points, of which there are more than coefficients, is right or a strange accident. Their
sum is the formula. What is alive while each node runs is a polynomial of its own; the peak is the largest of those that
none of the others covers.

Sizes that are rounded (a stride that does not divide a picture) break every polynomial, but they do so in a pattern
that repeats: at sizes whole steps apart there is one. Coarse steps are tried, then finer ones as long as it holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis._cost_cache import Measure, Meter
from onnx_autodoc.analysis._fitting import Parts, Sums
from onnx_autodoc.analysis._polynomial import Terms, evaluate, written
from onnx_autodoc.analysis._sample_points import Places
from onnx_autodoc.analysis._search import NOTHING, Found, Search, sizes_at
from onnx_autodoc.analysis._variables import Variable, Variables
from onnx_autodoc.ir import Model, count_nodes
from onnx_autodoc.shapes import Binding, Role

_MOST_OTHERS: Final = 3  # variables beside the batch
_MOST_AXES: Final = 2000  # that have a size: each is bound anew at each of some dozen points
_LOOPS: Final = 2  # rules applied for each node of the file: where loops are followed pass by pass, far is dear
_ENOUGH: Final = 1  # and one for each variable
_PICTURES: Final = (Role.HEIGHT, Role.WIDTH, Role.SAMPLES)  # sizes that strides round
_UNROUNDED: Final = (Role.BATCH, Role.PAST, Role.TOTAL)
_COARSE: Final = (64, 64 * 105, 1024 * 15)  # steps: what strides, patches and hops divide


class Formula(Struct, frozen=True):
    """Exact expressions by quantity, in the variables; None for a quantity that has none."""

    variables: tuple[Variable, ...] = ()
    expressions: Mapping[str, str | None] = {}
    terms: Mapping[str, Sequence[Terms]] = {}  # where there are several, the largest one holds
    divisors: Mapping[str, int] = {}  # what a quantity's terms are divided by, without a rest; 1 where left out
    checked_at: tuple[Mapping[str, int], ...] = ()
    steps: Mapping[str, int] = {}  # by variable: sizes at which it holds are so far apart; 1 where left out
    least: Mapping[str, int] = {}  # by variable: the size from which on it holds

    def at(self, sizes: Mapping[Role, int]) -> dict[str, int]:
        """Each quantity with other sizes for the variables of some roles, and those of the card for the others."""
        point = tuple(sizes.get(each.role, each.size) for each in self.variables)
        most = {name: max(evaluate(each, point) for each in sums) for name, sums in self.terms.items()}
        return {name: number // self.divisors.get(name, 1) for name, number in most.items()}


def formula(
    model: Model, binding: Binding, parts: Parts, work: int, measure: Measure, role: Role | None = None
) -> Formula:
    """`parts` are those of the card, `work` what they took; `measure` gives them for another binding.

    With a role, in the sizes of that role alone, all of them as one.
    """
    if len(binding.axes) > _MOST_AXES:
        return Formula()
    variables = Variables(model, binding)
    if role is not None:
        variables.kept([each for each in variables.all if each.role is role])
        variables.merged()
    far = work <= _LOOPS * count_nodes(model)
    meter = Meter(variables, parts, work, measure)
    if not parts or not meter.affords(_ENOUGH + len(variables.all)):
        return Formula()
    best = _best(meter, far)
    if best.parted:
        variables.merged()
        best = max(best, _best(meter, far), key=lambda each: len(each.sums))
    return _written(best, parts) if best.sums else Formula()


def _best(meter: Meter, far: bool) -> Found:
    """Of all lattices."""
    best = NOTHING
    for steps in _lattices(meter, far):
        found = Search(meter, steps, far).found()
        best = max(best, found, key=lambda each: len(each.sums))
        if (steps and "macs" in found.sums) or not _is_rounded(best, meter.parts):
            break
    return best


def _lattices(meter: Meter, far: bool) -> Iterator[Mapping[str, int]]:
    """Steps worth trying, once it is known which variables can be varied at all."""
    variables = meter.variables
    if not _varies(meter, far) and len({each.role for each in variables.all}) < len(variables.all):
        variables.merged()
    if not _varies(meter, far):
        variables.kept([each for at, each in enumerate(variables.all) if _varies_alone(meter, at)])
    if not variables.all or not _varies(meter, far):
        return
    roles = {each.role for each in variables.all}
    if not roles.intersection(_PICTURES):
        yield {}
    for step in _COARSE:
        names = [each.name for each in variables.all if each.role not in _UNROUNDED]
        if names:
            yield dict.fromkeys(names, step)


def _varies(meter: Meter, far: bool) -> bool:
    """Whether it runs at some sizes that all are others than the card's."""
    every = meter.variables.all
    if len(every) - any(each.role is Role.BATCH for each in every) > _MOST_OTHERS or not every:
        return False
    step = _COARSE[0] if {each.role for each in every}.intersection(_PICTURES) else 1
    steps = {each.name: step for each in every if each.role not in _UNROUNDED}
    points = Places(every, steps, far).others()
    return any(meter.at(sizes_at(every, point)) is not None for point in points)


def _varies_alone(meter: Meter, which: int) -> bool:
    every = meter.variables.all
    step = _COARSE[0] if every[which].role in _PICTURES else 1
    points = Places(every, {every[which].name: step}, False).alone(which)
    return any(meter.at(sizes_at(every, point)) is not None for point in points)


def _is_rounded(found: Found, parts: Parts) -> bool:
    """Multiply-adds and arithmetic have no formula: not so what is cut off where a table ends."""
    return any(name in parts and name not in found.sums for name in ("macs", "flops"))


def _written(found: Found, parts: Parts) -> Formula:
    names = [variable.name for variable in found.variables]
    sums = {name: each.reduced() for name, each in found.sums.items()}
    return Formula(
        variables=tuple(found.variables),
        expressions={name: _either(sums[name], names) if name in sums else None for name in parts},
        terms={name: each.terms for name, each in sums.items()},
        divisors={name: each.divisor for name, each in sums.items() if each.divisor != 1},
        checked_at=tuple(sizes_at(found.variables, point) for point in found.checked),
        steps=found.steps,
        least=found.least,
    )


def _either(sums: Sums, names: Sequence[str]) -> str:
    texts = [written(each, names, sums.divisor) for each in sums.terms]
    return texts[0] if len(texts) == 1 else f"max({'; '.join(texts)})"
