"""The figures of a model that depend on its sizes: costs, memory and KV cache, at the card's sizes and at others.

Bookkeeping nodes and the order in which values come and go are the same at all sizes, as long as no node runs a
subgraph. For such graphs both are computed once, and at other sizes only numbers are computed.
"""

from collections.abc import Mapping
from itertools import accumulate
from typing import Final, cast

from msgspec import Struct, structs

from onnx_autodoc.analysis.cost import Costs
from onnx_autodoc.analysis.cost_sum import PriceCache, known_or_zero
from onnx_autodoc.analysis.data_flow import main_data_flow
from onnx_autodoc.analysis.formula import MAX_AXES, PEAK, Breakdown, Formula, fit_formula, total_of
from onnx_autodoc.analysis.kv_cache import Cache, cache
from onnx_autodoc.analysis.liveness import Liveness, main_liveness
from onnx_autodoc.analysis.memory import Memory, memory
from onnx_autodoc.analysis.size_variables import SizeVariables
from onnx_autodoc.ir import Model
from onnx_autodoc.ops import Dim, Trait, Unknown, has_trait, nbytes
from onnx_autodoc.shapes import Binding, Role, Shapes, infer_shapes

BATCHES: Final = (1, 2, 4, 8, 16, 32, 64, 128)
_MAX_NODES: Final = 100_000
_MAX_BATCH_WORK: Final = 12_000  # rules applied, inputs and outputs read at all batches: above, only a formula is used


class Figures(Struct, frozen=True, eq=False):
    costs: Costs
    memory: Memory
    cache: Cache | None

    @classmethod
    def of(cls, model: Model, shapes: Shapes) -> "Figures":
        return cls(Costs(model, shapes), memory(model, shapes), cache(model, shapes))

    def exact(self) -> dict[str, int]:
        """Return the figures that are neither unknown nor lower bounds, by their name on the card."""
        total, used, exact = self.costs.total, self.memory, dict[str, int]()
        if not any(missing.macs for missing in total.missing.values()):
            exact["macs"] = total.macs
        if not total.missing:
            exact["flops"] = total.flops
        if not total.unmoved:
            exact["bytes_moved"] = total.read + total.written
        if not used.unknown and used.peak is not None:
            exact[PEAK] = used.peak.nbytes
        return exact | ({"kv_cache_bytes": self.cache.nbytes} if self.cache else {})

    def break_down(self) -> Breakdown:
        """Return the exact figures by node; none where functions that are called often make too many nodes."""
        if self.costs.total.nodes > _MAX_NODES:
            return {}
        costs = [row.cost for row in self.costs.rows() if row.cost is not None]
        numbers = {
            "macs": tuple(known_or_zero(cost.macs) for cost in costs),
            "flops": tuple(known_or_zero(cost.flops) for cost in costs),
            "bytes_moved": tuple(known_or_zero(number) for cost in costs for number in (cost.read, cost.written)),
            PEAK: self.memory.levels,
            "kv_cache_bytes": (self.cache.nbytes if self.cache else 0,),
        }
        return {name: numbers[name] for name in self.exact() if numbers[name]}


class FiguresBySize:
    """The figures of one model at the sizes of its card and at others."""

    def __init__(self, model: Model, binding: Binding, shapes: Shapes, figures: Figures) -> None:
        self.model, self.binding, self.work = model, binding, shapes.work
        self.own, self._shapes = None if shapes.contradictions else figures, shapes
        self._flat: FlatGraph | None = None

    def exact_at(self, other: Binding) -> dict[str, int]:
        """Return the exact figures with another binding; none where the model does not run."""
        if self.own is not None and other.axes == self.binding.axes:
            return self.own.exact()
        shapes = infer_shapes(self.model, other, self._shapes.calls)
        if shapes.contradictions:
            return {}
        if is_flat(shapes):
            parts = self._break_down_flat(shapes)
            return {name: total_of(name, parts) for name in parts}
        return self._figures(shapes).exact()

    def fit_formula(self, role: Role | None = None) -> Formula:
        """Fit formulas in all dynamic sizes, or in those of one role only."""
        parts: Breakdown = {}
        if self.own and is_flat(self._shapes) and not self.own.costs.total.sized:
            flat, exact = self._break_down_flat(self._shapes), self.own.exact()
            parts = {name: numbers for name, numbers in flat.items() if name in exact}
        elif self.own:
            parts = _size_independent_parts(self.own)
        return fit_formula(self.model, self.binding, parts, self.work, self._break_down_at, role)

    def _break_down_at(self, other: Binding) -> Breakdown:
        shapes = infer_shapes(self.model, other, self._shapes.calls)
        if shapes.contradictions:
            return {}
        return self._break_down_flat(shapes) if is_flat(shapes) else _size_independent_parts(self._figures(shapes))

    def _break_down_flat(self, shapes: Shapes) -> Breakdown:
        self._flat = self._flat or FlatGraph(self.model, self._shapes, self.own)
        kv_cache, parts = self._cache_at(shapes), self._flat.break_down(shapes)
        return parts | ({"kv_cache_bytes": (kv_cache.nbytes,)} if kv_cache else {}) if parts is not None else {}

    def _figures(self, shapes: Shapes) -> Figures:
        return Figures(Costs(self.model, shapes), memory(self.model, shapes), self._cache_at(shapes))

    def _cache_at(self, shapes: Shapes) -> Cache | None:
        """Return the cache with the bytes of the outputs that are all of the cache on the card, if these exist."""
        if self.own is not None and shapes is self._shapes:
            return self.own.cache
        own = self.own.cache if self.own else None
        if own is not None and own.nbytes == _total_bytes(own, self._shapes):
            stored = _total_bytes(own, shapes)
            if not isinstance(stored, Unknown):
                return structs.replace(own, nbytes=stored)
        return cache(self.model, shapes)


def _total_bytes(kv_cache: Cache, shapes: Shapes) -> Dim:
    return sum((nbytes(shapes.values[name]) for name in kv_cache.tensors), start=0)


def _size_independent_parts(figures: Figures) -> Breakdown:
    """Return none where sizes select which branch runs: samples prove nothing for other sizes then."""
    return {} if figures.costs.total.sized else figures.break_down()


def is_flat(shapes: Shapes) -> bool:
    """Return whether no node runs a subgraph or a function."""
    return all(not step.bodies and step.at == at for at, step in enumerate(shapes.steps))


class FlatGraph:
    """A graph without subgraphs: which nodes are bookkeeping, and in which order its values come and go.

    `shapes` and `figures` are those of the card.
    """

    def __init__(self, model: Model, shapes: Shapes, figures: Figures | None = None) -> None:
        self._prices = PriceCache()
        flow = figures.costs.flow if figures else main_data_flow(model, shapes.steps)
        self._bookkeeping = flow.bookkeeping
        self._size_queries = [at for at, step in enumerate(shapes.steps) if has_trait(step.node, Trait.SHAPE_QUERY)]
        self._unknown_sizes = self._find_unknown_sizes(shapes)
        self._find_moves(figures.memory.liveness if figures else main_liveness(model, shapes))

    def _find_moves(self, liveness: Liveness) -> None:
        self._inputs = list(liveness.inputs)
        self._allocations: list[tuple[int, int]] = []  # (index of a node, index of its output)
        alive = {name: at for at, name in enumerate(self._inputs)}
        self._moves = list(alive.values())  # places in the list of sizes; ~place where a value is freed
        for at, step in enumerate(liveness.steps):
            allocated = [name for name, _ in liveness.allocated(step)]
            places = {name: place for place, name in reversed(list(enumerate(step.node.outputs)))} if allocated else {}
            for name in allocated:
                alive[name] = len(self._inputs) + len(self._allocations)
                self._moves.append(alive[name])
                self._allocations.append((step.at, places[name]))
            self._moves += (~alive.pop(name) for name in liveness.freed_after(at, allocated) if name in alive)

    def break_down(self, shapes: Shapes) -> dict[str, tuple[int, ...]] | None:
        """Return the exact figures by node; None where other nodes are bookkeeping than on the card."""
        if self._find_unknown_sizes(shapes) != self._unknown_sizes:
            return None
        costs = [self._prices.of(step, at in self._bookkeeping).cost for at, step in enumerate(shapes.steps)]
        flops = {key: cost.flops for key, cost in {id(cost): cost for cost in costs}.items()}
        numbers: dict[str, list[Dim]] = {
            "macs": [cost.macs for cost in costs],
            "flops": [flops[id(cost)] for cost in costs],
            "bytes_moved": [0 if number is None else number for cost in costs for number in (cost.read, cost.written)],
            PEAK: self._levels(shapes),
        }
        exact = {name: cast("list[int]", many) for name, many in numbers.items() if set(map(type, many)) == {int}}
        return {name: tuple(many) for name, many in exact.items()}

    def _find_unknown_sizes(self, shapes: Shapes) -> list[int]:
        """Return the nodes that read a size which is unknown before the run: their results vary like data."""
        queried = ((at, shapes.steps[at].inputs[:1]) for at in self._size_queries)
        return [at for at, first in queried if first and first[0] is not None and first[0].concrete is None]

    def _levels(self, shapes: Shapes) -> list[Dim]:
        """Return the bytes in use after each value that comes or goes."""
        values = [shapes.values[name] for name in self._inputs]
        values += (shapes.steps[at].outputs[which] for at, which in self._allocations)
        size_of: dict[int, int] = {}  # by the id of a value: equal calls share their outputs
        for key, value in {id(value): value for value in values}.items():
            size = nbytes(value)
            if isinstance(size, Unknown):
                return [size]
            size_of[key] = size
        sizes = [size_of[id(value)] for value in values]
        return list(accumulate(sizes[move] if move >= 0 else -sizes[~move] for move in self._moves))


class BatchFigures(Struct, frozen=True):
    """The exact figures at one batch, by their name on the card."""

    batch: int
    figures: Mapping[str, int]


def scaling(sizes: FiguresBySize, formula: Formula) -> tuple[BatchFigures, ...]:
    """Return the figures at each batch, with every other size as on the card; none where the batch is fixed.

    Figures without a formula are evaluated at each of these batches; in a large graph, by a formula in the batch only.
    """
    if len(sizes.binding.axes) > MAX_AXES:
        return ()
    variables = SizeVariables(sizes.model, sizes.binding)
    variables.all = tuple(variable for variable in variables.all if variable.role is Role.BATCH)
    if not variables.all or sizes.own is None:
        return ()
    rows = _evaluate_formula(formula)
    if sizes.own.exact().keys() - formula.terms.keys() or not rows:
        if (sizes.work + sizes.model.graph.port_count) * len(BATCHES) > _MAX_BATCH_WORK:
            more = _evaluate_formula(sizes.fit_formula(Role.BATCH))
        else:
            names = [variable.name for variable in variables.all]
            more = {batch: sizes.exact_at(variables.bind(dict.fromkeys(names, batch))) for batch in BATCHES}
        rows = {batch: {**more.get(batch, {}), **rows.get(batch, {})} for batch in BATCHES}
    figures = tuple(BatchFigures(batch, rows[batch]) for batch in BATCHES if rows.get(batch))
    return figures if len(figures) > 1 else ()


def _evaluate_formula(formula: Formula) -> dict[int, dict[str, int]]:
    """Return the figures by batch, if the formula was checked at the largest: it may end at a size in between."""
    names = [variable.name for variable in formula.variables if variable.role is Role.BATCH]
    if not any(point[name] >= BATCHES[-1] for point in formula.checked_at for name in names):
        return {}
    return {batch: formula.at({Role.BATCH: batch}) for batch in BATCHES}
