"""A loop makes very many passes.

Why it matters: passes run one after the other, and each starts every node of the body anew. With small tensors that
takes far longer than the arithmetic, on a GPU most of all, and no engine can run two passes at once.

What to do: use the operator that holds the recurrence (LSTM, GRU, RNN, CumSum) instead of a written-out one, compute
all positions at once where passes do not hang on each other, or give the model shorter pieces.

Reported from 1,000 passes on, where the sizes tell how many there are.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.ops import judged
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE
_MANY: Final = 1_000


def check(case: Case) -> Iterator[Found]:
    counted = [(_passes(spot), spot) for spot in case.of(*judged.LOOPS) if spot.scope.runs]
    found = [(passes, spot) for passes, spot in counted if passes >= _MANY]
    if found:
        most = max(passes for passes, _ in found)
        one = f"a loop makes {most:,} passes at these sizes"
        several = f"{plural(len(found), 'loop')} make {_MANY:,} passes or more at these sizes, the longest {most:,}"
        yield Found(one if len(found) == 1 else several, tuple(spot.path for _, spot in found))


def _passes(spot: Spot) -> int:
    """0 where the number is not known."""
    times = [body.times for body in spot.step.bodies]
    return max((number for number in times if isinstance(number, int)), default=0)
