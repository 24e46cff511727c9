"""The architecture of a model, from its graph: blocks, layers, family, task, roles and a diagram."""

from collections import Counter
from pathlib import Path
from typing import Final

from msgspec import Struct

from onnx_autodoc.analysis import Facts
from onnx_autodoc.architecture.claims import read_claims
from onnx_autodoc.architecture.contradictions import find_contradictions
from onnx_autodoc.architecture.diagram import MAX_BOXES, Ports, draw_model, group_ops, locate_nodes
from onnx_autodoc.architecture.diagram_groups import GroupGraph
from onnx_autodoc.architecture.family import Family, ModelSizes, find_attention_kinds, find_family, find_sizes
from onnx_autodoc.architecture.node_costs import NodeCosts, count_blocks, max_rows, share_compute
from onnx_autodoc.architecture.samples import find_samples
from onnx_autodoc.architecture.tasks import TASK_NAMES, find_task, find_task_contradictions
from onnx_autodoc.card import AttentionKind, BlockCount, Box, Dataset, Part, Sample, Task
from onnx_autodoc.ir import is_float
from onnx_autodoc.limits import OPTIONS
from onnx_autodoc.patterns import Net, block_kinds, find_blocks, find_heads, find_roles
from onnx_autodoc.shapes import required_inputs

__all__ = [
    "BLOCK_KINDS",
    "TASK_NAMES",
    "Structure",
    "describe",
    "describe_unknown",
    "max_rows",
]

_MIN_FLOAT_SHARE: Final = 0.9
_UNIT_KINDS: Final = ("bottleneck", "residual-block", "dense-layer", "csp", "spp", "inception")
_TOP_DOWN_MERGE: Final = "top-down-merge"
_COUNTED_BLOCKS: Final = (*block_kinds.COUNTED, *dict.fromkeys(block_kinds.OPERATOR_BLOCKS.values()))
BLOCK_KINDS: Final = (*_COUNTED_BLOCKS, _TOP_DOWN_MERGE, *_UNIT_KINDS)

_RAISE_LIMIT: Final = f", too many for the architecture analysis; {OPTIONS['rows']} raises the limit"
_TOO_MANY_NODES: Final = "inlining functions yields over {:,} nodes" + _RAISE_LIMIT
_TOO_MANY_VALUES: Final = "nodes have over {:,} inputs in total" + _RAISE_LIMIT


class Structure(Struct, frozen=True, eq=False, kw_only=True):
    family: Family
    sizes: ModelSizes = ModelSizes()
    blocks: tuple[BlockCount, ...] = ()
    attention: tuple[AttentionKind, ...] = ()
    in_float: tuple[str, ...] = ()  # kinds of blocks whose weights are stored as floating point, all or nearly all
    residuals: dict[str, int] = {}
    work: tuple[Part, ...] = ()
    tree: Box | None = None
    task: Task = Task(None, 0.0, None, ())
    dataset: Dataset
    contradictions: tuple[str, ...] = ()  # between the file's metadata and its graph
    roles: dict[str, str] = {}  # of inputs and outputs, by name
    samples: dict[str, Sample]  # how to fill inputs, by name
    places: dict[int, str] = {}  # layer and block of each node, by row
    gap: str  # why the structure is incomplete
    box_rows: dict[str, tuple[int, ...]] = {}  # by the id of a box: the rows whose numbers it has


def describe(facts: Facts) -> Structure:
    costs = NodeCosts(facts)
    inputs_read = sum(len(node.inputs) for graph in facts.model.all_graphs for node in graph.nodes)
    if not costs.is_complete:
        return describe_unknown(facts, _TOO_MANY_NODES.format(max_rows(facts)))
    if inputs_read > max_rows(facts):
        return describe_unknown(facts, _TOO_MANY_VALUES.format(max_rows(facts)))
    net = find_blocks(facts.model, facts.shapes, costs.is_counted)
    costs.assign_weights(facts, net)
    return _describe_net(facts, net, costs)


def describe_unknown(facts: Facts, reason: str) -> Structure:
    """Return the structure of a model whose graph could not be searched for blocks."""
    family, claims = Family("unknown", (reason,)), read_claims(facts.model)
    return Structure(family=family, dataset=claims, samples=find_samples(facts, {}), gap=reason)


def _describe_net(facts: Facts, net: Net, costs: NodeCosts) -> Structure:
    claims, heads = read_claims(facts.model), find_heads(net)
    roles = find_roles(net, facts.model, heads)
    ports = Ports(net, roles)
    graph = group_ops(net, costs, MAX_BOXES - ports.count)
    family = find_family(net, costs, facts.cache is not None, roles)
    blocks = tuple(_count_blocks(net, costs, graph))
    task = find_task(net, heads, roles, family.name, facts.cache is not None, claims)
    tree, box_rows = draw_model(Path(facts.model.path).name, graph, ports, costs)
    return Structure(
        family=family,
        sizes=find_sizes(net, family.name),
        blocks=blocks,
        attention=find_attention_kinds(net),
        in_float=tuple(row.kind for row in blocks if _is_mostly_float(row.dtypes)),
        residuals=dict(sorted(Counter(op.residual.kind for op in net if op.residual is not None).items())),
        work=share_compute(net, costs),
        tree=tree,
        task=task,
        dataset=claims,
        contradictions=(*_find_contradictions(facts, claims), *find_task_contradictions(task, claims)),
        roles=roles,
        samples=find_samples(facts, roles),
        places=locate_nodes(net, graph),
        gap=net.truncation,
        box_rows=box_rows,
    )


def _count_blocks(net: Net, costs: NodeCosts, graph: GroupGraph) -> list[BlockCount]:
    counts = count_blocks(net, costs, _COUNTED_BLOCKS)
    rows = [
        BlockCount(kind, count, total.params, total.macs, total.params_by_dtype)
        for kind, (count, total) in counts.items()
    ]
    merges = sum(op.top_down for op in net)
    if merges:
        rows.append(BlockCount(_TOP_DOWN_MERGE, merges, 0, 0, {}))
    for kind in _UNIT_KINDS:
        units = [unit for unit in graph.units if unit.kind == kind]
        if units:
            total = costs.total_of(op for unit in units for op in unit.ops)
            rows.append(BlockCount(kind, len(units), total.params, total.macs, total.params_by_dtype))
    return rows


def _is_mostly_float(dtypes: dict[str, int]) -> bool:
    floats = sum(count for dtype, count in dtypes.items() if is_float(dtype))
    return floats > _MIN_FLOAT_SHARE * sum(dtypes.values()) > 0


def _find_contradictions(facts: Facts, claims: Dataset) -> tuple[str, ...]:
    known = facts.shapes.values
    outputs = {value.name: known[value.name].concrete for value in facts.model.graph.outputs if value.name in known}
    inputs = {
        value.name: tuple(dim if isinstance(dim, int) else None for dim in value.type.dims)
        for value in required_inputs(facts.model)
        if value.type is not None and value.type.dims is not None
    }
    return find_contradictions(claims, outputs, inputs)
