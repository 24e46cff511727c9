"""What a renderer is given: the card, and the rows of its nodes for the formats that list them."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from onnx_autodoc.card import Card, NodeRow


class Beside(Struct, frozen=True):
    """Where a text finds its pictures: a folder beside it, and their suffix."""

    folder: str
    suffix: str


class Report(Struct, frozen=True):
    card: Card
    nodes: Callable[[], Iterator[NodeRow]]
    beside: Beside | None = None  # None: the text stands alone, without pictures
