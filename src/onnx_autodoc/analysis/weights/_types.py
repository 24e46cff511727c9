"""What the numbers of a file's tensors are, once they were read."""

from collections.abc import Mapping
from functools import cached_property

from msgspec import Struct

from onnx_autodoc.ir import Place

Owner = tuple[object, ...]  # a graph of the file, as the facts name it: () is the main one, else the way there


class Unread(Exception):
    """Why a tensor's numbers could not be read."""


class Numbers(Struct, frozen=True):
    """What one tensor holds. None is not known: it was not read, or the type has no such thing.

    `sha256` is of the elements as `raw_data` would have them (dense, row-major, little-endian, packed), however the
    file writes them; of texts, of each one's length in 8 bytes and the text. `least` and `most` are of what is finite.
    """

    name: str
    dtype: str | None
    dims: tuple[int, ...]
    bytes: int | None
    sha256: str | None = None
    nan: int | None = None
    infinite: int | None = None
    zeros: int | None = None
    least: int | float | None = None
    most: int | float | None = None
    constant: bool | None = None  # all elements are one value
    unread: str | None = None


class Surveyed(Struct, frozen=True):
    """A tensor at its place: the graph that holds it, the name its nodes read it by, and where its bytes are."""

    owner: Owner
    name: str
    place: Place | None
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
