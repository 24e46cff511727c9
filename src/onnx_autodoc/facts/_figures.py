"""What depends on the sizes that were bound, and how it goes with them."""

from msgspec import Struct

from onnx_autodoc.facts.cache import Cache, cache
from onnx_autodoc.facts.cost import Costs
from onnx_autodoc.facts.formula import MOST_WORK, Formula, formula
from onnx_autodoc.facts.memory import Memory, memory
from onnx_autodoc.graph import Model
from onnx_autodoc.resolve import Binding, Shapes, resolve

_ALL = 14  # sizes at which a formula for every quantity may have to be tried


class Figures(Struct, frozen=True, eq=False):
    costs: Costs
    memory: Memory
    cache: Cache | None

    @classmethod
    def of(cls, model: Model, shapes: Shapes) -> "Figures":
        return cls(Costs(model, shapes), memory(model, shapes), cache(model, shapes))


def formulas(model: Model, binding: Binding, shapes: Shapes, figures: Figures) -> Formula:
    """Of a large graph, only what few sizes may tell: multiply-adds and the cache, not bytes and peaks."""
    every = shapes.work * _ALL <= MOST_WORK

    def measured(other: Binding) -> dict[str, tuple[int, ...]] | None:
        found = resolve(model, other)
        if found.contradictions:
            return None
        return _exact(Costs(model, found), memory(model, found) if every else None, cache(model, found))

    exact = {} if shapes.contradictions else _exact(figures.costs, figures.memory if every else None, figures.cache)
    return formula(model, binding, exact, shapes.work, measured)


def _exact(costs: Costs, used: Memory | None, kept: Cache | None) -> dict[str, tuple[int, ...]]:
    """What is known to the unit, by the name that the card gives it: numbers, the largest of which it is.

    Nothing, where sizes pick a branch: what holds at all sizes that are tried need not hold at others.
    """
    total, found = costs.total, dict[str, tuple[int, ...]]()
    if total.sized:
        return found
    if not any(missing.macs for missing in total.missing.values()):
        found["macs"] = (total.macs,)
    if not total.missing:
        found["flops"] = (total.flops,)
    if used is not None and not total.unmoved:
        found["bytes_moved"] = (total.read + total.written,)
    if used is not None and not used.unknown and used.moments:
        found["peak_activation_bytes"] = used.moments
    return found | ({"kv_cache_bytes": (kept.nbytes,)} if kept else {})
