"""One use of an operator, as its rules see it: inputs by position, attributes by name, checked on access."""

import math
from collections.abc import Sequence
from typing import Any, Final

from onnx_autodoc.ir import Attribute, Graph, Long, Node, Tensor, Type
from onnx_autodoc.ops._known import (
    MOST_DIMS,
    Array,
    Contradiction,
    Dim,
    Known,
    NotKnown,
    Shape,
    Unknown,
    many_dims,
)
from onnx_autodoc.text import told

_MOST_UNKNOWN: Final = 64  # elements of an input that are listed one by one without being known


class Call:
    """An operator's node with what is known of its inputs. An absent optional input is None."""

    __slots__ = ("_attributes", "inputs", "node", "outputs", "version")

    def __init__(
        self, node: Node, inputs: Sequence[Known | None], version: int | None, outputs: Sequence[Known] = ()
    ) -> None:
        self.node = node
        self.inputs = inputs
        self.version = version  # of the operator set of the node's domain; None where the file does not say
        self.outputs = outputs  # once they are known: for what hangs on them, like costs
        self._attributes = node.attributes

    @property
    def opset(self) -> int:
        """The version, for a rule that depends on it."""
        if self.version is None:
            domain = self.node.domain or "ai.onnx"
            raise NotKnown(
                f"the file does not say which version of {told(domain)} it uses, and {self.node.op} depends on it"
            )
        return self.version

    # inputs
    def has(self, at: int) -> bool:
        return at < len(self.inputs) and self.inputs[at] is not None

    def known(self, at: int) -> Known:
        if at >= len(self.inputs) or (known := self.inputs[at]) is None:
            raise Contradiction(f"{self.node.op} lacks its input {at}")
        return known

    def shape(self, at: int = 0) -> Shape:
        """The dims of an input; stops with its reason where the rank is not known."""
        known = self.known(at)
        if known.shape is None:
            raise NotKnown(known.reason)
        return known.shape

    def rank(self, at: int = 0) -> int:
        return len(self.shape(at))

    def dtype(self, at: int = 0) -> str | None:
        return self.known(at).dtype

    def value(self, at: int) -> Array | None:
        """The elements of an input, where it is there and they are known (single ones may be `Unknown`)."""
        return known.value if at < len(self.inputs) and (known := self.inputs[at]) is not None else None

    def ints(self, at: int) -> list[Dim]:
        """The elements of a small integer input as a flat list, `Unknown` where only the data decides them."""
        known = self.known(at)
        if known.value is not None:
            return known.value.reshape(-1).tolist()
        why = known.why or f"the value of {self.node.op}'s input {at} is only known when the model runs"
        dims = known.concrete
        if dims is None or len(dims) > MOST_DIMS or math.prod(dims) > _MOST_UNKNOWN:
            raise NotKnown(why)
        return [Unknown(why) for _ in range(math.prod(dims))]  # how many there are is known: so is a rank, say

    def one(self, at: int) -> Dim:
        """The only element of an integer input."""
        items = self.ints(at)
        if len(items) != 1:
            raise Contradiction(f"{self.node.op} wants one number in its input {at}, there are {len(items)}")
        return items[0]

    def single(self, at: int) -> None:
        """Stops at an input that must have one element, where it is known to have more or none."""
        dims = known.concrete if at < len(self.inputs) and (known := self.inputs[at]) is not None else None
        if dims is not None and (count := math.prod(dims[:MOST_DIMS])) != 1:
            raise Contradiction(f"{self.node.op} wants one element in its input {at}, there are {count:,}")

    def axes(self) -> list[Dim] | None:
        """The axes of a reduction or a squeeze: an attribute in older versions, an input in newer ones."""
        given = self.attr_ints("axes")
        if given is not None:
            return list(given)
        if not self.has(1):
            return None
        items = self.ints(1)
        if any(not isinstance(item, int | Unknown) for item in items):
            raise Contradiction(f"{self.node.op} takes whole numbers as axes, not {self.known(1).dtype}")
        if len(items) > MOST_DIMS:
            raise NotKnown(f"{self.node.op} has {len(items):,} axes, more than are followed")
        return items

    def output(self, at: int = 0) -> Shape:
        """The dims of an output, once they are known; stops with the reason where they are not."""
        if at >= len(self.outputs):
            raise Contradiction(f"{self.node.op} lacks its output {at}")
        known = self.outputs[at]
        if known.shape is None:
            raise NotKnown(known.reason)
        return known.shape

    # attributes
    def attribute(self, name: str) -> Attribute | None:
        return self._attributes.get(name)

    def attr_int(self, name: str, default: int) -> int:
        found = self._attributes.get(name)
        return default if found is None else self._typed(name, found, int)

    def attr_float(self, name: str, default: float) -> float:
        found = self._attributes.get(name)
        return default if found is None else float(self._typed(name, found, (int, float)))

    def attr_text(self, name: str, default: str) -> str:
        found = self._attributes.get(name)
        return default if found is None else self._typed(name, found, str)

    def attr_ints(self, name: str) -> tuple[int, ...] | None:
        """A list of integers, or None where the node has none of that name."""
        found = self._attributes.get(name)
        if found is None:
            return None
        items: tuple[int, ...] = self._typed(name, found, tuple)
        if not all(type(item) is int for item in items):
            raise Contradiction(f"{self.node.op}'s attribute {name} is not a list of integers")
        return items

    def attr_count(self, name: str) -> int:
        """How many items a list attribute has, however long; 0 where the node has none of that name."""
        found = self._attributes.get(name)
        if isinstance(found, Long):
            return found.count
        return len(found) if isinstance(found, tuple) else 0

    def attr_required(self, name: str) -> int:
        found = self._attributes.get(name)
        if found is None:
            raise Contradiction(f"{self.node.op} lacks its attribute {name}")
        number: int = self._typed(name, found, int)
        return number

    def attr_tensor(self, name: str) -> Tensor | None:
        found = self._attributes.get(name)
        return None if found is None else self._typed(name, found, Tensor)

    def attr_type(self, name: str) -> Type | None:
        found = self._attributes.get(name)
        return None if found is None else self._typed(name, found, Type)

    def attr_graph(self, name: str) -> Graph:
        found = self._attributes.get(name)
        if not isinstance(found, Graph):
            raise Contradiction(f"{self.node.op} lacks its subgraph {name}")
        return found

    def _typed(self, name: str, found: Attribute, kind: Any) -> Any:
        if not isinstance(found, kind):
            raise Contradiction(f"{self.node.op}'s attribute {name} is of the wrong type")
        return found


def size(shape: Shape) -> Dim:
    """How many elements a shape has."""
    return math.prod(shape) if len(shape) <= MOST_DIMS else Unknown(many_dims(shape))


def axis_of(axis: Dim, rank: int) -> int:
    """An axis counted from the front; a negative one counts from the back."""
    if isinstance(axis, Unknown):
        raise NotKnown(axis.why)
    if not -rank <= axis < rank:
        raise Contradiction(f"axis {axis} does not exist in {rank} dimensions")
    return axis + rank if axis < 0 else axis


def broadcast(*shapes: Shape) -> Shape:
    """Numpy's broadcasting; an unknown size yields to a known one that is not 1."""
    rank = max(map(len, shapes))
    if rank > MOST_DIMS:
        raise Contradiction(many_dims(max(shapes, key=len)))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(_broadcast_dim(column) for column in zip(*padded, strict=True))


def _broadcast_dim(column: Sequence[Dim]) -> Dim:
    sizes = {dim for dim in column if type(dim) is int and dim != 1}
    if len(sizes) > 1:
        raise Contradiction(f"sizes {' and '.join(map(str, sorted(sizes)))} cannot be broadcast")
    if sizes:
        return sizes.pop()
    open_ = [dim for dim in column if isinstance(dim, Unknown)]
    if not open_:
        return 1
    return open_[0] if all(dim is open_[0] for dim in open_) else Unknown(open_[0].why)
