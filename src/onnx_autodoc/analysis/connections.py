"""Which operators feed which: connections that the graph has, counted."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Graph, Model, all_graphs

_MOST: Final = 10


def flow(model: Model) -> tuple[tuple[str, str, int], ...]:
    """The most frequent pairs of operators, the second of which reads what the first made; constants make nothing."""
    counts = Counter(pair for graph in all_graphs(model) for pair in _pairs(graph))
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MOST]
    return tuple((*pair, count) for pair, count in most)


def _pairs(graph: Graph) -> Iterator[tuple[str, str]]:
    makers = {name: node.op for node in graph.nodes if any(node.inputs) for name in node.outputs if name}
    for node in graph.nodes:
        yield from ((makers[name], node.op) for name in node.inputs if name in makers)
