"""What the rules on waste share: what an output needs, and what holds in every run.

Sizes are bound for the card, so "at these sizes" is not "always": a rule that says a node does nothing asks here.
"""

from collections.abc import Iterable, Iterator

from onnx_autodoc.ir import needed_names
from onnx_autodoc.lint._case import Case, Scope, Spot
from onnx_autodoc.ops import find, judged
from onnx_autodoc.shapes import open_axes


def is_static(case: Case) -> bool:
    """Whether the sizes on the card are those of every run: nothing was chosen, taken on trust or left to callers."""
    chosen = open_axes(case.model) or case.facts.binding.values
    return not (chosen or case.facts.shapes.assumed or case.overridable)


def needed(scope: Scope, strange: frozenset[tuple[str, str]]) -> set[int]:
    """The places of the nodes whose results lead to an output of their graph.

    What the tool does not know counts as needed: it may do something beside giving results.
    """
    roots = [spot for spot in scope.spots if (spot.node.domain, spot.node.op) in strange] if strange else []
    wanted = [value.name for value in scope.graph.outputs]
    wanted += [name for spot in roots for name in needed_names(spot.node)]
    found = {spot.step.at for spot in roots}
    while wanted:
        spot = scope.maker(wanted.pop())
        if spot is not None and spot.step.at not in found:
            found.add(spot.step.at)
            wanted.extend(needed_names(spot.node))
    return found


def strange_operators(case: Case) -> frozenset[tuple[str, str]]:
    """Those that are neither known, nor functions of the file, nor control flow."""
    functions = {(function.domain, function.name) for function in case.model.functions}
    used = {(domain, op) for domain, op, _ in case.facts.operators} - functions
    return frozenset(key for key in used if find(*key) is None and (key[0] or key[1] not in judged.CONTROL))


def outside_functions(case: Case, spots: Iterable[Spot]) -> Iterator[Spot]:
    """Types and sizes inside a function are those of its first call, and may be others at the next."""
    own = {id(case.main)}
    own.update(id(scope) for scope in case.scopes if scope.outer is not None and _root(scope) is case.main)
    return (spot for spot in spots if id(spot.scope) in own)


def _root(scope: Scope) -> Scope:
    while scope.outer is not None:
        scope = scope.outer
    return scope
