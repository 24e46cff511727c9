"""The operators of a model: which, at which opset, and whether they work on data or on constants and sizes alone."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from onnx_autodoc.ir import Model
from onnx_autodoc.lint._constness import Settled
from onnx_autodoc.lint._scope import Scope, Spot

Key = tuple[str, str]  # domain, operator


class Used(Struct, frozen=True):
    """The nodes of a model that call one operator, at the opset that is said where they stand."""

    key: Key
    opset: int | None
    spots: list[Spot]  # those that work on data
    aside: list[Spot]  # those that work on constants and sizes alone
    local: bool  # a call to a function of the file


def uses_of(model: Model, scopes: Sequence[Scope], settled: Settled) -> list[Used]:
    """In the order of their first node."""
    local = {(function.domain, function.name) for function in model.functions}
    found: dict[tuple[Key, int | None], Used] = {}
    for scope, opsets in _opsets(model, scopes):
        for spot in scope.spots:
            key = (spot.node.domain, spot.node.op)
            at = (key, opsets.get(key[0]))
            entry = found.get(at) or found.setdefault(at, Used(*at, [], [], key in local))
            aside = settled.made(scope, spot.node)
            (entry.aside if aside else entry.spots).append(spot)
    return list(found.values())


def _opsets(model: Model, scopes: Sequence[Scope]) -> Iterator[tuple[Scope, Mapping[str, int]]]:
    """Every graph with the opsets that hold in it: the file's, or those of the function that it stands in."""
    functions = {function.name: function.opsets for function in model.functions}
    found: dict[int, Mapping[str, int]] = {}
    for scope in scopes:
        if scope.outer is not None:
            opsets = found[id(scope.outer)]
        else:
            own = functions.get(scope.graph.name, {}) if scope.path else {}
            opsets = {**model.opsets, **own}
        found[id(scope)] = opsets
        yield scope, opsets
