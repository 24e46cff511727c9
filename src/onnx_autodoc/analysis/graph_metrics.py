"""Depth of a model and its most frequent connections between operators."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from onnx_autodoc.ir import Function, Graph, Model, iter_subgraphs

_Key = tuple[str, str, str]
_MAX_CONNECTIONS: Final = 10


def depth(model: Model) -> int:
    """Return the longest path, in nodes. A node that runs a subgraph or a function counts with its path."""
    functions = model.functions_by_key
    known: dict[_Key, int] = {}
    for key in _callees_first(functions):
        known[key] = _graph_depth(functions[key].body, known)
    return _graph_depth(model.graph, known)


def _callees_first(functions: Mapping[_Key, Function]) -> Iterator[_Key]:
    """Yield every function after those that it calls; of functions that call each other, any first."""
    done: set[_Key] = set()
    waiting = list(functions)
    opened: set[_Key] = set()
    while waiting:
        key = waiting[-1]
        if key not in opened:
            opened.add(key)
            nodes = functions[key].nodes
            bodies = (nodes, *(graph.nodes for graph in iter_subgraphs(nodes)))
            callees = {node.function_key for body in bodies for node in body}
            waiting.extend(callee for callee in callees if callee in functions and callee not in opened)
        if waiting[-1] == key:
            waiting.pop()
            if key not in done:
                done.add(key)
                yield key


def _graph_depth(graph: Graph, known: Mapping[_Key, int]) -> int:
    """Return the longest path in a graph, with the paths in its subgraphs."""
    inside: dict[int, int] = {}
    for inner in reversed(list(iter_subgraphs(graph.nodes))):
        inside[id(inner)] = _longest_path(inner, known, inside)
    return _longest_path(graph, known, inside)


def _longest_path(graph: Graph, known: Mapping[_Key, int], inside: Mapping[int, int]) -> int:
    """Return the longest path in one graph; `inside` has the longest paths of its subgraphs."""
    depths = {"": 0}
    longest = 0
    for position in graph.index.order:
        node = graph.nodes[position]
        at = 1 + max([depths.get(name, 0) for name in node.all_inputs], default=0)
        inner = max((inside[id(subgraph)] for _, subgraph in node.subgraphs()), default=0) if node.has_subgraphs else 0
        at += max(inner, known.get(node.function_key, 0)) if inner or known else 0
        longest = max(longest, at)
        depths.update(dict.fromkeys(filter(None, node.outputs), at))
    return longest


def flow(model: Model) -> tuple[tuple[str, str, int], ...]:
    """Return the most frequent pairs of operators, the second of which reads an output of the first; no constants."""
    counts = Counter[tuple[str, str]]()
    for graph in model.all_graphs:
        producers = {name: node.op for node in graph.nodes if any(node.inputs) for name in node.outputs if name}
        counts.update((producers[name], node.op) for node in graph.nodes for name in node.inputs if name in producers)
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_MAX_CONNECTIONS]
    return tuple((*pair, count) for pair, count in most)
