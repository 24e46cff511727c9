"""Inputs as arrays: from how an input is to be filled to its numbers, the same ones in every run."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

from onnx_autodoc.runtime._types import Feed

Array = np.ndarray[Any, np.dtype[Any]]

_PLAIN: Final = frozenset(
    (
        *("float16", "float32", "float64", "complex64", "complex128", "bool"),
        *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)
# types that numpy does not have: their number in ONNX, and what ml_dtypes calls them
_SMALL: Final = {
    "float8e4m3fn": (17, "float8_e4m3fn"),
    "float8e4m3fnuz": (18, "float8_e4m3fnuz"),
    "float8e5m2": (19, "float8_e5m2"),
    "float8e5m2fnuz": (20, "float8_e5m2fnuz"),
}
_BFLOAT16: Final = 16
_HALVES: Final = {"uint4": 21, "int4": 22, "float4e2m1": 23}  # two in a byte, whatever its bits are
FILLABLE: Final = frozenset((*_PLAIN, *_SMALL, *_HALVES, "bfloat16", "string"))


def arrays(feeds: Iterable[Feed], wrap: Callable[[Array, int], object]) -> dict[str, object]:
    """By name; `wrap` makes a value of bits and their type's number, for types that numpy does not have."""
    rng = np.random.default_rng(0)
    return {feed.name: _made(feed, rng, wrap) for feed in feeds}


def _made(feed: Feed, rng: np.random.Generator, wrap: Callable[[Array, int], object]) -> object:
    if feed.dtype == "string":
        return np.full(feed.dims, str(feed.value), object)
    if feed.dtype in _HALVES:
        return wrap(rng.integers(0, 256, feed.dims, np.uint8), _HALVES[feed.dtype])
    numbers = _FILLS[feed.fill](feed, rng)
    if feed.dtype in _PLAIN:
        return np.ascontiguousarray(numbers.astype(feed.dtype)).reshape(feed.dims)
    if feed.dtype == "bfloat16":
        upper = (numbers.astype(np.float32).reshape(feed.dims).view(np.uint32) >> 16).astype(np.uint16)
        return wrap(np.ascontiguousarray(upper).reshape(feed.dims), _BFLOAT16)
    return wrap(_narrow(numbers, feed), _SMALL[feed.dtype][0])


def _narrow(numbers: Array, feed: Feed) -> Array:
    import ml_dtypes  # comes with onnx

    kind = getattr(ml_dtypes, _SMALL[feed.dtype][1])
    narrow: Array = numbers.astype(np.float32).reshape(feed.dims).astype(kind).view(np.uint8)
    return narrow


def _normal(feed: Feed, rng: np.random.Generator) -> Array:
    drawn: Array = rng.standard_normal(feed.dims, np.float32)
    return np.asarray(drawn * np.float32(1 if feed.high is None else feed.high))


def _uniform(feed: Feed, rng: np.random.Generator) -> Array:
    low, high = feed.low or 0, 1 if feed.high is None else feed.high
    return np.asarray(low + (high - low) * rng.random(feed.dims, np.float32))


def _integers(feed: Feed, rng: np.random.Generator) -> Array:
    return np.asarray(rng.integers(int(feed.low or 0), int(feed.high or 1), feed.dims))


def _constant(feed: Feed, rng: np.random.Generator) -> Array:
    return np.full(feed.dims, 0 if feed.value is None else feed.value)


def _range(feed: Feed, rng: np.random.Generator) -> Array:
    low = int(feed.low or 0)
    steps = np.arange(low, low + (feed.dims[-1] if feed.dims else 1))
    return np.broadcast_to(steps if feed.dims else steps[0], feed.dims)


_FILLS: Final[Mapping[str, Callable[[Feed, np.random.Generator], Array]]] = {
    "normal": _normal,
    "uniform": _uniform,
    "integers": _integers,
    "constant": _constant,
    "range": _range,
}
