"""What the elements of data do not decide: the same in every run at the same sizes."""

from collections.abc import Iterable

from onnx_autodoc.ir import Node, needed_names
from onnx_autodoc.lint._scope import Scope
from onnx_autodoc.ops import kinds


class Settled:
    """Values that constants and sizes alone decide, not the elements of data."""

    def __init__(self, scopes: Iterable[Scope], changed: frozenset[str]) -> None:
        self._here: dict[int, set[str]] = {}  # by the id of each scope, its own
        for scope in scopes:  # outer ones come first
            self._here[id(scope)] = {tensor.name for tensor in scope.graph.initializers} - changed
            self._follow(scope)

    def _follow(self, scope: Scope) -> None:
        here = self._here[id(scope)]
        here.add("")  # what is left out
        for node in scope.in_order:
            if self._decides(scope, node, here):
                here.update(node.outputs)

    def _decides(self, scope: Scope, node: Node, here: set[str]) -> bool:
        if not node.domain and node.op in kinds.OF_SIZES:
            return True
        names = needed_names(node)
        found = here.issuperset(names) or (scope.outer is not None and all(self.holds(scope, name) for name in names))
        return found and node.op not in kinds.DRAWN

    def made(self, scope: Scope, node: Node) -> bool:
        """All that a node of this graph makes."""
        return self._here[id(scope)].issuperset(node.outputs)

    def holds(self, scope: Scope, name: str) -> bool:
        """In this graph, or in one around it if the name is from there."""
        found: Scope | None = scope
        while found is not None and name not in self._here[id(found)]:
            found = None if name in found.given or found.maker(name) is not None else found.outer
        return found is not None
