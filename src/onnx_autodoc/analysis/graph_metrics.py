"""Depth of a model and its most frequent connections between operators."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.ir import Function, Graph, Model, iter_subgraphs

_Key = tuple[str, str, str]


def depth(model: Model) -> int:
    """How many nodes lie on the longest path. A node that runs a subgraph or a function counts with what it runs."""
    functions = model.functions_by_key
    known: dict[_Key, int] = {}
    for key in _callees_first(functions):
        known[key] = _deepest(functions[key].body, known)
    return _deepest(model.graph, known)


def _callees_first(functions: Mapping[_Key, Function]) -> Iterator[_Key]:
    """Every function after those that it calls; of functions that call each other, any first."""
    done: set[_Key] = set()
    waiting = list(functions)
    opened: set[_Key] = set()
    while waiting:
        key = waiting[-1]
        calls = [] if key in opened else [other for other in _calls(functions[key]) if other in functions]
        opened.add(key)
        waiting.extend(other for other in calls if other not in opened)
        if waiting[-1] == key:
            waiting.pop()
            if key not in done:
                done.add(key)
                yield key


def _calls(function: Function) -> set[_Key]:
    nodes = [function.nodes, *(graph.nodes for graph in iter_subgraphs(function.nodes))]
    return {(node.domain, node.op, node.overload) for group in nodes for node in group}


def _deepest(graph: Graph, known: Mapping[_Key, int]) -> int:
    """Return the longest path in a graph, with the paths in its subgraphs."""
    inside: dict[int, int] = {}
    for inner in reversed(list(iter_subgraphs(graph.nodes))):
        inside[id(inner)] = _longest(inner, known, inside)
    return _longest(graph, known, inside)


def _longest(graph: Graph, known: Mapping[_Key, int], inside: Mapping[int, int]) -> int:
    """Return the longest path in one graph; `inside` has the longest paths of its subgraphs."""
    reached = {"": 0}
    longest = 0
    for position in graph.index.order:
        node = graph.nodes[position]
        at = 1 + max([reached.get(name, 0) for name in node.all_inputs], default=0)
        inner = max((inside[id(each)] for _, each in node.subgraphs()), default=0) if node.has_subgraphs else 0
        at += max(inner, known.get(node.function_key, 0)) if inner or known else 0
        longest = max(longest, at)
        for name in node.outputs:
            if name:
                reached[name] = at
    return longest


_MAX_CONNECTIONS: Final = 10


def flow(model: Model) -> tuple[tuple[str, str, int], ...]:
    """The most frequent pairs of operators, the second of which reads what the first made; constants make nothing."""
    counts = Counter(pair for graph in model.all_graphs for pair in _pairs(graph))
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_CONNECTIONS]
    return tuple((*pair, count) for pair, count in most)


def _pairs(graph: Graph) -> Iterator[tuple[str, str]]:
    makers = {name: node.op for node in graph.nodes if any(node.inputs) for name in node.outputs if name}
    for node in graph.nodes:
        yield from ((makers[name], node.op) for name in node.inputs if name in makers)
