"""Nodes compute what no output needs.

Why it matters: a runtime that does not remove them runs them for nothing, and a reader takes them for part of the
model. They are often the rest of an output that was cut off.

What to do: remove them with onnxscript.optimizer.remove_unused_nodes(model) or with onnxsim; onnxruntime's
optimization leaves them in. If the result was meant to be used, declare it as an output.

Constants that nobody reads are good to know, anything else is a note. Each graph is judged by its own outputs, so a
node in a branch or a loop's body counts by what the body hands out. What is inside a dead node is not listed again.
An operator that the tool does not know may do something beside giving results, so it and what it reads count as
needed.
"""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Scope, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._waste import needed, strange_operators
from onnx_autodoc.lint._words import by_operator
from onnx_autodoc.ops import kinds
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE


def check(case: Case) -> Iterator[Found]:
    found = list(_dead(case))
    if found:
        verb = "leads" if len(found) == 1 else "lead"
        message = f"{plural(len(found), 'node')} {verb} to no output: {by_operator(found)}"
        idle = all(spot.node.op == kinds.CONSTANT for spot in found)
        yield Found(message, tuple(spot.path for spot in found), severity=Severity.INFO if idle else Severity.NOTE)


def _dead(case: Case) -> Iterator[Spot]:
    strange = strange_operators(case)
    within: set[str] = set()  # the paths of dead nodes that hold graphs
    for scope in case.scopes:
        if _is_inside(scope, within):
            within.add(scope.path)
            continue
        alive = needed(scope, strange)
        dead = [spot for spot in scope.spots if spot.step.at not in alive]
        if dead and _is_unclear(scope):
            continue
        within.update(spot.path for spot in dead if spot.step.bodies)
        yield from dead


def _is_unclear(scope: Scope) -> bool:
    """Two nodes make values of one name: the file does not say which one is read."""
    made = [name for spot in scope.spots for name in spot.node.outputs if name]
    return len(made) != len(set(made))


def _is_inside(scope: Scope, within: set[str]) -> bool:
    """A scope's path is the path of its node and the name of its body."""
    return bool(within) and scope.path.rpartition("/")[0] in within
