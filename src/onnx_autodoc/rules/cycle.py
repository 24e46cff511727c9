"""Nodes wait for each other.

Why it matters: each needs what another one makes, so that none of them can be the first to run. No runtime loads such a
graph, and nothing can be said of the shapes, the work and the memory of these nodes and of all that come after them.

What to do: look at the last step that changed the file, mostly one that renamed values or joined two models, and do it
again. A loop over data is written with the operator Loop or Scan.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from onnx_autodoc.graph import Graph, is_sorted, needed_names
from onnx_autodoc.rules._case import Case
from onnx_autodoc.rules._finding import Found, Severity
from onnx_autodoc.say import named, plural

SEVERITY: Final = Severity.ERROR
_MOST: Final = 4  # nodes that are listed in the sentence
Key = TypeVar("Key", bound=Hashable)


def check(case: Case) -> Iterator[Found]:
    spots = [each.name(at) for each in case.written for at in turning(each.graph)]
    if spots:
        listed = ", ".join(named(spot, 40) for spot in spots[:_MOST]) + (" …" if len(spots) > _MOST else "")
        some = "a node needs what it makes itself" if len(spots) == 1 else f"{plural(len(spots), 'node')} form a cycle"
        yield Found(f"{some}: {listed}", tuple(spots))


def turning(graph: Graph) -> list[int]:
    """The nodes that are on a cycle, or between two."""
    if is_sorted(graph.nodes):
        return []
    given = {value.name for value in graph.inputs} | {tensor.name for tensor in graph.initializers}
    makers: dict[str, int] = {}
    for at, node in enumerate(graph.nodes):
        for name in node.outputs:
            if name and name not in given:
                makers.setdefault(name, at)
    reads = {at: {makers[name] for name in needed_names(node) if name in makers} for at, node in enumerate(graph.nodes)}
    return sorted(circular(reads))


def circular(reads: Mapping[Key, set[Key]]) -> Iterable[Key]:
    """Of what needs what, all that is on a cycle, or between two."""
    return _left(_turned(_left(_turned(reads))))


def _turned(reads: Mapping[Key, set[Key]]) -> dict[Key, set[Key]]:
    """Who is read by whom, from who reads whom."""
    found: dict[Key, set[Key]] = {at: set() for at in reads}
    for at, needs in reads.items():
        for need in needs & reads.keys():
            found[need].add(at)
    return found


def _left(readers: Mapping[Key, set[Key]]) -> dict[Key, set[Key]]:
    """What is left of the nodes once all that wait for nobody have run, with their readers."""
    waiting = dict.fromkeys(readers, 0)
    for each in readers.values():
        for reader in each:
            waiting[reader] += 1
    ready = [at for at, count in waiting.items() if not count]
    while ready:
        at = ready.pop()
        del waiting[at]
        for reader in readers[at]:
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    return {at: readers[at] for at in waiting}
