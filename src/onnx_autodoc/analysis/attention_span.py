"""Values that attention reads as keys or values, and the tokens that a model reads."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.analysis.value_origins import MAX_VISITS, Root, Scope, roots
from onnx_autodoc.ir import Model, Node, Value
from onnx_autodoc.ops import Trait, ValueInfo, has_trait, operator_of
from onnx_autodoc.shapes import Shapes, required_inputs

_MAX_MOVES: Final = 64  # moves of a constant


def is_attended(scope: Scope, name: str) -> bool:
    """Whether attention looks at a value."""
    return any(
        _is_attention_input(inner, node, at)
        for inner, node, at in _readers(scope, name, Trait.MOVES, Trait.PRECEDES_SCORES)
    )


def _is_attention_input(scope: Scope, node: Node, at: int) -> bool:
    if node.is_op("Einsum") or "Attention" in node.op:
        return True
    left, right = operator_of(node).operands if has_trait(node, Trait.PRODUCT) else (-1, -1)
    if at == right:
        return left < len(node.inputs) and not is_constant(scope, node.inputs[left])
    return at == left and right < len(node.inputs) and _is_scores_product(scope, node, right)


def _is_scores_product(scope: Scope, node: Node, right: int) -> bool:
    """Whether a product makes scores or takes them: keys and values may as well be on its left side."""
    taken = (root.node for root in roots(scope, node.inputs[right]))
    made = (reader for name in node.outputs[:1] for _, reader, _ in _readers(scope, name, Trait.FOLLOWS_SCORES))
    return any("Softmax" in each.op for nodes in (taken, made) for each in nodes if each is not None)


def is_constant(scope: Scope, name: str) -> bool:
    """Whether a value is held by the file, and at most moved: no rows picked by the input."""
    waiting = [(scope, name)]
    for _ in range(_MAX_MOVES):
        if not waiting:
            return True
        inner, name = waiting.pop()
        root = inner.find(name)
        if root is not None and (root.node is None or not has_trait(root.node, Trait.CONSTANT, Trait.MOVES)):
            return False
        waiting.extend((root.scope, item) for item in (root.node.inputs if root and root.node else ()) if root)
    return False


def _readers(scope: Scope, name: str, *passing: Trait) -> Iterator[tuple[Scope, Node, int]]:
    """The nodes that read a value or what passing nodes make of it, in its graph, below it and around it."""
    waiting, seen = [(scope, name)], {(id(scope), name)}
    while waiting and len(seen) < MAX_VISITS:
        inner, name = waiting.pop()
        found = list(_in_other_graphs(inner, name))
        for node, at in inner.readers.get(name, ()):
            yield inner, node, at
            call = inner.called(node)
            if call is not None:
                found += [(call[1], call[0].inputs[at])] if at < len(call[0].inputs) else []
            elif has_trait(node, *passing):
                found += [(inner, made) for made in node.outputs]
        fresh = [each for each in found if (id(each[0]), each[1]) not in seen]
        seen.update((id(each), made) for each, made in fresh)
        waiting.extend(fresh)


def _in_other_graphs(scope: Scope, name: str) -> Iterator[tuple[Scope, str]]:
    """The same value in the graphs inside, and outside where it leaves."""
    yield from ((inner, name) for graph, inner in scope.branches if name in graph.captures)
    if name in scope.exits:
        yield scope.exits[name]


class Tokens:
    def __init__(self, model: Model, shapes: Shapes, scope: Scope) -> None:
        found = {root.name for root in _index_origins(scope) if root.node is None}
        self._inputs = [value for value in required_inputs(model) if value.name in found]
        self._shapes, self._scope = shapes, scope
        self._made: dict[int, set[str]] = {}

    @property
    def any(self) -> bool:
        return bool(self._inputs)

    def axis(self, known: ValueInfo, declared: tuple[int | str | None, ...]) -> int | None:
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
            self._made[id(scope)] = _values_made_of(scope.nodes, start)
        return self._made[id(scope)]


def _index_origins(scope: Scope) -> Iterator[Root]:
    for inner in scope.within():
        for node in inner.nodes:
            yield from (root for name in _rows(node) for root in roots(inner, name))


def _rows(node: Node) -> tuple[str, ...]:
    """What picks the rows of a table."""
    at = operator_of(node).index_input
    return () if at is None else node.inputs[at : at + 1]


def _values_made_of(nodes: tuple[Node, ...], start: set[str]) -> set[str]:
    found = set(start)
    for node in nodes:
        if has_trait(node, Trait.SHAPE_QUERY):
            continue  # what they give is as long as the tokens, not made of them
        taken = (
            any(not graph.captures.isdisjoint(found) for _, graph in node.subgraphs()) if node.has_subgraphs else False
        )
        if taken or not found.isdisjoint(node.inputs):
            found.update(node.outputs)
    return found
