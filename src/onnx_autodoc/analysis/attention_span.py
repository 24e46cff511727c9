"""Values that attention reads as keys or values, and the tokens that a model reads."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.analysis.value_origins import MAX_VISITS, Scope, roots
from onnx_autodoc.ir import Model, Node, Value
from onnx_autodoc.ops import Trait, ValueInfo, has_trait, operator_of
from onnx_autodoc.shapes import Shapes, required_inputs

_MAX_MOVES: Final = 64  # moves of a constant


def is_attended(scope: Scope, name: str) -> bool:
    """Return whether attention reads a value."""
    return any(
        _is_attention_input(inner, node, at)
        for inner, node, at in _readers(scope, name, Trait.MOVES, Trait.PRECEDES_SCORES)
    )


def _is_attention_input(scope: Scope, node: Node, at: int) -> bool:
    if node.is_op("Einsum") or "Attention" in node.op:
        return True
    left, right = operator_of(node).operands if has_trait(node, Trait.PRODUCT) else (-1, -1)
    if at == right:
        return left < len(node.inputs) and not _is_constant(scope, node.inputs[left])
    return at == left and right < len(node.inputs) and _is_scores_product(scope, node, right)


def _is_scores_product(scope: Scope, node: Node, right: int) -> bool:
    """Return whether a product yields or reads scores: keys and values may be its left operand as well."""
    sources = (root.node for root in roots(scope, node.inputs[right]))
    readers = (reader for name in node.outputs[:1] for _, reader, _ in _readers(scope, name, Trait.FOLLOWS_SCORES))
    return any("Softmax" in other.op for nodes in (sources, readers) for other in nodes if other is not None)


def _is_constant(scope: Scope, name: str) -> bool:
    """Return whether a value is a constant of the file, at most moved: no rows selected by an input."""
    waiting = [(scope, name)]
    for _ in range(_MAX_MOVES):
        if not waiting:
            return True
        inner, name = waiting.pop()
        root = inner.find(name)
        if root is None:
            continue
        if root.node is None or not has_trait(root.node, Trait.CONSTANT, Trait.MOVES):
            return False
        waiting.extend((root.scope, source) for source in root.node.inputs)
    return False


def _readers(scope: Scope, name: str, *passing: Trait) -> Iterator[tuple[Scope, Node, int]]:
    """Yield the readers of a value, and of the outputs of passing nodes, in its graph, below it and around it."""
    waiting, seen = [(scope, name)], {(id(scope), name)}
    while waiting and len(seen) < MAX_VISITS:
        inner, name = waiting.pop()
        values = [(branch, name) for graph, branch in inner.branches if name in graph.captures]
        values += [inner.exits[name]] if name in inner.exits else []
        for node, at in inner.readers.get(name, ()):
            yield inner, node, at
            call = inner.called_scope(node)
            if call is not None:
                values += [(call[1], call[0].inputs[at])] if at < len(call[0].inputs) else []
            elif has_trait(node, *passing):
                values += [(inner, output) for output in node.outputs]
        fresh = [(reader, value) for reader, value in values if (id(reader), value) not in seen]
        seen.update((id(reader), value) for reader, value in fresh)
        waiting.extend(fresh)


class Tokens:
    """The inputs of a model that index embedding tables, and the values computed from them."""

    def __init__(self, model: Model, shapes: Shapes, scope: Scope) -> None:
        names: set[str] = set()
        for inner in scope.within():
            for node in inner.nodes:
                at = operator_of(node).index_input
                indices = () if at is None else node.inputs[at : at + 1]
                names.update(root.name for name in indices for root in roots(inner, name) if root.node is None)
        self._inputs = [value for value in required_inputs(model) if value.name in names]
        self._shapes = shapes
        self._derived: dict[int, set[str]] = {}

    @property
    def exist(self) -> bool:
        return bool(self._inputs)

    def axis(self, known: ValueInfo, declared: tuple[int | str | None, ...]) -> int | None:
        """Return the one axis of a value that is as long as the tokens, by the dim's name or else by its size."""
        dims = known.concrete or ()
        names = {value.type.dims[-1] for value in self._inputs if value.type and value.type.dims}
        axes = [at for at, dim in enumerate(declared) if at and isinstance(dim, str) and dim in names]
        if not axes:
            is_dynamic = dict(map(self._length, self._inputs))
            # A dimension that the file fixes is not the length of one that it leaves dynamic.
            fixed = {at for at, dim in enumerate(declared) if isinstance(dim, int)}
            sized = (at for at, dim in enumerate(dims) if at and dim in is_dynamic)
            axes = [at for at in sized if not (is_dynamic[dims[at]] and at in fixed)]
        return axes[0] if len(axes) == 1 else None

    def _length(self, value: Value) -> tuple[int | None, bool]:
        """Return the number of tokens, and whether that dimension is dynamic."""
        dims = self._shapes.values[value.name].concrete if value.name in self._shapes.values else None
        declared = (value.type.dims if value.type else None) or (None,)
        return dims[-1] if dims else None, not isinstance(declared[-1], int)

    def are_in(self, scope: Scope, name: str) -> bool:
        """Return whether a value is computed from tokens; where the model reads none, any value is."""
        return not self._inputs or name in self._values(scope)

    def _values(self, scope: Scope) -> set[str]:
        """Return the names in a graph of values that are computed from tokens."""
        if id(scope) not in self._derived:
            names = {value.name for value in self._inputs} if scope.outer is None else set(self._values(scope.outer))
            for node in scope.nodes:
                if has_trait(node, Trait.SHAPE_QUERY):
                    continue  # the number of tokens is not computed from the tokens
                if not names.isdisjoint(node.all_inputs):
                    names.update(node.outputs)
            self._derived[id(scope)] = names
        return self._derived[id(scope)]
