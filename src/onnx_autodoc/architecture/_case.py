"""What the rules for tasks are asked about, and what they answer."""

from itertools import islice
from typing import Final

from msgspec import Struct

from onnx_autodoc.patterns import Net, Term
from onnx_autodoc.patterns.heads import Head
from onnx_autodoc.text import told

_HEAVY: Final = ("attention", "embedding", "lstm", "gru", "rnn")


class Task(Struct, frozen=True):
    """None: the graph does not tell."""

    name: str | None
    confidence: float
    classes: int | None
    evidence: tuple[str, ...]
    claimed: bool = False  # the file says so of itself, and the graph does not


class Verdict(Struct, frozen=True):
    """`near` and `also` are tasks with the same graph, which the exporter's own word may pick instead."""

    name: str
    confidence: float
    evidence: tuple[str, ...]
    classes: int | None = None
    near: str | None = None
    also: tuple[str, ...] = ()


class Case(Struct, frozen=True, eq=False):
    heads: tuple[Head, ...]
    roles: dict[str, str]
    family: str
    net: Net
    cached: bool

    @property
    def answers(self) -> list[Head]:
        """What comes out but for what is handed on."""
        return [head for head in self.heads if head.kind not in ("state", "weights")]

    def of(self, *kinds: str) -> list[Head]:
        return [head for head in self.heads if head.kind in kinds]

    def given(self, *roles: str) -> list[str]:
        """The inputs of some roles; `image` is one in any layout."""
        inputs = [name for name in self.net.inputs if name in self.roles]
        return [name for name in inputs if self.roles[name] in roles or self.roles[name].split(" ")[0] in roles]

    def said(self, *roles: str) -> str:
        """The inputs of some roles, for evidence."""
        names = self.given(*roles)
        return f"input {told(names[0])}: {self.roles[names[0]]}" if names else ""

    def blocks(self, *kinds: str) -> list[Term]:
        return self.net.of(*kinds)

    def dims(self, name: str) -> tuple[int, ...] | None:
        value = self.net.inputs.get(name, self.net.outputs.get(name))
        return self.net.shape(value) if value is not None else None

    @property
    def layered(self) -> bool:
        """Whether there are two things with weights at least, or trees."""
        found = (part for part in self.net.everything() if "weight" in part.facts or part.op in _HEAVY)
        return bool(self.of("trees")) or len(list(islice(found, 2))) == 2

    @property
    def gray(self) -> bool:
        """Whether it sees a picture of one channel, which may be a spectrogram, and whose masks look like pictures."""
        names = self.given("image")
        dims = self.dims(names[0]) if names else None
        return dims is not None and len(dims) == 4 and dims[1 if self.roles[names[0]].endswith("NCHW") else 3] == 1

    @property
    def whole(self) -> bool:
        """Whether every output was understood."""
        return {head.output for head in self.heads} == set(self.net.outputs)
