"""Model-local functions: what makes two calls the same, and a body with the call's attributes in place."""

from collections.abc import Mapping

import msgspec

from onnx_autodoc.graph import Attribute, Function, Graph, Node, Reference
from onnx_autodoc.ops import Call, Known


def call_key(function: Function, call: Call) -> object:
    """Equal keys give equal results: the same function on equal inputs with equal attributes."""
    plain = all(isinstance(item, int | float | str) for item in call.node.attributes.values())
    attributes = tuple(sorted(call.node.attributes.items(), key=_name)) if plain else id(call.node)
    return function.key, attributes, tuple(_known_key(known) for known in call.inputs)


def _name(item: tuple[str, Attribute]) -> str:
    return item[0]


def _known_key(known: Known | None) -> object:
    if known is None:
        return None
    if known.kind != "tensor" or known.shape is None:
        return id(known)
    value = known.value
    held = None if value is None else tuple(value.reshape(-1).tolist())
    return known.dtype, known.shape, held


def bound_nodes(function: Function, call: Node) -> tuple[Node, ...]:
    """The function's nodes, with each reference to an attribute replaced by the call's value or the default."""
    given = {**function.defaults, **call.attributes}
    absent = {name for at, name in enumerate(function.inputs) if at >= len(call.inputs) or not call.inputs[at]}
    return tuple(_bound(_without(node, absent), given) for node in function.nodes)


def _without(node: Node, absent: set[str]) -> Node:
    """An input that the call leaves out is left out where the body reads it."""
    if absent.isdisjoint(node.inputs):
        return node
    return msgspec.structs.replace(node, inputs=tuple("" if name in absent else name for name in node.inputs))


def _bound(node: Node, given: Mapping[str, Attribute]) -> Node:
    if not any(isinstance(item, Reference | Graph) for item in node.attributes.values()):
        return node
    attributes = {name: _value(item, given) for name, item in node.attributes.items()}
    return msgspec.structs.replace(node, attributes={k: v for k, v in attributes.items() if v is not None})


def _value(item: Attribute, given: Mapping[str, Attribute]) -> Attribute | None:
    if isinstance(item, Reference):
        return given.get(item.name)  # an attribute that the call leaves out is left out
    if isinstance(item, Graph):
        return msgspec.structs.replace(item, nodes=tuple(_bound(node, given) for node in item.nodes))
    return item
