"""The order in which nodes can be resolved: the file's own where that works, as ONNX demands; else a sorted one."""

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from onnx_autodoc.ir._types import Node


def execution_order(nodes: Sequence[Node]) -> Iterator[int]:
    """Indices of all nodes, each after the nodes it reads from. Nodes on a cycle come last, in file order."""
    if is_sorted(nodes):
        return iter(range(len(nodes)))
    return _sorted(nodes, {name: at for at, node in enumerate(nodes) for name in node.outputs if name})


def is_sorted(nodes: Sequence[Node]) -> bool:
    """Whether no node makes what one before it, or itself, has read. Nearly all files are so, and all are asked."""
    read: set[str] = set()
    for node in nodes:
        read.update(needed_names(node) if node.nested else node.inputs)
        if not read.isdisjoint(node.outputs):
            return False
    return True


def _sorted(nodes: Sequence[Node], maker: dict[str, int]) -> Iterator[int]:
    """Of the nodes that can run, always the first one in the file."""
    reads = [{maker[name] for name in needed_names(node) if name in maker} for node in nodes]
    readers: list[list[int]] = [[] for _ in nodes]
    for at, needs in enumerate(reads):
        for need in needs:
            readers[need].append(at)
    waiting = [len(needs) for needs in reads]
    ready = [at for at, count in enumerate(waiting) if count == 0]
    while ready:
        at = heappop(ready)
        yield at
        for reader in readers[at]:
            waiting[reader] -= 1
            if waiting[reader] == 0:
                heappush(ready, reader)
    yield from (at for at, count in enumerate(waiting) if count > 0)


def needed_names(node: Node) -> Sequence[str]:
    """Every value that a node reads: its inputs, and what its subgraphs take from around them."""
    if node.nested:
        return (*node.inputs, *(name for _, graph in node.graphs() for name in graph.outer))
    return node.inputs
