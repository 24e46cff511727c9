"""What depends on the sizes that were bound, and how it goes with them."""

from typing import Final

from msgspec import Struct, structs

from onnx_autodoc.analysis._cost_sum import known
from onnx_autodoc.analysis._fitting import PEAK, Parts, value_of
from onnx_autodoc.analysis._recost import Again, is_plain
from onnx_autodoc.analysis.cache import Cache, cache
from onnx_autodoc.analysis.cost import Costs
from onnx_autodoc.analysis.formula import Formula, formula
from onnx_autodoc.analysis.memory import Memory, memory
from onnx_autodoc.ir import Model
from onnx_autodoc.ops import Dim, Unknown, nbytes
from onnx_autodoc.shapes import Binding, Role, Shapes, resolve

_MOST_NODES: Final = 100_000


class Figures(Struct, frozen=True, eq=False):
    costs: Costs
    memory: Memory
    cache: Cache | None

    @classmethod
    def of(cls, model: Model, shapes: Shapes) -> "Figures":
        return cls(Costs(model, shapes), memory(model, shapes), cache(model, shapes))

    def known(self) -> dict[str, int]:
        """What is known to the unit, by the name that the card gives it."""
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

    def parts(self) -> Parts:
        """The same by node: numbers whose sum it is, and of what is alive, the largest of which is the peak.

        Nothing, where functions that are called often make very many nodes.
        """
        if self.costs.total.nodes > _MOST_NODES:
            return {}
        costs = [row.cost for row in self.costs.rows() if row.cost is not None]
        every = {
            "macs": tuple(known(cost.macs) for cost in costs),
            "flops": tuple(known(cost.flops) for cost in costs),
            "bytes_moved": tuple(known(number) for cost in costs for number in (cost.read, cost.written)),
            PEAK: self.memory.levels,
            "kv_cache_bytes": (self.cache.nbytes if self.cache else 0,),
        }
        return {name: every[name] for name in self.known() if every[name]}


class Sizes:
    """The figures of one model at the sizes of its card and at others."""

    def __init__(self, model: Model, binding: Binding, shapes: Shapes, figures: Figures) -> None:
        self.model, self.binding, self.work = model, binding, shapes.work
        self.own, self._shapes = None if shapes.contradictions else figures, shapes
        self._again: Again | None = None

    def known_at(self, other: Binding) -> dict[str, int]:
        """What is known to the unit; nothing where it does not run."""
        if self.own is not None and other.axes == self.binding.axes:
            return self.own.known()
        found = resolve(self.model, other)
        if is_plain(found.steps):
            parts = self._plainly(found)
            return {name: value_of(name, parts) for name in parts}
        return {} if found.contradictions else self._figures(found).known()

    def _parts_at(self, other: Binding) -> Parts:
        found = resolve(self.model, other)
        if is_plain(found.steps):
            return self._plainly(found)
        return {} if found.contradictions else _steady(self._figures(found))

    def _plainly(self, found: Shapes) -> Parts:
        if found.contradictions:
            return {}
        self._again = self._again or Again(self.model, self._shapes)
        kept, parts = self._kept(found), self._again.parts(found)
        return parts | ({"kv_cache_bytes": (kept.nbytes,)} if kept else {}) if parts is not None else {}

    def _figures(self, found: Shapes) -> Figures:
        return Figures(Costs(self.model, found), memory(self.model, found), self._kept(found))

    def _kept(self, shapes: Shapes) -> Cache | None:
        """The cache at other sizes: the same outputs, whose bytes are enough to know where they were on the card."""
        kept = self.own.cache if self.own else None
        if kept is None or kept.nbytes != self._stored(kept, self._shapes):
            return cache(self.model, shapes)
        stored = self._stored(kept, shapes)
        return cache(self.model, shapes) if isinstance(stored, Unknown) else structs.replace(kept, nbytes=stored)

    def _stored(self, kept: Cache, shapes: Shapes) -> Dim:
        return sum((nbytes(shapes.values[name]) for name in kept.tensors), start=0)

    def formula(self, role: Role | None = None) -> Formula:
        """In all open sizes, or in those of one role alone, all others as they are."""
        return formula(self.model, self.binding, _steady(self.own), self.work, self._parts_at, role)


def _steady(figures: Figures | None) -> Parts:
    """Nothing, where sizes pick a branch: what holds at all sizes that are tried need not hold at others."""
    return {} if figures is None or figures.costs.total.sized else figures.parts()
