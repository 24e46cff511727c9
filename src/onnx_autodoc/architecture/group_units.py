"""Joining of groups into units: summed embeddings, the ops that a residual bypasses, branches that meet again."""

from collections import Counter
from typing import Final

from onnx_autodoc.architecture.diagram_groups import Group, GroupGraph
from onnx_autodoc.patterns import Op, block_kinds

_MAX_RESIZING_OPS: Final = 60  # of a residual unit that resizes its data down and up again
_MAX_UNIT_OPS: Final = 400
_MAX_STEPS_TO_DOMINATOR: Final = 300
_MAX_PASSES: Final = 4
_MAX_BRANCH_GROUPS: Final = 12  # between the start of branches and where they meet
_GROWING_UNITS: Final = ("csp", "spp", "inception")
_EMBEDDINGS: Final = ("embedding", "patch-embedding")


def join_units(graph: GroupGraph) -> None:
    _join_embeddings(graph)
    for end, ops in sorted(graph.net.residuals.items(), key=lambda item: len(item[1])):
        if len(ops) <= _MAX_UNIT_OPS and not _changes_size(graph, end, ops) and not _has_layers(ops):
            _join_residual_unit(graph, end, ops)
    graph.update_levels()
    join_branches(graph, _MAX_BRANCH_GROUPS)


def join_branches(graph: GroupGraph, max_groups: int) -> None:
    """Join branches with at most `max_groups` between their start and where they meet."""
    for _ in range(_MAX_PASSES):
        if not _join_branches_once(graph, max_groups):
            break
    _join_pointwise_convs(graph)
    _join_conditions(graph)


def _changes_size(graph: GroupGraph, end: Op, ops: list[Op]) -> bool:
    """Whether a residual bypasses resizing ops. Small ones that restore the size are units all the same."""
    if not any(_is_resizing(op) for op in ops):
        return False
    keeps_shape = graph.net.shape(end.residual_start) == graph.net.shape(end.outputs[0])
    return end.residual_kind != "add" or not keeps_shape or len(ops) > _MAX_RESIZING_OPS


def _is_resizing(op: Op) -> bool:
    return op.kind in block_kinds.RESIZING or op.conv.transposed


def _has_layers(ops: list[Op]) -> bool:
    """Whether ops contain several layers, which are drawn one by one."""
    return sum(op.kind == "attention" for op in ops) > 1


def _sorted_ops(groups: list[Group]) -> list[Op]:
    return sorted((op for group in groups for op in group.ops), key=lambda op: op.position)


def _join_embeddings(graph: GroupGraph) -> None:
    """Join embeddings with their sums and the norm after them."""
    for group in list(graph.groups):
        before = list(graph.predecessors(group)) if group in graph.groups else []
        has_weights = group.has(*block_kinds.WEIGHTED) and group.kind != "embedding"
        if not before or has_weights or any(predecessor.kind not in _EMBEDDINGS for predecessor in before):
            continue
        if all(_is_read_only_by(graph, predecessor, group) for predecessor in before):
            kind = max((predecessor.kind for predecessor in before), key=_EMBEDDINGS.index)
            graph.replace([*before, group], Group(kind, _sorted_ops([*before, group]), before[0].level))


def _is_read_only_by(graph: GroupGraph, group: Group, reader: Group) -> bool:
    values = (value for op in group.ops for value in op.outputs)
    consumers = (op for value in values for op in graph.net.consumers[value])
    return all(graph.group_of.get(op) in (group, reader) for op in consumers)


def _join_residual_unit(graph: GroupGraph, end: Op, ops: list[Op]) -> None:
    """Join the ops that a residual bypasses, if nothing else reads them."""
    last = graph.group_of.get(end)
    inside = set(ops)
    groups = dict.fromkeys(group for op in ops if (group := graph.group_of.get(op)) is not None)
    members = [group for group in groups if group is last or all(op in inside for op in group.ops)]
    if last is None or last not in members or not _is_closed(graph, members, last) or graph.would_cycle(members):
        return
    members.sort(key=lambda group: group.last)
    unit_ops, start = _sorted_ops(members), graph.net.producers[end.residual_start]
    is_split = start is not None and start.kind in block_kinds.SPLITTING and end.kind == "Concat"
    kind = "csp" if is_split else unit_kind(unit_ops, end.residual_kind or "")
    unit = Group(kind, unit_ops, members[0].level, tuple(members) if len(members) > 1 else last.children)
    unit.residual_kind, unit.residual_start = end.residual_kind or "", end.residual_start
    unit.value = end.outputs[0]
    graph.replace(members, unit)
    graph.units.append(unit)


def _is_closed(graph: GroupGraph, groups: list[Group], last: Group) -> bool:
    """Whether only the outputs of `last` are read outside `groups`."""
    inside = set(groups)
    values = (value for group in groups if group is not last for op in group.ops for value in op.outputs)
    consumers = (op for value in values for op in graph.net.consumers[value] if op in graph.group_of)
    return all(graph.group_of[op] in inside for op in consumers)


# Branches


def _join_branches_once(graph: GroupGraph, max_groups: int) -> bool:
    """Join branches that start at one group and meet at another; return whether there were any."""
    before, after = graph.adjacency()
    dominators = _find_dominators(list(graph.groups), before)
    joined = set[Group]()
    for group in list(graph.groups):
        start = dominators.get(group)
        if start is None or len(before[group]) < 2:
            continue
        inside = _groups_between(group, start, before, max_groups)
        if len(inside) > 1 and joined.isdisjoint(inside) and _is_unit(graph, group, inside, after):
            joined |= inside
            members = sorted(inside, key=lambda member: (member.level, member.last))
            ops = _sorted_ops(members)
            unit = Group(unit_kind(ops, "join"), ops, members[0].level, tuple(members))
            unit.value = group.value
            graph.replace(members, unit)
            graph.units.append(unit)
    if joined:
        graph.update_levels()
    return bool(joined)


def _is_unit(graph: GroupGraph, end: Group, inside: set[Group], after: dict[Group, list[Group]]) -> bool:
    """Whether nothing else reads the groups, and they hold neither layers nor a pyramid, whose parts are drawn."""
    is_closed = all(set(after[member]) <= inside for member in inside if member is not end)
    ops = [op for member in inside for op in member.ops]
    has_parts = any(_is_resizing(op) for op in ops) or _has_layers(ops)
    return is_closed and not has_parts and not graph.would_cycle(list(inside))


def _groups_between(group: Group, start: Group, before: dict[Group, list[Group]], max_groups: int) -> set[Group]:
    if group.level - start.level > max_groups:
        return set()  # at least one group of each level is in between
    between, waiting = {group}, [group]
    while waiting and len(between) <= max_groups:
        for predecessor in before[waiting.pop()]:
            if predecessor is not start and predecessor not in between:
                between.add(predecessor)
                waiting.append(predecessor)
    return between if len(between) <= max_groups else set()


def _find_dominators(groups: list[Group], before: dict[Group, list[Group]]) -> dict[Group, Group | None]:
    """Return for each group its immediate dominator: the last group on all paths to it."""
    dominators: dict[Group, Group | None] = {}
    depth: dict[Group, int] = {}
    for group in groups:
        dominator: Group | None = before[group][0] if before[group] else None
        for predecessor in before[group][1:]:
            dominator = _common_dominator(dominator, predecessor, dominators, depth)
        dominators[group] = dominator
        depth[group] = depth[dominator] + 1 if dominator is not None else 0
    return dominators


def _common_dominator(
    first: Group | None, second: Group | None, dominators: dict[Group, Group | None], depth: dict[Group, int]
) -> Group | None:
    for _ in range(_MAX_STEPS_TO_DOMINATOR):
        if first is second or first is None or second is None:
            return first if first is second else None
        if depth[first] >= depth[second]:
            first = dominators[first]
        else:
            second = dominators[second]
    return None


def _join_pointwise_convs(graph: GroupGraph) -> None:
    """Join branch units with the 1×1 convolutions before and after them."""
    before, after = graph.adjacency()
    for unit in [group for group in graph.groups if group.kind in _GROWING_UNITS]:
        predecessors, successors = before[unit], after[unit]
        members = [
            *(
                predecessor
                for predecessor in predecessors
                if len(predecessors) == 1 and after[predecessor] == [unit] and _is_pointwise(predecessor)
            ),
            unit,
        ]
        if unit.kind != "inception" and len(successors) == 1:  # after an inception unit the next one begins
            members += [group for group in successors if len(before[group]) == 1 and _is_pointwise(group)]
        members = [member for member in members if member in graph.groups]
        if len(members) > 1 and unit in members:
            grown = Group(unit.kind, _sorted_ops(members), members[0].level, tuple(members))
            grown.value = members[-1].value
            graph.replace(members, grown)
    graph.update_levels()


def _is_pointwise(group: Group) -> bool:
    return not group.children and max(group.ops[0].conv.kernel or (0,)) == 1


def _join_conditions(graph: GroupGraph) -> None:
    """Join what prepares a shared value (the timestep, a condition) for one unit with that unit."""
    before, after = graph.adjacency()
    for group in list(graph.groups):
        predecessors, successors = before[group], after[group]
        is_single = len(predecessors) == 1 and len(successors) == 1 and len(after[predecessors[0]]) > 2
        if not is_single or group.children:
            continue
        unit = successors[0]
        if before[unit][0] is not group and unit in graph.groups and unit.children:
            unit.ops = _sorted_ops([group, unit])
            unit.first = min(unit.first, group.first)
            unit.children = (group, *unit.children)
            graph.absorb(unit, group)
    graph.update_levels()


# Kinds of units


def unit_kind(ops: list[Op], joined_by: str) -> str:
    """Return the kind of a residual unit (`joined_by` is its kind), or of branches that meet."""
    counts = Counter(op.kind for op in ops)
    has_mixer = any(counts[kind] for kind in block_kinds.MIXERS)
    has_feed_forward = any(counts[kind] for kind in block_kinds.FEED_FORWARD)
    if has_mixer and has_feed_forward:
        return transformer_layer_kind(ops)
    if has_mixer or has_feed_forward:
        return "attention-block" if has_mixer else "mlp-block"
    if counts["inverted-residual"]:
        return "inverted-residual"
    is_split = any(counts[kind] for kind in block_kinds.SPLITTING)
    convs = [op for op in ops if op.kind in ("conv", "conv-norm-act")]
    if joined_by == "add":
        wide = sum(max(op.conv.kernel or (1,)) > 1 for op in convs)
        return "bottleneck" if len(convs) - wide >= 2 and wide == 1 else "residual-block"
    if joined_by == "concat":
        return "csp" if is_split else "dense-layer"
    has_residual = any(op.residual_kind == "add" for op in ops)
    return _branch_kind(counts, len(convs), is_split or has_residual)


def _branch_kind(counts: Counter[str], convs: int, is_partial: bool) -> str:
    """Return the kind of branches that meet. `is_partial`: they have splits or residuals inside, as CSP units do."""
    has_concat = bool(counts["Concat"])
    is_pooled = has_concat and sum(counts[kind] for kind in block_kinds.POOLS) >= 2
    if convs < 2 and not is_pooled:
        return "branches"
    if is_pooled and convs <= 3:
        return "spp"
    if has_concat and is_partial:
        return "csp"
    return "inception" if has_concat and convs >= 2 else "squeeze-excite" if counts["squeeze-excite"] else "branches"


def transformer_layer_kind(ops: list[Op]) -> str:
    """Return the kind of a layer with a mixer and a feed-forward block: causal and cross-attention make a decoder."""
    attention = [op.attention for op in ops if op.kind == "attention"]
    if not attention:
        return "layer"
    is_decoder = any(attributes.causal or attributes.cross for attributes in attention)
    return "decoder-layer" if is_decoder else "encoder-layer"
