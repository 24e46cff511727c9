"""A cache of the results of shape rules for equal calls.

The layers of a decoder call the same operators with the same attributes on tensors of the same shapes, and so does most
of the graph when it is inferred again at other sizes. Two calls are equal if operator, version and attributes are the
same, their inputs are the same objects, and the same of them and of the outputs are named. Types with equal dtype, dims
and elements are made the same object first.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from onnx_autodoc.ir import Attribute, Node, Tensor
from onnx_autodoc.ops import Unknown, ValueInfo, tensor_info

_MAX_SHARED_ELEMENTS: Final = 64  # a value with more is compared by identity
_MAX_CACHED_BYTES: Final = 16 << 20  # of elements in all results


class CallResult(Struct, frozen=True, eq=False):
    call_id: int
    outputs: tuple[ValueInfo, ...]
    inputs: tuple[ValueInfo | None, ...]  # kept alive: the key holds their ids
    is_large: bool  # whether an output has more elements than are shared


class CallCache:
    """One model's calls, at any binding. Results with an unknown size are not cached: each is a new size."""

    def __init__(self) -> None:
        self._results: dict[tuple[int, ...], CallResult] = {}
        self._types: dict[object, ValueInfo] = {}
        self._initializers: dict[int, tuple[Tensor, ValueInfo]] = {}
        self._nodes: dict[int, tuple[Node, int]] = {}
        self._signatures: dict[object, int] = {}
        self._bytes_left = _MAX_CACHED_BYTES

    def key(
        self, node: Node, version: int | None, max_elements: int, inputs: Sequence[ValueInfo | None]
    ) -> tuple[int, ...]:
        """Return the key of a call of which up to `max_elements` elements of an output are evaluated."""
        signature = self._nodes.get(id(node)) or self._sign(node)
        return (signature[1], version or 0, max_elements, *map(id, inputs))

    def find(self, key: tuple[int, ...]) -> CallResult | None:
        return self._results.get(key)

    def find_call(
        self, node: Node, version: int | None, max_elements: int, inputs: Sequence[ValueInfo | None]
    ) -> CallResult | None:
        """Return the result of an equal call: `find(key(...))` in one step, since every node is looked up."""
        signature = self._nodes.get(id(node)) or self._sign(node)
        return self._results.get((signature[1], version or 0, max_elements, *map(id, inputs)))

    def add(
        self, key: tuple[int, ...], inputs: Sequence[ValueInfo | None], outputs: Sequence[ValueInfo]
    ) -> CallResult | None:
        """Return the result, or None if it is not cached."""
        nbytes = 0
        for known in (*inputs, *outputs):
            if known is not None and known.value is not None and known.value.size > _MAX_SHARED_ELEMENTS:
                nbytes += known.value.nbytes
        if nbytes > self._bytes_left or any(_has_unknown(known) for known in outputs):
            return None
        self._bytes_left -= nbytes
        is_large = any(known.value is not None and known.value.size > _MAX_SHARED_ELEMENTS for known in outputs)
        result = CallResult(len(self._results) + 1, tuple(map(self.share, outputs)), tuple(inputs), is_large)
        self._results[key] = result
        return result

    def share(self, known: ValueInfo) -> ValueInfo:
        """Return the first object that is equal to this one."""
        value = known.value
        if known.kind != "tensor" or known.why:
            return known
        if value is None:
            return self._types.setdefault((known.dtype, known.shape, known.is_stored), known)
        if value.size > _MAX_SHARED_ELEMENTS or value.dtype == object:
            return known
        key = (known.dtype, known.shape, known.is_stored, value.dtype.str, value.shape, value.tobytes())
        return self._types.setdefault(key, known)

    def initializer(self, tensor: Tensor) -> ValueInfo:
        cached = self._initializers.get(id(tensor))
        if cached is None:
            cached = self._initializers[id(tensor)] = tensor, self.share(tensor_info(tensor))
        return cached[1]

    def _sign(self, node: Node) -> tuple[Node, int]:
        """Number a node; nodes that rules and costs cannot distinguish have the same number."""
        names = node.inputs
        is_unique = len(set(names)) == len(names)
        repeated = tuple(map(names.index, names)) if len(names) <= _MAX_SHARED_ELEMENTS else names
        content = (
            node.domain,
            node.op,
            tuple((name, *_attribute_key(node, value)) for name, value in node.attributes.items()),
            len(names) if is_unique else repeated,
            tuple(map(bool, node.outputs)),
            bool(node.defects) and id(node),
        )
        signed = self._nodes[id(node)] = node, self._signatures.setdefault(content, len(self._signatures))
        return signed


def _attribute_key(node: Node, value: Attribute) -> tuple[object, object]:
    """Return a value with its type (1 is not 1.0); a node with another kind of attribute equals only itself."""
    if type(value) is float:
        return float, value.hex()
    if type(value) in (int, str):
        return type(value), value
    if type(value) is tuple and all(type(item) is int for item in value):
        return tuple, value
    return Node, id(node)


def _has_unknown(known: ValueInfo) -> bool:
    if known.kind != "tensor" or known.shape is None:
        return True
    if known.value is not None and known.value.dtype == object:
        return True
    return any(isinstance(dim, Unknown) for dim in known.shape)
