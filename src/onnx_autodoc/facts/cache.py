"""What a decoder keeps of each token: its key-value cache.

Only what the graph proves: an output that is an input with more tokens behind it (past and present), or the cache of an
operator that has one. Names prove nothing, and what stays as long as it was (a recurrent state, a window of samples) is
no key-value cache.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from onnx_autodoc.facts._origins import Root, Scope, roots
from onnx_autodoc.graph import Model, Value, all_graphs, stored_bytes
from onnx_autodoc.ops import Cached, Known, find
from onnx_autodoc.resolve import Shapes, inputs_of

_FEWEST_DIMS: Final = 4  # batch, heads, tokens, size of a head
_STACKED: Final = 2  # keys and values in one tensor


class Pair(Struct, frozen=True):
    """A tensor of the cache: how it comes in (or not, where the cache begins here), how it goes out, and its tokens."""

    past: str | None
    present: str
    known: Known
    tokens: tuple[int, ...]  # the axes along which tokens lie

    def each(self) -> int | None:
        """Elements for one token of one sequence."""
        dims = self._others()
        return None if dims is None else math.prod(dims)

    def heads(self) -> tuple[int, int] | None:
        """How many heads, and the size of one: the two dims that are neither batch nor tokens nor keys-and-values."""
        dims = self._others()
        dims = dims[1:] if dims and self.stacked else dims
        return (dims[0], dims[1]) if dims and len(dims) == 2 else None

    @property
    def stacked(self) -> bool:
        dims = self.known.concrete
        return dims is not None and len(dims) == 5 and dims[0] == _STACKED

    def _others(self) -> tuple[int, ...] | None:
        dims = self.known.concrete
        if dims is None:
            return None
        left = [at for at in range(len(dims)) if at not in self.tokens]
        batch = 1 if self.stacked else 0
        gone = left[batch : batch + 1] if len(self.tokens) == 1 else []  # blocks of a paged cache belong to nobody
        return tuple(dims[at] for at in left if at not in gone)


class Cache(Struct, frozen=True):
    bytes_per_token: int
    layers: int | None
    kv_heads: int | None
    head_dim: int | None
    dtype: str
    nbytes: int  # of the whole cache after this run
    tensors: tuple[str, ...]  # the outputs that hold it

    def at(self, tokens: int) -> int:
        return self.bytes_per_token * tokens


def cache(model: Model, shapes: Shapes) -> Cache | None:
    pairs = list(pairs_of(model, shapes))
    sizes = [(pair.each(), pair.known.dtype) for pair in pairs]
    if not pairs or any(each is None or dtype is None for each, dtype in sizes):
        return None
    token = sum(stored_bytes(dtype or "", each or 0) or 0 for each, dtype in sizes)
    heads = {pair.heads() for pair in pairs}
    kv_heads, head_dim = next(iter(heads)) or (None, None) if len(heads) == 1 else (None, None)
    return Cache(
        bytes_per_token=token,
        layers=_layers(pairs),
        kv_heads=kv_heads,
        head_dim=head_dim,
        dtype=pairs[0].known.dtype or "",
        nbytes=sum(stored_bytes(pair.known.dtype or "", math.prod(pair.known.concrete or ())) or 0 for pair in pairs),
        tensors=tuple(pair.present for pair in pairs),
    )


def _layers(pairs: list[Pair]) -> int | None:
    """Two tensors for each layer, or one with both in it."""
    if all(pair.stacked for pair in pairs):
        return len(pairs)
    return len(pairs) // 2 if len(pairs) % 2 == 0 and not any(pair.stacked for pair in pairs) else None


def pairs_of(model: Model, shapes: Shapes) -> Iterator[Pair]:
    inputs = {value.name for value in inputs_of(model)}
    scope = Scope(model.graph, inputs)
    tokens = _token_dims(model, scope)
    for value in model.graph.outputs:
        known = shapes.values.get(value.name)
        if known is None or known.shape is None or len(known.shape) < 3:
            continue
        found = next((pair for pair in _pairs(scope, value.name, known, shapes) if pair is not None), None)
        found = found or _by_first_run(scope, value, known, tokens)
        if found is not None:
            yield found


def _token_dims(model: Model, scope: Scope) -> set[str]:
    """The names of the dims of inputs that pick rows of a table: tokens."""
    picking = [node.inputs[1:2] for graph in all_graphs(model) for node in graph.nodes if node.op == "Gather"]
    found = {name for names in picking for name in _inputs(scope, names)}
    types = [value.type for value in inputs_of(model) if value.name in found]
    return {dim for each in types if each for dim in (each.dims or ())[1:] if isinstance(dim, str)}


def _by_first_run(scope: Scope, output: Value, known: Known, token_dims: set[str]) -> Pair | None:
    """Keys and values of a decoder's first run: attention looks at them, and they are as long as the tokens."""
    dims = (output.type.dims if output.type else None) or ()
    tokens = [at for at, dim in enumerate(dims) if at > 0 and dim in token_dims]
    if len(dims) < _FEWEST_DIMS or len(tokens) != 1 or not scope.attended(output.name):
        return None
    return Pair(None, output.name, known, (tokens[0],))


def _pairs(scope: Scope, output: str, known: Known, shapes: Shapes) -> Iterator[Pair | None]:
    waiting = [(scope, output, 0)]
    while waiting:
        inner, name, depth = waiting.pop()
        for root in roots(inner, name):
            if root.node is None or depth > _STACKED:
                continue
            yield from _by_operator(root, output, known)
            if root.node.op == "Concat" and not root.node.domain:
                yield _by_growth(root, output, known, shapes)
                waiting.extend((root.scope, item, depth + 1) for item in root.node.inputs)


def _by_operator(root: Root, output: str, known: Known) -> Iterator[Pair]:
    """The cache of an operator that keeps one."""
    entry = find(root.node.domain, root.node.op) if root.node else None
    for cached in entry.caches if entry is not None else ():
        if root.node is not None and cached.present == root.at:
            past = next(_inputs(root.scope, root.node.inputs[cached.past : cached.past + 1]), None)
            yield Pair(past, output, known, _axes(cached, known))


def _axes(cached: Cached, known: Known) -> tuple[int, ...]:
    rank = len(known.shape or ())
    return tuple(axis % rank for axis in cached.tokens)


def _by_growth(root: Root, output: str, known: Known, shapes: Shapes) -> Pair | None:
    """An input with something joined to it along one axis, which the output has more of, and attention looks at."""
    if root.node is None or not root.scope.attended(root.node.outputs[0]):
        return None
    for past in _inputs(root.scope, root.node.inputs):
        before, after = shapes.values[past].concrete, known.concrete
        if before is None or after is None or len(before) != len(after):
            continue
        grown = [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
        if len(grown) == 1 and after[grown[0]] > before[grown[0]]:
            return Pair(past, output, known, (grown[0],))
    return None


def _inputs(scope: Scope, names: Iterable[str]) -> Iterator[str]:
    """The inputs of the model that some values are, if only moved on the way."""
    for name in filter(None, names):
        yield from (root.name for root in roots(scope, name) if root.node is None)
