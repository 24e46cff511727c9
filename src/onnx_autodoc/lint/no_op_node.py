"""Nodes hand on what they read, unchanged.

Why it matters: a runtime that does not remove them copies the tensor, and optimizers that look for patterns miss
those with such a node in the middle.

What to do: run onnxsim, then save what onnxruntime's basic optimization makes of the file
(SessionOptions.optimized_model_filepath): each removes some that the other leaves. What both leave, take out by hand:
let the readers of the node's output read its input.

Only what surely does nothing, at any size that the file allows, is listed. An identity that names an output, or hands
on a weight or a value from around its graph, is harmless and is left out; so are shape arithmetic, and what stands
inside functions, where types differ from call to call. It is a note where more than 1,024 numbers are handed on.
"""

import math
from collections.abc import Callable, Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.lint._identity_checks import (
    always,
    cast,
    cut,
    dropout,
    flatten,
    lone,
    once,
    padded,
    reshape,
    times_one,
    turned,
)
from onnx_autodoc.lint._waste import is_static, outside_functions
from onnx_autodoc.lint._words import by_operator
from onnx_autodoc.ops import judged, kinds
from onnx_autodoc.text import plural

SEVERITY: Final = Severity.NOTE
_FEW: Final = 1024  # elements: so small are sizes, masks of one row, scalars

_TESTS: Final[dict[str, Callable[[Spot, bool], bool]]] = {
    judged.IDENTITY: always,
    judged.DROPOUT: dropout,
    judged.RESHAPE: reshape,
    judged.FLATTEN: flatten,
    judged.PAD: padded,
    kinds.TURN: turned,
    kinds.CUT: cut,
    **dict.fromkeys(judged.CASTS, cast),
    **dict.fromkeys(judged.ONE_OF_ONE, lone),
    **dict.fromkeys(judged.KEEPS_BY_ONE, times_one),
    **dict.fromkeys(judged.REPEATS, once),
}


def check(case: Case) -> Iterator[Found]:
    static, changed = is_static(case), case.overridable
    found = [spot for spot in outside_functions(case, case.of(*sorted(_TESTS))) if _is_idle(spot, static, changed)]
    if found:
        message = f"{plural(len(found), 'node hands', 'nodes hand')} data on unchanged: {by_operator(found)}"
        severity = Severity.INFO if all(map(_is_small, found)) else Severity.NOTE
        yield Found(message, tuple(spot.path for spot in found), severity=severity)


def _is_idle(spot: Spot, static: bool, changed: frozenset[str]) -> bool:
    node = spot.node
    if not node.inputs or not node.outputs or not _TESTS[node.op](spot, static):
        return False
    if not spot.scope.runs or _is_arithmetic(spot) or not changed.isdisjoint(node.inputs):
        return False
    return not _is_fixed(spot) and not _names_an_output(spot)


def _is_arithmetic(spot: Spot) -> bool:
    """Of shapes: its elements are known before any run."""
    known = spot.output()
    return known is None or known.value is not None


def _is_fixed(spot: Spot) -> bool:
    """What is handed on is a constant: the first input, or with two factors either."""
    names = spot.node.inputs if spot.node.op in judged.KEEPS_BY_ONE else spot.node.inputs[:1]
    return all(spot.scope.is_fixed(name) for name in names if name)


def _names_an_output(spot: Spot) -> bool:
    """Then the value before would have to be renamed; and could not be, if it is one from around the graph."""
    name = spot.node.outputs[0]
    if name not in spot.scope.leaving or all(value.name != name for value in spot.scope.graph.outputs):
        return False
    before = next((maker for maker in spot.makers() if maker is not None), None)
    return spot.node.op == judged.IDENTITY or before is None or before.only_reader() is not spot


def _is_small(spot: Spot) -> bool:
    known = spot.output()
    return known is not None and known.concrete is not None and math.prod(known.concrete) <= _FEW
