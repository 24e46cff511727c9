"""What the numbers of a file's tensors are, once they were read."""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from onnx_autodoc.card import Numbers
from onnx_autodoc.ir import DataLocation

Owner = tuple[object, ...]  # a graph of the file, as the facts name it: () is the main one, else the way there


class Unread(Exception):
    """Why a tensor's numbers could not be read."""


class Surveyed(Struct, frozen=True):
    """A tensor at its place: the graph that holds it, the name its nodes read it by, and where its bytes are."""

    owner: Owner
    name: str
    place: DataLocation | None
    numbers: Numbers


class Weights(Struct, frozen=True, dict=True):
    """Every tensor of a file once, in file order, the graphs inside nodes after those around them."""

    tensors: tuple[Surveyed, ...]
    bytes_read: int

    @cached_property
    def _index(self) -> Mapping[tuple[Owner, str], Numbers]:
        return {(each.owner, each.name): each.numbers for each in self.tensors}

    def find(self, owner: Owner, name: str) -> Numbers | None:
        """What a name stands for in a graph, or in those around it."""
        for end in range(len(owner), -1, -2):
            found = self._index.get((owner[:end], name))
            if found is not None:
                return found
        return None
