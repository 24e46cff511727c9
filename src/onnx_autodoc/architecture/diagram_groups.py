"""Groups of ops that become boxes of the diagram, and which group reads which.

The level of a group is the longest path to it from the inputs. An op joins only a group whose other inputs have lower
levels, so that the graph of groups stays acyclic.
"""

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from onnx_autodoc.patterns import Net, Op, block_kinds

_MAX_GROUPS_PER_SEARCH: Final = 500  # beyond that, a cycle is assumed
_MAX_VISITS_PER_OP: Final = 20  # of all searches together


class Group:
    """Ops that are drawn together. `count` equal repetitions may be folded; `children` are groups within this one."""

    __slots__ = (
        *("children", "count", "first", "kind", "last", "level"),
        *("ops", "repetitions", "residual_kind", "residual_start", "value"),
    )

    def __init__(self, kind: str, ops: list[Op], level: int = 0, children: "tuple[Group, ...]" = ()) -> None:
        self.kind = kind
        self.ops = ops
        self.first = min(op.position for op in ops)
        self.last = max(op.position for op in ops)
        self.level = level
        self.children = children
        self.count = 1
        self.value = ops[0].outputs[0]  # its result
        self.residual_start: int | None = None  # set for the ops that a residual connection bypasses
        self.residual_kind = ""
        self.repetitions: list[list[Op]] = []  # the ops of each of the `count` repetitions

    def add(self, op: Op) -> None:
        self.ops.append(op)
        self.last = max(self.last, op.position)

    def has(self, *kinds: str) -> bool:
        return any(op.kind in kinds for op in self.ops)


class GroupGraph:
    """All groups of a net, in topological order after `update_levels`."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.group_of: dict[Op, Group] = {}
        self.groups: dict[Group, None] = {}
        self.units: list[Group] = []  # residual and branch units, even if drawn within another group
        self._values_read: dict[Group, list[int]] = {}  # values that represent the predecessors of a group
        self._visits_left = 500_000 + _MAX_VISITS_PER_OP * len(net.ops)
        self._input_names: dict[int, tuple[str, ...]] = {value: (name,) for name, value in net.inputs.items()}
        draws_all = not any(op.kind in block_kinds.DRAWN for op in net)
        for op in net:
            self._place(op, is_drawn=draws_all or op.kind in block_kinds.DRAWN)

    def _place(self, op: Op, is_drawn: bool) -> None:
        """Give an op its own group, add it to the group that it reads, or count it as preprocessing of an input."""
        producers = [group for value in self.net.data_inputs(op) if (group := self.producer(value)) is not None]
        before = list(dict.fromkeys(producers))
        if not before and not is_drawn:
            names = {id(names): names for value in op.inputs if (names := self._input_names.get(value))}
            name_lists = list(names.values())
            is_single = len(name_lists) == 1
            merged = name_lists[0] if is_single else tuple(dict.fromkeys(chain.from_iterable(name_lists)))
            self._input_names.update(dict.fromkeys(op.outputs, merged))
            return
        level = max((group.level for group in before), default=-1)
        nearest = [group for group in before if group.level == level]
        if is_drawn or len(nearest) > 1:
            self.add(Group(op.kind, [op], level + 1))
        else:
            nearest[0].add(op)
            self.group_of[op] = nearest[0]

    def add(self, group: Group) -> None:
        self.groups[group] = None
        self.group_of.update(dict.fromkeys(group.ops, group))

    def producer(self, value: int) -> Group | None:
        op = self.net.producers[value]
        return self.group_of.get(op) if op is not None else None

    def input_names(self, value: int) -> tuple[str, ...]:
        """Return the inputs that a value is, or was preprocessed from."""
        return self._input_names.get(value, ())

    def replace(self, old: Iterable[Group], new: Group) -> None:
        """Replace several groups by one that has their ops."""
        for group in old:
            del self.groups[group]
            self._values_read.pop(group, None)
        self.add(new)

    def absorb(self, group: Group, absorbed: Group) -> None:
        """Remove `absorbed`, whose ops `group` already has."""
        self.group_of.update(dict.fromkeys(absorbed.ops, group))
        self._values_read.pop(group, None)
        del self.groups[absorbed]

    def predecessors(self, group: Group) -> dict[Group, int]:
        """Return the groups that a group reads, each with a value that it reads.

        Groups are only ever joined, so one value of each predecessor, collected once, finds the present ones.
        """
        values = self._values_read.get(group)
        if values is None:
            values = [value for op in group.ops for value in self.net.data_inputs(op)]
        if not values:
            return {}
        predecessors: dict[Group, int] = {}
        for value in values:
            producer = self.producer(value)
            if producer is not None and producer is not group:
                predecessors.setdefault(producer, value)
        self._values_read[group] = list(predecessors.values())
        return predecessors

    def ordered_predecessors(self, group: Group) -> list[Group]:
        """Return the predecessors, main one first: where the group's residual starts, else the highest level."""
        predecessors = self.predecessors(group)
        if len(predecessors) < 2:
            return list(predecessors)
        start = self.producer(group.residual_start) if group.residual_start is not None else None
        return sorted(predecessors, key=lambda predecessor: (predecessor is not start, -predecessor.level))

    def adjacency(self) -> tuple[dict[Group, list[Group]], dict[Group, list[Group]]]:
        """Return the predecessors and the successors of each group."""
        before = {group: self.ordered_predecessors(group) for group in self.groups}
        after: dict[Group, list[Group]] = {group: [] for group in self.groups}
        for group, predecessors in before.items():
            for predecessor in predecessors:
                after[predecessor].append(group)
        return before, after

    def depends_on(self, group: Group, origin: Group) -> bool:
        """Whether a path leads from `origin` to `group`, within the limit of visits."""
        return self._search([group], {origin}, origin.first)[0]

    def would_cycle(self, groups: Sequence[Group]) -> bool:
        """Whether a path leads out of some groups and back in, so that they cannot be joined."""
        inside = set(groups)
        predecessors = chain.from_iterable(map(self.predecessors, groups))
        outside = [predecessor for predecessor in predecessors if predecessor not in inside]
        is_found, is_complete = self._search(outside, inside, min(group.first for group in groups))
        return is_found or not is_complete

    def _search(self, start: list[Group], targets: set[Group], first: int) -> tuple[bool, bool]:
        """Search backward for one of `targets`; return whether one was found, and whether the search was complete."""
        waiting, seen = list(start), set(start)
        while waiting and len(seen) < _MAX_GROUPS_PER_SEARCH and self._visits_left > 0:
            predecessors = self.predecessors(waiting.pop())
            self._visits_left -= len(predecessors)
            for group in predecessors:
                if group in targets:
                    return True, True
                if group.last > first and group not in seen:
                    seen.add(group)
                    waiting.append(group)
        return False, not waiting

    def update_levels(self) -> None:
        """Compute levels and order again after groups were joined."""
        before, after = self.adjacency()
        missing = {group: len(predecessors) for group, predecessors in before.items()}
        ready = [group for group in self.groups if not missing[group]]
        order: list[Group] = []
        while ready:
            group = ready.pop()
            group.level = max((predecessor.level + 1 for predecessor in before[group]), default=0)
            order.append(group)
            for successor in after[group]:
                missing[successor] -= 1
                if not missing[successor]:
                    ready.append(successor)
        order += [group for group in self.groups if missing[group]]  # none, unless there is a cycle
        self.groups = dict.fromkeys(sorted(order, key=lambda group: (group.level, group.ops[0].position)))
