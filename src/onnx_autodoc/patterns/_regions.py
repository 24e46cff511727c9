"""What lies between the beginning of a skip connection and its end."""

from typing import Final

from onnx_autodoc.patterns._net import Net, Term

_LARGEST: Final = 600  # terms in one region
_EACH: Final = 40  # terms looked at, for each of the net; beyond that, skips are not followed
_KINDS: Final = ("add", "concat")


def regions(net: Net) -> dict[Term, list[Term]]:
    """What each sum or join at the end of a skip goes around, short ways first; nothing for those that are too many."""
    ends = [term for term in net if term.facts.get("skip") in _KINDS]
    left, found = 1000 + _EACH * len(net.terms), dict[Term, list[Term]]()
    for end in sorted(ends, key=lambda end: (_length(net, end), end.at)):
        found[end], looked_at = _region(net, end) if left > 0 else ([], 0)
        left -= max(4 * len(found[end]), looked_at, 4)
    return dict(sorted(found.items(), key=lambda item: item[0].at))


def _length(net: Net, end: Term) -> int:
    maker = net.makers[end.facts["around"]]
    return end.at - (maker.at if maker is not None else 0)


def _region(net: Net, end: Term) -> tuple[list[Term], int]:
    """The terms between, in order: computed from where the skip begins, on the way to where it ends. And how many
    were looked at for it.
    """
    start = end.facts["around"]
    behind = _behind(net, end, start)
    reached, inside = {start}, list[Term]()
    for term in sorted(behind, key=lambda term: term.at):
        if not reached.isdisjoint(term.inputs):
            reached.update(term.outputs)
            inside.append(term)
    return (inside if len(behind) < _LARGEST else []), len(behind)


def _behind(net: Net, end: Term, start: int) -> set[Term]:
    """The terms that the end hangs on, back to the start."""
    maker = net.makers[start]
    first = maker.at if maker is not None else -1
    waiting, found = list(end.inputs), set[Term]()
    while waiting and len(found) < _LARGEST:
        value = waiting.pop()
        term = net.makers[value]
        if value == start or term is None or term in found or net.fixed[value] or term.at <= first:
            continue
        found.add(term)
        waiting.extend(term.inputs)
    return found
