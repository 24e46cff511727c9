"""A net as a person would sketch it: groups of terms, and which group reads which.

A group is what becomes one box. Its level is the longest way to it from the inputs; whatever is put into a group must
have come from groups of lower levels, so that no way ever leads back.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from onnx_autodoc.patterns import Net, Term, words

_MOST_SEEN: Final = 500  # groups looked at before some are thought to lead back
_EACH: Final = 20  # groups looked at in all such questions, for each term of the net


class Group:
    """Terms that are drawn together. `count` alike stand for each other; `children` are the groups within one."""

    __slots__ = ("around", "children", "count", "first", "kind", "last", "level", "skip", "terms", "turns", "value")

    def __init__(self, kind: str, terms: list[Term], level: int = 0, children: "tuple[Group, ...]" = ()) -> None:
        self.kind = kind
        self.terms = terms
        self.first = self.last = terms[0].at  # the places of its earliest and its latest term
        for term in terms:
            self.first, self.last = min(self.first, term.at), max(self.last, term.at)
        self.level = level
        self.children = children
        self.count = 1
        self.value = terms[0].outputs[0]  # what it makes
        self.around: int | None = None  # what its skip begins with, where it is what a skip goes around
        self.skip = ""
        self.turns: list[list[Term]] = []  # the terms of each of the `count` alike

    def take(self, term: Term) -> None:
        self.terms.append(term)
        self.last = max(self.last, term.at)

    def has(self, *ops: str) -> bool:
        return any(term.op in ops for term in self.terms)


class Sketch:
    """All groups of a net, in an order that works (after `relevel`); `home` says where a term went."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.home: dict[Term, Group] = {}
        self.groups: dict[Group, None] = {}
        self.units: list[Group] = []  # what was found to belong together, whatever it is drawn in
        self._reads: dict[Group, list[int]] = {}  # of each group, one value of each that it read when it was asked
        self._left = 500_000 + _EACH * len(net.terms)
        self._aside: dict[int, tuple[str, ...]] = {value: (name,) for name, value in net.inputs.items()}
        everything = not any(term.op in words.DRAWN for term in net)
        for term in net:
            self._place(term, drawn=everything or term.op in words.DRAWN)

    def _place(self, term: Term, drawn: bool) -> None:
        """A term of its own box, one that goes with what it reads, or one that only prepares an input."""
        behind = list({id(group): group for group in map(self.maker, self.net.varying(term)) if group}.values())
        if not behind and not drawn:
            lists = list({id(names): names for value in term.inputs if (names := self._aside.get(value))}.values())
            names = lists[0] if len(lists) == 1 else tuple(dict.fromkeys(name for names in lists for name in names))
            self._aside.update(dict.fromkeys(term.outputs, names))
            return
        top = max((group.level for group in behind), default=-1)
        nearest = [group for group in behind if group.level == top]
        if drawn or len(nearest) > 1:
            self.add(Group(term.op, [term], top + 1))
        else:
            nearest[0].take(term)
            self.home[term] = nearest[0]

    def add(self, group: Group) -> None:
        self.groups[group] = None
        self.home.update(dict.fromkeys(group.terms, group))

    def maker(self, value: int) -> Group | None:
        term = self.net.makers[value]
        return self.home.get(term) if term is not None else None

    def names(self, value: int) -> tuple[str, ...]:
        """The inputs that a value is, or was prepared from."""
        return self._aside.get(value, ())

    def replace(self, old: Iterable[Group], new: Group) -> None:
        """Put several groups into one."""
        for group in old:
            del self.groups[group]
            self._reads.pop(group, None)
        self.add(new)

    def take_in(self, group: Group, other: Group) -> None:
        """Put a group into another one, which has its terms already."""
        self.home.update(dict.fromkeys(other.terms, group))
        self._reads.pop(group, None)
        del self.groups[other]

    def before(self, group: Group) -> dict[Group, int]:
        """The groups that a group reads, each with the value it reads.

        Groups are only ever joined, so what a group read once tells what it reads now: its terms are asked once.
        """
        values = self._reads.get(group)
        found: dict[Group, int] = {}
        for value in (value for term in group.terms for value in self.net.varying(term)) if values is None else values:
            made = self.maker(value)
            if made is not None and made is not group:
                found.setdefault(made, value)
        self._reads[group] = list(found.values())
        return found

    def givers(self, group: Group) -> list[Group]:
        """The groups before a group, the one that it goes on from first: where its skip begins, else the highest."""
        start = self.maker(group.around) if group.around is not None else None
        return sorted(self.before(group), key=lambda each: (each is not start, -each.level))

    def links(self) -> tuple[dict[Group, list[Group]], dict[Group, list[Group]]]:
        """Who reads whom: for each group those before it, and those after it."""
        before = {group: self.givers(group) for group in self.groups}
        after: dict[Group, list[Group]] = {group: [] for group in self.groups}
        for group, givers in before.items():
            for giver in givers:
                after[giver].append(group)
        return before, after

    def comes_from(self, group: Group, origin: Group) -> bool:
        """Whether a way leads from one group to another, not too far off."""
        waiting, seen = [group], {group}
        while waiting and len(seen) < _MOST_SEEN and self._left > 0:
            for giver in self._looked(waiting.pop()):
                if giver is origin:
                    return True
                if giver.last > origin.first and giver not in seen:
                    seen.add(giver)
                    waiting.append(giver)
        return False

    def leads_back(self, groups: Sequence[Group]) -> bool:
        """Whether a way leads out of some groups and in again: then they cannot be one."""
        inside, first = set(groups), min(group.first for group in groups)
        waiting = [giver for group in groups for giver in self.before(group) if giver not in inside]
        seen = set(waiting)
        while waiting and len(seen) < _MOST_SEEN and self._left > 0:
            for giver in self._looked(waiting.pop()):
                if giver in inside:
                    return True
                if giver.last > first and giver not in seen:
                    seen.add(giver)
                    waiting.append(giver)
        return bool(waiting)

    def _looked(self, group: Group) -> dict[Group, int]:
        found = self.before(group)
        self._left -= len(found)
        return found

    def relevel(self) -> None:
        """Levels and order anew, after groups were joined."""
        before, after = self.links()
        left = {group: len(givers) for group, givers in before.items()}
        ready = [group for group in self.groups if not left[group]]
        order: list[Group] = []
        while ready:
            group = ready.pop()
            group.level = max((giver.level + 1 for giver in before[group]), default=0)
            order.append(group)
            for reader in after[group]:
                left[reader] -= 1
                if not left[reader]:
                    ready.append(reader)
        order += [group for group in self.groups if left[group]]  # none, unless a way leads back
        self.groups = dict.fromkeys(sorted(order, key=lambda group: (group.level, group.terms[0].at)))
