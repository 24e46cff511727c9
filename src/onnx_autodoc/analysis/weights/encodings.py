"""What each code of a small type stands for: floats of 8 and 4 bits, integers of 4 and 2."""

from collections.abc import Iterator
from typing import Final

_NAN: Final = float("nan")
_INF: Final = float("inf")


def _minifloat(bits: int, fraction: int, bias: int) -> list[float]:
    """All codes as sign, exponent and fraction, with subnormals, before a type's own exceptions."""
    return [_decoded(code, bits, fraction, bias) for code in range(1 << bits)]


def _decoded(code: int, bits: int, fraction: int, bias: int) -> float:
    exponent = code >> fraction & (1 << bits - 1 - fraction) - 1
    part = code & (1 << fraction) - 1
    size = (part + (1 << fraction if exponent else 0)) * 2.0 ** (max(exponent, 1) - bias - fraction)
    return -size if code >> bits - 1 else size


def _except(values: list[float], exceptions: dict[int, float]) -> tuple[float, ...]:
    return tuple(exceptions.get(code, value) for code, value in enumerate(values))


def _fnuz(fraction: int, bias: int) -> tuple[float, ...]:
    """No infinities, one zero; what would be -0 is the only NaN."""
    return _except(_minifloat(8, fraction, bias), {0x80: _NAN})


def _e5m2_exceptions() -> Iterator[tuple[int, float]]:
    for sign in (0, 0x80):
        yield sign | 0x7C, -_INF if sign else _INF
        yield from ((sign | 0x7C | part, _NAN) for part in (1, 2, 3))


# type -> its bits, and the value of each of its codes
VALUES: Final[dict[str, tuple[int, tuple[int | float, ...]]]] = {
    "float8e4m3fn": (8, _except(_minifloat(8, 3, 7), {0x7F: _NAN, 0xFF: _NAN})),
    "float8e4m3fnuz": (8, _fnuz(3, 8)),
    "float8e5m2": (8, _except(_minifloat(8, 2, 15), dict(_e5m2_exceptions()))),
    "float8e5m2fnuz": (8, _fnuz(2, 16)),
    "float8e8m0": (8, (*(2.0 ** (code - 127) for code in range(255)), _NAN)),
    "float4e2m1": (4, tuple(_minifloat(4, 1, 1))),
    "uint4": (4, tuple(range(16))),
    "int4": (4, (*range(8), *range(-8, 0))),
    "uint2": (2, tuple(range(4))),
    "int2": (2, (0, 1, -2, -1)),
}
