"""The tensors of a key-value cache: those that come in and go out with more tokens, and what in the graph proves it."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.attention_span import Tokens, is_attended
from onnx_autodoc.analysis.value_origins import Root, Scope, main_scope, roots
from onnx_autodoc.ir import Model, Node, Value
from onnx_autodoc.ops import KVCacheInputs, Trait, ValueInfo, find, has_trait, operator_of
from onnx_autodoc.shapes import Shapes, Step, required_inputs

_FEWEST_DIMS: Final = 3  # batch, tokens, what is kept of each
_HEADS_DIMS: Final = 4  # and heads
_STACKED: Final = 2  # keys with values, then layers: joins between a cache and the output that holds it


class Pair(Struct, frozen=True):
    """A tensor of the cache: how it comes in (or not, where the cache begins here), how it goes out, and its tokens."""

    past: str | None
    present: str
    known: ValueInfo
    tokens: tuple[int, ...]  # the axes along which tokens lie
    most: int | None = None  # the tokens of a window that slides: older ones are dropped


class _Ending(Struct, frozen=True):
    """An output as one branch gives it."""

    scope: Scope
    name: str
    known: ValueInfo


class Pairs:
    def __init__(self, model: Model, shapes: Shapes) -> None:
        self._model, self._shapes = model, shapes
        self._scope = main_scope(model, (value.name for value in required_inputs(model)))
        self._tokens = Tokens(model, shapes, self._scope)
        self._tables: dict[int, dict[str, tuple[Step, ValueInfo]]] = {}

    def all(self) -> Iterator[Pair]:
        for value in self._model.graph.outputs:
            known = self._shapes.values.get(value.name)
            if known is not None and (known.shape is None or len(known.shape) >= _FEWEST_DIMS):
                yield from self._of(value, known)

    def _of(self, value: Value, known: ValueInfo) -> list[Pair]:
        """The first proof that holds in any branch, the strongest first."""
        endings = list(self._endings(self._scope, self._shapes.steps, value.name, known))
        for prove in (self._by_joins, self._by_first_run, self._by_part):
            for ending in endings:
                found = next(prove(ending, value), None) if ending.known.concrete else None
                if found is not None:
                    return [found]
        return []

    def _endings(self, scope: Scope, steps: tuple[Step, ...], name: str, known: ValueInfo) -> Iterator[_Ending]:
        """An output, or where branches give it, each branch's, those that run first."""
        step, known = self._table(steps).get(name, (None, known))
        if step is None or not step.node.is_op("If"):
            yield _Ending(scope, name, known)
            return
        graphs, at = dict(step.node.subgraphs()), step.node.outputs.index(name)
        for body in sorted(step.bodies, key=lambda body: body.times == 0):
            graph = graphs[body.name]
            if at < len(graph.outputs):
                yield from self._endings(scope.inside(step.node, graph), body.steps, graph.outputs[at].name, known)

    def _table(self, steps: tuple[Step, ...]) -> dict[str, tuple[Step, ValueInfo]]:
        if id(steps) not in self._tables:
            pairs = ((step, zip(step.node.outputs, step.outputs)) for step in steps)
            self._tables[id(steps)] = {name: (step, known) for step, made in pairs for name, known in made}
        return self._tables[id(steps)]

    def _by_joins(self, ending: _Ending, value: Value) -> Iterator[Pair]:
        """What operators keep, what grows, what is written in place; also joined with others into one tensor."""
        waiting = [(ending.scope, ending.name, 0)]
        while waiting:
            scope, name, depth = waiting.pop()
            for root in roots(scope, name):
                if root.node is None or depth > _STACKED:
                    continue
                yield from self._by_operator(root, ending, value)
                if has_trait(root.node, Trait.JOINS):
                    yield from self._by_growth(root, ending, value)
                    waiting.extend((root.scope, item, depth + 1) for item in root.node.inputs)
                elif operator_of(root.node).overwrites:
                    yield from self._by_writing(root, ending, value)

    def _by_operator(self, root: Root, ending: _Ending, value: Value) -> Iterator[Pair]:
        """The cache of an operator that keeps one. Where none comes in, it must be the tokens' own."""
        node = root.node
        entry = find(node.domain, node.op) if node else None
        for cached in entry.kv_caches if entry is not None else ():
            if node is not None and cached.present == root.at:
                given = node.inputs[cached.past : cached.past + 1]
                if any(given) or self._tokens.are_in(ending.scope, ending.name):
                    past = next(_inputs(root.scope, given), None)
                    yield Pair(past, value.name, ending.known, _axes(cached, root, ending.known))

    def _by_growth(self, root: Root, ending: _Ending, value: Value) -> Iterator[Pair]:
        """An input with something joined to it along one axis, which attention looks at."""
        assert root.node is not None
        pasts = [(past, self._shapes.values[past].concrete) for past in _inputs(root.scope, root.node.inputs)]
        after = ending.known.concrete or ()
        pasts = [(past, before) for past, before in pasts if before is not None and len(before) == len(after)]
        if not pasts or not is_attended(root.scope, root.node.outputs[0]):
            return
        for past, before in pasts:
            grown = [at for at, (one, other) in enumerate(zip(before or (), after)) if one != other]
            axis = self._joined(root) if not grown else grown[0]
            if axis is not None and len(grown) <= 1:
                most = self._window(root) if after[axis] > (before or ())[axis] else after[axis]
                if most is None or self._tokens.any:
                    yield Pair(past, value.name, ending.known, (axis,), most)

    def _joined(self, root: Root) -> int | None:
        axis = root.node.attributes.get("axis") if root.node else None
        return root.out(axis) if isinstance(axis, int) and axis >= 0 else None

    def _window(self, root: Root) -> int | None:
        """The tokens that are kept, where a Slice on the way counts from the end."""
        starts = [self._shapes.values.get(name) for node in root.slices for name in node.inputs[1:2]]
        found = [known.value.reshape(-1).tolist() for known in starts if known is not None and known.value is not None]
        return next((-start for each in found for start in each if type(start) is int and start < 0), None)

    def _by_writing(self, root: Root, ending: _Ending, value: Value) -> Iterator[Pair]:
        """An input of fixed length that new tokens are written into, which attention looks at."""
        assert root.node is not None
        for at in operator_of(root.node).overwrites:
            axis = self._written(root.node, at)
            axis = root.out(axis) if axis is not None else None
            for past in self._overwritten(root, at) if axis is not None else ():
                same = self._shapes.values[past].concrete == ending.known.concrete
                if same and axis is not None and is_attended(root.scope, root.node.outputs[0]):
                    yield Pair(past, value.name, ending.known, (axis,))

    def _overwritten(self, root: Root, at: int) -> Iterator[str]:
        """The inputs that a chain of writes begins with."""
        waiting = [root]
        while waiting and len(waiting) < _MOST_WRITES:
            node, scope = waiting[-1].node, waiting.pop().scope
            names = node.inputs[at : at + 1] if node is not None else ()
            found = [each for name in names for each in roots(scope, name)]
            yield from (each.name for each in found if each.node is None)
            waiting.extend(each for each in found if each.node is not None and operator_of(each.node).overwrites)

    def _written(self, node: Node, at: int) -> int | None:
        """The axis along which a node writes: the one that it has an index for, or less of than there is."""
        if has_trait(node, Trait.SCATTERS_ALONG_AXIS):
            axis = node.attributes.get("axis", 0)
            return axis if isinstance(axis, int) and axis >= 0 else None
        data = self._dims(node, at)
        new = self._dims(node, 1 if node.is_op("ScatterND") else 3 - at)
        if not data or not new:
            return None
        places = new[:-1] if node.is_op("ScatterND") else new
        if node.is_op("ScatterND") and new[-1] == 1:
            return 0
        less = [axis for axis, (all_, some) in enumerate(zip(data, places)) if some < all_]
        return less[-1] if less and (node.is_op("ScatterND") or len(data) == len(new)) else None

    def _dims(self, node: Node, at: int) -> tuple[int, ...] | None:
        known = self._shapes.values.get(node.inputs[at]) if at < len(node.inputs) else None
        return known.concrete if known is not None else None

    def _by_first_run(self, ending: _Ending, value: Value) -> Iterator[Pair]:
        """Keys and values of a decoder's first run: attention looks at them, and they are as long as the tokens."""
        declared = (value.type.dims if value.type else None) or ()
        axis = self._tokens.axis(ending.known, declared) if len(ending.known.shape or ()) >= _HEADS_DIMS else None
        if axis is None or not self._tokens.are_in(ending.scope, ending.name):
            return
        # What attention looks at may be turned in another way, so it is asked of where both come from.
        if any(is_attended(root.scope, root.name) for root in roots(ending.scope, ending.name)):
            yield Pair(None, value.name, ending.known, (axis,))

    def _by_part(self, ending: _Ending, value: Value) -> Iterator[Pair]:
        """Only the new keys or values, which the caller joins to the past as the graph itself does for attention."""
        for root in roots(ending.scope, ending.name):
            past = self._parts.get((root.name, id(root.scope)))
            before = self._shapes.values[past].concrete if past else None
            new = ending.known.concrete or ()
            if past and before is not None and len(before) == len(new):
                grown = [at for at, (one, other) in enumerate(zip(before, new)) if one != other]
                if len(grown) == 1:
                    dims = tuple(one + other * (at in grown) for at, (one, other) in enumerate(zip(before, new)))
                    yield Pair(past, value.name, ValueInfo(ending.known.dtype, dims), (grown[0],))

    @cached_property
    def _parts(self) -> dict[tuple[str, int], str]:
        """What is joined to an input and looked at by attention: where it comes from, and the input."""
        found: dict[tuple[str, int], str] = {}
        for scope in self._scope.within():
            for node in scope.nodes:
                past = (
                    next(_inputs(scope, node.inputs), None) if has_trait(node, Trait.JOINS) and node.outputs else None
                )
                if past is not None and is_attended(scope, node.outputs[0]):
                    parts = (root for name in node.inputs for root in roots(scope, name) if root.node is not None)
                    found |= {(root.name, id(root.scope)): past for root in parts}
        return found


_MOST_WRITES: Final = 1000


def _axes(cached: KVCacheInputs, root: Root, known: ValueInfo) -> tuple[int, ...]:
    """The axes of tokens in the output. An attribute of the operator may name them."""
    rank = len(known.shape or ())
    named = root.node.attributes.get(cached.axis) if root.node and cached.axis else None
    axes = (named,) if isinstance(named, int) else cached.tokens
    found = (root.out(axis % rank) if root.turn else axis % rank for axis in axes)
    return tuple(axis for axis in found if axis is not None)


def _inputs(scope: Scope, names: Iterable[str]) -> Iterator[str]:
    """The inputs of the model that some values are, if only moved on the way."""
    for name in filter(None, names):
        yield from (root.name for root in roots(scope, name) if root.node is None)
