"""Model-local functions: what makes two calls the same, and a body with the call's attributes in place."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from onnx_autodoc.ir import Attribute, AttributeReference, Deep, Function, Graph, Node, deeply
from onnx_autodoc.ops import Array, Call, ValueInfo

_FEW: Final = 64


def call_key(function: Function, call: Call) -> object:
    """Equal keys give equal results: the same function on equal inputs with equal attributes."""
    plain = all(isinstance(item, int | float | str) for item in call.node.attributes.values())
    attributes = tuple(sorted(call.node.attributes.items(), key=_name)) if plain else id(call.node)
    return function.key, attributes, tuple(_known_key(known) for known in call.inputs)


def _name(item: tuple[str, Attribute]) -> str:
    return item[0]


def _known_key(known: ValueInfo | None) -> object:
    if known is None:
        return None
    if known.kind != "tensor":
        return id(known)
    if known.shape is None:
        return known.dtype, known.why  # nothing else is known of it: else each call of a call would be another one
    return known.dtype, known.shape, None if known.value is None else _elements(known.value)


def _elements(value: Array) -> object:
    """Many are the same where they are the same array: to compare them at each call would take longer than it saves."""
    return tuple(value.reshape(-1).tolist()) if value.size <= _FEW else _Same(value)


class _Same:
    """An array as itself; kept, so that no other one gets its place."""

    def __init__(self, value: Array) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._value is self._value

    def __hash__(self) -> int:
        return id(self._value)


def bound_nodes(function: Function, call: Node) -> tuple[Node, ...]:
    """The function's nodes, with each reference to an attribute replaced by the call's value or the default."""
    given = {**function.defaults, **call.attributes}
    absent = {name for at, name in enumerate(function.inputs) if at >= len(call.inputs) or not call.inputs[at]}
    return deeply(_bound([_without(node, absent) for node in function.nodes], given))


def _without(node: Node, absent: set[str]) -> Node:
    """An input that the call leaves out is left out where the body reads it."""
    if absent.isdisjoint(node.inputs):
        return node
    return msgspec.structs.replace(node, inputs=tuple("" if name in absent else name for name in node.inputs))


def _bound(nodes: Sequence[Node], given: Mapping[str, Attribute]) -> Deep[tuple[Node, ...]]:
    made = []
    for node in nodes:
        steered = any(isinstance(item, AttributeReference | Graph) for item in node.attributes.values())
        made.append((yield _steered(node, given)) if steered else node)
    return tuple(made)


def _steered(node: Node, given: Mapping[str, Attribute]) -> Deep[Node]:
    attributes: dict[str, Attribute] = {}
    for name, item in node.attributes.items():
        if isinstance(item, Graph):
            attributes[name] = msgspec.structs.replace(item, nodes=(yield _bound(item.nodes, given)))
        elif not isinstance(item, AttributeReference):
            attributes[name] = item
        elif item.name in given:  # an attribute that the call leaves out is left out
            attributes[name] = given[item.name]
    return msgspec.structs.replace(node, attributes=attributes)
