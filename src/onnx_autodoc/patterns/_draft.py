"""A node on its way onto the net: what it reads and makes, and the terms that it is going to be."""

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from onnx_autodoc.ir import Node
from onnx_autodoc.ops import Known
from onnx_autodoc.patterns._net import NO_VALUE, Fact, Net


class Draft(Struct, frozen=True):
    """A term to be. Of several drafts for one node, one is the `main` one."""

    op: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    facts: dict[str, Fact] = {}
    main: bool = True


class Spelling(Struct, frozen=True):
    """A node on its way onto the net."""

    net: Net
    node: Node
    inputs: Sequence[int]
    outputs: Sequence[int]
    known: tuple[Known, ...]

    def input(self, at: int) -> int:
        return self.inputs[at] if at < len(self.inputs) else NO_VALUE

    def inner(self, like: int = 0) -> int:
        """A value between the terms of one node, as large as one of its outputs."""
        return self.net.value("", self.known[like] if like < len(self.known) else None, fixed=False)

    def number(self, key: str, default: int = 0) -> int:
        found = self.node.attributes.get(key)
        return found if isinstance(found, int) else default

    def numbers(self, key: str) -> tuple[int, ...]:
        found = self.node.attributes.get(key)
        return tuple(item for item in found if isinstance(item, int)) if isinstance(found, tuple) else ()

    def word(self, key: str) -> str:
        found = self.node.attributes.get(key)
        return found if isinstance(found, str) else ""

    def draft(self, op: str, inputs: Sequence[int], outputs: Sequence[int] | None = None, **facts: Fact) -> Draft:
        return Draft(op, tuple(inputs), tuple(self.outputs if outputs is None else outputs), facts)

    def aside(self, op: str, inputs: Sequence[int], output: int, **facts: Fact) -> Draft:
        return Draft(op, tuple(inputs), (output,), facts, main=False)


Speller = Callable[[Spelling], Iterator[Draft]]
