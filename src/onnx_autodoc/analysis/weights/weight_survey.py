"""Every tensor of a file, read once: initializers and tensors in attributes, in all graphs and functions."""

import struct
from collections import deque
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from onnx_autodoc.analysis.constants import Owner
from onnx_autodoc.analysis.weights.canonical import canonical
from onnx_autodoc.analysis.weights.files import Files, Unread
from onnx_autodoc.analysis.weights.statistics import COUNTERS, Tally
from onnx_autodoc.card import Numbers
from onnx_autodoc.ir import BITS, Attribute, DataLocation, Graph, Model, Node, Payload, Tensor, TruncatedList

if TYPE_CHECKING:
    import hashlib

# Attributes of a Constant node with plain numbers, and their type; for several numbers the name ends with s.
_LITERAL_DTYPES: Final = {"value_float": "float32", "value_int": "int64", "value_string": "string"}


class Surveyed(Struct, frozen=True):
    """A tensor at its place: its graph, the name by which nodes read it, and the location of its bytes."""

    owner: Owner
    name: str
    place: DataLocation | None
    numbers: Numbers


class Weights(Struct, frozen=True, dict=True):
    """Every tensor of a file once, in file order, the graphs inside nodes after those around them."""

    tensors: tuple[Surveyed, ...]
    bytes_read: int

    @cached_property
    def _index(self) -> Mapping[tuple[Owner, str], Numbers]:
        return {(tensor.owner, tensor.name): tensor.numbers for tensor in self.tensors}

    def find(self, owner: Owner, name: str) -> Numbers | None:
        """Return the tensor of a name in a graph, or in those around it."""
        for end in range(len(owner), -1, -2):
            numbers = self._index.get((owner[:end], name))
            if numbers is not None:
                return numbers
        return None


class _Entry(Struct, frozen=True):
    """A tensor to read. Nodes read it by `name`; `path` leads to its graph."""

    owner: Owner
    path: str
    name: str
    tensor: Tensor
    unread: str | None = None  # why its elements are not read, if that is known before


def survey(model: Model) -> Weights:
    """Read the elements of every tensor in pieces: memory does not grow with the weights."""
    known: dict[object, Numbers] = {}  # of external files: two tensors may be the same bytes
    surveyed: list[Surveyed] = []
    with Files(model) as files, np.errstate(all="ignore"):
        for entry in _entries(model):
            tensor, place = entry.tensor, entry.tensor.location
            key = (place, tensor.dtype, tensor.dims) if place is not None and place.path is not None else None
            numbers = known.get(key) if key is not None and entry.unread is None else None
            if numbers is None:
                numbers = _read_numbers(entry, files)
            if key is not None and entry.unread is None:
                known[key] = numbers
            surveyed.append(Surveyed(entry.owner, entry.name, place, replace(numbers, name=entry.path + entry.name)))
        return Weights(tuple(surveyed), files.bytes_read)


def external_hashes(model: Model) -> dict[str, str | None]:
    """Return the sha256 of each external file; None where it cannot be read."""
    with Files(model) as files:
        return {file.path: files.sha256(file.path) for file in model.external}


def _entries(model: Model) -> Iterator[_Entry]:
    """Yield all tensors, outer graphs first; those of a function's body once, however often it is called."""
    waiting: deque[tuple[Owner, str, Graph]] = deque([((), "", model.graph)])
    for function in model.functions:
        waiting.append(((function.key,), f"{function.name}/", Graph(function.name, function.nodes)))
    waiting.extend((((("training", at),)), f"training[{at}]/", graph) for at, graph in enumerate(model.training))
    while waiting:
        owner, path, graph = waiting.popleft()
        initializers = {tensor.name for tensor in graph.initializers}
        literals = {name for name, _ in graph.constants()} - initializers
        yield from (_Entry(owner, path, tensor.name, tensor) for tensor in graph.initializers)
        for at, node in enumerate(graph.nodes):
            if node.attributes:
                name = node.outputs[0] if node.outputs and node.outputs[0] in literals else None
                yield from _node_entries(owner, path, node, at, name)
            for key, inner in node.subgraphs() if node.has_subgraphs else ():
                waiting.append(((*owner, at, key), f"{path}{node.label(at)}/{key}/", inner))
    for function in model.functions:
        for key, item in function.defaults.items():
            yield from (_Entry((function.key,), f"{function.name}/", key, tensor) for tensor in _tensors(item))


def _node_entries(owner: Owner, path: str, node: Node, at: int, name: str | None) -> Iterator[_Entry]:
    """Yield the tensors of a node. That of a Constant node has its output's name, any other one its attribute's."""
    for key, item in node.attributes.items():
        for tensor in _tensors(item):
            yield _Entry(owner, path, name or f"{node.label(at)}/{key}", tensor)
        dtype = _LITERAL_DTYPES.get(key.removesuffix("s"))
        if name is not None and dtype is not None:
            tensor, unread = _literal(dtype, item)
            yield _Entry(owner, path, name, tensor, unread)


def _tensors(item: Attribute) -> Iterator[Tensor]:
    for tensor in item if isinstance(item, tuple) else (item,):
        if isinstance(tensor, Tensor):
            yield tensor


def _literal(dtype: str, item: Attribute) -> tuple[Tensor, str | None]:
    """Return a Constant node's plain numbers as a tensor, or why there are none."""
    dims = (item.count,) if isinstance(item, TruncatedList) else (len(item),) if isinstance(item, tuple) else ()
    if isinstance(item, TruncatedList) or not isinstance(item, int | float | tuple) or dtype == "string":
        content = "strings" if dtype == "string" else "a long list"
        return Tensor("", dtype, dims), f"{content} in an attribute, not stored by the reader"
    data = np.array(item, "<f4" if dtype == "float32" else "<i8").tobytes()
    return Tensor("", dtype, dims, None, Payload("raw", len(data), data)), None


def _read_numbers(entry: _Entry, files: Files) -> Numbers:
    tensor = entry.tensor
    nbytes = tensor.nbytes if min(tensor.dims, default=0) >= 0 else None
    header = Numbers("", tensor.dtype, tensor.dims, nbytes, unread=entry.unread)
    if entry.unread is not None:
        return header
    try:
        if tensor.dtype == "string":
            return replace(header, sha256=_hash_strings(tensor))
        return _count_elements(header, tensor, files)
    except Unread as reason:
        return replace(header, unread=str(reason))


def _count_elements(header: Numbers, tensor: Tensor, files: Files) -> Numbers:
    digest, left, total = _create_digest(), tensor.elements, Tally()
    count = COUNTERS.get(tensor.dtype or "")
    for piece in canonical(tensor, files):
        digest.update(piece)
        if count is not None:
            elements = min(left, len(piece) * 8 // BITS[tensor.dtype or ""])
            total, left = total + count(piece, elements), left - elements
    hashed = replace(header, sha256=digest.hexdigest())
    if count is None:
        return hashed
    return replace(
        hashed,
        nan=total.nan,
        infinite=total.up + total.down,
        zeros=total.zeros,
        least=total.least,
        most=total.most,
        constant=total.constant,
    )


def _hash_strings(tensor: Tensor) -> str:
    """Hash the length in 8 bytes and the bytes of each string: no two lists of strings have the same input."""
    payload, digest = tensor.payload, _create_digest()
    strings = payload.data if payload is not None and isinstance(payload.data, tuple) else ()
    if tensor.location is not None and tensor.location.path is not None:
        raise Unread("strings in an external file")
    if payload is not None and (not payload.is_canonical or sum(map(len, strings)) != payload.nbytes):
        raise Unread("strings in another field, or too long to be stored by the reader")
    if len(strings) != tensor.elements or tensor.stored_elements is not None:
        raise Unread("it stores more or fewer strings than its dimensions declare")
    for string in strings:
        digest.update(struct.pack("<Q", len(string)))
        digest.update(string)
    return digest.hexdigest()


def _create_digest() -> "hashlib._Hash":
    import hashlib  # loads OpenSSL, which most cards do not need

    return hashlib.sha256()
