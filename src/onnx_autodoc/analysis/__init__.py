"""Everything measured about one model, with gaps and assumptions; no opinion."""

from collections import Counter
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis._cost_sum import Missing, Spent, Tally
from onnx_autodoc.analysis._figures import Figures, Sizes
from onnx_autodoc.analysis._gaps import Gap, gaps, resolution
from onnx_autodoc.analysis._quantized import WeightGroup
from onnx_autodoc.analysis._variables import Variables
from onnx_autodoc.analysis._weights import Place
from onnx_autodoc.analysis.cache import Cache
from onnx_autodoc.analysis.connections import flow
from onnx_autodoc.analysis.cost import Costs, Row
from onnx_autodoc.analysis.depth import depth
from onnx_autodoc.analysis.formula import Formula
from onnx_autodoc.analysis.memory import Memory
from onnx_autodoc.analysis.parameters import Parameters, Share, parameters
from onnx_autodoc.analysis.precision import Precision, precision
from onnx_autodoc.analysis.scaling import Scaled, scaling
from onnx_autodoc.ir import Model, all_graphs
from onnx_autodoc.shapes import Binding, Role, Shapes, at_any_size

__all__ = [
    "Cache",
    "Costs",
    "Facts",
    "Figures",
    "Formula",
    "Gap",
    "Memory",
    "Missing",
    "Parameters",
    "Place",
    "Precision",
    "Row",
    "Scaled",
    "Share",
    "Spent",
    "Tally",
    "WeightGroup",
    "binding_at",
    "figures_at",
    "measure",
]

_MAIN: Final = {"macs", "kv_cache_bytes"}


class Facts(Struct, frozen=True, eq=False):
    model: Model
    binding: Binding
    shapes: Shapes
    lasting: Shapes  # at any size, where something contradicts itself: the open dimensions left open
    precision: Precision
    depth: int
    nodes_total: int
    operators: tuple[tuple[str, str, int], ...]  # (domain, operator, how many), most first
    flow: tuple[tuple[str, str, int], ...]  # (operator, operator that reads it, how often), most first
    resolved: int  # node outputs whose dims are all known, of those that run
    outputs: int
    parameters: Parameters
    costs: Costs
    memory: Memory
    cache: Cache | None
    formula: Formula
    scaling: tuple[Scaled, ...]
    gaps: tuple[Gap, ...]


def figures_at(facts: Facts, sizes: Mapping[Role, int]) -> dict[str, int]:
    """What is known to the unit with other sizes for the open dimensions of some roles; nothing where it does not run.

    By the formula where there is one, else worked out anew.
    """
    if facts.formula.terms.keys() >= _MAIN and sizes.keys() <= {each.role for each in facts.formula.variables}:
        return facts.formula.at(sizes)
    own = Figures(facts.costs, facts.memory, facts.cache)
    return Sizes(facts.model, facts.binding, facts.shapes, own).known_at(binding_at(facts, sizes))


def binding_at(facts: Facts, sizes: Mapping[Role, int]) -> Binding:
    """The card's, with other sizes for the open dimensions of some roles."""
    variables = Variables(facts.model, facts.binding)
    return variables.at({each.name: sizes[each.role] for each in variables.all if each.role in sizes})


def measure(model: Model, binding: Binding, shapes: Shapes) -> Facts:
    counts = Counter((node.domain, node.op) for graph in all_graphs(model) for node in graph.nodes)
    operators = sorted(((*key, count) for key, count in counts.items()), key=lambda row: (-row[2], row[1], row[0]))
    resolved, outputs, reasons = resolution(shapes)
    weights, figures = parameters(model), Figures.of(model, shapes)
    sizes = Sizes(model, binding, shapes, figures)
    found, lasting = sizes.formula(), at_any_size(model, binding, shapes)
    return Facts(
        model=model,
        binding=binding,
        shapes=shapes,
        lasting=lasting,
        precision=precision(model, weights),
        depth=depth(model),
        nodes_total=sum(counts.values()),
        operators=tuple(operators),
        flow=flow(model),
        resolved=resolved,
        outputs=outputs,
        parameters=weights,
        costs=figures.costs,
        memory=figures.memory,
        cache=figures.cache,
        formula=found,
        scaling=scaling(sizes, found),
        gaps=tuple(gaps(model, binding, (shapes, lasting), reasons, figures, weights.doubtful)),
    )
