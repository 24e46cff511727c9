"""The canonical net: a model as one flat graph of data, in which blocks are found.

Functions, branches and loop bodies are inlined; casts and other identity operations are removed; constants (weights,
shape arithmetic, masks and positions computed from sizes) are not part of the net, only reachable from the ops that
read them. Finding a block replaces its ops by one op, so that patterns of large blocks are written in small blocks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, Generic, TypeVar

from onnx_autodoc.ir import Node
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.patterns import attributes as attrs
from onnx_autodoc.patterns.attributes import BlockAttributes, LinearAttributes, Residual

NO_VALUE: Final = 0  # an omitted optional input
Attributes = TypeVar("Attributes", bound=BlockAttributes)


class _AttributesOf(Generic[Attributes]):
    """A view of an op's attributes; those of another kind of block read as `default`."""

    def __init__(self, default: Attributes) -> None:
        self._default, self._type = default, type(default)

    def __get__(self, op: "Op", owner: type["Op"]) -> Attributes:
        return op.attributes if isinstance(op.attributes, self._type) else self._default


class Op:
    """One operation, or a block made of several. `rows` are the row numbers of the file's nodes in it."""

    __slots__ = (
        *("attributes", "inputs", "kind", "loop", "node", "outputs", "parts", "position", "residual", "row", "rows"),
        *("top_down", "version"),
    )

    def __init__(
        self, kind: str, inputs: Sequence[int], outputs: Sequence[int], position: int, rows: tuple[int, ...]
    ) -> None:
        self.kind = kind
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.position = position  # in a topological order
        self.rows = rows
        self.row = rows[0] if rows else -1  # of its node, which several ops may share
        self.node: Node | None = None  # of the file; None for a block
        self.version: int | None = None
        self.loop = 0  # number of the loop body it belongs to; 0 for none
        self.parts: tuple[Op, ...] = ()  # ops that the block was made of
        self.attributes: BlockAttributes = attrs.NO_ATTRIBUTES
        self.residual: Residual | None = None  # set on the op where a residual connection ends
        self.top_down = False  # merges a resized feature map, as levels of a feature pyramid do

    def __repr__(self) -> str:
        return f"{self.kind}{self.inputs}->{self.outputs}"

    def walk(self) -> "Iterator[Op]":
        """Yield this op and all ops in it, outer before inner."""
        stack = [self]
        while stack:
            op = stack.pop()
            yield op
            stack.extend(reversed(op.parts))

    @property
    def in_features(self) -> int | None:
        return self.attributes.in_features

    @property
    def out_features(self) -> int | None:
        return self.attributes.out_features

    @property
    def weight(self) -> int | None:
        """The value of the weight of a linear layer or a convolution."""
        return self.attributes.weight if isinstance(self.attributes, LinearAttributes) else None

    @property
    def biased(self) -> bool:
        return isinstance(self.attributes, LinearAttributes) and self.attributes.biased

    @property
    def residual_kind(self) -> str | None:
        return self.residual.kind if self.residual is not None else None

    @property
    def residual_start(self) -> int:
        """The value at which the residual connection that ends here begins."""
        return self.residual.start if self.residual is not None else NO_VALUE

    conv = _AttributesOf(attrs.NO_CONV)
    attention = _AttributesOf(attrs.NO_ATTENTION)
    embedding = _AttributesOf(attrs.NO_EMBEDDING)
    recurrent = _AttributesOf(attrs.NO_RECURRENT)
    norm = _AttributesOf(attrs.NO_NORM)
    mlp = _AttributesOf(attrs.NO_MLP)
    experts = _AttributesOf(attrs.NO_EXPERTS)


class Net:
    """Values are numbers; `ops` are held by position, which is a topological order."""

    def __init__(self) -> None:
        self.value_info: list[ValueInfo | None] = [None]
        self.constant: list[bool] = [True]  # whether a value is independent of the model's inputs
        self.producers: list[Op | None] = [None]
        self.consumers: list[dict[Op, None]] = [{}]  # ordered sets
        self.names: list[str] = [""]
        self.ops: dict[int, Op] = {}
        self._by_kind: dict[str, dict[Op, None]] = {}
        self.inputs: dict[str, int] = {}
        self.outputs: dict[str, int] = {}
        self.output_values: set[int] = set()
        self.loop_states: dict[int, int] = {}  # loop-carried values, with their initial value
        self.identity_rows: dict[int, int] = {}  # rows without an op, with the value that they forward
        self.weights: dict[int, str] = {}  # initializers by value
        self.residuals: dict[Op, list[Op]] = {}  # by the op where a residual connection ends: the ops it bypasses
        self._dequantized: dict[int, float | None] = {}
        self.truncation = ""  # why the net is incomplete

    # Construction

    def add_value(self, name: str, info: ValueInfo | None, constant: bool) -> int:
        self.value_info.append(info)
        self.constant.append(constant)
        self.producers.append(None)
        self.consumers.append({})
        self.names.append(name)
        return len(self.value_info) - 1

    def add(self, op: Op) -> Op:
        self.ops[op.position] = op
        self._by_kind.setdefault(op.kind, {})[op] = None
        for value in op.outputs:
            self.producers[value] = op
        for value in dict.fromkeys(op.inputs):
            self.consumers[value][op] = None
        return op

    def remove(self, op: Op) -> None:
        del self.ops[op.position]
        del self._by_kind[op.kind][op]
        for value in dict.fromkeys(op.inputs):
            del self.consumers[value][op]

    def relabel(self, op: Op, kind: str, attributes: BlockAttributes | None = None) -> None:
        """Make a block of a single op, in place."""
        del self._by_kind[op.kind][op]
        op.kind = kind
        op.attributes = op.attributes if attributes is None else attributes
        self._by_kind.setdefault(kind, {})[op] = None

    def merge(
        self, kind: str, members: Iterable[Op], outputs: Sequence[int], attributes: BlockAttributes | None = None
    ) -> Op:
        """Replace several ops by one block. Members that other ops read as well stay where they are.

        The block reads what its members read from outside; its outputs are `outputs`, then whatever else is read
        outside. Without `attributes` it keeps those of a member of its own kind.
        """
        wanted = dict.fromkeys(outputs)
        kept = self._own_members(sorted(set(members), key=_position), wanted)
        made = {value for op in kept for value in op.outputs}
        wanted = dict.fromkeys(value for value in outputs if value in made)
        read = dict.fromkeys(value for op in kept for value in op.inputs if value not in made)
        inputs = sorted(read, key=self.constant.__getitem__)  # data first
        wanted |= dict.fromkeys(value for value in made if self.is_read_outside(value, kept))
        last = max(kept, key=_position)
        for op in kept:
            self.remove(op)
        block = Op(kind, inputs, tuple(wanted), last.position, tuple(row for op in kept for row in op.rows))
        inherited = [op.attributes for op in kept if op.kind == kind]
        block.attributes = attributes or (inherited[-1] if inherited else attrs.NO_ATTRIBUTES)
        block.parts, block.loop = tuple(part for op in kept for part in _flattened_parts(op, kind)), last.loop
        return self.add(block)

    def _own_members(self, members: list[Op], wanted: dict[int, None]) -> dict[Op, None]:
        """Return the members without those that another op reads in the middle, or before the block is complete."""
        kept, main = dict.fromkeys(members), next(iter(wanted), None)
        end = members[-1].position
        for op in reversed(members):
            inner = wanted.keys().isdisjoint(op.outputs)
            consumers = (consumer for value in op.outputs for consumer in self.consumers[value])
            early = main not in op.outputs and any(each.position < end and each not in kept for each in consumers)
            if early or (inner and any(self.is_read_outside(value, kept) for value in op.outputs)):
                del kept[op]
        return kept

    def is_read_outside(self, value: int, members: Iterable[Op]) -> bool:
        return value in self.output_values or any(each not in members for each in self.consumers[value])

    def is_closed(self, members: Sequence[Op], last: Op) -> bool:
        """Whether only the outputs of `last` are read outside `members`."""
        inner = [value for op in members if op is not last for value in op.outputs]
        return not any(self.is_read_outside(value, members) for value in inner)

    # Queries

    def producer(self, value: int, *kinds: str) -> Op | None:
        """Return the op that computes `value`, if it is of one of `kinds`."""
        op = self.producers[value]
        return op if op is not None and (not kinds or op.kind in kinds) else None

    def before_layout_change(self, value: int, max_changes: int) -> int:
        """Return the value that `value` is a transposed or reshaped view of."""
        for _ in range(max_changes):
            op = self.producer(value, "Transpose", "Reshape")
            if op is None:
                break
            value = op.inputs[0]
        return value

    def only_consumer(self, value: int) -> Op | None:
        consumers = self.consumers[value]
        return next(iter(consumers)) if len(consumers) == 1 else None

    def shape(self, value: int) -> tuple[int, ...] | None:
        info = self.value_info[value]
        return info.concrete if info is not None else None

    def rank(self, value: int) -> int | None:
        info = self.value_info[value]
        return None if info is None or info.shape is None else len(info.shape)

    def dtype(self, value: int) -> str | None:
        info = self.value_info[value]
        return info.dtype if info is not None else None

    def dim(self, value: int, axis: int) -> int | None:
        """Return one dimension where it is known, whether or not the others are."""
        info = self.value_info[value]
        dim = info.shape[axis] if info is not None and info.shape is not None and axis < len(info.shape) else None
        return dim if isinstance(dim, int) else None

    @cached_property
    def batch_size(self) -> int:
        """The first dimension that most inputs have."""
        dims = [self.shape(value) or () for value in self.inputs.values()]
        counts = Counter(each[0] for each in dims if len(each) > 1)
        return max(counts.most_common(1)[0][0], 1) if counts else 1

    def scalar(self, value: int) -> float | None:
        """Return the number that a constant of one element holds, dequantized where it is quantized."""
        waiting = [value] if self._quantized_inputs(value) else []
        while waiting:
            parts = self._quantized_inputs(waiting[-1])
            pending = [part for part in parts if part not in self._dequantized and self._quantized_inputs(part)]
            if not pending:
                self._dequantized[waiting.pop()] = _dequantize([self._known_scalar(part) for part in parts])
            waiting += pending
        return self._known_scalar(value)

    def _quantized_inputs(self, value: int) -> list[int]:
        """Return the inputs of the DequantizeLinear behind a constant whose number is not known otherwise."""
        info, op = self.value_info[value], self.producers[value]
        if not self.constant[value] or op is None or op.kind != "DequantizeLinear" or info is None:
            return []
        return [part for part in op.inputs if part] if info.value is None else []

    def _known_scalar(self, value: int) -> float | None:
        if value in self._dequantized:
            return self._dequantized[value]
        info = self.value_info[value]
        if not self.constant[value] or info is None or info.value is None or info.value.size != 1:
            return None
        item = info.value.reshape(-1)[0]
        return float(item) if isinstance(item, int | float) or getattr(item, "dtype", None) is not None else None

    def data_inputs(self, op: Op) -> list[int]:
        """Return the inputs of `op` that depend on the model's inputs."""
        return [value for value in op.inputs if not self.constant[value]]

    def has(self, kind: str) -> bool:
        return bool(self._by_kind.get(kind))

    def of(self, *kinds: str) -> list[Op]:
        """Return the ops of some kinds, in order."""
        return sorted((op for kind in dict.fromkeys(kinds) for op in self._by_kind.get(kind, ())), key=_position)

    def __contains__(self, op: Op) -> bool:
        """Whether `op` is still on the net: not merged into a block since."""
        return self.ops.get(op.position) is op

    def __iter__(self) -> Iterator[Op]:
        return iter(sorted(self.ops.values(), key=_position))

    def walk(self) -> Iterator[Op]:
        """Yield every op and every op inside a block."""
        for op in self:
            yield from op.walk()


def _position(op: Op) -> int:
    return op.position


def _dequantize(numbers: list[float | None]) -> float | None:
    """Return (x - zero_point) * scale."""
    x, scale, zero = (*numbers, 0.0)[:3] if len(numbers) > 1 else (None, None, None)
    return (x - zero) * scale if x is not None and scale is not None and zero is not None else None


def _flattened_parts(op: Op, kind: str) -> tuple[Op, ...]:
    """Return the parts that `op` adds to a block of `kind`: a block that grows does not nest in itself."""
    if op.kind != kind:
        return (op,)
    if not op.parts and op.node is not None:
        op.kind = op.node.op
    return op.parts or (op,)
