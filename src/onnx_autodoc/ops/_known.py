"""What is known of a value: its type, its dims and, where it is small, its elements.

A size that cannot be known is an `Unknown`, which carries the reason. Arithmetic with it gives another of the same
reason, so a rule is written once, in plain arithmetic, and the reason arrives wherever the size would have gone. One
and the same `Unknown` in two places is one and the same size; twice that size is another. A rule that must decide
something on it (compare it, use it as an index) is stopped by `NotKnown` with the same reason.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn

import numpy as np
from msgspec import Struct

from onnx_autodoc.text import told

MOST_DIMS: Final = 64  # models have up to eight or so, numpy has 64; each rule looks at every one of them
_LONGEST: Final = 60  # letters of a size's name
_SUM: Final = re.compile(r"[\w .:/+*()?-]+")  # names of sizes are words, or sums of them
Array = np.ndarray[Any, np.dtype[Any]]


class NotKnown(Exception):
    """Raised by a rule that cannot say what its outputs are; the message is for the card's reader."""


class Contradiction(NotKnown):
    """The file contradicts itself here: what it asks for cannot be run."""


class Unknown:
    """A number that only the data decides. It absorbs arithmetic and refuses to be compared."""

    __slots__ = ("_away", "_origin", "why")

    def __init__(self, why: str, origin: "Unknown | None" = None, away: int = 0) -> None:
        self.why = why
        self._origin, self._away = origin, away  # so much more than another one: what is added may be taken off again

    def _other(self, *_: object) -> "Unknown":
        return Unknown(self.why)

    def __add__(self, by: object) -> "Unknown":
        if not isinstance(by, int | np.integer):
            return Unknown(self.why)
        origin = self if self._origin is None else self._origin
        away = self._away + int(by)
        return self if by == 0 else origin if away == 0 else Unknown(self.why, origin, away)

    def __sub__(self, by: object) -> "Unknown":
        return self + -int(by) if isinstance(by, int | np.integer) else Unknown(self.why)

    def _scaled(self, by: object) -> "Unknown":
        return self if isinstance(by, int | np.integer) and by == 1 else Unknown(self.why)

    def _stop(self, *_: object) -> NoReturn:
        raise NotKnown(self.why)

    __radd__ = __add__
    __mul__ = __rmul__ = __floordiv__ = _scaled
    __rsub__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __abs__ = _other
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __int__ = __index__ = __float__ = _stop

    def __repr__(self) -> str:
        return f"Unknown({self.why!r})"


Dim = int | Unknown
Shape = tuple[Dim, ...]


class Known(Struct, frozen=True, eq=False):
    """All that is known of one value. `shape` is None where not even the rank is known: then `why` says why."""

    dtype: str | None
    shape: Shape | None = None
    value: Array | None = None  # its elements, where they are few; unknown ones are `Unknown` objects
    why: str = ""
    kind: str = "tensor"
    element: "Known | None" = None  # of a sequence or an optional
    items: "tuple[Known, ...] | None" = None  # a sequence's tensors one by one, where it is known how many
    held: bool = False  # whether it stands in the file: no size that was assumed is in it

    @property
    def concrete(self) -> tuple[int, ...] | None:
        """The dims as plain numbers, or None if any of them is not known."""
        if self.shape is None or not all(type(dim) is int for dim in self.shape):
            return None
        return self.shape  # type: ignore[return-value]

    @property
    def reason(self) -> str:
        """Why this is not wholly known; empty where it is."""
        if self.shape is None:
            return self.why or "its shape is not known"
        return next((dim.why for dim in self.shape if isinstance(dim, Unknown)), "")


def tensor(dtype: str | None, shape: Shape) -> Known:
    if len(shape) > MOST_DIMS:
        raise NotKnown(many_dims(shape))
    return Known(dtype, shape)


def many_dims(shape: Shape) -> str:
    return f"a tensor of {len(shape):,} dimensions is not followed, the most are {MOST_DIMS:,}"


def sequence(element: Known | None, why: str = "", items: tuple[Known, ...] | None = None) -> Known:
    """A sequence of tensors; what its elements have in common is `element`."""
    dtype = element.dtype if element else None
    return Known(dtype, None, why=why or _SEQUENCE, kind="sequence", element=element, items=items)


_SEQUENCE = "a sequence of tensors has no shape of its own"


def nothing(why: str) -> Known:
    """A value of which only the reason for not knowing it is known."""
    return Known(None, why=why)


def like(known: Known, shape: Shape) -> Known:
    """The same element type in another shape."""
    return tensor(known.dtype, shape)


def dims_text(dims: Sequence[object]) -> str:
    """Dims for a reader: sizes, names, and ? for what is open or not known."""
    return "[" + ", ".join(map(_dim_text, dims)) + "]"


def _dim_text(dim: object) -> str:
    if isinstance(dim, str):
        return dim if len(dim) <= _LONGEST and _SUM.fullmatch(dim) else told(dim, _LONGEST)
    return str(dim) if isinstance(dim, int) else "?"


def merge_dims(one: Dim, other: Dim, why: str) -> Dim:
    return one if one is other or (type(one) is int and one == other) else Unknown(why)
