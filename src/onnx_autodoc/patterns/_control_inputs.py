"""Inputs that weights never meet: those a condition hangs on, those that only an operator's fine print reads."""

from collections.abc import Iterator
from typing import Final

from onnx_autodoc.ir import Model, Node
from onnx_autodoc.ops import kinds
from onnx_autodoc.patterns._net import Net

_RATES: Final = (4_000, 192_000)  # samples in a second
_FARTHEST: Final = 40  # nodes behind a condition
_PASSING: Final = frozenset(("Cast", "Identity", "Unsqueeze", "Squeeze"))
_PRINT: Final = {
    ("EmbedLayerNormalization", 7): "mask",
    ("QEmbedLayerNormalization", 7): "mask",
    ("GroupQueryAttention", 5): "lengths",
    ("GroupQueryAttention", 9): "positions",
}


def aside(net: Net, model: Model) -> dict[str, str]:
    """The roles of such inputs."""
    unread = {name for name, value in net.inputs.items() if not net.readers[value] and value not in net.leaving}
    if not unread:
        return {}
    found = dict(_printed(model, unread))
    makers = {name: node for node in model.graph.nodes for name in node.outputs}
    values: dict[str, list[int]] = {}
    for value, name in enumerate(net.names):
        values.setdefault(name, []).append(value)
    for node in model.graph.nodes:
        if node.op == kinds.BRANCH:
            for name, role in _steering(net, makers, values, node, unread):
                found.setdefault(name, role)
    return found


def _printed(model: Model, unread: set[str]) -> Iterator[tuple[str, str]]:
    known_as = {name: name for name in unread}
    for node in model.graph.nodes:
        if node.op in _PASSING and node.inputs and node.inputs[0] in known_as:
            known_as |= dict.fromkeys(node.outputs, known_as[node.inputs[0]])
        for at, name in enumerate(node.inputs):
            if name in known_as and (node.op, at) in _PRINT:
                yield known_as[name], _PRINT[node.op, at]


def _steering(
    net: Net, makers: dict[str, Node], values: dict[str, list[int]], branch: Node, unread: set[str]
) -> Iterator[tuple[str, str]]:
    """Compared with 8,000 or 16,000 it is samples in a second; else it only switches."""
    waiting, seen, rates = list(branch.inputs), set[str](), False
    while waiting and len(seen) < _FARTHEST:
        name = waiting.pop()
        seen.add(name)
        node = makers.get(name)
        if node is not None:
            waiting.extend(given for given in node.inputs if given not in seen)
    numbers = [net.number(value) for name in seen for value in values.get(name, ())]
    rates = any(number is not None and _RATES[0] <= number <= _RATES[1] for number in numbers)
    for name in seen & unread:
        yield name, "sample rate" if rates else "switch"
