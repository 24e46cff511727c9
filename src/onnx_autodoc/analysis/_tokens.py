"""The tokens that a model reads: inputs that pick rows of a table, and what is made of them."""

from collections.abc import Iterator

from onnx_autodoc.analysis._origins import Root, Scope, roots
from onnx_autodoc.ir import Model, Node, Value
from onnx_autodoc.ops import Known, kinds
from onnx_autodoc.shapes import Shapes, inputs_of


class Tokens:
    def __init__(self, model: Model, shapes: Shapes, scope: Scope) -> None:
        found = {root.name for root in _picking(scope) if root.node is None}
        self._inputs = [value for value in inputs_of(model) if value.name in found]
        self._shapes, self._scope = shapes, scope
        self._made: dict[int, set[str]] = {}

    @property
    def any(self) -> bool:
        return bool(self._inputs)

    def axis(self, known: Known, declared: tuple[int | str | None, ...]) -> int | None:
        """The one axis of a value that is as long as the tokens, by the dim's name or else by its size."""
        dims = known.concrete or ()
        names = {value.type.dims[-1] for value in self._inputs if value.type and value.type.dims}
        named = [at for at, dim in enumerate(declared) if at and isinstance(dim, str) and dim in names]
        sizes = dict(map(self._length, self._inputs))
        alike = [at for at, dim in enumerate(dims) if at and dim in sizes]
        found = named or [at for at in alike if not self._is_fixed(at, declared, sizes[dims[at]])]
        return found[0] if len(found) == 1 else None

    def _is_fixed(self, at: int, declared: tuple[int | str | None, ...], is_open: bool) -> bool:
        """What the file fixes is not the length of something that it leaves open."""
        return is_open and at < len(declared) and isinstance(declared[at], int)

    def _length(self, value: Value) -> tuple[int | None, bool]:
        dims = self._shapes.values[value.name].concrete if value.name in self._shapes.values else None
        declared = (value.type.dims if value.type else None) or (None,)
        return dims[-1] if dims else None, not isinstance(declared[-1], int)

    def are_in(self, scope: Scope, name: str) -> bool:
        """Whether a value is made of tokens; where the model reads none, whatever it reads will do."""
        return not self._inputs or name in self._of(scope)

    def _of(self, scope: Scope) -> set[str]:
        """The names in a graph of what is made of tokens."""
        if id(scope) not in self._made:
            outer = scope.around
            start = {value.name for value in self._inputs} if outer is None else self._of(outer)
            self._made[id(scope)] = _reached(scope.nodes, start)
        return self._made[id(scope)]


def _picking(scope: Scope) -> Iterator[Root]:
    for inner in scope.within():
        for node in inner.nodes:
            yield from (root for name in _rows(node) for root in roots(inner, name))


def _rows(node: Node) -> tuple[str, ...]:
    """What picks the rows of a table."""
    at = kinds.PICKERS.get(node.op)
    return () if at is None else node.inputs[at : at + 1]


def _reached(nodes: tuple[Node, ...], start: set[str]) -> set[str]:
    found = set(start)
    for node in nodes:
        if node.op in kinds.OF_SIZES:
            continue  # what they give is as long as the tokens, not made of them
        taken = any(not graph.outer.isdisjoint(found) for _, graph in node.graphs()) if node.nested else False
        if taken or not found.isdisjoint(node.inputs):
            found.update(node.outputs)
    return found
