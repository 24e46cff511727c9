"""Folding of repeated groups into one with a count, and joining of neighbours until a diagram is small enough."""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from onnx_autodoc.architecture.diagram_groups import Group, GroupGraph
from onnx_autodoc.architecture.group_units import transformer_layer_kind
from onnx_autodoc.patterns import block_kinds

_MAX_PERIOD: Final = 8
_MAX_LAYER_GROUPS: Final = 6


def fold_repetitions(graph: GroupGraph) -> None:
    """Fold equal groups in a row, found by structure alone."""
    for chain in _find_chains(graph):
        _fold_chain(graph, chain)
    for chain in _find_chains(graph):
        _fold_single_layers(graph, chain)
    graph.update_levels()


def _find_chains(graph: GroupGraph) -> list[list[Group]]:
    """Return sequences of groups, each the only one whose main predecessor is the one before it."""
    before, _ = graph.adjacency()
    main = {group: predecessors[0] for group, predecessors in before.items() if predecessors}
    successors: dict[Group, list[Group]] = {}
    for group, predecessor in main.items():
        successors.setdefault(predecessor, []).append(group)
    chains: list[list[Group]] = []
    chain_of: dict[Group, list[Group]] = {}
    for group in graph.groups:
        last = main.get(group)
        if last is not None and len(successors[last]) == 1 and last in chain_of:
            chain_of[last].append(group)
            chain_of[group] = chain_of[last]
        else:
            chain_of[group] = [group]
            chains.append(chain_of[group])
    return chains


def _fold_chain(graph: GroupGraph, chain: list[Group]) -> None:
    signatures = [_signature(graph, group) for group in chain]
    index = 0
    while index < len(chain):
        period, count = _longest_repetition(signatures, index)
        groups = chain[index : index + period * count]
        if count > 1 and not graph.would_cycle(groups):
            _fold(graph, groups, period)
        index += max(period * count, 1)


def _signature(graph: GroupGraph, group: Group) -> tuple[object, ...]:
    """Return what equal groups have in common: kind, result shape, sizes of their blocks, distant predecessors."""
    dims = graph.net.shape(group.value)
    kind = "ffn" if group.kind in ("mlp-block", "moe") else group.kind
    if group.residual_kind == "concat" and dims is not None:
        dims = dims[2:]  # such units widen their input
    cross = sum(op.attention.cross for op in group.ops)
    return kind, dims, cross, _block_sizes(group), frozenset(map(id, graph.ordered_predecessors(group)[1:]))


def _block_sizes(group: Group) -> tuple[object, ...]:
    """Return the sizes of the blocks with weights, without pointwise projections: only the first unit of a stage has
    one at the side of its residual.
    """
    ops = group.ops
    mlps = sorted(str((op.mlp.inner_features, op.mlp.activation)) for op in ops if op.kind in ("mlp", "gated-mlp"))
    attention = [op.attention for op in ops if op.kind == "attention"]
    heads = sorted(str((attributes.heads, attributes.kv_heads, attributes.head_dim)) for attributes in attention)
    kernels = sorted((max(op.conv.kernel), str(op.conv.activation)) for op in ops if max(op.conv.kernel, default=1) > 1)
    return *mlps, *heads, sum(op.kind == "squeeze-excite" for op in ops), *kernels


def _longest_repetition(signatures: list[tuple[object, ...]], start: int) -> tuple[int, int]:
    """Return the period that covers most from `start` on, and its count; the shorter one of two."""
    best = (1, 1)
    for period in range(1, min(_MAX_PERIOD, (len(signatures) - start) // 2) + 1):
        count = 1
        end = start + period
        while signatures[start:end] == signatures[start + period * count : end + period * count]:
            count += 1
        if count > 1 and period * count > best[0] * best[1]:
            best = (period, count)
    return best


def _fold_single_layers(graph: GroupGraph, chain: list[Group]) -> None:
    """Join layers that occur once: attention, then a feed-forward block, with norms between and after them."""
    index = 0
    while index < len(chain):
        end = _layer_end(chain, index)
        if end and not graph.would_cycle(chain[index:end]):
            _fold(graph, chain[index:end], end - index)
        index = end or index + 1


def _layer_end(chain: list[Group], start: int) -> int:
    """Return the index after the layer that begins at `start`; 0 if none does."""
    if chain[start].kind != "attention-block":
        return 0
    for index in range(start + 1, min(start + _MAX_LAYER_GROUPS, len(chain))):
        group = chain[index]
        if group.kind == "mlp-block" and group.count == 1:
            is_last = index + 1 == len(chain)
            is_post_norm = not is_last and {chain[index - 1].kind, chain[index + 1].kind} <= set(block_kinds.NORMS)
            return index + 1 + is_post_norm
        if group.kind not in (*block_kinds.NORMS, "attention-block") or group.count > 1:
            return 0
    return 0


def _fold(graph: GroupGraph, groups: list[Group], period: int) -> None:
    """Replace repetitions by one group. Its children are the last one: the first may change the size of its input."""
    last = groups[-period:]
    last_ops = [op for group in last for op in group.ops]
    if period == 1:
        kind = last[0].kind
    else:
        has_mixer = any(op.kind in block_kinds.MIXERS for op in last_ops)
        kind = transformer_layer_kind(last_ops) if has_mixer else "layer"
    children = tuple(last) if period > 1 or last[0].residual_kind else last[0].children
    folded = Group(kind, [op for group in groups for op in group.ops], groups[0].level, children)
    folded.count, folded.value = len(groups) // period, groups[-1].value
    folded.residual_start = groups[0].residual_start
    repetitions = [groups[index : index + period] for index in range(0, len(groups), period)]
    folded.repetitions = [[op for group in repetition for op in group.ops] for repetition in repetitions]
    graph.replace(groups, folded)


# Joining of neighbours

_MIN_ROUNDS: Final = 24  # each can halve the groups in a chain
_MAX_OPS_VISITED: Final = 500_000  # in further rounds: parallel branches lose one group per round


def limit_groups(graph: GroupGraph, max_groups: int, importance: Callable[[Group], int]) -> None:
    """Join neighbours, the least important first, until at most `max_groups` are left.

    Rounds end when the remaining ones would not suffice if all were like the last.
    """
    for same_size in (True, False):
        rounds = max(_MIN_ROUNDS, _MAX_OPS_VISITED // max(len(graph.net.ops), 1))
        before = 2 * len(graph.groups)
        while (
            max_groups < len(graph.groups) and (before - len(graph.groups)) * rounds >= len(graph.groups) - max_groups
        ):
            before, rounds = len(graph.groups), rounds - 1
            if not _join_neighbours(graph, max_groups, same_size, importance):
                break
            graph.update_levels()
    if len(graph.groups) > max_groups:
        _join_in_order(graph, max_groups)


def _join_neighbours(graph: GroupGraph, max_groups: int, same_size: bool, importance: Callable[[Group], int]) -> bool:
    """Join pairs of neighbours in chains; return whether there were any."""
    pairs = [pair for chain in _find_chains(graph) for pair in pairwise(chain)]
    if same_size:
        pairs = [pair for pair in pairs if _spatial_size(graph, pair[0]) == _spatial_size(graph, pair[1])]
    excess, joined = len(graph.groups) - max_groups, set[Group]()
    for before, after in sorted(pairs, key=lambda pair: importance(pair[0]) + importance(pair[1])):
        if len(joined) >= 2 * excess:
            break
        if joined.isdisjoint((before, after)) and not graph.would_cycle([before, after]):
            joined |= {before, after}
            _join_stage(graph, [before, after])
    return bool(joined)


def _spatial_size(graph: GroupGraph, group: Group) -> tuple[int, ...] | None:
    """Return height and width of a group's result, or its number of positions."""
    dims = graph.net.shape(group.value)
    return dims[2:] if dims is not None and len(dims) > 3 else dims[1:-1] if dims is not None else None


def _join_stage(graph: GroupGraph, groups: list[Group]) -> None:
    children: list[Group] = []
    for group in groups:
        children += group.children if group.kind == "stage" and group.count == 1 else (group,)
    stage = Group("stage", [op for group in groups for op in group.ops], groups[0].level, tuple(children))
    stage.value, stage.residual_start = groups[-1].value, groups[0].residual_start
    graph.replace(groups, stage)


def _join_in_order(graph: GroupGraph, max_groups: int) -> None:
    """Join groups that form no chains in slices of their topological order, which cannot create a cycle."""
    groups, size = list(graph.groups), -(-len(graph.groups) // max_groups)
    for start in range(0, len(groups), size):
        if len(groups[start : start + size]) > 1:
            _join_stage(graph, groups[start : start + size])
    graph.update_levels()
