"""The figures of a model that depend on its sizes: costs, memory and KV cache, at the card's sizes and at others.

Bookkeeping nodes and the order in which values come and go are the same at all sizes, as long as no node runs a
subgraph. For such graphs both are found once, and at other sizes only numbers are left to compute.
"""

from itertools import accumulate
from typing import Final

from msgspec import Struct, structs

from onnx_autodoc.analysis.cost import Costs
from onnx_autodoc.analysis.cost_sum import known
from onnx_autodoc.analysis.data_flow import main_data_flow
from onnx_autodoc.analysis.formula import PEAK, Breakdown, Formula, fit_formula, total_of
from onnx_autodoc.analysis.kv_cache import Cache, cache
from onnx_autodoc.analysis.liveness import Liveness, main_liveness
from onnx_autodoc.analysis.memory import Memory, memory
from onnx_autodoc.analysis.node_cost import PriceCache
from onnx_autodoc.ir import Model
from onnx_autodoc.ops import Dim, Trait, Unknown, has_trait, nbytes
from onnx_autodoc.shapes import Binding, Role, Shapes, Step, infer_shapes

_MAX_NODES: Final = 100_000


class Figures(Struct, frozen=True, eq=False):
    costs: Costs
    memory: Memory
    cache: Cache | None

    @classmethod
    def of(cls, model: Model, shapes: Shapes) -> "Figures":
        return cls(Costs(model, shapes), memory(model, shapes), cache(model, shapes))

    def exact(self) -> dict[str, int]:
        """The figures that are neither unknown nor lower bounds, by their name on the card."""
        total, used, found = self.costs.total, self.memory, dict[str, int]()
        if not any(missing.macs for missing in total.missing.values()):
            found["macs"] = total.macs
        if not total.missing:
            found["flops"] = total.flops
        if not total.unmoved:
            found["bytes_moved"] = total.read + total.written
        if not used.unknown and used.peak is not None:
            found[PEAK] = used.peak.nbytes
        return found | ({"kv_cache_bytes": self.cache.nbytes} if self.cache else {})

    def break_down(self) -> Breakdown:
        """The exact figures by node; empty where functions that are called often make too many nodes."""
        if self.costs.total.nodes > _MAX_NODES:
            return {}
        costs = [row.cost for row in self.costs.rows() if row.cost is not None]
        every = {
            "macs": tuple(known(cost.macs) for cost in costs),
            "flops": tuple(known(cost.flops) for cost in costs),
            "bytes_moved": tuple(known(number) for cost in costs for number in (cost.read, cost.written)),
            PEAK: self.memory.levels,
            "kv_cache_bytes": (self.cache.nbytes if self.cache else 0,),
        }
        return {name: every[name] for name in self.exact() if every[name]}


class FiguresBySize:
    """The figures of one model at the sizes of its card and at others."""

    def __init__(self, model: Model, binding: Binding, shapes: Shapes, figures: Figures) -> None:
        self.model, self.binding, self.work = model, binding, shapes.work
        self.own, self._shapes = None if shapes.contradictions else figures, shapes
        self._flat: FlatGraph | None = None

    def exact_at(self, other: Binding) -> dict[str, int]:
        """Empty where the model does not run."""
        if self.own is not None and other.axes == self.binding.axes:
            return self.own.exact()
        shapes = infer_shapes(self.model, other, self._shapes.calls)
        if is_flat(shapes):
            parts = self._flat_breakdown(shapes)
            return {name: total_of(name, parts) for name in parts}
        return {} if shapes.contradictions else self._figures(shapes).exact()

    def fit_formula(self, role: Role | None = None) -> Formula:
        """In all dynamic sizes, or in those of one role alone, all others as they are."""
        return fit_formula(self.model, self.binding, _size_independent(self.own), self.work, self._breakdown_at, role)

    def _breakdown_at(self, other: Binding) -> Breakdown:
        shapes = infer_shapes(self.model, other, self._shapes.calls)
        if is_flat(shapes):
            return self._flat_breakdown(shapes)
        return {} if shapes.contradictions else _size_independent(self._figures(shapes))

    def _flat_breakdown(self, shapes: Shapes) -> Breakdown:
        if shapes.contradictions:
            return {}
        self._flat = self._flat or FlatGraph(self.model, self._shapes, self.own)
        kept, parts = self._cache_at(shapes), self._flat.break_down(shapes)
        return parts | ({"kv_cache_bytes": (kept.nbytes,)} if kept else {}) if parts is not None else {}

    def _figures(self, shapes: Shapes) -> Figures:
        return Figures(Costs(self.model, shapes), memory(self.model, shapes), self._cache_at(shapes))

    def _cache_at(self, shapes: Shapes) -> Cache | None:
        """By the bytes of the outputs that are the cache on the card, where these are all of it there."""
        kept = self.own.cache if self.own else None
        if kept is None or kept.nbytes != _total_bytes(kept, self._shapes):
            return cache(self.model, shapes)
        stored = _total_bytes(kept, shapes)
        return cache(self.model, shapes) if isinstance(stored, Unknown) else structs.replace(kept, nbytes=stored)


def _total_bytes(kept: Cache, shapes: Shapes) -> Dim:
    return sum((nbytes(shapes.values[name]) for name in kept.tensors), start=0)


def _size_independent(figures: Figures | None) -> Breakdown:
    """Empty where sizes decide which branch runs: sampled sizes prove nothing for others."""
    return {} if figures is None or figures.costs.total.sized else figures.break_down()


def is_flat(shapes: Shapes) -> bool:
    """Whether no node runs a subgraph or a function."""
    return all(not step.bodies and step.at == at for at, step in enumerate(shapes.steps))


class FlatGraph:
    """A graph without subgraphs: which nodes are bookkeeping, and in which order its values come and go.

    `shapes` and `figures` are those of the card.
    """

    def __init__(self, model: Model, shapes: Shapes, figures: Figures | None = None) -> None:
        self._prices = PriceCache()
        flow = figures.costs.flow if figures else main_data_flow(model, shapes.steps)
        self._bookkeeping = flow.bookkeeping
        self._sizing = [at for at, step in enumerate(shapes.steps) if has_trait(step.node, Trait.SHAPE_QUERY)]
        self._unknown_sizes = self._find_unknown_sizes(shapes)
        self._find_moves(figures.memory.liveness if figures else main_liveness(model, shapes))

    def _find_moves(self, liveness: Liveness) -> None:
        self._inputs = list(liveness.inputs)
        self._made: list[tuple[int, int]] = []  # (place of a node, which of its outputs)
        alive = {name: at for at, name in enumerate(self._inputs)}
        self._moves = list(alive.values())  # places in the list of sizes; ~place where a value is freed
        for at, step in enumerate(liveness.steps):
            made = [name for name, _ in liveness.made(step)]
            for name in made:
                alive[name] = len(self._inputs) + len(self._made)
                self._moves.append(alive[name])
                self._made.append((step.at, step.node.outputs.index(name)))
            self._moves += (~alive.pop(name) for name in liveness.gone(at, made) if name in alive)

    def break_down(self, shapes: Shapes) -> dict[str, tuple[int, ...]] | None:
        """The exact figures by node; None where other nodes are bookkeeping than on the card."""
        if self._find_unknown_sizes(shapes) != self._unknown_sizes:
            return None
        costs = [self._prices.of(step, at in self._bookkeeping).cost for at, step in enumerate(shapes.steps)]
        flops = {key: cost.flops for key, cost in {id(cost): cost for cost in costs}.items()}
        every: dict[str, list[Dim]] = {
            "macs": [cost.macs for cost in costs],
            "flops": [flops[id(cost)] for cost in costs],
            "bytes_moved": [0 if number is None else number for cost in costs for number in (cost.read, cost.written)],
            PEAK: self._levels(shapes),
        }
        found = {name: tuple(number for number in numbers if type(number) is int) for name, numbers in every.items()}
        return {name: numbers for name, numbers in found.items() if numbers and len(numbers) == len(every[name])}

    def _find_unknown_sizes(self, shapes: Shapes) -> list[int]:
        """Nodes that read a size which is unknown before the run: their results vary like data."""
        return [at for at in self._sizing if _reads_unknown_size(shapes.steps[at])]

    def _levels(self, shapes: Shapes) -> list[Dim]:
        """The bytes in use after each value that comes or goes."""
        values = [shapes.values[name] for name in self._inputs]
        values += (shapes.steps[at].outputs[which] for at, which in self._made)
        size_of: dict[int, int] = {}  # by the id of a value: equal calls share their outputs
        for key, value in {id(value): value for value in values}.items():
            size = nbytes(value)
            if isinstance(size, Unknown):
                return [size]
            size_of[key] = size
        sizes = [size_of[id(value)] for value in values]
        return list(accumulate(sizes[move] if move >= 0 else -sizes[~move] for move in self._moves))


def _reads_unknown_size(step: Step) -> bool:
    return bool(step.inputs) and step.inputs[0] is not None and step.inputs[0].concrete is None
