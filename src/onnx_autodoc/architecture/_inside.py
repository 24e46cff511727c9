"""What is drawn inside a box: the parts of one layer, with the sums at the ends of its skips as boxes of their own."""

from onnx_autodoc.architecture._boxes import Box, Edge, edge
from onnx_autodoc.architecture._diagram_groups import Group
from onnx_autodoc.patterns import Net, Term


def parts(group: Group) -> list[Group]:
    """The groups inside one, skips opened."""
    if _is_unit(group):
        return _opened(group)
    if len(group.children) == 1:
        return parts(group.children[0])
    return [part for child in group.children for part in (_opened(child) if _is_unit(child) else [child])]


def _is_unit(group: Group) -> bool:
    return group.skip == "add" and group.count == 1


def _opened(unit: Group) -> list[Group]:
    """What a skip goes around, and the sum at its end with whatever follows it."""
    at = next(at for at, term in enumerate(unit.terms) if term.outputs[0] == unit.value)
    after = set(unit.terms[at:])
    inner = [_without(child, after) for child in unit.children] if len(unit.children) > 1 else [_without(unit, after)]
    end = Group("add", unit.terms[at:])
    return [*(child for child in inner if child is not None), end]


def _without(group: Group, terms: set[Term]) -> Group | None:
    kept = [term for term in group.terms if term not in terms]
    if not kept:
        return None
    whole = len(kept) == len(group.terms)
    left = Group(group.kind, kept, group.level, group.children if whole else ())
    if whole:
        left.count, left.turns = group.count, group.turns
    return left


class Inside:
    """The edges between the parts of a box. What comes in from the box before enters at one place."""

    def __init__(self, net: Net, groups: list[Group], entering: set[int], name: str) -> None:
        self._net, self._entering = net, entering
        self._home = {term: group for group in groups for term in group.terms}
        self.ids = {group: f"{name}.{at}" for at, group in enumerate(groups)}
        self.door = f"{name}.in"
        self.edges = self._edges(groups)
        opens = any(edge.source == self.door for edge in self.edges)
        self.doors = (Box(self.door, "input", "in", None, 1, 0, 0, 0.0, 0, False, (), ()),) if opens else ()

    def _edges(self, groups: list[Group]) -> tuple[Edge, ...]:
        found: dict[tuple[str, str], Edge] = {}
        for at, group in enumerate(groups):
            for term in group.terms:
                for value in self._net.varying(term):
                    source = self._source(value)
                    if source is not None and source != self.ids[group]:
                        kind = "data" if at == 0 or source == self.ids[groups[at - 1]] else self._kind(group)
                        found.setdefault(
                            (source, self.ids[group]), edge(self._net, source, self.ids[group], value, kind)
                        )
        return tuple(found.values())

    def _kind(self, group: Group) -> str:
        return "skip" if group.kind == "add" else "data"

    def _source(self, value: int) -> str | None:
        if value in self._entering:
            return self.door
        maker = self._net.makers[value]
        home = self._home.get(maker) if maker is not None else None
        return self.ids[home] if home is not None else None
