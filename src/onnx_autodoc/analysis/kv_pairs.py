"""The tensors of a key-value cache: the inputs and outputs that hold it, and how the graph proves it."""

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis.attention_span import Tokens, is_attended
from onnx_autodoc.analysis.value_origins import Root, Scope, main_scope, roots
from onnx_autodoc.ir import Model, Node
from onnx_autodoc.ops import Trait, ValueInfo, find, has_trait, operator_of
from onnx_autodoc.shapes import Shapes, Step, required_inputs

_MIN_DIMS: Final = 3  # batch, tokens, and the size of each
_MIN_HEAD_DIMS: Final = 4  # and heads
_MAX_JOINS: Final = 2  # keys with values, then layers: between a cache and the output that holds it
_MAX_WRITES: Final = 1000


class Pair(Struct, frozen=True):
    """A tensor of the cache: its input (None where the cache begins here), its output, and its axes of tokens."""

    past: str | None
    present: str
    known: ValueInfo
    tokens: tuple[int, ...]
    window: int | None = None  # the number of tokens after which older ones are dropped


class _Ending(Struct, frozen=True):
    """An output of the model as one branch computes it."""

    scope: Scope
    name: str
    output: str
    known: ValueInfo
    dims: tuple[int, ...]


class Pairs:
    def __init__(self, model: Model, shapes: Shapes) -> None:
        self._model, self._shapes = model, shapes
        self._scope = main_scope(model, (value.name for value in required_inputs(model)))
        self._tokens = Tokens(model, shapes, self._scope)
        self._producers: dict[int, dict[str, tuple[Step, ValueInfo]]] = {}  # by the id of steps

    def all(self) -> Iterator[Pair]:
        """Yield for each output the first pair that is proved in any branch, by the strongest proof."""
        for value in self._model.graph.outputs:
            known = self._shapes.values.get(value.name)
            if known is None or (known.shape is not None and len(known.shape) < _MIN_DIMS):
                continue
            endings = [
                _Ending(scope, name, value.name, info, info.concrete)
                for scope, name, info in self._branch_outputs(self._scope, self._shapes.steps, value.name, known)
                if info.concrete
            ]
            declared = (value.type.dims if value.type else None) or ()
            pairs = chain(
                (pair for ending in endings for pair in self._by_joins(ending)),
                (pair for ending in endings for pair in self._by_first_run(ending, declared)),
                (pair for ending in endings for pair in self._by_part(ending)),
            )
            yield from islice(pairs, 1)

    def _branch_outputs(
        self, scope: Scope, steps: tuple[Step, ...], name: str, known: ValueInfo
    ) -> Iterator[tuple[Scope, str, ValueInfo]]:
        """Yield an output, or where branches compute it, that of each branch, the one that runs first."""
        if id(steps) not in self._producers:
            pairs = ((step, zip(step.node.outputs, step.outputs)) for step in steps)
            self._producers[id(steps)] = {output: (step, info) for step, outputs in pairs for output, info in outputs}
        step, known = self._producers[id(steps)].get(name, (None, known))
        if step is None or not step.node.is_op("If"):
            yield scope, name, known
            return
        graphs, at = dict(step.node.subgraphs()), step.node.outputs.index(name)
        for body in sorted(step.bodies, key=lambda body: body.times == 0):
            graph = graphs[body.name]
            if at < len(graph.outputs):
                inner = scope.enter(step.node, graph)
                yield from self._branch_outputs(inner, body.steps, graph.outputs[at].name, known)

    def _dims(self, name: str) -> tuple[int, ...] | None:
        known = self._shapes.values.get(name)
        return known.concrete if known is not None else None

    def _by_joins(self, ending: _Ending) -> Iterator[Pair]:
        """Yield caches that operators return, extend or update in place; also stacked with others in one tensor."""
        waiting = [(ending.scope, ending.name, 0)]
        while waiting:
            scope, name, depth = waiting.pop()
            for root in roots(scope, name):
                if root.node is None or depth > _MAX_JOINS:
                    continue
                yield from self._by_operator(root, root.node, ending)
                if has_trait(root.node, Trait.JOINS):
                    yield from self._by_growth(root, root.node, ending)
                    waiting.extend((root.scope, source, depth + 1) for source in root.node.inputs)
                elif operator_of(root.node).overwrites:
                    yield from self._by_update(root, root.node, ending)

    def _by_operator(self, root: Root, node: Node, ending: _Ending) -> Iterator[Pair]:
        """Yield the cache of an operator that has one. Without an input it must be computed from tokens."""
        entry = find(node.domain, node.op)
        rank = len(ending.known.shape or ())
        for cached in entry.kv_caches if entry is not None else ():
            past = node.inputs[cached.past : cached.past + 1]
            if cached.present == root.at and (any(past) or self._tokens.are_in(ending.scope, ending.name)):
                attribute = node.attributes.get(cached.axis) if cached.axis else None
                axes = (attribute,) if isinstance(attribute, int) else cached.tokens
                tokens = (root.axis_in_value(axis % rank) if root.axes else axis % rank for axis in axes)
                axes = tuple(axis for axis in tokens if axis is not None)
                yield Pair(next(_model_inputs(root.scope, past), None), ending.output, ending.known, axes)

    def _by_growth(self, root: Root, node: Node, ending: _Ending) -> Iterator[Pair]:
        """Yield an input that attention reads after more was joined to it along one axis."""
        pasts = [(past, self._shapes.values[past].concrete) for past in _model_inputs(root.scope, node.inputs)]
        after = ending.dims
        pairs = [(past, before) for past, before in pasts if before is not None and len(before) == len(after)]
        if not pairs or not is_attended(root.scope, node.outputs[0]):
            return
        for past, before in pairs:
            grown = [at for at, size in enumerate(before) if size != after[at]]
            axis = grown[0] if grown else _axis_of(node, root)
            if axis is not None and len(grown) <= 1:
                window = self._window(root) if after[axis] > before[axis] else after[axis]
                if window is None or self._tokens.exist:
                    yield Pair(past, ending.output, ending.known, (axis,), window)

    def _window(self, root: Root) -> int | None:
        """Return how many tokens a Slice on the way keeps, if it counts from the end."""
        starts = [self._shapes.values.get(name) for node in root.slices for name in node.inputs[1:2]]
        values = [known.value.reshape(-1).tolist() for known in starts if known is not None and known.value is not None]
        return next((-start for numbers in values for start in numbers if type(start) is int and start < 0), None)

    def _by_update(self, root: Root, node: Node, ending: _Ending) -> Iterator[Pair]:
        """Yield an input of fixed length into which new tokens are written, and which attention reads."""
        for at in operator_of(node).overwrites:
            axis = self._written_axis(node, at)
            axis = root.axis_in_value(axis) if axis is not None else None
            for past in self._overwritten(root, at) if axis is not None else ():
                same = self._shapes.values[past].concrete == ending.dims
                if same and axis is not None and is_attended(root.scope, node.outputs[0]):
                    yield Pair(past, ending.output, ending.known, (axis,))

    def _overwritten(self, root: Root, at: int) -> Iterator[str]:
        """Yield the inputs of the model with which a chain of writes begins."""
        waiting = [root]
        while waiting and len(waiting) < _MAX_WRITES:
            node, scope = waiting[-1].node, waiting.pop().scope
            for name in node.inputs[at : at + 1] if node is not None else ():
                sources = list(roots(scope, name))
                yield from (source.name for source in sources if source.node is None)
                waiting += (source for source in sources if source.node and operator_of(source.node).overwrites)

    def _written_axis(self, node: Node, at: int) -> int | None:
        """Return the axis along which a node writes: the one that it indexes, or along which it writes a part."""
        if has_trait(node, Trait.SCATTERS_ALONG_AXIS):
            axis = node.attributes.get("axis", 0)
            return axis if isinstance(axis, int) and axis >= 0 else None
        is_scatter = node.is_op("ScatterND")
        names = dict(enumerate(node.inputs))
        others = (other for other in operator_of(node).overwrites if other != at)
        data, new = self._dims(names.get(at, "")), self._dims(names.get(1 if is_scatter else next(others, -1), ""))
        if not data or not new:
            return None
        if is_scatter and new[-1] == 1:
            return 0
        partial = [axis for axis, (size, part) in enumerate(zip(data, new[:-1] if is_scatter else new)) if part < size]
        return partial[-1] if partial and (is_scatter or len(data) == len(new)) else None

    def _by_first_run(self, ending: _Ending, declared: tuple[int | str | None, ...]) -> Iterator[Pair]:
        """Yield keys and values of a decoder's prefill: attention reads them, and they are as long as the tokens."""
        axis = self._tokens.axis(ending.known, declared) if len(ending.dims) >= _MIN_HEAD_DIMS else None
        if axis is None or not self._tokens.are_in(ending.scope, ending.name):
            return
        # Attention may read another transpose of the output, so the roots of both are compared.
        if any(is_attended(root.scope, root.name) for root in roots(ending.scope, ending.name)):
            yield Pair(None, ending.output, ending.known, (axis,))

    def _by_part(self, ending: _Ending) -> Iterator[Pair]:
        """Yield new keys or values, which the caller joins to the past as the graph itself does for attention."""
        for root in roots(ending.scope, ending.name):
            past = self._parts.get((root.name, id(root.scope)))
            before, new = self._shapes.values[past].concrete if past else None, ending.dims
            if past and before is not None and len(before) == len(new):
                grown = [at for at, size in enumerate(before) if size != new[at]]
                if len(grown) == 1:
                    dims = tuple(size + new[at] * (at in grown) for at, size in enumerate(before))
                    yield Pair(past, ending.output, ValueInfo(ending.known.dtype, dims), (grown[0],))

    @cached_property
    def _parts(self) -> dict[tuple[str, int], str]:
        """The input to which a value is joined before attention reads it, by the root of the value."""
        inputs: dict[tuple[str, int], str] = {}
        for scope in self._scope.within():
            for node in scope.nodes:
                is_join = has_trait(node, Trait.JOINS) and node.outputs
                past = next(_model_inputs(scope, node.inputs), None) if is_join else None
                if past is not None and is_attended(scope, node.outputs[0]):
                    parts = (root for name in node.inputs for root in roots(scope, name) if root.node is not None)
                    inputs |= {(root.name, id(root.scope)): past for root in parts}
        return inputs


def _axis_of(node: Node, root: Root) -> int | None:
    axis = node.attributes.get("axis")
    return root.axis_in_value(axis) if isinstance(axis, int) and axis >= 0 else None


def _model_inputs(scope: Scope, names: Iterable[str]) -> Iterator[str]:
    """Yield the inputs of the model from which values are moved."""
    for name in filter(None, names):
        yield from (root.name for root in roots(scope, name) if root.node is None)
