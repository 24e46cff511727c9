"""What rules look at: a model's facts and structure, its graphs, and its weights if they were read."""

from collections.abc import Iterator
from functools import cached_property

from onnx_autodoc.analysis import Facts
from onnx_autodoc.analysis.weights import Weights
from onnx_autodoc.architecture import Structure
from onnx_autodoc.ir import Model
from onnx_autodoc.lint._constness import Settled
from onnx_autodoc.lint._scope import Scope, Spot, overridable, scopes_of
from onnx_autodoc.lint._uses import Used, uses_of
from onnx_autodoc.lint._written import Written, written

__all__ = ["Case", "Scope", "Spot"]


class Case:
    """One model before the rules. `weights` are the numbers in it, where they were read."""

    def __init__(self, facts: Facts, structure: Structure, weights: Weights | None = None) -> None:
        self.facts, self.structure, self.weights = facts, structure, weights

    @property
    def model(self) -> Model:
        return self.facts.model

    @cached_property
    def scopes(self) -> tuple[Scope, ...]:
        return tuple(scopes_of(self.facts))

    @cached_property
    def written(self) -> tuple[Written, ...]:
        """The graphs as the file has them, whether they are ever run or not."""
        return tuple(written(self.model))

    @property
    def main(self) -> Scope:
        return self.scopes[0]

    def spots(self) -> Iterator[Spot]:
        """Every node once, in file order, those inside a node after all of the graph that it stands in."""
        return (spot for scope in self.scopes for spot in scope.spots)

    @cached_property
    def _by_operator(self) -> dict[tuple[str, str], list[Spot]]:
        found: dict[tuple[str, str], list[Spot]] = {}
        for spot in self.spots():
            found.setdefault((spot.node.domain, spot.node.op), []).append(spot)
        return found

    def of(self, *ops: str, domain: str = "") -> list[Spot]:
        """The nodes of these operators, wherever they stand."""
        return [spot for op in ops for spot in self._by_operator.get((domain, op), ())]

    @cached_property
    def settled(self) -> Settled:
        return Settled(self.scopes, self.overridable)

    @cached_property
    def uses(self) -> list[Used]:
        return uses_of(self.model, self.scopes, self.settled)

    @cached_property
    def overridable(self) -> frozenset[str]:
        """Initializers that a caller may replace: defaults, not constants."""
        return overridable(self.model)
