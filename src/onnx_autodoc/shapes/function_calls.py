"""Calls of model-local functions: the key of equal calls, and the nodes of a body with the attributes of a call."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.ir import Attribute, AttributeReference, Deep, Function, Graph, Node, deeply
from onnx_autodoc.ops import Call, ValueInfo

_MAX_COMPARED_ELEMENTS: Final = 64  # comparing larger arrays at each call would take longer than it saves


def call_key(function: Function, call: Call) -> object:
    """Return a key that is equal for calls with equal results: of one function, with equal inputs and attributes.

    The key holds ids, so whoever stores it keeps `call` alive.
    """
    attributes: object = id(call.node)
    if all(isinstance(value, int | float | str) for value in call.node.attributes.values()):
        attributes = frozenset(call.node.attributes.items())
    return function.key, attributes, tuple(map(_value_key, call.inputs))


def _value_key(known: ValueInfo | None) -> object:
    if known is None:
        return None
    if known.kind != "tensor":
        return id(known)
    if known.shape is None:
        return known.dtype, known.why  # nothing else is known; an id would make each call of a nested call different
    value = known.value
    if value is None:
        return known.dtype, known.shape
    is_compared = value.size <= _MAX_COMPARED_ELEMENTS
    return known.dtype, known.shape, tuple(value.reshape(-1).tolist()) if is_compared else id(value)


def bind_nodes(function: Function, call: Node) -> tuple[Node, ...]:
    """Return the function's nodes, with each reference to an attribute replaced by the call's value or the default."""
    attributes = {**function.defaults, **call.attributes}
    absent = {name for at, name in enumerate(function.inputs) if at >= len(call.inputs) or not call.inputs[at]}
    nodes = [
        node
        if absent.isdisjoint(node.inputs)
        else replace(node, inputs=tuple("" if name in absent else name for name in node.inputs))
        for node in function.nodes
    ]
    return deeply(_bind_nodes(nodes, attributes))


def _bind_nodes(nodes: Sequence[Node], attributes: Mapping[str, Attribute]) -> Deep[tuple[Node, ...]]:
    bound = []
    for node in nodes:
        has_references = any(isinstance(value, AttributeReference | Graph) for value in node.attributes.values())
        bound.append((yield _bind_node(node, attributes)) if has_references else node)
    return tuple(bound)


def _bind_node(node: Node, attributes: Mapping[str, Attribute]) -> Deep[Node]:
    bound: dict[str, Attribute] = {}
    for name, value in node.attributes.items():
        if isinstance(value, Graph):
            bound[name] = replace(value, nodes=(yield _bind_nodes(value.nodes, attributes)))
        elif not isinstance(value, AttributeReference):
            bound[name] = value
        elif value.name in attributes:  # the body omits an attribute that the call omits
            bound[name] = attributes[value.name]
    return replace(node, attributes=bound)
