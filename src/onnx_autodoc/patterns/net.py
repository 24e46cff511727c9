"""The canonical net: a model as one flat graph of data, in which blocks are found.

Functions, branches and loop bodies are inlined; casts and other identity operations are removed; constants (weights,
shape arithmetic, masks and positions computed from sizes) are not part of the net, only reachable from the ops that
read them. Finding a block replaces its ops by one op, so that patterns of large blocks are written in small blocks.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Final, Generic, TypeVar

from onnx_autodoc.ir import Attribute, Node
from onnx_autodoc.ops import OPERATORS, ValueInfo
from onnx_autodoc.patterns.attributes import (
    NO_ATTRIBUTES,
    AttentionAttributes,
    BlockAttributes,
    ConvAttributes,
    EmbeddingAttributes,
    ExpertsAttributes,
    LinearAttributes,
    MlpAttributes,
    NormAttributes,
    RecurrentAttributes,
    Residual,
)

NO_VALUE: Final = 0  # an omitted optional input
# domains of ONNX, onnxruntime and onnxruntime-extensions: patterns name their operators by op type alone
_STANDARD_DOMAINS: Final = frozenset(
    (
        *("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.contrib"),
        *("com.microsoft", "com.microsoft.extensions", "com.microsoft.nchwc", "com.ms.internal.nhwc"),
    )
)
_UNKNOWN: Final = ValueInfo(None)
_position: Final = attrgetter("position")
Attributes = TypeVar("Attributes", bound=BlockAttributes)


class _View(Generic[Attributes]):
    """The attributes of an op as those of one kind of block: the defaults if it is of another kind."""

    def __init__(self, attributes_type: type[Attributes]) -> None:
        self._type, self._default = attributes_type, attributes_type()

    def __get__(self, op: "Op", owner: type["Op"]) -> Attributes:
        return op.attributes if isinstance(op.attributes, self._type) else self._default


class Op:
    """One operation, or a block of several. `rows` are the row numbers of the file's nodes in it."""

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
        self.parts: tuple[Op, ...] = ()  # the ops of a block
        self.attributes: BlockAttributes = NO_ATTRIBUTES
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

    def node_attribute(self, key: str) -> Attribute | None:
        """Return an attribute of the node; None for a block."""
        return self.node.attributes.get(key) if self.node is not None else None

    @property
    def in_features(self) -> int | None:
        return self.attributes.in_features

    @property
    def out_features(self) -> int | None:
        return self.attributes.out_features

    @property
    def residual_kind(self) -> str | None:
        return self.residual.kind if self.residual is not None else None

    @property
    def residual_start(self) -> int:
        """The value at which the residual connection that ends here begins."""
        return self.residual.start if self.residual is not None else NO_VALUE

    linear = _View(LinearAttributes)  # of convolutions too
    conv = _View(ConvAttributes)
    attention = _View(AttentionAttributes)
    embedding = _View(EmbeddingAttributes)
    recurrent = _View(RecurrentAttributes)
    norm = _View(NormAttributes)
    mlp = _View(MlpAttributes)
    experts = _View(ExpertsAttributes)


class Net:
    """Values are numbers; `ops` maps positions, which are a topological order, to ops."""

    def __init__(self) -> None:
        self.value_info = [_UNKNOWN]
        self.constant = [True]  # whether a value is independent of the model's inputs
        self.producers: list[Op | None] = [None]
        self.consumers: list[dict[Op, None]] = [{}]  # ordered sets
        self.names = [""]
        self.ops: dict[int, Op] = {}
        self._by_kind: dict[str, dict[Op, None]] = {}
        self.inputs: dict[str, int] = {}
        self.outputs: dict[str, int] = {}
        self.output_values: set[int] = set()
        self.identity_rows: dict[int, int] = {}  # rows without an op, with the value that they forward
        self.weights: dict[int, str] = {}  # initializers by value
        self._dequantized: dict[int, float | None] = {}  # scalars that a DequantizeLinear of constants computes
        self.residuals: dict[Op, list[Op]] = {}  # by the op where a residual connection ends: the ops it bypasses
        self.truncation = ""  # why the net is incomplete

    # Construction

    def add_value(self, name: str, info: ValueInfo | None, constant: bool) -> int:
        self.value_info.append(info or _UNKNOWN)
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

    def add_constant(self, op: Op) -> None:
        """Record an op that computes constants. It is not part of the net."""
        for value in op.outputs:
            self.producers[value] = op
        if op.kind == "DequantizeLinear":
            numbers = [self.scalar(value) for value in op.inputs if value]
            x, scale, zero_point = (*numbers, 0.0)[:3] if len(numbers) > 1 else (None, None, None)
            number = None
            if x is not None and scale is not None and zero_point is not None:
                number = (x - zero_point) * scale
            self._dequantized |= {value: number for value in op.outputs if self.value_info[value].value is None}

    def remove(self, op: Op) -> None:
        del self.ops[op.position]
        del self._by_kind[op.kind][op]
        for value in dict.fromkeys(op.inputs):
            del self.consumers[value][op]

    def relabel(self, op: Op, kind: str, attributes: BlockAttributes | None = None) -> None:
        """Turn a single op into a block, in place."""
        del self._by_kind[op.kind][op]
        op.kind = kind
        op.attributes = op.attributes if attributes is None else attributes
        self._by_kind.setdefault(kind, {})[op] = None

    def merge(
        self, kind: str, members: Iterable[Op], outputs: Sequence[int], attributes: BlockAttributes | None = None
    ) -> Op:
        """Replace several ops by one block. Members that other ops read as well stay where they are.

        The block reads the values from outside that its members read; its outputs are `outputs`, then every other value
        that is read outside. By default it inherits the attributes of a member of the same kind.
        """
        merged = self._find_private(sorted(set(members), key=_position), outputs)
        computed = {value for op in merged for value in op.outputs}
        read = dict.fromkeys(value for op in merged for value in op.inputs if value not in computed)
        inputs = sorted(read, key=self.constant.__getitem__)  # data first
        block_outputs = dict.fromkeys(value for value in outputs if value in computed)
        block_outputs |= dict.fromkeys(value for value in computed if self.is_read_outside(value, merged))
        last = max(merged, key=_position)
        for op in merged:
            self.remove(op)
        block = Op(kind, inputs, tuple(block_outputs), last.position, tuple(row for op in merged for row in op.rows))
        inherited = [op.attributes for op in merged if op.kind == kind]
        block.attributes = attributes or (inherited[-1] if inherited else NO_ATTRIBUTES)
        block.parts, block.loop = tuple(part for op in merged for part in _flattened_parts(op, kind)), last.loop
        return self.add(block)

    def _find_private(self, members: list[Op], outputs: Sequence[int]) -> dict[Op, None]:
        """Return the members without those that another op reads in the middle, or before the block is complete."""
        private, requested, main = dict.fromkeys(members), set(outputs), next(iter(outputs), None)
        end = members[-1].position
        for op in reversed(members):
            is_inner = requested.isdisjoint(op.outputs)
            consumers = (consumer for value in op.outputs for consumer in self.consumers[value])
            is_read_early = main not in op.outputs and any(
                consumer.position < end and consumer not in private for consumer in consumers
            )
            if is_read_early or (is_inner and any(self.is_read_outside(value, private) for value in op.outputs)):
                del private[op]
        return private

    def is_read_outside(self, value: int, members: Iterable[Op]) -> bool:
        return value in self.output_values or any(op not in members for op in self.consumers[value])

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
        return self.value_info[value].concrete

    def rank(self, value: int) -> int | None:
        dims = self.value_info[value].shape
        return None if dims is None else len(dims)

    def dtype(self, value: int) -> str | None:
        return self.value_info[value].dtype

    def dim(self, value: int, axis: int) -> int | None:
        """Return one dimension where it is known, whether or not the others are."""
        dims = self.value_info[value].shape or ()
        dim = dims[axis] if axis < len(dims) else None
        return dim if isinstance(dim, int) else None

    @cached_property
    def batch_size(self) -> int:
        """The first dimension that most inputs have."""
        shapes = [self.shape(value) or () for value in self.inputs.values()]
        counts = Counter(dims[0] for dims in shapes if len(dims) > 1)
        return max(counts.most_common(1)[0][0], 1) if counts else 1

    def scalar(self, value: int) -> float | None:
        """Return the number that a constant of one element holds, dequantized where it is quantized."""
        if value in self._dequantized:
            return self._dequantized[value]
        elements = self.value_info[value].value
        if not self.constant[value] or elements is None or elements.size != 1:
            return None
        item = elements.reshape(-1)[0]
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


def operator_kind(node: Node) -> str:
    """Return the kind of the op of a node: its op type, after its domain where a standard operator has this op type.

    A custom `Conv` is not the one of ONNX, which patterns name.
    """
    if node.domain in _STANDARD_DOMAINS or not any((domain, node.op) in OPERATORS for domain in ("", "com.microsoft")):
        return node.op
    return f"{node.domain}.{node.op}"


def _flattened_parts(op: Op, kind: str) -> tuple[Op, ...]:
    """Return the parts that `op` adds to a block of `kind`: a block that grows does not nest in itself."""
    if op.kind != kind:
        return (op,)
    if not op.parts and op.node is not None:
        op.kind = operator_kind(op.node)
    return op.parts or (op,)
