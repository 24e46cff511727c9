"""The model draws random numbers, so two runs give different answers.

Why it matters: outputs cannot be compared bit by bit with another runtime's or with yesterday's, caches of answers do
not hold, and some engines have no such operator at all.

What to do: if chance is part of the model (sampling, diffusion, a voice's variation), make the noise an input:
replace the operator's output by a graph input and draw the numbers outside, where a seed can be kept. If it is a rest
of training, export in evaluation mode.

A seed in the file does not settle it: the specification leaves the generator to the runtime, and a runtime may go on
where the run before ended. Operators whose results no output needs, and those in branches that are not taken, are not
reported.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._waste import needed, strange_operators
from onnx_autodoc.lint._words import by_operator
from onnx_autodoc.ops import judged, kinds
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE


def check(case: Case) -> Iterator[Found]:
    drawn = case.of(*sorted(kinds.DRAWN)) + case.of(*judged.SAMPLERS, domain=judged.MICROSOFT)
    found = [spot for spot in drawn if spot.scope.runs]
    found = _needed(case, found)
    if found:
        seeded = sum("seed" in spot.node.attributes for spot in found)
        nodes = f"{plural(len(found), 'node')} {'draws' if len(found) == 1 else 'draw'} random numbers"
        told = f" ({seeded:,} with a seed)" if seeded else ""
        yield Found(f"{nodes}: {by_operator(found)}{told}", tuple(spot.path for spot in found))


def _needed(case: Case, found: list[Spot]) -> list[Spot]:
    scopes = {id(spot.scope): spot.scope for spot in found}
    strange = strange_operators(case)
    places = {key: needed(scope, strange) for key, scope in scopes.items()}
    return [spot for spot in found if spot.step.at in places[id(spot.scope)]]
