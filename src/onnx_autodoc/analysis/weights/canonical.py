"""A tensor's elements in one form, however they are stored: dense, row-major, little-endian, packed as in raw_data."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from onnx_autodoc.analysis.weights.files import PIECE_BYTES, Files, Unread
from onnx_autodoc.ir import BITS, Tensor

_MAX_VARINT_BYTES: Final = 10
_VARINT_PIECE_BYTES: Final = 1 << 18  # smaller, since each byte may be a number of 8 bytes
_6_BIT_DTYPES: Final = frozenset(("float6e2m3", "float6e3m2"))  # packed in raw_data, one number each in int32_data
Array = np.ndarray[Any, Any]
Piece = bytes | memoryview


def canonical(tensor: Tensor, files: Files) -> Iterator[Piece]:
    """Yield the elements in pieces, each valid until the next one; raises `Unread`."""
    needed = _canonical_bytes(tensor)
    if not tensor.elements:
        return
    left = needed
    for piece in _convert(tensor, files, needed):
        left -= len(piece)
        if left < 0:
            raise Unread("it stores more elements than its dimensions declare")
        used = tensor.elements * BITS[tensor.dtype or ""] % 8 if not left else 0
        yield bytes(piece[:-1]) + bytes((piece[-1] & (1 << used) - 1,)) if used else piece  # without unused bits
    if left:
        raise Unread("it stores fewer elements than its dimensions declare")


def _canonical_bytes(tensor: Tensor) -> int:
    """Return the bytes of the canonical form, if the tensor has one."""
    needed = tensor.nbytes if tensor.dtype else None
    if tensor.stored_elements is not None:
        raise Unread("a sparse tensor")
    if min(tensor.dims, default=0) < 0:
        raise Unread("a negative dimension")
    if needed is None:
        raise Unread("an element type that ONNX does not define")
    if tensor.location is not None and not tensor.location.is_valid:
        raise Unread("its offset or length in the external file is not a number")
    if tensor.payload is not None and not tensor.payload.is_canonical:
        raise Unread("its elements are not in the data field of its type, or in two fields")
    return needed


def _convert(tensor: Tensor, files: Files, needed: int) -> Iterator[Piece]:
    dtype, payload = tensor.dtype or "", tensor.payload
    if payload is not None and payload.encoding == "varints":
        if dtype in _6_BIT_DTYPES:
            raise Unread("6-bit elements in int32_data")
        numbers = _decode_varints(_read(tensor, files, needed, _VARINT_PIECE_BYTES))
        if dtype == "bool":
            return (_booleans(each.astype(np.uint32)) for each in numbers)
        # Types of under 8 bits are packed already, a byte in each number.
        return (each.astype(f"<u{max(BITS[dtype] // 8, 1)}").tobytes() for each in numbers)
    length = payload.nbytes if payload is not None else tensor.location.length if tensor.location is not None else None
    if length is not None and length != needed:
        raise Unread(f"the file stores {length:,} bytes for it, but its type and dimensions require {needed:,}")
    pieces = _read(tensor, files, needed, PIECE_BYTES)
    return (_booleans(np.frombuffer(piece, np.uint8)) for piece in pieces) if dtype == "bool" else pieces


def _read(tensor: Tensor, files: Files, needed: int, max_bytes: int) -> Iterator[Piece]:
    """Yield the bytes of the file."""
    place, payload = tensor.location, tensor.payload
    if payload is not None and payload.fields > 1 and payload.data is None:
        raise Unread("its elements are split over several fields")
    if payload is not None and isinstance(payload.data, bytes):
        return files.stored_pieces(payload.data, max_bytes)
    if place is None:
        raise Unread("the file stores no data for it")
    return files.pieces(place.path, place.offset, needed if place.length is None else place.length, max_bytes)


def _booleans(numbers: Array) -> bytes:
    return bytes((numbers != 0).tobytes())


def _decode_varints(pieces: Iterator[Piece]) -> Iterator[Array]:
    """Yield varints as 64-bit numbers. An incomplete one at the end of a piece is completed by the next piece."""
    rest = b""
    for piece in pieces:
        data = np.frombuffer(rest + bytes(piece), np.uint8)
        ends = np.flatnonzero(data < 0x80)
        complete = int(ends[-1]) + 1 if ends.size else 0
        rest = data[complete:].tobytes()
        if len(rest) >= _MAX_VARINT_BYTES:
            raise Unread("a varint is longer than 10 bytes")
        if complete:
            yield _decode_complete(data, ends)
    if rest:
        raise Unread("its data end inside a varint")


def _decode_complete(data: Array, ends: Array) -> Array:
    starts = np.concatenate(([0], ends[:-1] + 1))
    lengths = ends - starts + 1
    longest = int(lengths.max())
    if longest > _MAX_VARINT_BYTES:
        raise Unread("a varint is longer than 10 bytes")
    numbers = data[starts].astype(np.uint64) & np.uint64(0x7F)
    for at in range(1, longest):
        more = np.flatnonzero(lengths > at)
        numbers[more] |= (data[starts[more] + at].astype(np.uint64) & np.uint64(0x7F)) << np.uint64(7 * at)
    return numbers
