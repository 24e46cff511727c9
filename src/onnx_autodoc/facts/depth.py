"""The longest path through a model: nodes one after the other, each reading what the one before it made."""

from collections.abc import Mapping, Sequence

from onnx_autodoc.graph import Function, Model, Node, execution_order, needed_names

_Functions = Mapping[tuple[str, str, str], Function]


def depth(model: Model) -> int:
    """How many nodes lie on the longest path. A node that runs a subgraph or a function counts with what it runs."""
    functions = {function.key: function for function in model.functions}
    return _longest(model.graph.nodes, functions, {})


def _longest(nodes: Sequence[Node], functions: _Functions, known: dict[tuple[str, str, str], int]) -> int:
    """The length of the longest path in one graph's nodes."""
    reached: dict[str, int] = {}
    longest = 0
    for node in map(nodes.__getitem__, execution_order(nodes)):
        before = max((reached.get(name, 0) for name in needed_names(node) if name), default=0)
        at = before + _own(node, functions, known)
        longest = max(longest, at)
        reached.update(dict.fromkeys(node.outputs, at))
    return longest


def _own(node: Node, functions: _Functions, known: dict[tuple[str, str, str], int]) -> int:
    """What a node adds to a path: itself, and the longest path inside it."""
    key = (node.domain, node.op, node.overload)
    if key in functions and key not in known:
        known[key] = 0  # a function that calls itself adds nothing more
        known[key] = _longest(functions[key].nodes, functions, known)
    inner = [_longest(graph.nodes, functions, known) for _, graph in node.graphs()]
    return 1 + max([known.get(key, 0), *inner])
