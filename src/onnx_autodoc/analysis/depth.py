"""The longest path through a model: nodes one after the other, each reading what the one before it made."""

from collections.abc import Iterator, Mapping, Sequence

from onnx_autodoc.ir import Function, Model, Node, execution_order, inner_graphs, needed_names

_Key = tuple[str, str, str]


def depth(model: Model) -> int:
    """How many nodes lie on the longest path. A node that runs a subgraph or a function counts with what it runs."""
    functions = {function.key: function for function in model.functions}
    known: dict[_Key, int] = {}
    for key in _callees_first(functions):
        known[key] = _deepest(functions[key].nodes, known)
    return _deepest(model.graph.nodes, known)


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
    nodes = [function.nodes, *(graph.nodes for graph in inner_graphs(function.nodes))]
    return {(node.domain, node.op, node.overload) for group in nodes for node in group}


def _deepest(nodes: Sequence[Node], known: Mapping[_Key, int]) -> int:
    """The longest path in some nodes, their subgraphs measured before them."""
    inside: dict[int, int] = {}
    for graph in reversed(list(inner_graphs(nodes))):
        inside[id(graph)] = _longest(graph.nodes, known, inside)
    return _longest(nodes, known, inside)


def _longest(nodes: Sequence[Node], known: Mapping[_Key, int], inside: Mapping[int, int]) -> int:
    """The longest path in one graph's nodes; `inside` is how long those of the graphs in it are."""
    reached: dict[str, int] = {}
    longest = 0
    for node in map(nodes.__getitem__, execution_order(nodes)):
        before = max((reached.get(name, 0) for name in needed_names(node) if name), default=0)
        inner = max((inside[id(graph)] for _, graph in node.graphs()), default=0)
        at = before + 1 + max(inner, known.get((node.domain, node.op, node.overload), 0))
        longest = max(longest, at)
        reached.update(dict.fromkeys(node.outputs, at))
    return longest
