"""What a run takes at other sizes of the batch, by the formulas, where the file leaves the batch open."""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.facts._polynomial import evaluate
from onnx_autodoc.facts.formula import Formula
from onnx_autodoc.resolve import Role

BATCHES: Final = (1, 2, 4, 8, 16, 32, 64, 128)


class Scaled(Struct, frozen=True):
    """The figures whose formula is known, by the name that the card gives them."""

    batch: int
    figures: Mapping[str, int]


def scaling(formula: Formula) -> tuple[Scaled, ...]:
    """With every other size as it is on the card; nothing where the batch is fixed or no formula was found."""
    roles = [variable.role for variable in formula.variables]
    if Role.BATCH not in roles:
        return ()
    return tuple(_at(formula, roles.index(Role.BATCH), batch) for batch in BATCHES)


def _at(formula: Formula, which: int, batch: int) -> Scaled:
    point = tuple(batch if at == which else each.size for at, each in enumerate(formula.variables))
    return Scaled(batch, {name: max(evaluate(each, point) for each in sums) for name, sums in formula.terms.items()})
