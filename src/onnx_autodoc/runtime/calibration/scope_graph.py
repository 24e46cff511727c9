"""The nodes of one graph or subgraph while they are lowered to kernels: producers, consumers, and fused nodes."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from onnx_autodoc.analysis import Row
from onnx_autodoc.ops import Dim, Trait, ValueInfo, has_trait, nbytes


class ScopeGraph:
    """Nodes by row number. After fusion, `kernels` lists the nodes that name a kernel.

    `bound_constants` has the constants that a function is called with: their name inside, and their name outside.
    """

    def __init__(
        self,
        rows: Sequence[tuple[int, Row]],
        outputs: Iterable[str],
        has_dynamic_dims: bool,
        bound_constants: Mapping[str, str],
    ) -> None:
        self.rows = dict(rows)
        self.bound_constants = bound_constants
        self.pattern: dict[int, str] = {}  # by kernel, the block or form that its nodes were fused as
        self.producer: dict[str, int] = {}
        self.consumers: dict[str, list[int]] = defaultdict(list)
        self.blocked_values: set[str] = set()  # in blocks of channels
        self._removed: set[int] = set()  # folded, duplicate, or fused into another kernel
        self._kernel: dict[int, int] = {}  # of a fused node
        self._fused: dict[int, list[int]] = defaultdict(list)
        self._last_output: dict[int, str] = {}
        self._alias: dict[str, str] = {}
        self._remove_idle(rows, has_dynamic_dims)
        for number in self.kernels():
            node = self.rows[number].step.node
            self.producer.update(dict.fromkeys(filter(None, node.outputs), number))
            for name in dict.fromkeys(filter(None, node.inputs)):
                self.consumers[self._resolve(name)].append(number)
        self.outputs = set(map(self._resolve, outputs))

    def _remove_idle(self, rows: Sequence[tuple[int, Row]], has_dynamic_dims: bool) -> None:
        """Remove nodes that onnxruntime does not run: folded constants, identities, repeated shape computations."""
        first: dict[tuple[object, ...], int] = {}
        for at, row in rows:
            node = row.step.node
            if row.cost is None or row.flow is None or is_folded(row, has_dynamic_dims):
                self._removed.add(at)
            elif has_trait(node, Trait.DROPPED_BY_ORT) and node.inputs and node.outputs:
                self._removed.add(at)
                self._alias[node.outputs[0]] = self._resolve(node.inputs[0])
            elif row.bookkeeping and not row.step.bodies:
                original = first.setdefault(self._expression(row), at)
                if original != at:
                    self._removed.add(at)
                    self._alias.update(zip(node.outputs, self.rows[original].step.node.outputs))

    def _expression(self, row: Row) -> tuple[object, ...]:
        """Return a key that nodes with the same result share; small constants count by value."""
        step, inputs = row.step, list[object]()
        for name, known in zip(step.node.inputs, step.inputs):
            is_size = row.flow is not None and row.flow.is_sized(name)
            if known is None or known.value is None or is_size:
                inputs.append(self._resolve(name))
            else:
                inputs.append((known.dtype, known.concrete, repr(known.value.tolist())))
        attributes = sorted(step.node.attributes.items(), key=lambda item: item[0])
        return step.node.domain, step.node.op, *inputs, *map(repr, attributes)

    def _resolve(self, name: str) -> str:
        return self._alias.get(name, name)

    def kernels(self) -> list[int]:
        return [node for node in self.rows if node not in self._removed]

    def is_removed(self, node: int) -> bool:
        return node in self._removed

    def op(self, node: int) -> str:
        return self.rows[node].step.node.op

    def inputs(self, node: int) -> list[str]:
        return [self._resolve(name) for name in self.rows[node].step.node.inputs]

    def typed_inputs(self, node: int) -> list[tuple[str, ValueInfo]]:
        """Return the inputs that are present, by name."""
        types = self.rows[node].step.inputs
        return [(name, known) for name, known in zip(self.inputs(node), types) if known is not None]

    def output(self, kernel: int) -> str:
        """Return the first output of a kernel: that of the last node fused into it."""
        outputs = self.rows[kernel].step.node.outputs
        return self._last_output.get(kernel) or (outputs[0] if outputs else "")

    def output_type(self, name: str) -> ValueInfo | None:
        step = self.rows[self.producer[name]].step
        return dict(zip(step.node.outputs, step.outputs)).get(name)

    def nodes(self, kernel: int) -> tuple[int, ...]:
        return (kernel, *self._fused.get(kernel, ()))

    def is_constant(self, node: int, name: str) -> bool:
        """Return whether an input has the same value in every run."""
        flow = self.rows[node].flow
        constant = name in self.bound_constants or (flow is not None and not flow.varies(name))
        return bool(name) and constant and name not in self.producer

    def sole_consumer(self, name: str) -> int | None:
        consumers = self.consumers.get(name, [])
        is_sole = len(consumers) == 1 and name not in self.outputs and consumers[0] not in self._removed
        return consumers[0] if is_sole else None

    def next_node(self, kernel: int) -> int | None:
        """Return the sole consumer of a kernel's output, if it can be fused."""
        consumer = self.sole_consumer(self.output(kernel))
        return None if consumer in self.pattern else consumer

    def adds_constant(self, node: int, data: str) -> bool:
        return any(self.is_constant(node, name) for name in self.inputs(node) if name != data)

    def has_scalar_constant(self, node: int) -> bool:
        return any(
            self.is_constant(node, name) and count_elements(known) == 1 for name, known in self.typed_inputs(node)
        )

    def kernel_of(self, node: int) -> int:
        return self._kernel.get(node, node)

    def remove(self, node: int) -> None:
        self._removed.add(node)

    def fuse(self, node: int, kernel: int) -> None:
        self._removed.add(node)
        self._kernel[node] = kernel
        self._fused[kernel].append(node)

    def append(self, node: int, kernel: int) -> None:
        """Fuse a node that follows: its output becomes that of the kernel."""
        self.fuse(node, kernel)
        self._last_output[kernel] = self.rows[node].step.node.outputs[0]


def is_folded(row: Row, has_dynamic_dims: bool) -> bool:
    """Return whether onnxruntime computes a node once, at load: from constants, and from sizes if all are static.

    Weights are dequantized in every run nevertheless, unless their consumer takes them quantized.
    """
    node = row.step.node
    if node.is_op("Constant"):
        return True
    if not row.bookkeeping or row.step.bodies or node.op == "DequantizeLinear" or row.flow is None:
        return False
    return not has_dynamic_dims or not any(map(row.flow.is_sized, filter(None, (*node.outputs, *node.inputs))))


def dims_of(known: ValueInfo | None) -> tuple[int, ...] | None:
    return known.concrete if known is not None else None


def count_elements(known: ValueInfo | None) -> int:
    dims = dims_of(known)
    return math.prod(dims) if dims is not None else 0


def computed_bytes(known: ValueInfo | None) -> int:
    """Return the bytes of a value as onnxruntime computes it: half precision is widened."""
    if known is None:
        return 0
    return known_or_zero(nbytes(known)) * (2 if known.dtype == "float16" else 1)


def known_or_zero(number: Dim | None) -> int:
    return number if type(number) is int else 0
