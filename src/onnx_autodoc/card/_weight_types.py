"""The numbers in the weights, as the card has them. Only there if they were asked for: all weights are read for it."""

from msgspec import Struct

from onnx_autodoc.analysis.weights import Numbers


class WeightsSection(Struct, frozen=True):
    """Every tensor of the file. `unread` is how many could not be read; each of them has its reason.

    `bytes_read` is what was read for it, of all files; the same bytes under two names count once.
    """

    tensors: tuple[Numbers, ...]
    bytes_read: int
    unread: int
