"""A tensor's elements in one form, whatever the file writes: dense, row-major, little-endian, packed as in raw_data."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from onnx_autodoc.analysis.weights.files import PIECE, Files
from onnx_autodoc.analysis.weights.types import Unread
from onnx_autodoc.ir import BITS, Tensor

_LONGEST_VARINT: Final = 10
_VARINTS: Final = 1 << 18  # bytes at a time: each may be a number of 8 bytes
_FEW: Final = frozenset(("float6e2m3", "float6e3m2"))  # packed in raw_data, one number each in int32_data
Array = np.ndarray[Any, Any]
Piece = bytes | memoryview


def canonical(tensor: Tensor, files: Files) -> Iterator[Piece]:
    """The elements in pieces, each good until the next one is asked for; `Unread` says why there are none."""
    needed = _checked(tensor)
    if not tensor.elements:
        return
    left = needed
    for piece in _typed(tensor, files, needed):
        left -= len(piece)
        if left < 0:
            raise Unread("it holds more numbers than its dimensions say")
        yield piece if left else _ended(piece, tensor)
    if left:
        raise Unread("it holds fewer numbers than its dimensions say")


def _checked(tensor: Tensor) -> int:
    """Bytes of the canonical form, of a tensor that has one."""
    needed = tensor.nbytes if tensor.dtype else None
    if tensor.stored_elements is not None:
        raise Unread("a sparse tensor")
    if min(tensor.dims, default=0) < 0:
        raise Unread("a dimension below zero")
    if needed is None:
        raise Unread("an element type that ONNX does not define")
    if tensor.location is not None and not tensor.location.is_valid:
        raise Unread("its offset or length in the external file is no number")
    if tensor.payload is not None and not tensor.payload.is_canonical:
        raise Unread("its numbers are not in the field for its type, or in two")
    return needed


def _typed(tensor: Tensor, files: Files, needed: int) -> Iterator[Piece]:
    dtype, payload = tensor.dtype or "", tensor.payload
    if payload is not None and payload.encoding == "varints":
        if dtype in _FEW:
            raise Unread("6-bit numbers in int32_data")
        return (_narrow(numbers, dtype) for numbers in _numbers(_stored(tensor, files, needed, _VARINTS)))
    length = payload.nbytes if payload is not None else tensor.location.length if tensor.location is not None else None
    if length is not None and length != needed:
        raise Unread(f"the file gives it {length:,} bytes, its type and dimensions take {needed:,}")
    pieces = _stored(tensor, files, needed, PIECE)
    return (_booleans(np.frombuffer(piece, np.uint8)) for piece in pieces) if dtype == "bool" else pieces


def _stored(tensor: Tensor, files: Files, needed: int, most: int) -> Iterator[Piece]:
    """The bytes as the file has them."""
    place, payload = tensor.location, tensor.payload
    if payload is not None and payload.fields > 1 and (payload.data is None or payload.encoding == "raw"):
        raise Unread("its numbers are scattered over many fields")
    if payload is not None and isinstance(payload.data, bytes):
        return files.kept(payload.data, most)
    if place is None:
        raise Unread("the file has no numbers for it")
    return files.pieces(place.path, place.offset, needed if place.length is None else place.length, most)


def _ended(piece: Piece, tensor: Tensor) -> Piece:
    """The last piece, with nothing in the bits that fill up its last byte."""
    used = tensor.elements * BITS[tensor.dtype or ""] % 8
    return piece if not used else bytes(piece[:-1]) + bytes((piece[-1] & (1 << used) - 1,))


def _booleans(found: Array) -> bytes:
    return bytes((found != 0).tobytes())


def _narrow(numbers: Array, dtype: str) -> bytes:
    """Numbers of 64 bits as the type has them. Types of under 8 bits are packed already, a byte in each number."""
    if dtype == "bool":
        return _booleans(numbers.astype(np.uint32))
    return numbers.astype(f"<u{max(BITS[dtype] // 8, 1)}").tobytes()


def _numbers(pieces: Iterator[Piece]) -> Iterator[Array]:
    """Varints as the 64 bits they hold. What a piece ends in the middle of is kept for the next one."""
    rest = b""
    for piece in pieces:
        data = np.frombuffer(rest + bytes(piece), np.uint8)
        ends = np.flatnonzero(data < 0x80)
        whole = int(ends[-1]) + 1 if ends.size else 0
        rest = data[whole:].tobytes()
        if len(rest) >= _LONGEST_VARINT:
            raise Unread("a number that never ends")
        if whole:
            yield _decoded(data, ends)
    if rest:
        raise Unread("its data end in the middle of a number")


def _decoded(data: Array, ends: Array) -> Array:
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    longest = int(lengths.max())
    if longest > _LONGEST_VARINT:
        raise Unread("a number that never ends")
    numbers = data[starts].astype(np.uint64) & np.uint64(0x7F)
    for at in range(1, longest):
        more = np.flatnonzero(lengths > at)
        numbers[more] |= (data[starts[more] + at].astype(np.uint64) & np.uint64(0x7F)) << np.uint64(7 * at)
    return numbers
