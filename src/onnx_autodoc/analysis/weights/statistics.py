"""Counts over the elements of one type: non-finite ones, zeros, the smallest and the largest.

A counter takes a piece of elements in canonical form. Pieces add up with `+`. 16-bit floats are compared by their bits,
since numpy's arithmetic on them is slow or missing; types of 8 bits and fewer without arithmetic are counted by code.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

Piece = bytes | bytearray | memoryview
Array = np.ndarray[Any, Any]
_NAN: Final = float("nan")
_INF: Final = float("inf")
_MIN_PAIRED_BYTES: Final = 1 << 16
_WIDTHS: Final = (8, 16, 32, 64)


class Tally(Struct, frozen=True):
    """`up` and `down` are the infinities; `least` and `most` are of finite elements, None where there are none."""

    elements: int = 0
    nan: int = 0
    up: int = 0
    down: int = 0
    zeros: int = 0
    least: int | float | None = None
    most: int | float | None = None

    def __add__(self, other: "Tally") -> "Tally":
        least = [number for number in (self.least, other.least) if number is not None]
        most = [number for number in (self.most, other.most) if number is not None]
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


Counter = Callable[[Piece, int], Tally]  # of a piece and its number of elements


def _range(numbers: Sequence[int | float]) -> tuple[int | float | None, int | float | None]:
    return (min(numbers) + 0, max(numbers) + 0) if numbers else (None, None)  # + 0: never -0.0


def _integer_counter(kind: str) -> Counter:
    def count(piece: Piece, elements: int) -> Tally:
        numbers: Array = np.frombuffer(piece, kind)
        zeros = elements - int(np.count_nonzero(numbers))
        return Tally(elements, zeros=zeros, least=int(numbers.min()), most=int(numbers.max()))

    return count


def _float_counter(kind: str) -> Counter:
    def count(piece: Piece, elements: int) -> Tally:
        numbers: Array = np.frombuffer(piece, kind)
        zeros = int(np.count_nonzero(numbers == 0))
        least, most = float(numbers.min()), float(numbers.max())  # a NaN anywhere makes both NaN
        if np.isfinite(least) and np.isfinite(most):
            return Tally(elements, 0, 0, 0, zeros, *_range((least, most)))
        finite = numbers[np.isfinite(numbers)]
        ends = _range((float(finite.min()), float(finite.max())) if finite.size else ())
        up, down = int(np.count_nonzero(numbers == _INF)), int(np.count_nonzero(numbers == -_INF))
        return Tally(elements, int(np.count_nonzero(np.isnan(numbers))), up, down, zeros, *ends)

    return count


def _half_counter(infinity: int, value: Callable[[int], float]) -> Counter:
    """16-bit floats: sign, exponent and fraction from the top, so that magnitudes are in the order of their bits."""

    def count(piece: Piece, elements: int) -> Tally:
        bits: Array = np.frombuffer(piece, "<i2")
        magnitude = bits & np.int16(0x7FFF)
        zeros = int(np.count_nonzero(magnitude == 0))
        nan = up = down = 0
        if magnitude.max() >= infinity:
            nan = int(np.count_nonzero(magnitude > infinity))
            up, down = int(np.count_nonzero(bits == infinity)), int(np.count_nonzero(bits == infinity - 0x8000))
            bits = bits[magnitude < infinity]
        # Integers in the order of the floats: the bits of negative ones are inverted, except for the sign.
        ordered = bits ^ ((bits >> np.int16(15)) & np.int16(0x7FFF))
        ends = (int(ordered.min()), int(ordered.max())) if bits.size else ()
        values = [value((end ^ 0x7FFF if end < 0 else end) & 0xFFFF) for end in ends]
        return Tally(elements, nan, up, down, zeros, *_range(values))

    return count


def _complex_counter(kind: str) -> Counter:
    """Complex numbers have no order, so no smallest and no largest."""

    def count(piece: Piece, elements: int) -> Tally:
        numbers: Array = np.frombuffer(piece, kind)
        nan = np.isnan(numbers)
        infinite = int(np.count_nonzero(np.isinf(numbers) & ~nan))
        return Tally(elements, int(np.count_nonzero(nan)), infinite, zeros=int(np.count_nonzero(numbers == 0)))

    return count


def _float16(bits: int) -> float:
    return float(np.array(bits, np.uint16).view(np.float16))


def _bfloat16(bits: int) -> float:
    return float(np.array(bits << 16, np.uint32).view(np.float32))


def _code_counter(bits: int, values: Sequence[int | float]) -> Counter:
    """Types of so few codes that each is counted; several may share a byte, the first one in its lowest bits."""
    known = np.array(values, np.float64)
    finite = np.isfinite(known)

    def count(piece: Piece, elements: int) -> Tally:
        histogram = _count_bytes(piece)
        counts = np.zeros(1 << bits, np.int64)
        for shift in range(0, 8, bits):
            np.add.at(counts, np.arange(256) >> shift & (1 << bits) - 1, histogram)
        counts[0] -= len(piece) * 8 // bits - elements  # the unused bits of the last byte
        present = [values[code] for code in np.flatnonzero((counts > 0) & finite).tolist()]
        nan, up, down, zeros = (
            int(counts[codes].sum()) for codes in (np.isnan(known), known == _INF, known == -_INF, known == 0)
        )
        return Tally(elements, nan, up, down, zeros, *_range(present))

    return count


def _count_bytes(piece: Piece) -> Array:
    """Return how often each byte occurs. In a long piece they are counted in pairs, which numpy does faster."""
    pairs = len(piece) // 2 if len(piece) >= _MIN_PAIRED_BYTES else 0
    tail = np.bincount(np.frombuffer(piece[2 * pairs :], np.uint8), minlength=256)
    if not pairs:
        return tail
    table = np.bincount(np.frombuffer(piece[: 2 * pairs], "<u2"), minlength=1 << 16).reshape(256, 256)
    histogram: Array = tail + table.sum(0) + table.sum(1)
    return histogram


def _minifloat(bits: int, fraction: int, bias: int, exceptions: Mapping[int, float] = {}) -> tuple[float, ...]:
    """Return the value of each code: sign, exponent and fraction, with subnormals, except for special codes."""
    values = []
    for code in range(1 << bits):
        exponent = code >> fraction & (1 << bits - 1 - fraction) - 1
        part = code & (1 << fraction) - 1
        magnitude = (part + (1 << fraction if exponent else 0)) * 2.0 ** (max(exponent, 1) - bias - fraction)
        values.append(exceptions.get(code, -magnitude if code >> bits - 1 else magnitude))
    return tuple(values)


_FNUZ: Final = {0x80: _NAN}  # no infinities, one zero; the code of -0 is the only NaN
_E5M2: Final = {0x7C: _INF, 0xFC: -_INF, **dict.fromkeys((0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF), _NAN)}
# type -> its bits, and the value of each of its codes
VALUES: Final[dict[str, tuple[int, tuple[int | float, ...]]]] = {
    "float8e4m3fn": (8, _minifloat(8, 3, 7, {0x7F: _NAN, 0xFF: _NAN})),
    "float8e4m3fnuz": (8, _minifloat(8, 3, 8, _FNUZ)),
    "float8e5m2": (8, _minifloat(8, 2, 15, _E5M2)),
    "float8e5m2fnuz": (8, _minifloat(8, 2, 16, _FNUZ)),
    "float8e8m0": (8, (*(2.0 ** (code - 127) for code in range(255)), _NAN)),
    "float4e2m1": (4, _minifloat(4, 1, 1)),
    "uint4": (4, tuple(range(16))),
    "int4": (4, (*range(8), *range(-8, 0))),
    "uint2": (2, tuple(range(4))),
    "int2": (2, (0, 1, -2, -1)),
}
COUNTERS: Final[dict[str, Counter]] = {
    **{f"int{bits}": _integer_counter(f"<i{bits // 8}") for bits in _WIDTHS},
    **{f"uint{bits}": _integer_counter(f"<u{bits // 8}") for bits in _WIDTHS},
    "bool": _integer_counter("u1"),
    "float32": _float_counter("<f4"),
    "float64": _float_counter("<f8"),
    "complex64": _complex_counter("<c8"),
    "complex128": _complex_counter("<c16"),
    "float16": _half_counter(0x7C00, _float16),
    "bfloat16": _half_counter(0x7F80, _bfloat16),
    **{name: _code_counter(bits, values) for name, (bits, values) in VALUES.items()},
}
