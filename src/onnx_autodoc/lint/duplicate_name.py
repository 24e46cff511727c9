"""Nodes have no name of their own.

Why it matters: profiles, quantizers that are told which nodes to leave out, error messages and this card speak of nodes
by name. Where names are shared or missing, nobody can tell which one is meant.

What to do: give every node one and save the file: for at, node in enumerate(model.graph.node):
node.name = f"{node.op_type}_{at}".

Missing names are told only where most nodes have none; constants need none of their own. Each graph has its own names:
a body may use those of the graph around it again.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.lint._case import Case, Spot
from onnx_autodoc.lint._finding import Found, Severity
from onnx_autodoc.ops import kinds
from onnx_autodoc.text import count, plural

SEVERITY: Final = Severity.INFO
_FEW: Final = 10  # nodes: so many can be told apart by their operators


def check(case: Case) -> Iterator[Found]:
    nodes = [[spot for spot in scope.spots if spot.node.op != kinds.CONSTANT] for scope in case.scopes]
    shared = [spot for spots in nodes for spot in _shared(spots)]
    if shared:
        names = plural(len({(spot.scope.path, spot.node.name) for spot in shared}), "name")
        yield Found(f"{count(len(shared))} nodes share {names}", tuple(spot.path for spot in shared), about="shared")
    total, bare = sum(map(len, nodes)), sum(not spot.node.name for spots in nodes for spot in spots)
    if total >= _FEW and 2 * bare > total:
        yield Found(f"{count(bare)} of {plural(total, 'node')} have no name", about="missing")


def _shared(spots: list[Spot]) -> list[Spot]:
    times = Counter([spot.node.name for spot in spots])
    if len(times) == len(spots):
        return []
    return [spot for spot in spots if spot.node.name and times[spot.node.name] > 1]
