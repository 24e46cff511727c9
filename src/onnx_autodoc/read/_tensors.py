"""A tensor's header from what the wire found: type, dims, and where its bytes are."""

from typing import Final

from onnx_autodoc.errors import BadInput
from onnx_autodoc.graph import Payload, Place, Tensor, dtype_name, is_float
from onnx_autodoc.read._wire import Found, Items, Piece

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
# type -> the field that the specification has for it, beside raw; int32_data for all others
_FIELDS: Final = {
    **dict.fromkeys(("float32", "complex64"), "floats"),
    **dict.fromkeys(("float64", "complex128"), "doubles"),
    **dict.fromkeys(("uint32", "uint64"), "varints64"),
    "int64": "varints",
    "string": "strings",
}
_EXTERNAL: Final = 1
_KEEP_FLOATS: Final = 1024  # bytes: scales and bounds steer shapes, weights do not


def build_tensor(found: Found) -> Tensor:
    dims, dtype = _dims(found), dtype_name(found.get("dtype", 0))
    name = found.get("name", "")
    fields = [field for field in _ENCODINGS if field in found]
    if found.get("location") == _EXTERNAL or ("external" in found and not fields):
        return Tensor(name, dtype, dims, place=_external_place(dict(found.get("external", ()))))
    if not fields:
        return Tensor(name, dtype, dims)
    pieces: list[Piece] = found[fields[0]]
    payload = _payload(_ENCODINGS[fields[0]], pieces, dtype, _is_usual(fields, dtype))
    return Tensor(name, dtype, dims, _inline_place(pieces), payload)


def _is_usual(fields: list[str], dtype: str | None) -> bool:
    return len(fields) == 1 and fields[0] in ("raw", _FIELDS.get(dtype or "", "varints32"))


def build_sparse(found: Found) -> Tensor:
    """A sparse tensor counts as one of its full dims that stores fewer elements."""
    values: Tensor = found.get("values", Tensor("", None, ()))
    return Tensor(values.name, values.dtype, _dims(found), values.place, None, values.elements)


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
    return Place(entries.get("location", ""), offset, length, clear)


def _number(text: str | None) -> int | None:
    """A count from the file's own text: up to twenty digits, nothing else."""
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 20 else None
