"""Costs as formulas in the dynamic dimensions: exact, or none.

The costs are evaluated at a few other sizes, and the figures of each node are fitted separately: a polynomial with few
terms that goes through all points, of which there are more than coefficients, is right except by accident. Their sum is
the formula. The memory in use while each node runs is a polynomial as well; the peak is the maximum of those that no
other one exceeds everywhere.

Sizes that are rounded (a stride that does not divide an image) break every polynomial, but in a pattern that repeats:
at sizes whole steps apart there is one. Coarse steps are tried, then finer ones as long as the formula holds.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.formula_search import (
    Breakdown,
    FormulaSearch,
    Measure,
    SampleCosts,
    SearchResult,
    sizes_at,
)
from onnx_autodoc.analysis.polynomial import Terms, evaluate
from onnx_autodoc.analysis.sample_points import SampleLattice
from onnx_autodoc.analysis.size_variables import SizeVariables, Variable
from onnx_autodoc.ir import Model
from onnx_autodoc.shapes import Binding, Role

_MAX_VARIABLES: Final = 3  # beside the batch
_MAX_AXES: Final = 2000  # with a size: each is bound again at some dozen points
_MAX_RULES_PER_NODE: Final = 2  # more are applied where loops are unrolled: large sizes are expensive there
_MIN_POINTS: Final = 1  # and one for each variable
_IMAGE_ROLES: Final = (Role.HEIGHT, Role.WIDTH, Role.SAMPLES)  # sizes that strides round
_UNROUNDED_ROLES: Final = (Role.BATCH, Role.PAST, Role.TOTAL)
_COARSE_STEPS: Final = (64, 64 * 105, 1024 * 15)  # multiples of usual strides, patches and hops


class Formula(Struct, frozen=True):
    """Exact expressions by figure, in the variables; None for a figure that has none."""

    variables: tuple[Variable, ...] = ()
    expressions: Mapping[str, str | None] = {}
    terms: Mapping[str, Sequence[Terms]] = {}  # where there are several, the largest one holds
    divisors: Mapping[str, int] = {}  # of a figure's terms, without remainder; 1 where left out
    checked_at: tuple[Mapping[str, int], ...] = ()
    steps: Mapping[str, int] = {}  # by variable: the distance of sizes at which it holds; 1 where left out
    least: Mapping[str, int] = {}  # by variable: the smallest size at which it holds

    def at(self, sizes: Mapping[Role, int]) -> dict[str, int]:
        """Each figure with other sizes for the variables of some roles, and those of the card for the others."""
        point = tuple(sizes.get(each.role, each.size) for each in self.variables)
        largest = {name: max(evaluate(each, point) for each in terms) for name, terms in self.terms.items()}
        return {name: number // self.divisors.get(name, 1) for name, number in largest.items()}


def fit_formula(
    model: Model, binding: Binding, parts: Breakdown, work: int, measure: Measure, role: Role | None = None
) -> Formula:
    """`parts` are those of the card, `work` the rules applied for them; `measure` gives them for another binding.

    With a role, in the sizes of that role alone, all of them as one variable.
    """
    if len(binding.axes) > _MAX_AXES:
        return Formula()
    variables = SizeVariables(model, binding)
    if role is not None:
        variables.keep([each for each in variables.all if each.role is role])
        variables.merge_roles()
    far = work <= _MAX_RULES_PER_NODE * model.node_count
    samples = SampleCosts(variables, parts, work, measure)
    if not parts or not samples.can_afford(_MIN_POINTS + len(variables.all)):
        return Formula()
    best = _search_lattices(samples, far)
    if best.needs_equal_sizes:
        variables.merge_roles()
        best = max(best, _search_lattices(samples, far), key=lambda each: len(each.expressions))
    if not best.expressions:
        return Formula()
    names = [variable.name for variable in best.variables]
    found = {name: each.reduced() for name, each in best.expressions.items()}
    return Formula(
        variables=tuple(best.variables),
        expressions={name: found[name].format(names) if name in found else None for name in parts},
        terms={name: each.terms for name, each in found.items()},
        divisors={name: each.divisor for name, each in found.items() if each.divisor != 1},
        checked_at=tuple(sizes_at(best.variables, point) for point in best.checked),
        steps=best.steps,
        least=best.least,
    )


def _search_lattices(samples: SampleCosts, far: bool) -> SearchResult:
    best = SearchResult()
    for steps in _lattices(samples, far):
        result = FormulaSearch(samples, steps, far).run()
        best = max(best, result, key=lambda each: len(each.expressions))
        lacks_compute = any(name in samples.parts and name not in best.expressions for name in ("macs", "flops"))
        if (steps and "macs" in result.expressions) or not lacks_compute:
            break
    return best


def _lattices(samples: SampleCosts, far: bool) -> Iterator[Mapping[str, int]]:
    """Steps to try, after leaving out the variables that cannot be varied."""
    variables = samples.variables
    if not _can_vary_all(samples, far) and len({each.role for each in variables.all}) < len(variables.all):
        variables.merge_roles()
    if not _can_vary_all(samples, far):
        variables.keep([each for at, each in enumerate(variables.all) if _can_vary(samples, at)])
    if not variables.all or not _can_vary_all(samples, far):
        return
    if not {each.role for each in variables.all}.intersection(_IMAGE_ROLES):
        yield {}
    for step in _COARSE_STEPS:
        names = [each.name for each in variables.all if each.role not in _UNROUNDED_ROLES]
        if names:
            yield dict.fromkeys(names, step)


def _can_vary_all(samples: SampleCosts, far: bool) -> bool:
    """Whether the model runs at some sizes that all differ from the card's."""
    every = samples.variables.all
    if len(every) - any(each.role is Role.BATCH for each in every) > _MAX_VARIABLES or not every:
        return False
    step = _COARSE_STEPS[0] if {each.role for each in every}.intersection(_IMAGE_ROLES) else 1
    steps = {each.name: step for each in every if each.role not in _UNROUNDED_ROLES}
    points = SampleLattice(every, steps, far).off_card()
    return any(samples.at(sizes_at(every, point)) is not None for point in points)


def _can_vary(samples: SampleCosts, which: int) -> bool:
    every = samples.variables.all
    step = _COARSE_STEPS[0] if every[which].role in _IMAGE_ROLES else 1
    points = SampleLattice(every, {every[which].name: step}, False).along(which)
    return any(samples.at(sizes_at(every, point)) is not None for point in points)
