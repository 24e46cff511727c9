"""The elements of small tensors as numpy arrays: what the file kept beside a header, and nothing larger."""

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from onnx_autodoc.ir import Tensor, varints
from onnx_autodoc.ops._known import Array, NotKnown, Unknown

MAX_ELEMENTS: Final = 1 << 16  # a value with more elements steers no shape
MAX_RANK: Final = 32  # of an array, in every numpy

_BEYOND: Final = "a number is beyond what int64 holds"
_NAMES: Final = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"
_NUMPY: Final = {name: np.dtype(name) for name in _NAMES.split()}


def numpy_dtype(dtype: str | None) -> "np.dtype | None":
    """The numpy type whose arithmetic is that of an ONNX type, where there is one."""
    return _NUMPY.get(dtype) if dtype else None


def elements(tensor: Tensor) -> Array | None:
    """A tensor's elements if they are few, numeric and in the file; None where they are not."""
    kind, payload = numpy_dtype(tensor.dtype), tensor.payload
    if kind is None or tensor.elements > MAX_ELEMENTS or not fits(tensor.dims):
        return None
    if tensor.elements == 0 and tensor.place is None:
        return np.zeros(tensor.dims, kind)
    if payload is None or not isinstance(payload.data, bytes):
        return None
    flat = _decoded(payload.encoding, payload.data, kind)
    return flat.reshape(tensor.dims) if flat is not None and flat.size == tensor.elements else None


def fits(dims: Sequence[int]) -> bool:
    """Whether numpy makes an array of these dims: it counts those beside a zero as well."""
    return len(dims) <= MAX_RANK and min(dims, default=0) >= 0 and math.prod(filter(None, dims)) <= MAX_ELEMENTS


def within(*shapes: Sequence[int]) -> None:
    """Stops before numpy stretches arrays against each other to more elements than an output may have."""
    if not fits(np.broadcast_shapes(*shapes)):
        raise NotKnown("the inputs together are larger than what steers a shape")


def counted(array: Array) -> Array:
    """Sizes, some of them `Unknown`, as int64 would hold them: what is beyond is no size, and would only grow."""
    if array.dtype != object:
        return array
    held = np.empty(array.shape, object)
    held.reshape(-1)[:] = [item if type(item) is not int or _is_held(item) else Unknown(_BEYOND) for item in array.flat]
    return held


def _is_held(number: int) -> bool:
    return -1 << 63 <= number < 1 << 63


def _decoded(encoding: str, data: bytes, kind: "np.dtype") -> Array | None:
    if encoding == "varints":
        return _typed(varints(data, MAX_ELEMENTS), kind)
    stored = {"raw": kind, "floats": _NUMPY["float32"], "doubles": _NUMPY["float64"]}.get(encoding)
    if stored is None or len(data) % stored.itemsize:
        return None
    return np.frombuffer(data, stored.newbyteorder("<")).astype(kind)


def _typed(numbers: list[int], kind: "np.dtype") -> Array:
    bits = np.array(numbers, np.uint64)
    if kind == np.float16:  # float16 is written as the 16 bits of it
        return bits.astype(np.uint16).view(np.float16)
    return bits.astype(np.int64).astype(kind) if kind.kind != "u" else bits.astype(kind)
