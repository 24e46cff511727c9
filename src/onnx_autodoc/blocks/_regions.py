"""What lies between the beginning of a skip connection and its end."""

from typing import Final

from onnx_autodoc.blocks._net import Net, Term

_LARGEST: Final = 2000  # terms in one region


def region(net: Net, end: Term) -> list[Term]:
    """The terms that a skip goes around, in order: computed from where it begins, on the way to where it ends."""
    start = end.facts["around"]
    behind = _behind(net, end, start)
    reached, inside = {start}, list[Term]()
    for term in sorted(behind, key=lambda term: term.at):
        if not reached.isdisjoint(term.inputs):
            reached.update(term.outputs)
            inside.append(term)
    return inside


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
