"""Groups that belong together: tables that are summed, what a skip goes around, branches that part and meet again."""

from collections.abc import Callable
from typing import Final

from onnx_autodoc.architecture._diagram_groups import Group, Sketch
from onnx_autodoc.architecture._names import unit_kind
from onnx_autodoc.patterns import Term, words

_SMALL: Final = 60  # terms that go down and up again within one block
_LARGEST: Final = 400  # terms that a skip goes around, for it to be one unit
_FARTHEST: Final = 300  # steps up to a common origin
_PASSES: Final = 4
_ENDED: Final = ("csp", "spp", "inception")
_TABLES: Final = ("embedding", "patch-embedding")


def gather(sketch: Sketch, widest: int = 12) -> None:
    """`widest` is how many groups may lie between where branches part and where they meet."""
    _tables(sketch)
    for end, terms in sorted(sketch.net.skips.items(), key=lambda item: len(item[1])):
        if len(terms) <= _LARGEST and not _spans(sketch, end, terms) and not _holds_layers(terms):
            _around(sketch, end, terms)
    sketch.relevel()
    meet(sketch, widest)


def meet(sketch: Sketch, widest: int) -> None:
    for _ in range(_PASSES):
        if not _branches(sketch, widest):
            break
    _ends(sketch)
    _asides(sketch)


def _spans(sketch: Sketch, end: Term, terms: list[Term]) -> bool:
    """Whether a skip goes around what changes the size, for good: its parts tell more than the whole would."""
    if not any(_resizes(term) for term in terms):
        return False
    same = sketch.net.shape(end.facts["around"]) == sketch.net.shape(end.outputs[0])
    return end.facts["skip"] != "add" or not same or len(terms) > _SMALL


def _resizes(term: Term) -> bool:
    return term.op in words.RESIZING or bool(term.facts.get("transposed"))


def _holds_layers(terms: list[Term]) -> bool:
    """Layers are told one by one, not as the inside of something larger."""
    return sum(term.op == "attention" for term in terms) > 1


def _tables(sketch: Sketch) -> None:
    """Embeddings, the sums of them, and the norm after them."""
    for group in list(sketch.groups):
        before = list(sketch.before(group)) if group in sketch.groups else []
        summed = before and all(each.kind in _TABLES for each in before)
        plain = not group.has(*words.WEIGHTED) or group.kind == "embedding"
        if summed and plain and all(_is_read_by(sketch, each, group) for each in before):
            whole = [*before, group]
            kind = max((each.kind for each in before), key=_TABLES.index)
            sketch.replace(whole, Group(kind, _terms(whole), before[0].level))


def _is_read_by(sketch: Sketch, group: Group, reader: Group) -> bool:
    """Whether nothing else reads it."""
    values = [value for term in group.terms for value in term.outputs]
    return all(sketch.home.get(term) in (group, reader) for value in values for term in sketch.net.readers[value])


def _terms(groups: list[Group]) -> list[Term]:
    return sorted((term for group in groups for term in group.terms), key=lambda term: term.at)


def _around(sketch: Sketch, end: Term, terms: list[Term]) -> None:
    """One unit of what a skip goes around, if nothing in it is read elsewhere."""
    last = sketch.home.get(end)
    inside = dict.fromkeys(terms)
    groups = {id(group): group for term in terms if (group := sketch.home.get(term)) is not None}
    whole = [group for group in groups.values() if group is last or all(term in inside for term in group.terms)]
    if last is None or last not in whole or not _is_closed(sketch, whole, last) or sketch.leads_back(whole):
        return
    start = sketch.net.makers[end.facts["around"]]
    parted = start is not None and start.op in words.CUTTING
    kind = "csp" if parted and end.op == words.JOINING else unit_kind(_terms(whole), str(end.facts["skip"]))
    whole.sort(key=lambda group: group.last)
    unit = Group(kind, _terms(whole), whole[0].level, tuple(whole) if len(whole) > 1 else last.children)
    unit.skip, unit.around, unit.value = str(end.facts["skip"]), end.facts["around"], end.outputs[0]
    sketch.replace(whole, unit)
    sketch.units.append(unit)


def _is_closed(sketch: Sketch, groups: list[Group], last: Group) -> bool:
    inside = set(groups)
    return all(
        sketch.home.get(reader) in inside
        for group in groups
        if group is not last
        for term in group.terms
        for value in term.outputs
        for reader in sketch.net.readers[value]
        if reader in sketch.home
    )


def _branches(sketch: Sketch, widest: int) -> bool:
    """Units of branches that part at one group and meet again at another; whether there were any."""
    before, after = sketch.links()
    origins = _origins(list(sketch.groups), before)
    taken = set[Group]()
    for group in list(sketch.groups):
        origin = origins.get(group)
        inside = _between(group, origin, before, widest) if origin is not None and len(before[group]) > 1 else set()
        if len(inside) > 1 and taken.isdisjoint(inside) and _is_a_unit(sketch, group, inside, after):
            taken |= inside
            _meet_at(sketch, group, inside)
    if taken:
        sketch.relevel()
    return bool(taken)


def _is_a_unit(sketch: Sketch, end: Group, inside: set[Group], after: dict[Group, list[Group]]) -> bool:
    """Nothing in it is read elsewhere, and neither its sizes nor layers in it are worth being told."""
    closed = all(set(after[each]) <= inside for each in inside if each is not end)
    terms = [term for each in inside for term in each.terms]
    return closed and not _spans_sizes(inside) and not _holds_layers(terms) and not sketch.leads_back(list(inside))


def _meet_at(sketch: Sketch, end: Group, inside: set[Group]) -> None:
    whole = sorted(inside, key=lambda each: (each.level, each.last))
    unit = Group(unit_kind(_terms(whole), "join"), _terms(whole), whole[0].level, tuple(whole))
    unit.value = end.value
    sketch.replace(whole, unit)
    sketch.units.append(unit)


def _ends(sketch: Sketch) -> None:
    """The convolutions that lead into a unit of branches and out of it belong to it."""
    before, after = sketch.links()
    for unit in [group for group in sketch.groups if group.kind in _ENDED]:
        givers, readers = before[unit], after[unit]
        whole = [each for each in givers if len(givers) == 1 and _is_pointwise(each) and after[each] == [unit]]
        whole += [unit]
        after_it = readers if unit.kind != "inception" else []  # there the next one begins
        whole += [each for each in after_it if len(readers) == 1 and _is_pointwise(each) and len(before[each]) == 1]
        whole = [each for each in whole if each in sketch.groups]
        if len(whole) > 1 and unit in whole:
            grown = Group(unit.kind, _terms(whole), whole[0].level, tuple(whole))
            grown.value = whole[-1].value
            sketch.replace(whole, grown)
    sketch.relevel()


def _is_pointwise(group: Group) -> bool:
    kernel = group.terms[0].facts.get("kernel") or (0,)
    return not group.children and max(kernel) == 1


def _asides(sketch: Sketch) -> None:
    """What prepares something shared (the time, a condition) for one unit belongs to that unit."""
    before, after = sketch.links()
    for group in list(sketch.groups):
        givers, readers = before[group], after[group]
        alone = len(givers) == 1 and len(readers) == 1 and len(after[givers[0]]) > 2 and not group.children
        if alone and before[readers[0]][0] is not group and readers[0] in sketch.groups and readers[0].children:
            reader = readers[0]
            reader.terms = _terms([group, reader])
            reader.first = min(reader.first, group.first)
            reader.children = (group, *reader.children)
            sketch.take_in(reader, group)
    sketch.relevel()


def _spans_sizes(groups: set[Group]) -> bool:
    """What goes down and up again (a pyramid) is told better by its parts."""
    return any(_resizes(term) for group in groups for term in group.terms)


def _between(group: Group, origin: Group, before: dict[Group, list[Group]], widest: int) -> set[Group]:
    if group.level - origin.level > widest:
        return set()  # a group of each level lies between them
    found, waiting = {group}, [group]
    while waiting and len(found) <= widest:
        for giver in before[waiting.pop()]:
            if giver is not origin and giver not in found:
                found.add(giver)
                waiting.append(giver)
    return found if len(found) <= widest else set()


def _origins(groups: list[Group], before: dict[Group, list[Group]]) -> dict[Group, Group | None]:
    """For each group the last one that all ways to it go through (its dominator); None where there is none."""
    up: dict[Group, Group | None] = {}
    depth: dict[Group, int] = {}
    for group in groups:
        origin: Group | None = before[group][0] if before[group] else None
        for giver in before[group][1:]:
            origin = _common(origin, giver, up, depth.__getitem__)
        up[group] = origin
        depth[group] = depth[origin] + 1 if origin is not None else 0
    return up


def _common(
    one: Group | None, other: Group | None, up: dict[Group, Group | None], depth: Callable[[Group], int]
) -> Group | None:
    for _ in range(_FARTHEST):
        if one is other or one is None or other is None:
            return one if one is other else None
        if depth(one) >= depth(other):
            one = up[one]
        else:
            other = up[other]
    return None
