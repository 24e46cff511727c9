"""Figures at other batch sizes, where the batch is dynamic."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.figures import FiguresBySize
from onnx_autodoc.analysis.formula import Formula
from onnx_autodoc.analysis.size_variables import SizeVariables
from onnx_autodoc.shapes import Role

BATCHES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_MAX_WORK: Final = 12_000  # rules applied at all of these batches: a graph that takes more is not tried at each

_Rows = Mapping[int, Mapping[str, int]]


class BatchFigures(Struct, frozen=True):
    """The figures that are known to the unit, by the name that the card gives them."""

    batch: int
    figures: Mapping[str, int]


def scaling(sizes: FiguresBySize, formula: Formula) -> tuple[BatchFigures, ...]:
    """With every other size as it is on the card; nothing where the batch is fixed, or where it runs at no other.

    By the formula as far as there is one. What has none is worked out at each of these batches, or of a large graph by
    a formula in the batch alone.
    """
    variables = SizeVariables(sizes.model, sizes.binding)
    variables.all = tuple(variable for variable in variables.all if variable.role is Role.BATCH)
    if not variables.all or sizes.own is None:
        return ()
    rows = _by_formula(formula) if _is_checked_at_largest(formula) else {}
    if sizes.own.exact().keys() - formula.terms.keys() or not rows:
        apart = sizes.work * len(BATCHES) <= _MAX_WORK
        alone = Formula() if apart else sizes.fit_formula(Role.BATCH)
        more = (
            _evaluate_batches(sizes, variables)
            if apart
            else _by_formula(alone)
            if _is_checked_at_largest(alone)
            else {}
        )
        rows = {batch: {**more.get(batch, {}), **rows.get(batch, {})} for batch in BATCHES}
    found = tuple(BatchFigures(batch, rows[batch]) for batch in BATCHES if rows.get(batch))
    return found if len(found) > 1 else ()


def _is_checked_at_largest(formula: Formula) -> bool:
    """Whether it was right at a batch as large as the last one: some things end at a size that only trying tells."""
    batches = [each.name for each in formula.variables if each.role is Role.BATCH]
    return any(point[name] >= BATCHES[-1] for point in formula.checked_at for name in batches)


def _by_formula(formula: Formula) -> _Rows:
    roles = [variable.role for variable in formula.variables]
    return {batch: formula.at({Role.BATCH: batch}) for batch in BATCHES} if Role.BATCH in roles else {}


def _evaluate_batches(sizes: FiguresBySize, variables: SizeVariables) -> _Rows:
    found = {}
    for batch in BATCHES:
        known = sizes.exact_at(variables.bind({each.name: batch for each in variables.all}))
        if known:
            found[batch] = known
    return found
