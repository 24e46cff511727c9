"""What a run takes at other sizes of the batch, where the file leaves the batch open."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis._figures import Sizes
from onnx_autodoc.analysis._variables import Variables
from onnx_autodoc.analysis.formula import Formula
from onnx_autodoc.shapes import Role

BATCHES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_MOST_WORK: Final = 12_000  # rules applied at all of these batches: a graph that takes more is not tried at each

_Rows = Mapping[int, Mapping[str, int]]


class Scaled(Struct, frozen=True):
    """The figures that are known to the unit, by the name that the card gives them."""

    batch: int
    figures: Mapping[str, int]


def scaling(sizes: Sizes, formula: Formula) -> tuple[Scaled, ...]:
    """With every other size as it is on the card; nothing where the batch is fixed, or where it runs at no other.

    By the formula as far as there is one. What has none is worked out at each of these batches, or of a large graph by
    a formula in the batch alone.
    """
    variables = Variables(sizes.model, sizes.binding)
    variables.kept([each for each in variables.all if each.role is Role.BATCH])
    if not variables.all or sizes.own is None:
        return ()
    rows = _by_formula(formula) if _reaches(formula) else {}
    if sizes.own.known().keys() - formula.terms.keys() or not rows:
        apart = sizes.work * len(BATCHES) <= _MOST_WORK
        alone = Formula() if apart else sizes.formula(Role.BATCH)
        more = _worked_out(sizes, variables) if apart else _by_formula(alone) if _reaches(alone) else {}
        rows = {batch: {**more.get(batch, {}), **rows.get(batch, {})} for batch in BATCHES}
    found = tuple(Scaled(batch, rows[batch]) for batch in BATCHES if rows.get(batch))
    return found if len(found) > 1 else ()


def _reaches(formula: Formula) -> bool:
    """Whether it was right at a batch as large as the last one: some things end at a size that only trying tells."""
    batches = [each.name for each in formula.variables if each.role is Role.BATCH]
    return any(point[name] >= BATCHES[-1] for point in formula.checked_at for name in batches)


def _by_formula(formula: Formula) -> _Rows:
    roles = [variable.role for variable in formula.variables]
    return {batch: formula.at({Role.BATCH: batch}) for batch in BATCHES} if Role.BATCH in roles else {}


def _worked_out(sizes: Sizes, variables: Variables) -> _Rows:
    found = {}
    for batch in BATCHES:
        known = sizes.known_at(variables.at({each.name: batch for each in variables.all}))
        if known:
            found[batch] = known
    return found
