"""Where a value goes, as keys and values do: into a product with something computed, or into attention."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.analysis._origins import MOST_VISITS, Scope, roots
from onnx_autodoc.ir import Node
from onnx_autodoc.ops import kinds

_DEEPEST: Final = 64  # moves of a constant


def attended(scope: Scope, name: str) -> bool:
    """Whether attention looks at a value."""
    return any(_looks(inner, node, at) for inner, node, at in _readers(scope, name, kinds.PASSING))


def _looks(scope: Scope, node: Node, at: int) -> bool:
    if node.op == kinds.SUMMED or kinds.ATTENTION in node.op:
        return True
    left, right = kinds.PRODUCTS.get(node.op, (-1, -1))
    if at == right:
        return left < len(node.inputs) and not is_constant(scope, node.inputs[left])
    return at == left and right < len(node.inputs) and _is_softened(scope, node, right)


def _is_softened(scope: Scope, node: Node, right: int) -> bool:
    """Whether a product makes scores or takes them: keys and values may as well be on its left side."""
    taken = (root.node for root in roots(scope, node.inputs[right]))
    made = (reader for name in node.outputs[:1] for _, reader, _ in _readers(scope, name, kinds.SCORES))
    return any(kinds.SOFTMAX in each.op for nodes in (taken, made) for each in nodes if each is not None)


def is_constant(scope: Scope, name: str) -> bool:
    """Whether a value is held by the file, and at most moved: no rows picked by the input."""
    waiting = [(scope, name)]
    for _ in range(_DEEPEST):
        if not waiting:
            return True
        inner, name = waiting.pop()
        root = inner.find(name)
        if root is not None and (root.node is None or root.node.op not in kinds.MOVERS | {kinds.CONSTANT}):
            return False
        waiting.extend((root.scope, item) for item in (root.node.inputs if root and root.node else ()) if root)
    return False


def _readers(scope: Scope, name: str, passing: frozenset[str]) -> Iterator[tuple[Scope, Node, int]]:
    """The nodes that read a value or what passing nodes make of it, in its graph, below it and around it."""
    waiting, seen = [(scope, name)], {(id(scope), name)}
    while waiting and len(seen) < MOST_VISITS:
        inner, name = waiting.pop()
        found = list(_elsewhere(inner, name))
        for node, at in inner.readers.get(name, ()):
            yield inner, node, at
            call = inner.called(node)
            if call is not None:
                found += [(call[1], call[0].inputs[at])] if at < len(call[0].inputs) else []
            elif node.op in passing:
                found += [(inner, made) for made in node.outputs]
        fresh = [each for each in found if (id(each[0]), each[1]) not in seen]
        seen.update((id(each), made) for each, made in fresh)
        waiting.extend(fresh)


def _elsewhere(scope: Scope, name: str) -> Iterator[tuple[Scope, str]]:
    """The same value in the graphs inside, and outside where it leaves."""
    yield from ((inner, name) for graph, inner in scope.branches if name in graph.outer)
    if name in scope.exits:
        yield scope.exits[name]
