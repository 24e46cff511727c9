"""A node that is being added to the net, and the canonical ops that it becomes."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from onnx_autodoc.patterns.attributes import NO_ATTRIBUTES, BlockAttributes
from onnx_autodoc.patterns.net import NO_VALUE, Net, Op
from onnx_autodoc.shapes import Step


class NodeContext(Struct, frozen=True):
    """One of `ops` is the main op: it owns the node's row."""

    net: Net
    step: Step
    row: int
    inputs: Sequence[int]
    outputs: Sequence[int]
    ops: list[Op] = []

    @property
    def op_type(self) -> str:
        return self.step.node.op

    def input(self, index: int) -> int:
        return self.inputs[index] if index < len(self.inputs) else NO_VALUE

    def present_inputs(self, *indices: int) -> tuple[int, ...]:
        return tuple(value for index in indices if (value := self.input(index)))

    def int_attribute(self, key: str, default: int = 0) -> int:
        number = self.step.node.attributes.get(key)
        return number if isinstance(number, int) else default

    def count_attribute(self, key: str) -> int:
        """Return a number of things; 0 where it is absent or negative."""
        return max(self.int_attribute(key), 0)

    def ints_attribute(self, key: str) -> tuple[int, ...]:
        items = self.step.node.attributes.get(key)
        return tuple(item for item in items if isinstance(item, int)) if isinstance(items, tuple) else ()

    def str_attribute(self, key: str) -> str:
        text = self.step.node.attributes.get(key)
        return text if isinstance(text, str) else ""

    def new_value(self) -> int:
        """Add a value between the ops of one node, with the type of its first output."""
        return self.net.add_value("", self.step.outputs[0] if self.step.outputs else None, constant=False)

    def add(
        self,
        kind: str,
        inputs: Sequence[int],
        outputs: Sequence[int] | None = None,
        attributes: BlockAttributes = NO_ATTRIBUTES,
        is_main: bool = True,
    ) -> None:
        """Add an op, by default the main one with the outputs of the node."""
        op = Op(kind, inputs, self.outputs if outputs is None else outputs, 0, (self.row,) if is_main else ())
        op.node, op.version, op.row, op.attributes = self.step.node, self.step.version, self.row, attributes
        self.ops.append(op)

    def add_side(
        self,
        kind: str,
        inputs: Sequence[int],
        output: int | None = None,
        attributes: BlockAttributes = NO_ATTRIBUTES,
    ) -> int:
        """Add an op next to the main one, and return the value that it computes: a new one by default."""
        value = self.new_value() if output is None else output
        self.add(kind, inputs, (value,), attributes, is_main=False)
        return value


Canonicalizer = Callable[[NodeContext], None]
OperatorKey = tuple[str, str]  # domain and op type; the domain of ONNX, "" or "ai.onnx", is read as ""
_Entry = TypeVar("_Entry")


def by_domain(domain: str, table: Mapping[str, _Entry]) -> dict[OperatorKey, _Entry]:
    """Return a table by op type as one by domain and op type."""
    return {(domain, op_type): entry for op_type, entry in table.items()}
