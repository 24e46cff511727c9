"""A node with its inferred inputs: typed access to inputs and attributes, and checks of their dims."""

import math
from collections.abc import Sequence
from typing import Any, Final

from onnx_autodoc.ir import Attribute, Graph, Node, Tensor, TruncatedList, Type
from onnx_autodoc.ops.values import (
    MAX_DIMS,
    Array,
    Contradiction,
    Dim,
    InferenceError,
    Shape,
    Unknown,
    ValueInfo,
    describe_rank,
    format_dims,
)
from onnx_autodoc.text import quote_name

_MAX_UNKNOWN_ELEMENTS: Final = 64  # of an input whose elements are listed though unknown


class Call:
    """A node with its inferred inputs. An absent optional input is None."""

    __slots__ = ("_attributes", "inputs", "node", "outputs", "version")

    def __init__(
        self, node: Node, inputs: Sequence[ValueInfo | None], version: int | None, outputs: Sequence[ValueInfo] = ()
    ) -> None:
        self.node = node
        self.inputs = inputs
        self.version = version  # of the opset of the node's domain; None if the file declares none
        self.outputs = outputs  # inferred outputs, for cost rules
        self._attributes = node.attributes

    @property
    def opset(self) -> int:
        """The opset version, for a rule that depends on it."""
        if self.version is None:
            domain = self.node.domain or "ai.onnx"
            raise InferenceError(
                f"the file declares no opset version of {quote_name(domain)}, which {self.node.op} depends on"
            )
        return self.version

    # inputs
    def has(self, at: int) -> bool:
        return at < len(self.inputs) and self.inputs[at] is not None

    def input_info(self, at: int) -> ValueInfo:
        if at >= len(self.inputs) or (known := self.inputs[at]) is None:
            raise Contradiction(f"{self.node.op} requires input {at}, which is missing")
        return known

    def shape(self, at: int = 0) -> Shape:
        """Return the shape of an input; raise with the reason if its rank is unknown."""
        known = self.input_info(at)
        if known.shape is None:
            raise InferenceError(known.reason)
        return known.shape

    def rank(self, at: int = 0) -> int:
        return len(self.shape(at))

    def dtype(self, at: int = 0) -> str | None:
        return self.input_info(at).dtype

    def value(self, at: int) -> Array | None:
        """Return the elements of an input if they are known (single ones may be `Unknown`), else None."""
        return known.value if at < len(self.inputs) and (known := self.inputs[at]) is not None else None

    def ints(self, at: int) -> list[Dim]:
        """Return the elements of a small integer input as a flat list, `Unknown` where they depend on the data."""
        known = self.input_info(at)
        if known.value is not None:
            return known.value.reshape(-1).tolist()
        why = known.why or f"the value of input {at} of {self.node.op} is known only at run time"
        dims = known.concrete
        if dims is None or len(dims) > MAX_DIMS or math.prod(dims) > _MAX_UNKNOWN_ELEMENTS:
            raise InferenceError(why)
        return [Unknown(why) for _ in range(math.prod(dims))]  # their number is known, and may be a rank

    def one(self, at: int) -> Dim:
        """Return the only element of an integer input."""
        items = self.ints(at)
        if len(items) != 1:
            raise Contradiction(f"{self.node.op} requires one number as input {at}, got {len(items)}")
        return items[0]

    def single(self, at: int) -> None:
        """Raise if an input that must have one element is known to have another number of them."""
        dims = known.concrete if at < len(self.inputs) and (known := self.inputs[at]) is not None else None
        if dims is not None and (count := math.prod(dims[:MAX_DIMS])) != 1:
            raise Contradiction(f"{self.node.op} requires one element as input {at}, got {count:,}")

    def axes(self) -> list[Dim] | None:
        """Return the axes of a reduction or squeeze: an attribute in older versions, an input in newer ones."""
        declared = self.attr_ints("axes")
        if declared is not None:
            return list(declared)
        if not self.has(1):
            return None
        items = self.ints(1)
        if any(not isinstance(item, int | Unknown) for item in items):
            raise Contradiction(f"{self.node.op} requires integer axes, got {self.input_info(1).dtype}")
        if len(items) > MAX_DIMS:
            raise InferenceError(f"{self.node.op} has {len(items):,} axes, more than shape inference supports")
        return items

    def output(self, at: int = 0) -> Shape:
        """Return the shape of an inferred output; raise with the reason if it is unknown."""
        if at >= len(self.outputs):
            raise Contradiction(f"{self.node.op} has no output {at}")
        known = self.outputs[at]
        if known.shape is None:
            raise InferenceError(known.reason)
        return known.shape

    # attributes
    def attribute(self, name: str) -> Attribute | None:
        return self._attributes.get(name)

    def attr_int(self, name: str, default: int) -> int:
        value = self._attributes.get(name)
        return default if value is None else self._typed(name, value, int)

    def attr_float(self, name: str, default: float) -> float:
        value = self._attributes.get(name)
        return default if value is None else float(self._typed(name, value, (int, float)))

    def attr_text(self, name: str, default: str) -> str:
        value = self._attributes.get(name)
        return default if value is None else self._typed(name, value, str)

    def attr_ints(self, name: str) -> tuple[int, ...] | None:
        """Return a list of integers, or None if the node has no such attribute."""
        value = self._attributes.get(name)
        if value is None:
            return None
        items: tuple[int, ...] = self._typed(name, value, tuple)
        if not all(type(item) is int for item in items):
            raise Contradiction(f"attribute {name} of {self.node.op} is not a list of integers")
        return items

    def attr_count(self, name: str) -> int:
        """Return the length of a list attribute, however long; 0 if the node has no such attribute."""
        return list_length(self._attributes.get(name))

    def attr_required(self, name: str) -> int:
        if self._attributes.get(name) is None:
            raise Contradiction(f"{self.node.op} requires attribute {name}, which is missing")
        return self.attr_int(name, 0)

    def attr_tensor(self, name: str) -> Tensor | None:
        value = self._attributes.get(name)
        return None if value is None else self._typed(name, value, Tensor)

    def attr_type(self, name: str) -> Type | None:
        value = self._attributes.get(name)
        return None if value is None else self._typed(name, value, Type)

    def attr_graph(self, name: str) -> Graph:
        value = self._attributes.get(name)
        if not isinstance(value, Graph):
            raise Contradiction(f"{self.node.op} requires subgraph {name}, which is missing")
        return value

    def _typed(self, name: str, value: Attribute, kind: Any) -> Any:
        if not isinstance(value, kind):
            raise Contradiction(f"attribute {name} of {self.node.op} has the wrong type")
        return value

    def axis(self, default: int) -> int:
        """Return the attribute `axis` as an axis of the first input, counted from the front."""
        return normalize_axis(self.attr_int("axis", default), self.rank(0))


def list_length(attribute: Attribute | None) -> int:
    """Return the length of a list attribute, however long; 0 for any other."""
    if isinstance(attribute, TruncatedList):
        return attribute.count
    return len(attribute) if isinstance(attribute, tuple) else 0


def size(shape: Shape) -> Dim:
    """Return the number of elements of a shape."""
    return math.prod(shape) if len(shape) <= MAX_DIMS else Unknown(describe_rank(shape))


def normalize_axis(axis: Dim, rank: int) -> int:
    """Return an axis counted from the front; a negative axis counts from the back."""
    if isinstance(axis, Unknown):
        raise InferenceError(axis.why)
    if not -rank <= axis < rank:
        raise Contradiction(f"axis {axis} is out of range for rank {rank}")
    return axis + rank if axis < 0 else axis


def broadcast(*shapes: Shape) -> Shape:
    """Broadcast shapes as numpy does; an unknown size yields to a known one that is not 1."""
    rank = max(map(len, shapes))
    if rank > MAX_DIMS:
        raise Contradiction(describe_rank(max(shapes, key=len)))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(map(_broadcast_dim, zip(*padded, strict=True)))


def _broadcast_dim(column: Sequence[Dim]) -> Dim:
    sizes = {dim for dim in column if type(dim) is int and dim != 1}
    if len(sizes) > 1:
        raise Contradiction(f"sizes {' and '.join(map(str, sorted(sizes)))} cannot be broadcast")
    if sizes:
        return sizes.pop()
    unknown = [dim for dim in column if isinstance(dim, Unknown)]
    if not unknown:
        return 1
    return unknown[0] if all(dim is unknown[0] for dim in unknown) else Unknown(unknown[0].why)


def ceil_div(over: Dim, under: int) -> Dim:
    return -(-over // under)


def sizes_differ(a: Dim, b: Dim) -> bool:
    """Whether both sizes are known and different."""
    return type(a) is int and type(b) is int and a != b


def sizes(call: Call, at: int) -> Shape:
    """Return the elements of an input that lists sizes."""
    return tuple(_size(call, at, item) for item in call.ints(at))


def size_element(call: Call, at: int) -> Dim:
    """Return the only element of an input, which is a size."""
    return _size(call, at, integer_element(call, at))


def integer_element(call: Call, at: int) -> Dim:
    """Return the only element of an input, which is an integer."""
    return _integer(call, at, call.one(at))


def _integer(call: Call, at: int, item: float | Unknown) -> Dim:
    if not isinstance(item, (int, Unknown)) or isinstance(item, bool):
        raise Contradiction(f"{call.node.op} requires integers as input {at}, got {item}")
    return item


def _size(call: Call, at: int, item: float | Unknown) -> Dim:
    count = _integer(call, at, item)
    if isinstance(count, int) and count < 0:
        raise Contradiction(f"input {at} of {call.node.op} is a negative size: {count}")
    return count


def shape_of_rank(call: Call, at: int, rank: int) -> Shape:
    """Return the shape of an input that must have `rank` dimensions."""
    shape = call.shape(at)
    if len(shape) != rank:
        raise Contradiction(f"{call.node.op} requires rank {rank} for input {at}, got rank {len(shape)}")
    return shape


def shape_of_min_rank(call: Call, at: int, rank: int = 1) -> Shape:
    """Return the shape of an input that must have at least `rank` dimensions."""
    shape = call.shape(at)
    if len(shape) < rank:
        raise Contradiction(f"{call.node.op} requires rank {rank} or more for input {at}, got rank {len(shape)}")
    return shape


def _shape_or_none(call: Call, at: int) -> Shape | None:
    known = call.inputs[at] if at < len(call.inputs) else None
    return known.shape if known is not None else None


def check_shape(call: Call, at: int, *dims: Dim) -> None:
    """Raise if an input has other dims. An input that is absent or unknown passes."""
    shape = _shape_or_none(call, at)
    if shape is not None and (len(shape) != len(dims) or any(map(sizes_differ, shape, dims))):
        raise Contradiction(
            f"{call.node.op} requires shape {format_dims(dims)} for input {at}, got {format_dims(shape)}"
        )


def check_broadcast(call: Call, at: int, target: Shape) -> None:
    """Raise if an input cannot be broadcast to `target`."""
    shape = _shape_or_none(call, at)
    if shape is None:
        return
    fits = all(dim == 1 or not sizes_differ(dim, size) for dim, size in zip(shape[::-1], target[::-1]))
    if len(shape) > len(target) or not fits:
        raise Contradiction(f"{call.node.op} cannot broadcast {format_dims(shape)} to {format_dims(target)}")


def check_divisible(call: Call, whole: Dim, parts: Dim, what: str) -> None:
    """Raise if `whole` is not a multiple of `parts`."""
    if type(whole) is int and type(parts) is int and (parts < 1 or whole % parts):
        raise Contradiction(f"{what} of {call.node.op} ({whole}) are not divisible by {parts}")
