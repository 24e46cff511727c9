"""What waits for itself: nodes that need what they make, functions that come to call themselves."""

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

from onnx_autodoc.ir._order import is_sorted, needed_names
from onnx_autodoc.ir._types import Graph

Key = TypeVar("Key", bound=Hashable)


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
