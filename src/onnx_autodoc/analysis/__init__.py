"""Everything measured about one model, with gaps and assumptions; no opinion."""

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct

from onnx_autodoc.analysis.constants import Place
from onnx_autodoc.analysis.cost import Costs, Row
from onnx_autodoc.analysis.cost_sum import CostSum, OperatorCost, UncountedNodes
from onnx_autodoc.analysis.figures import BatchFigures, Figures, FiguresBySize, scaling
from onnx_autodoc.analysis.formula import Formula
from onnx_autodoc.analysis.gaps import count_resolved, gaps
from onnx_autodoc.analysis.graph_metrics import depth, flow
from onnx_autodoc.analysis.kv_cache import Cache
from onnx_autodoc.analysis.memory import Memory
from onnx_autodoc.analysis.parameters import Parameters, Share, parameters
from onnx_autodoc.analysis.precision import precision
from onnx_autodoc.analysis.size_variables import SizeVariables
from onnx_autodoc.card import Gap, Precision
from onnx_autodoc.ir import Model
from onnx_autodoc.shapes import Binding, Role, Shapes, infer_unbound

__all__ = [
    "BatchFigures",
    "Cache",
    "CostSum",
    "Costs",
    "Facts",
    "Figures",
    "Formula",
    "Memory",
    "OperatorCost",
    "Parameters",
    "Place",
    "Row",
    "Share",
    "UncountedNodes",
    "binding_at",
    "figures_at",
    "measure",
]


class Facts(Struct, frozen=True, eq=False):
    model: Model
    binding: Binding
    shapes: Shapes
    unbound_shapes: Shapes  # with dynamic dimensions unbound, if there are conflicts; else `shapes`
    precision: Precision
    depth: int
    nodes_total: int
    operators: tuple[tuple[str, str, int], ...]  # (domain, operator, count), the most frequent first
    flow: tuple[tuple[str, str, int], ...]  # (operator, operator that reads it, count), the most frequent first
    resolved: int  # node outputs whose dims are all known, of those that run
    outputs: int
    parameters: Parameters
    costs: Costs
    memory: Memory
    cache: Cache | None
    formula: Formula
    scaling: tuple[BatchFigures, ...]
    gaps: tuple[Gap, ...]


def figures_at(facts: Facts, sizes: Mapping[Role, int]) -> dict[str, int]:
    """Return the exact figures with other sizes for the dynamic dimensions of some roles; none where it does not run.

    Evaluates the formula if there is one, else the model.
    """
    formula = facts.formula
    has_formula = {"macs", "kv_cache_bytes"} <= formula.terms.keys()
    if has_formula and sizes.keys() <= {variable.role for variable in formula.variables}:
        return formula.at(sizes)
    own = Figures(facts.costs, facts.memory, facts.cache)
    return FiguresBySize(facts.model, facts.binding, facts.shapes, own).exact_at(binding_at(facts, sizes))


def binding_at(facts: Facts, sizes: Mapping[Role, int]) -> Binding:
    """Return the card's binding with other sizes for the dynamic dimensions of some roles."""
    variables = SizeVariables(facts.model, facts.binding)
    return variables.bind({each.name: sizes[each.role] for each in variables.all if each.role in sizes})


def measure(model: Model, binding: Binding, shapes: Shapes) -> Facts:
    counts = Counter((node.domain, node.op) for graph in model.all_graphs for node in graph.nodes)
    operators = sorted(((*key, count) for key, count in counts.items()), key=lambda row: (-row[2], row[1], row[0]))
    resolved, outputs, reasons = count_resolved(shapes)
    weights, figures = parameters(model), Figures.of(model, shapes)
    sizes = FiguresBySize(model, binding, shapes, figures)
    formula, unbound = sizes.fit_formula(), infer_unbound(model, binding, shapes)
    return Facts(
        model=model,
        binding=binding,
        shapes=shapes,
        unbound_shapes=unbound,
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
        formula=formula,
        scaling=scaling(sizes, formula),
        gaps=tuple(gaps(model, binding, (shapes, unbound), reasons, figures, weights.doubtful)),
    )
