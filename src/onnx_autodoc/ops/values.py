"""Inferred values: type, dims and, if it is small, elements.

A data-dependent size is an `Unknown` with a reason. Arithmetic with it returns another `Unknown` with the same
reason, so a rule is written once, in plain arithmetic. One `Unknown` object in two places is one size. A rule that
must compare it or use it as an index stops with `InferenceError` and that reason.
"""

import math
import re
from collections.abc import Sequence
from typing import Any, Final, NoReturn

import numpy as np
from msgspec import Struct

from onnx_autodoc.ir import Tensor, decode_varints
from onnx_autodoc.text import quote_name

MAX_DIMS: Final = 64  # models have up to eight or so, numpy has 64; each rule visits every one of them
_MAX_DIM_NAME_CHARS: Final = 60
_SUM: Final = re.compile(r"[\w .:/+*()?-]+")  # names of sizes are words, or sums of them
Array = np.ndarray[Any, np.dtype[Any]]


class InferenceError(Exception):
    """Raised by a rule that cannot infer its outputs; the message is shown on the card."""


class Contradiction(InferenceError):
    """The file is inconsistent: the node cannot run."""


class Unknown:
    """A number that depends on the data. It absorbs arithmetic and cannot be compared."""

    __slots__ = ("_offset", "_origin", "why")

    def __init__(self, why: str, origin: "Unknown | None" = None, offset: int = 0) -> None:
        self.why = why
        self._origin, self._offset = origin, offset  # from another `Unknown`, so that x + 1 - 1 is x

    def _absorb(self, *_: object) -> "Unknown":
        return Unknown(self.why)

    def __add__(self, by: object) -> "Unknown":
        if not isinstance(by, int | np.integer):
            return Unknown(self.why)
        origin = self if self._origin is None else self._origin
        offset = self._offset + int(by)
        return self if by == 0 else origin if offset == 0 else Unknown(self.why, origin, offset)

    def __sub__(self, by: object) -> "Unknown":
        return self + -int(by) if isinstance(by, int | np.integer) else Unknown(self.why)

    def _scaled(self, by: object) -> "Unknown":
        return self if isinstance(by, int | np.integer) and by == 1 else Unknown(self.why)

    def _stop(self, *_: object) -> NoReturn:
        raise InferenceError(self.why)

    __radd__ = __add__
    __mul__ = __rmul__ = __floordiv__ = _scaled
    __rsub__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __abs__ = _absorb
    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __int__ = __index__ = __float__ = _stop

    def __repr__(self) -> str:
        return f"Unknown({self.why!r})"


Dim = int | Unknown
Shape = tuple[Dim, ...]


class ValueInfo(Struct, frozen=True, eq=False):
    """The inferred type of one value. `shape` is None if even the rank is unknown; then `why` is the reason."""

    dtype: str | None
    shape: Shape | None = None
    value: Array | None = None  # elements of a small tensor; single ones may be `Unknown`
    why: str = ""
    kind: str = "tensor"
    element: "ValueInfo | None" = None  # of a sequence or an optional
    items: "tuple[ValueInfo, ...] | None" = None  # the tensors of a sequence of known length
    is_stored: bool = False  # whether it is stored in the file, and depends on no assumed size

    @property
    def concrete(self) -> tuple[int, ...] | None:
        """The dims as integers, or None if any is unknown."""
        if self.shape is None or not all(type(dim) is int for dim in self.shape):
            return None
        return self.shape  # type: ignore[return-value]

    @property
    def reason(self) -> str:
        """Why the shape is not fully known; empty if it is."""
        if self.shape is None:
            return self.why or "its shape is unknown"
        return next((dim.why for dim in self.shape if isinstance(dim, Unknown)), "")


def tensor(dtype: str | None, shape: Shape) -> ValueInfo:
    if len(shape) > MAX_DIMS:
        raise InferenceError(describe_rank(shape))
    return ValueInfo(dtype, shape)


def describe_rank(shape: Shape) -> str:
    return f"a tensor of rank {len(shape):,} is not supported, the maximum is {MAX_DIMS:,}"


def sequence(element: ValueInfo | None, why: str = "", items: tuple[ValueInfo, ...] | None = None) -> ValueInfo:
    """Return a sequence of tensors; `element` is what they have in common."""
    dtype, why = element.dtype if element else None, why or "a sequence of tensors has no shape"
    return ValueInfo(dtype, None, why=why, kind="sequence", element=element, items=items)


def unknown_value(why: str) -> ValueInfo:
    """Return a value that is unknown for a reason."""
    return ValueInfo(None, why=why)


def with_shape(known: ValueInfo, shape: Shape) -> ValueInfo:
    """Return a tensor of the same element type in another shape."""
    return tensor(known.dtype, shape)


def format_dims(dims: Sequence[object]) -> str:
    """Format dims for a sentence: sizes, names, and ? for unknown ones."""
    return "[" + ", ".join(map(_format_dim, dims)) + "]"


def _format_dim(dim: object) -> str:
    if isinstance(dim, str):
        return dim if len(dim) <= _MAX_DIM_NAME_CHARS and _SUM.fullmatch(dim) else quote_name(dim, _MAX_DIM_NAME_CHARS)
    return str(dim) if isinstance(dim, int) else "?"


def merge_dims(a: Dim, b: Dim, why: str) -> Dim:
    """Return the size that `a` and `b` agree on, else `Unknown`."""
    return a if a is b or (type(a) is int and a == b) else Unknown(why)


MAX_ELEMENTS: Final = 1 << 16  # a value with more elements steers no shape
_MAX_RANK: Final = 32  # of an array, in every numpy
_NAMES: Final = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool"
_NUMPY: Final = {name: np.dtype(name) for name in _NAMES.split()}


def numpy_dtype(dtype: str | None) -> "np.dtype | None":
    """Return the numpy dtype of an ONNX element type, or None."""
    return _NUMPY.get(dtype) if dtype else None


def elements(tensor: Tensor) -> Array | None:
    """Return the elements of a tensor if they are few, numeric and in the file, else None."""
    dtype, payload = numpy_dtype(tensor.dtype), tensor.payload
    if dtype is None or tensor.elements > MAX_ELEMENTS or not is_array_size(tensor.dims):
        return None
    if tensor.elements == 0 and tensor.location is None:
        return np.zeros(tensor.dims, dtype)
    if payload is None or not isinstance(payload.data, bytes):
        return None
    flat = _decode(payload.encoding, payload.data, dtype)
    return flat.reshape(tensor.dims) if flat is not None and flat.size == tensor.elements else None


def is_array_size(dims: Sequence[int]) -> bool:
    """Whether numpy can make an array of these dims; it multiplies the other dims of an empty array too."""
    return len(dims) <= _MAX_RANK and min(dims, default=0) >= 0 and math.prod(filter(None, dims)) <= MAX_ELEMENTS


def check_broadcast_size(*shapes: Sequence[int]) -> None:
    """Raise before numpy broadcasts arrays to more elements than an output may have."""
    if not is_array_size(np.broadcast_shapes(*shapes)):
        raise InferenceError("the broadcast inputs exceed the size limit of constant evaluation")


def limit_to_int64(array: Array) -> Array:
    """Replace sizes beyond int64 by `Unknown`."""
    if array.dtype != object:
        return array
    limited = np.empty(array.shape, object)
    why = "a number exceeds the range of int64"
    limited.reshape(-1)[:] = [
        Unknown(why) if type(item) is int and not -1 << 63 <= item < 1 << 63 else item for item in array.flat
    ]
    return limited


def _decode(encoding: str, data: bytes, dtype: "np.dtype") -> Array | None:
    if encoding == "varints":
        bits = np.array(decode_varints(data, MAX_ELEMENTS), np.uint64)
        if dtype == np.float16:  # stored as its 16 bits
            return bits.astype(np.uint16).view(np.float16)
        return bits.astype(dtype) if dtype.kind == "u" else bits.astype(np.int64).astype(dtype)
    stored = {"raw": dtype, "floats": _NUMPY["float32"], "doubles": _NUMPY["float64"]}.get(encoding)
    if stored is None or len(data) % stored.itemsize:
        return None
    return np.frombuffer(data, stored.newbyteorder("<")).astype(dtype)
