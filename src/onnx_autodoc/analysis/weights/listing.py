"""Every tensor of a file: initializers and what nodes have in their attributes, in all graphs and functions."""

from collections import deque
from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec import Struct

from onnx_autodoc.analysis.weights.types import Owner
from onnx_autodoc.ir import Attribute, Graph, Model, Node, Payload, Tensor, TruncatedList

# How a Constant node's plain numbers are called, and their type; of one number the name has no s.
_PLAIN: Final = {"value_float": "float32", "value_int": "int64", "value_string": "string"}


class Entry(Struct, frozen=True):
    """`name` is what nodes read it by, after `path`, the way to its graph."""

    owner: Owner
    path: str
    name: str
    tensor: Tensor
    unread: str | None = None  # what is known before any byte is looked at


def entries(model: Model) -> Iterator[Entry]:
    """Outer graphs first; a function's body once, however often it is called."""
    waiting: deque[tuple[Owner, str, Graph]] = deque([((), "", model.graph)])
    for function in model.functions:
        waiting.append(((function.key,), f"{function.name}/", Graph(function.name, function.nodes)))
    waiting.extend((((("training", at),)), f"training[{at}]/", graph) for at, graph in enumerate(model.training))
    while waiting:
        owner, path, graph = waiting.popleft()
        yield from _held(owner, path, graph)
        waiting.extend(_inner(owner, path, graph))
    for function in model.functions:
        for key, item in function.defaults.items():
            yield from (Entry((function.key,), f"{function.name}/", key, tensor) for tensor in _tensors(item))


def _inner(owner: Owner, path: str, graph: Graph) -> Iterator[tuple[Owner, str, Graph]]:
    for at, node in enumerate(graph.nodes):
        if node.has_subgraphs:
            for name, inner in node.subgraphs():
                yield (*owner, at, name), f"{path}{node.label(at)}/{name}/", inner


def _held(owner: Owner, path: str, graph: Graph) -> Iterator[Entry]:
    initializers = {tensor.name for tensor in graph.initializers}
    literals = {name for name, _ in graph.constants()} - initializers
    yield from (Entry(owner, path, tensor.name, tensor) for tensor in graph.initializers)
    for at, node in enumerate(graph.nodes):
        if node.attributes:
            name = node.outputs[0] if node.outputs and node.outputs[0] in literals else None
            yield from _of_node(owner, path, node, at, name)


def _of_node(owner: Owner, path: str, node: Node, at: int, name: str | None) -> Iterator[Entry]:
    """A Constant node's tensor has the name of its output, any other one that of its attribute."""
    for key, item in node.attributes.items():
        for tensor in _tensors(item):
            yield Entry(owner, path, name or f"{node.label(at)}/{key}", tensor)
        kind = _PLAIN.get(key.removesuffix("s")) if name is not None else None
        if name is not None and kind is not None:
            yield _plain(Entry(owner, path, name, Tensor("", kind, ())), kind, item)


def _tensors(item: Attribute) -> Iterator[Tensor]:
    if isinstance(item, Tensor):
        yield item
    elif isinstance(item, tuple):
        yield from (one for one in item if isinstance(one, Tensor))


def _plain(entry: Entry, kind: str, item: Attribute) -> Entry:
    """A constant that is given as an attribute's own numbers."""
    dims = (item.count,) if isinstance(item, TruncatedList) else (len(item),) if isinstance(item, tuple) else ()
    empty = Tensor("", kind, dims)
    if isinstance(item, TruncatedList) or not isinstance(item, int | float | tuple) or kind == "string":
        what = "texts" if kind == "string" else "a long list"
        return Entry(entry.owner, entry.path, entry.name, empty, f"{what} in an attribute, which is not kept")
    data = np.array(item, "<f4" if kind == "float32" else "<i8").tobytes()
    return Entry(entry.owner, entry.path, entry.name, Tensor("", kind, dims, None, Payload("raw", len(data), data)))
