"""Arrays for tests that use only their type and dims."""

from typing import Any

import numpy as np

from onnx_autodoc.ops.values import Array
from tests.ops._calls import Expected


def half(*shape: int) -> Array:
    return np.zeros(shape, np.float16)


def single(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def small(*shape: int, dtype: Any = np.uint8) -> Array:
    return np.zeros(shape, dtype)


def count(*shape: int) -> Array:
    return np.zeros(shape, np.int32)


def halves(*shapes: tuple[int, ...]) -> Expected:
    return [("float16", shape) for shape in shapes]
