"""How large a result is depends on the values of the data.

Why it matters: memory cannot be planned before the run, and engines that compile ahead of time refuse such a node or
end the compiled part there; on a GPU the host waits for the count before it can go on.

What to do: give the result a fixed size where the task allows it: top k with a constant k and a mask in place of
nonzero or compress, a gather by a padded list of indices, a selection of boxes outside of the model (for detectors,
export without NMS). Else cut the model in two at these nodes.

Sizes computed from the sizes of inputs are no data: shape arithmetic, and a constant k, are not reported. Only the
nodes where an unknown size arises are listed, not all that it reaches.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._constness import Settled
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._waste import outside_functions
from onnx_autodoc.lint._words import by_operator
from onnx_autodoc.ops import Known, find, judged
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE


def check(case: Case) -> Iterator[Found]:
    asked = [spot for spot in _asked(case) if spot.scope.runs and _is_open(spot)]
    found = [spot for spot in asked if _hangs_on_data(spot, case.settled)]
    if found:
        makes = "makes a result" if len(found) == 1 else "make results"
        message = f"{plural(len(found), 'node')} {makes} whose size the data decide: {by_operator(found)}"
        yield Found(message, tuple(spot.path for spot in found))


def _asked(case: Case) -> Iterator[Spot]:
    """In a loop's body, what passes hand on may be a count as well as data: there only those that always count."""
    yield from case.of(*judged.COUNTED_BY_DATA)
    steered = outside_functions(case, case.of(*sorted(judged.SIZED_BY_VALUES)))
    yield from (spot for spot in steered if not _in_a_loop(spot))


def _in_a_loop(spot: Spot) -> bool:
    scope = spot.scope
    while scope.outer is not None:
        if scope.graph.inputs:
            return True
        scope = scope.outer
    return False


def _is_open(spot: Spot) -> bool:
    """A size is not known, and not for want of a rule."""
    if find(spot.node.domain, spot.node.op) is None or _is_one_list(spot):
        return False
    return any(one.kind == "tensor" and one.concrete is None for one in spot.step.outputs)


def _is_one_list(spot: Spot) -> bool:
    """A reshape to a single size has no choice, whoever names it."""
    target = spot.input(1)
    return spot.node.op == judged.RESHAPE and target is not None and target.concrete == (1,)


def _hangs_on_data(spot: Spot, sizes: Settled) -> bool:
    steering = judged.SIZED_BY_VALUES.get(spot.node.op)
    places = range(len(spot.node.inputs)) if steering is None else steering
    return any(_is_data(spot, at, sizes) for at in places)


def _is_data(spot: Spot, at: int, sizes: Settled) -> bool:
    known = spot.input(at)
    return known is not None and not _is_known(known) and not sizes.holds(spot.scope, spot.node.inputs[at])


def _is_known(known: Known) -> bool:
    return known.value is not None and known.value.dtype != object
