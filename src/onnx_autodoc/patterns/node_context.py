"""A node that is being added to the net, and the canonical ops that it becomes."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from onnx_autodoc.ir import Node
from onnx_autodoc.ops import ValueInfo
from onnx_autodoc.patterns.attributes import NO_ATTRIBUTES, BlockAttributes
from onnx_autodoc.patterns.net import NO_VALUE, Net


class OpSpec(Struct, frozen=True):
    """An op to be added. Of several for one node, one is `main`: it owns the node's row."""

    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    attributes: BlockAttributes = NO_ATTRIBUTES
    main: bool = True


class NodeContext(Struct, frozen=True):
    net: Net
    node: Node
    inputs: Sequence[int]
    outputs: Sequence[int]
    output_info: tuple[ValueInfo, ...]

    def input(self, index: int) -> int:
        return self.inputs[index] if index < len(self.inputs) else NO_VALUE

    def present_inputs(self, *indices: int) -> tuple[int, ...]:
        return tuple(value for index in indices if (value := self.input(index)))

    def new_value(self) -> int:
        """Add a value between the ops of one node, with the type of its first output."""
        return self.net.add_value("", self.output_info[0] if self.output_info else None, constant=False)

    def int_attribute(self, key: str, default: int = 0) -> int:
        found = self.node.attributes.get(key)
        return found if isinstance(found, int) else default

    def ints_attribute(self, key: str) -> tuple[int, ...]:
        found = self.node.attributes.get(key)
        return tuple(item for item in found if isinstance(item, int)) if isinstance(found, tuple) else ()

    def str_attribute(self, key: str) -> str:
        found = self.node.attributes.get(key)
        return found if isinstance(found, str) else ""

    def main_op(
        self,
        kind: str,
        inputs: Sequence[int],
        outputs: Sequence[int] | None = None,
        attributes: BlockAttributes = NO_ATTRIBUTES,
    ) -> OpSpec:
        return OpSpec(kind, tuple(inputs), tuple(self.outputs if outputs is None else outputs), attributes)

    def side_op(
        self, kind: str, inputs: Sequence[int], output: int, attributes: BlockAttributes = NO_ATTRIBUTES
    ) -> OpSpec:
        return OpSpec(kind, tuple(inputs), (output,), attributes, main=False)


Canonicalizer = Callable[[NodeContext], Iterator[OpSpec]]
