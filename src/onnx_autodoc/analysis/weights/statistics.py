"""Counts over the elements of one type: what is not finite, what is zero, the smallest and the largest.

A counter takes a piece of elements in canonical form. Pieces add up with `+`. 16-bit floats are compared by their bits,
since numpy's arithmetic on them is slow or missing; types of 8 bits and fewer without arithmetic are counted by code.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

from onnx_autodoc.analysis.weights.encodings import VALUES

Piece = bytes | bytearray | memoryview
Array = np.ndarray[Any, Any]


class Tally(Struct, frozen=True):
    """`up` and `down` are the infinities; `least` and `most` are of what is finite, None where nothing is."""

    elements: int = 0
    nan: int = 0
    up: int = 0
    down: int = 0
    zeros: int = 0
    least: int | float | None = None
    most: int | float | None = None

    def __add__(self, other: "Tally") -> "Tally":
        least = [each for each in (self.least, other.least) if each is not None]
        most = [each for each in (self.most, other.most) if each is not None]
        return Tally(
            self.elements + other.elements,
            self.nan + other.nan,
            self.up + other.up,
            self.down + other.down,
            self.zeros + other.zeros,
            min(least, default=None),
            max(most, default=None),
        )

    @property
    def constant(self) -> bool | None:
        """Whether all elements are one value; None where there are none, or they have no order."""
        if self.nan or self.up or self.down:
            return self.elements in (self.nan, self.up, self.down)
        return None if self.least is None else self.least == self.most


Counter = Callable[[Piece, int], Tally]  # of a piece and how many elements are in it


def _whole(kind: str) -> Counter:
    def count(piece: Piece, elements: int) -> Tally:
        found: Array = np.frombuffer(piece, kind)
        zeros = elements - int(np.count_nonzero(found))
        return Tally(elements, zeros=zeros, least=int(found.min()), most=int(found.max()))

    return count


def _real(kind: str) -> Counter:
    def count(piece: Piece, elements: int) -> Tally:
        found: Array = np.frombuffer(piece, kind)
        zeros = int(np.count_nonzero(found == 0))
        least, most = float(found.min()), float(found.max())  # a NaN anywhere makes both NaN
        if np.isfinite(least) and np.isfinite(most):
            return Tally(elements, zeros=zeros, least=least + 0.0, most=most + 0.0)  # never -0.0
        finite = found[np.isfinite(found)]
        ends = _ends([float(finite.min()), float(finite.max())] if finite.size else [])
        up, down = int(np.count_nonzero(found == np.inf)), int(np.count_nonzero(found == -np.inf))
        return Tally(elements, int(np.count_nonzero(np.isnan(found))), up, down, zeros, *ends)

    return count


def _ends(numbers: Sequence[float]) -> tuple[float | None, float | None]:
    return (min(numbers) + 0.0, max(numbers) + 0.0) if numbers else (None, None)


def _half(infinity: int, value: Callable[[int], float]) -> Counter:
    """16-bit floats: sign, exponent and fraction from the top, so that magnitudes are in the order of their bits."""

    def count(piece: Piece, elements: int) -> Tally:
        bits: Array = np.frombuffer(piece, "<i2")
        size = bits & np.int16(0x7FFF)
        zeros = int(np.count_nonzero(size == 0))
        nan = up = down = 0
        if size.max() >= infinity:
            finite = size < infinity
            nan = int(np.count_nonzero(size > infinity))
            up, down = int(np.count_nonzero(bits == infinity)), int(np.count_nonzero(bits == infinity - 0x8000))
            bits = bits[finite]
        ends = _ends([value(_turned(int(end))) for end in _half_ends(bits)])
        return Tally(elements, nan, up, down, zeros, *ends)

    return count


def _half_ends(bits: Array) -> tuple[int, ...]:
    """The smallest and the largest, as integers whose order is that of the values."""
    if not bits.size:
        return ()
    turned = bits ^ ((bits >> np.int16(15)) & np.int16(0x7FFF))
    return int(turned.min()), int(turned.max())


def _turned(ordered: int) -> int:
    return (ordered ^ 0x7FFF if ordered < 0 else ordered) & 0xFFFF


def _complex(kind: str) -> Counter:
    """No order, so no smallest and no largest."""

    def count(piece: Piece, elements: int) -> Tally:
        found: Array = np.frombuffer(piece, kind)
        nan = np.isnan(found)
        infinite = int(np.count_nonzero(np.isinf(found) & ~nan))
        return Tally(elements, int(np.count_nonzero(nan)), infinite, zeros=int(np.count_nonzero(found == 0)))

    return count


def _float16(bits: int) -> float:
    return float(np.array(bits, np.uint16).view(np.float16))


def _bfloat16(bits: int) -> float:
    return float(np.array(bits << 16, np.uint32).view(np.float32))


def _coded(bits: int, values: Sequence[int | float]) -> Counter:
    """Types of so few codes that each is counted; several may share a byte, the first one in its lowest bits."""
    known = np.array(values, np.float64)
    finite = np.isfinite(known)

    def count(piece: Piece, elements: int) -> Tally:
        counts = _codes(_histogram(piece), bits)
        counts[0] -= len(piece) * 8 // bits - elements  # what fills up the last byte
        there = [values[code] for code in np.flatnonzero((counts > 0) & finite).tolist()]
        nan, up, down, zeros = (
            int(counts[which].sum()) for which in (np.isnan(known), known == np.inf, known == -np.inf, known == 0)
        )
        return Tally(elements, nan, up, down, zeros, *((min(there) + 0, max(there) + 0) if there else ()))

    return count


def _histogram(piece: Piece) -> Array:
    """How often each byte occurs. Two at a time, since that is how numpy is fast at it."""
    pairs = len(piece) // 2 if len(piece) >= _LONG else 0
    tail = np.bincount(np.frombuffer(piece[2 * pairs :], np.uint8), minlength=256)
    if not pairs:
        return tail
    table = np.bincount(np.frombuffer(piece[: 2 * pairs], "<u2"), minlength=1 << 16).reshape(256, 256)
    found: Array = tail + table.sum(0) + table.sum(1)
    return found


def _codes(of_bytes: Array, bits: int) -> Array:
    counts = np.zeros(1 << bits, np.int64)
    for shift in range(0, 8, bits):
        np.add.at(counts, np.arange(256) >> shift & (1 << bits) - 1, of_bytes)
    return counts


_LONG: Final = 1 << 16
_WIDTHS: Final = (8, 16, 32, 64)
COUNTERS: Final[dict[str, Counter]] = {
    **{f"int{bits}": _whole(f"<i{bits // 8}") for bits in _WIDTHS},
    **{f"uint{bits}": _whole(f"<u{bits // 8}") for bits in _WIDTHS},
    "bool": _whole("u1"),
    "float32": _real("<f4"),
    "float64": _real("<f8"),
    "complex64": _complex("<c8"),
    "complex128": _complex("<c16"),
    "float16": _half(0x7C00, _float16),
    "bfloat16": _half(0x7F80, _bfloat16),
    **{name: _coded(bits, values) for name, (bits, values) in VALUES.items()},
}
