"""The model as a tree of boxes: at most 30 on the first level, with repeated layers folded.

The root is the whole model; its children are the boxes of the first diagram, inputs and outputs among them.
"""

from collections import Counter
from typing import Final

from onnx_autodoc.architecture.diagram_groups import Group, GroupGraph
from onnx_autodoc.architecture.group_folding import fold_repetitions, limit_groups
from onnx_autodoc.architecture.group_units import join_branches, join_units
from onnx_autodoc.architecture.node_costs import NodeCosts
from onnx_autodoc.card import Box, Edge
from onnx_autodoc.patterns import Net, Op, block_kinds
from onnx_autodoc.text import pluralize

_LABELS: Final = {
    "attention": "Attention",
    "attention-block": "Attention",
    "mlp": "MLP",
    "mlp-block": "MLP",
    "gated-mlp": "Gated MLP",
    "moe": "Mixture of experts",
    "encoder-layer": "Encoder layer",
    "decoder-layer": "Decoder layer",
    "layer": "Layer",
    "embedding": "Embedding",
    "patch-embedding": "Patch embedding",
    "conv": "Conv",
    "conv-norm-act": "Conv",
    "linear": "Linear",
    "head": "Head",
    "bottleneck": "Bottleneck",
    "residual-block": "Residual block",
    "inverted-residual": "Inverted residual",
    "depthwise-separable": "Depthwise separable conv",
    "squeeze-excite": "Squeeze-excite",
    "dense-layer": "Dense layer",
    "csp": "CSP block",
    "spp": "Pyramid pooling",
    "inception": "Inception",
    "branches": "Branches",
    "stage": "Stage",
    "lstm": "LSTM",
    "gru": "GRU",
    "rnn": "RNN",
    "layer-norm": "LayerNorm",
    "rms-norm": "RMSNorm",
    "batch-norm": "BatchNorm",
    "group-norm": "GroupNorm",
    "instance-norm": "InstanceNorm",
    "softmax": "Softmax",
    "stft": "Spectrum",
    **dict.fromkeys(block_kinds.TREES, "Tree ensemble"),
    "mean": "Mean",
    "add": "Add",
}
_CHANNEL_UNITS: Final = ("bottleneck", "residual-block", "csp", "spp", "inception", "dense-layer", "inverted-residual")
# the op that a group is described by: the first of these that it has
_DESCRIBED_FIRST: Final = (
    ("attention",),
    block_kinds.FEED_FORWARD,
    block_kinds.RECURRENT,
    ("patch-embedding", "embedding"),
)
_MAX_CONTENTS: Final = 3


def box_label(group: Group) -> str:
    if group.kind in ("attention", "attention-block") and any(op.attention.cross for op in group.ops):
        return "Cross-attention"
    name = _LABELS.get(group.kind, group.kind)
    if group.children or group.kind == "Concat":
        return name
    if group.has("Concat"):
        return f"{name} + Concat"
    return f"{name} + Add" if group.kind in block_kinds.RESIZING and group.has("Add") else name


def box_detail(net: Net, group: Group) -> str | None:
    """Return the sizes of a group in a few words; its contents if it has several."""
    if group.kind in ("stage", "layer", "branches"):
        return _contents(group)
    if group.kind in _CHANNEL_UNITS:
        dims = net.shape(group.value)
        is_known = dims is not None and len(dims) > 2
        return (
            f"{pluralize(dims[1], 'channel')} at " + "×".join(map(str, dims[2:]))
            if dims is not None and is_known
            else None
        )
    rank = {kind: rank for rank, kinds in enumerate(_DESCRIBED_FIRST) for kind in kinds}
    ops = sorted(group.ops, key=lambda op: (rank.get(op.kind, len(_DESCRIBED_FIRST)), op.position))
    return next((detail for op in ops if (detail := _op_detail(op))), None)


def _contents(group: Group) -> str | None:
    counts = Counter[str]()
    for child in group.children:
        counts[box_label(child)] += child.count
    shown = [f"{count} × {name}" if count > 1 else name for name, count in counts.most_common(_MAX_CONTENTS)]
    return ", ".join(shown) + (" …" if len(counts) > _MAX_CONTENTS else "") if shown else None


def _op_detail(op: Op) -> str | None:
    if op.kind == "attention":
        return _attention_detail(op)
    if op.kind in ("mlp", "gated-mlp", "head"):
        sizes = (op.in_features, op.mlp.inner_features, op.out_features)
        path = " → ".join(f"{size:,}" for size in sizes if size)
        return ", ".join(filter(None, (op.mlp.activation, path)))
    if op.kind == "moe" and op.experts.experts:
        selected = op.experts.experts_per_token
        return f"{op.experts.experts} experts" + (f", {selected} per token" if selected else "")
    if op.kind in ("embedding", "patch-embedding"):
        table = op.embedding
        if table.patch:
            return "×".join(map(str, table.patch)) + " patches"
        return f"{table.rows:,} × {table.out_features:,}" if table.rows and table.out_features else None
    if op.kind in block_kinds.RECURRENT and op.recurrent.hidden:
        return f"hidden {op.recurrent.hidden:,}" + (", bidirectional" if op.recurrent.bidirectional else "")
    if op.kind in block_kinds.CONV_BLOCKS:
        return _conv_detail(op)
    return _width_change(op) or None if op.kind == "linear" else None


def _attention_detail(op: Op) -> str | None:
    attention = op.attention
    if not attention.heads:
        return None
    text = pluralize(attention.heads, "head")
    text += f" × {attention.head_dim}" if attention.head_dim else ""
    kv_heads = attention.kv_heads
    return text if kv_heads in (None, attention.heads) else f"{text}, {pluralize(kv_heads, 'KV head')}"


def _conv_detail(op: Op) -> str:
    kernel, stride = "×".join(map(str, op.conv.kernel)), max(op.conv.strides or (1,))
    parts = (kernel, f"/{stride}" if stride > 1 else "", _width_change(op))
    activation = f", {op.conv.activation.lower()}" if op.conv.activation else ""
    return " ".join(filter(None, parts)) + activation


def _width_change(op: Op) -> str:
    return f"{op.in_features:,} → {op.out_features:,}" if op.in_features and op.out_features else ""


MAX_BOXES: Final = 30
_MAX_BRANCH_GROUPS: Final = 60  # between the start and the end of branches, if there are too many boxes
_MAX_CHILDREN: Final = 30
_MAX_DEPTH: Final = 4
_MAX_PORTS: Final = 5  # that are drawn one by one


def _edge(net: Net, source: str, target: str, value: int, kind: str = "data") -> Edge:
    return Edge(source, target, net.shape(value), net.dtype(value), kind)


def _port_box(box_id: str, kind: str, label: str, role: str | None = None, count: int = 1) -> Box:
    return Box(box_id, kind, label, role, count, 0, 0, 0.0, 0, False, (), ())


# The groups of the first level


def group_ops(net: Net, costs: NodeCosts, max_groups: int) -> GroupGraph:
    """Return the groups of the first level, at most `max_groups`."""
    graph = GroupGraph(net)
    join_units(graph)
    fold_repetitions(graph)
    if len(graph.groups) > max_groups:
        join_branches(graph, _MAX_BRANCH_GROUPS)
        fold_repetitions(graph)
    limit_groups(graph, max_groups, lambda group: costs.total_of(group.ops).macs or 0)
    return graph


def locate_nodes(net: Net, graph: GroupGraph) -> dict[int, str]:
    """Return the layer and block of nodes by row, as "encoder-layer[3]/attention".

    Nodes that forward their input are located where it is computed.
    """
    layers = {
        op: f"{group.kind}[{index}]"
        for group in graph.groups
        if group.children
        for index, ops in enumerate(group.repetitions)
        for op in ops
    }
    located: dict[int, str] = {}
    for op in net:
        block = op.kind if op.kind == op.kind.lower() else ""
        if name := "/".join(filter(None, (layers.get(op, ""), block))):
            located.update(dict.fromkeys(op.rows, name))
    for row, value in net.identity_rows.items():
        producer = net.producers[value]
        producer_rows = producer.rows if producer is not None else ()
        names = [located[producer_row] for producer_row in producer_rows if producer_row in located]
        if names:
            located[row] = names[0]
    return located


# Inputs and outputs


class Ports:
    """Inputs and outputs as boxes: a few one by one, many of one role and type as one."""

    def __init__(self, net: Net, roles: dict[str, str]) -> None:
        self._net = net
        is_used = {name: net.consumers[value] or value in net.output_values for name, value in net.inputs.items()}
        self._inputs = _fold_ports(net, {name: value for name, value in net.inputs.items() if is_used[name]}, roles)
        self._outputs = _fold_ports(net, net.outputs, roles)
        self._input_box = {name: f"in:{first}" for first, names in self._inputs.items() for name in names}
        self.inputs = tuple(_draw_port("input", names, roles) for names in self._inputs.values())
        self.outputs = tuple(_draw_port("output", names, roles) for names in self._outputs.values())
        self.count = len(self.inputs) + len(self.outputs)

    def edges(self, graph: GroupGraph, ids: dict[Group, str]) -> list[Edge]:
        edges: dict[tuple[str, str], Edge] = {}
        for group in graph.groups:
            for value in (value for op in group.ops for value in self._net.data_inputs(op)):
                for name in graph.input_names(value):
                    key = (self._input_box[name], ids[group])
                    edges.setdefault(key, _edge(self._net, *key, self._net.inputs[name]))
        for first, names in self._outputs.items():
            for value in (self._net.outputs[name] for name in names):
                group_or_none = graph.producer(value)
                sources = [self._input_box[input_name] for input_name in graph.input_names(value)]
                for source in [ids[group_or_none]] if group_or_none is not None else sources:
                    key = (source, f"out:{first}")
                    edges.setdefault(key, _edge(self._net, *key, value))
        return list(edges.values())


def _draw_port(kind: str, names: list[str], roles: dict[str, str]) -> Box:
    """Draw ports of one role with a count, others as one and its number of companions."""
    name, role = names[0], roles.get(names[0])
    is_uniform = role is not None and len({roles.get(name) for name in names}) == 1
    label = name if is_uniform or len(names) == 1 else f"{name} + {len(names) - 1} more"
    box_id = f"in:{name}" if kind == "input" else f"out:{name}"
    return _port_box(box_id, kind, label, role, len(names) if is_uniform else 1)


def _fold_ports(net: Net, values: dict[str, int], roles: dict[str, str]) -> dict[str, list[str]]:
    """Return the names in each box, by the first of them. Past and present states of one shape share a box."""
    if len(values) <= _MAX_PORTS:
        return {name: [name] for name in values}
    names_by_kind: dict[tuple[object, ...], list[str]] = {}
    for name, value in values.items():
        names_by_kind.setdefault((roles.get(name), net.dtype(value), net.shape(value)), []).append(name)
    name_lists = sorted(names_by_kind.values(), key=len)
    rest = [name for names in name_lists[_MAX_PORTS:] for name in names]
    return {names[0]: names for names in (*name_lists[:_MAX_PORTS], rest) if names}


# Drawing


def draw_model(name: str, graph: GroupGraph, ports: Ports, costs: NodeCosts) -> tuple[Box, dict[str, tuple[int, ...]]]:
    """Return the tree of boxes, and for each box by its id the rows whose numbers it has."""
    drawing = _Drawing(graph, costs)
    ids = {group: f"b{index}" for index, group in enumerate(graph.groups)}
    boxes = [drawing.draw(group, ids[group], drawing.main_inputs(group)) for group in graph.groups]
    total = costs.total_of(graph.net)
    drawing.rows["model"] = tuple(row for op in graph.net for row in op.rows)
    root = Box(
        id="model",
        kind="model",
        label=name,
        detail=None,
        count=1,
        params=total.params,
        macs=costs.total_macs,
        share=1.0 if costs.total_macs else None,
        nodes=total.nodes,
        repeats=False,
        children=(*ports.inputs, *boxes, *ports.outputs),
        edges=(*drawing.edges(ids), *ports.edges(graph, ids)),
        weight_bytes=total.weight_bytes,
    )
    return root, drawing.rows


class _Drawing:
    def __init__(self, graph: GroupGraph, costs: NodeCosts) -> None:
        self._graph, self._net, self._costs = graph, graph.net, costs
        self.rows: dict[str, tuple[int, ...]] = {}

    def draw(self, group: Group, box_id: str, entering: set[int], depth: int = 0) -> Box:
        """Draw a group. `entering` are the values that it reads from its main predecessor."""
        cost, total = self._costs.total_of(group.ops), self._costs.total_macs
        self.rows[box_id] = tuple(row for op in group.ops for row in op.rows)
        is_open = depth < _MAX_DEPTH and (group.children or group.residual_kind)
        parts = _split_parts(group) if is_open else []
        if not 1 < len(parts) <= _MAX_CHILDREN:
            parts = []
        if group.count > 1:  # what the last repetition reads from those before it
            others = set(group.ops).difference(group.repetitions[-1])
            read = (value for op in group.repetitions[-1] for value in op.inputs)
            entering = {value for value in read if self._net.producers[value] in others}
        ids = {part: f"{box_id}.{index}" for index, part in enumerate(parts)}
        edges = self._inner_edges(ids, entering, f"{box_id}.in")
        has_input = any(edge.source == f"{box_id}.in" for edge in edges)
        input_box = (_port_box(f"{box_id}.in", "input", "in"),) if has_input else ()
        return Box(
            id=box_id,
            kind=group.kind,
            label=box_label(group),
            detail=box_detail(self._net, group),
            count=group.count,
            params=cost.params,
            macs=cost.macs,
            share=cost.macs / total if total and cost.macs is not None else None,
            nodes=cost.nodes,
            repeats=group.count > 1,
            children=(*input_box, *(self.draw(part, ids[part], set(), depth + 1) for part in parts)),
            edges=edges,
            weight_bytes=cost.weight_bytes,
        )

    def main_inputs(self, group: Group) -> set[int]:
        """Return the values that a group reads from its main predecessor."""
        predecessors = self._graph.ordered_predecessors(group)
        main = set(predecessors[0].ops) if predecessors else set()
        return {value for op in group.ops for value in op.inputs if self._net.producers[value] in main}

    def edges(self, ids: dict[Group, str]) -> list[Edge]:
        edges: list[Edge] = []
        for group in self._graph.groups:
            values, predecessors = self._graph.predecessors(group), self._graph.ordered_predecessors(group)
            for predecessor in predecessors:
                is_bypass = predecessor is not predecessors[0] and self._graph.depends_on(predecessors[0], predecessor)
                kind = "skip" if is_bypass else "data"
                edges.append(_edge(self._net, ids[predecessor], ids[group], values[predecessor], kind))
        return edges

    def _inner_edges(self, ids: dict[Group, str], entering: set[int], input_id: str) -> tuple[Edge, ...]:
        """Return the edges between the parts of a box. What its main predecessor computes enters at one place."""
        box_of = {op: ids[part] for part in ids for op in part.ops}
        edges: dict[tuple[str, str], Edge] = {}
        previous = None
        for part, box_id in ids.items():
            for value in (value for op in part.ops for value in self._net.data_inputs(op)):
                producer = self._net.producers[value]
                source = input_id if value in entering else box_of.get(producer) if producer is not None else None
                if source is None or source == box_id:
                    continue
                is_bypass = part.kind == "add" and previous is not None and source != previous
                kind = "skip" if is_bypass else "data"
                edges.setdefault((source, box_id), _edge(self._net, source, box_id, value, kind))
            previous = box_id
        return tuple(edges.values())


# The parts of a box


def _split_parts(group: Group) -> list[Group]:
    """Return the groups within a group, with residual units split into what they bypass and their Add."""
    if _is_residual_unit(group):
        return _split_residual_unit(group)
    if len(group.children) == 1:
        return _split_parts(group.children[0])
    parts: list[Group] = []
    for child in group.children:
        parts += _split_residual_unit(child) if _is_residual_unit(child) else [child]
    return parts


def _is_residual_unit(group: Group) -> bool:
    return group.residual_kind == "add" and group.count == 1


def _split_residual_unit(unit: Group) -> list[Group]:
    index = next(index for index, op in enumerate(unit.ops) if op.outputs[0] == unit.value)
    end = Group("add", unit.ops[index:])
    children = unit.children if len(unit.children) > 1 else (unit,)
    removed, parts = set(end.ops), list[Group]()
    for child in children:
        ops = [op for op in child.ops if op not in removed]
        is_whole = len(ops) == len(child.ops)
        if ops:
            parts.append(Group(child.kind, ops, child.level, child.children if is_whole else ()))
        if ops and is_whole:
            parts[-1].count, parts[-1].repetitions = child.count, child.repetitions
    return [*parts, end]
