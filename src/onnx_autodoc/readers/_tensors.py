"""A tensor's header from what the wire found: type, dims, and where its bytes are."""

import math
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import Payload, Place, Tensor, dtype_name, is_float
from onnx_autodoc.readers._external_paths import one_spelling
from onnx_autodoc.readers._tensor_checks import EXTERNAL, data_flaws, is_usual, place_flaws, sparse_flaws, tensor_flaws
from onnx_autodoc.readers._wire import Found, Items, Piece

# field of TensorProto -> how its elements are written
_ENCODINGS: Final = {
    "raw": "raw",
    "floats": "floats",
    "doubles": "doubles",
    "varints": "varints",
    "varints32": "varints",
    "varints64": "varints",
    "strings": "strings",
}
_KEEP_FLOATS: Final = 1024  # bytes: scales and bounds steer shapes, weights do not


def build_tensor(found: Found) -> Tensor:
    dims, dtype = _dims(found), dtype_name(found.get("dtype", 0))
    fields = [field for field in _ENCODINGS if field in found]
    flaws = tuple(tensor_flaws(found, dtype, dims, fields))
    named = "external" in found and not fields and bool(math.prod(dims))  # of nothing, a name says nothing
    if found.get("location") == EXTERNAL or named:
        return _external(found, dtype, dims, flaws)
    place, payload = None, None
    if fields:
        pieces: list[Piece] = found[fields[0]]
        place, payload = _inline_place(pieces), _payload(_ENCODINGS[fields[0]], pieces, dtype, is_usual(fields, dtype))
    counted = tuple(data_flaws(dtype, dims, payload))
    sized = _is_possible(dtype, dims) and not (counted and payload)
    return Tensor(found.get("name", ""), dtype, dims, place, payload, None, flaws or counted, sized)


def _is_possible(dtype: str | None, dims: tuple[int, ...]) -> bool:
    return dtype is not None and min(dims, default=0) >= 0


def _external(found: Found, dtype: str | None, dims: tuple[int, ...], flaws: tuple[str, ...]) -> Tensor:
    place = _external_place(dict(found.get("external", ())))
    header = Tensor(found.get("name", ""), dtype, dims, place)
    nbytes = None if flaws else header.nbytes
    sized = _is_possible(dtype, dims) and place.length in (None, header.nbytes)
    return replace(header, flaws=flaws or tuple(place_flaws(found, dtype, place, nbytes)), is_sized=sized)


def build_sparse(found: Found) -> Tensor:
    """A sparse tensor counts as one of its full dims that stores fewer elements."""
    values: Tensor = found.get("values", Tensor("", None, ()))
    dims = _dims(found)
    flaws = tuple(sparse_flaws(dims, values, found.get("indices")))
    sized = values.is_sized and _is_possible(values.dtype, dims)
    return Tensor(values.name, values.dtype, dims, values.place, None, values.elements, flaws, sized)


def _dims(found: Found) -> tuple[int, ...]:
    sizes: Items | None = found.get("dims")
    if sizes is not None and sizes.count > len(sizes.first):
        raise BadInput(f"the tensor {found.get('name', '')!r} has {sizes.count:,} dimensions")
    return tuple(sizes.first) if sizes else ()


def _inline_place(pieces: list[Piece]) -> Place:
    return Place(None, pieces[0].offset, sum(piece.length for piece in pieces))


def _payload(encoding: str, pieces: list[Piece], dtype: str | None, usual: bool) -> Payload:
    nbytes = sum(piece.length for piece in pieces)
    if encoding == "strings":
        return Payload(encoding, nbytes, tuple(piece.data or b"" for piece in pieces), len(pieces), usual)
    if is_float(dtype) and nbytes > _KEEP_FLOATS:
        return Payload(encoding, nbytes, None, len(pieces), usual)
    data = [piece.data for piece in pieces if piece.data is not None]
    return Payload(encoding, nbytes, b"".join(data) if len(data) == len(pieces) else None, len(pieces), usual)


def _external_place(entries: dict[str, str]) -> Place:
    given = [entries[key] for key in ("offset", "length") if key in entries]
    clear = all(_number(text) is not None for text in given)
    offset, length = _number(entries.get("offset")) or 0, _number(entries.get("length"))
    return Place(one_spelling(entries.get("location", "")), offset, length, clear)


def _number(text: str | None) -> int | None:
    """A count from the file's own text: up to twenty digits, nothing else."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 20 else None
