"""Build tensors: type, dims, and the location of their bytes, with checks of whether these contradict each other.

The size of a tensor follows from its dims, from its type and from the data that come with it. Where these differ, no
figure derived from one of them is reliable; the tensor then has `defects`, and is not `is_sized` if its size is
doubtful.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from onnx_autodoc.errors import BadInput
from onnx_autodoc.ir import (
    BITS,
    MAX_INT64,
    DataLocation,
    Payload,
    Tensor,
    decode_varints,
    dtype_name,
    is_float,
    stored_bytes,
    to_int64,
)
from onnx_autodoc.readers.protobuf import MAX_PAYLOAD_BYTES, Fields, RepeatedField, Span
from onnx_autodoc.storage import normalize_path
from onnx_autodoc.text import pluralize

# data field of TensorProto -> the encoding of its elements
_DATA_FIELDS: Final = {
    "raw_data": "raw",
    "float_data": "floats",
    "double_data": "doubles",
    "int64_data": "varints",
    "int32_data": "varints",
    "uint64_data": "varints",
    "string_data": "strings",
}
# element type -> its data field besides raw_data; int32_data for all others
_FIELD_OF_DTYPE: Final = {
    **dict.fromkeys(("float32", "complex64"), "float_data"),
    **dict.fromkeys(("float64", "complex128"), "double_data"),
    **dict.fromkeys(("uint32", "uint64"), "uint64_data"),
    "int64": "int64_data",
    "string": "string_data",
}
_EXTERNAL: Final = 1  # TensorProto.DataLocation
_MAX_QUOTED_CHARS: Final = 60
_MAX_SHOWN_DIMS: Final = 8
_MAX_SPARSE_INDICES: Final = 8192  # a longer payload is not kept
_MAX_FLOAT_BYTES: Final = 1024  # scales and bounds affect shapes, weights do not


def build_tensor(fields: Fields) -> Tensor:
    dims, dtype = _dims_of(fields), dtype_name(fields.get("data_type", 0))
    data_fields = [name for name in _DATA_FIELDS if name in fields]
    flaws = tuple(_header_flaws(fields, dtype, dims, data_fields))
    # An empty tensor needs no data, so that a location without a data field does not make it external.
    has_location = "external_data" in fields and not data_fields and bool(math.prod(dims))
    if fields.get("data_location") == _EXTERNAL or has_location:
        return _build_external(fields, dtype, dims, flaws)
    place, payload = None, None
    if data_fields:
        spans: list[Span] = fields[data_fields[0]]
        place = DataLocation(None, spans[0].offset, sum(span.length for span in spans))
        encoding = _DATA_FIELDS[data_fields[0]]
        payload = _payload(encoding, spans, dtype, _is_standard_field(data_fields, dtype))
    data_flaws = tuple(_data_flaws(dtype, dims, payload))
    sized = _has_valid_header(dtype, dims) and not (data_flaws and payload)
    return Tensor(fields.get("name", ""), dtype, dims, place, payload, None, flaws or data_flaws, sized)


def _has_valid_header(dtype: str | None, dims: tuple[int, ...]) -> bool:
    return dtype is not None and min(dims, default=0) >= 0 and not _is_oversized(dtype, dims)


def _is_oversized(dtype: str, dims: tuple[int, ...]) -> bool:
    """Return whether no runtime can address the elements."""
    elements = math.prod(dims)
    return max(elements, stored_bytes(dtype, elements) or 0) > MAX_INT64


def _build_external(fields: Fields, dtype: str | None, dims: tuple[int, ...], flaws: tuple[str, ...]) -> Tensor:
    place = _external_location(dict(fields.get("external_data", ())))
    header = Tensor(fields.get("name", ""), dtype, dims, place)
    nbytes = None if flaws else header.nbytes
    sized = _has_valid_header(dtype, dims) and place.length in (None, header.nbytes)
    return replace(header, defects=flaws or tuple(_location_flaws(fields, dtype, place, nbytes)), is_sized=sized)


def build_sparse(fields: Fields) -> Tensor:
    """Build a sparse tensor: one of its full dims that stores fewer elements."""
    values: Tensor = fields.get("values", Tensor("", None, ()))
    dims = _dims_of(fields)
    flaws = tuple(_sparse_flaws(dims, values, fields.get("indices")))
    sized = values.is_sized and _has_valid_header(values.dtype, dims)
    return Tensor(values.name, values.dtype, dims, values.location, None, values.elements, flaws, sized)


def _dims_of(fields: Fields) -> tuple[int, ...]:
    sizes: RepeatedField | None = fields.get("dims")
    if sizes is not None and sizes.count > len(sizes.first):
        raise BadInput(f"the tensor {fields.get('name', '')!r} has {sizes.count:,} dimensions")
    return tuple(sizes.first) if sizes else ()


def _payload(encoding: str, spans: list[Span], dtype: str | None, standard: bool) -> Payload:
    nbytes = sum(span.length for span in spans)
    if encoding == "strings":
        return Payload(encoding, nbytes, tuple(span.data or b"" for span in spans), len(spans), standard)
    if nbytes > (_MAX_FLOAT_BYTES if is_float(dtype) else MAX_PAYLOAD_BYTES):
        return Payload(encoding, nbytes, None, len(spans), standard)
    data = [span.data for span in spans if span.data is not None]
    return Payload(encoding, nbytes, b"".join(data) if len(data) == len(spans) else None, len(spans), standard)


def _external_location(entries: dict[str, str]) -> DataLocation:
    numbers = {key: entries[key] for key in ("offset", "length") if key in entries}
    is_clear = all(map(_is_count, numbers.values()))
    offset, length = (int(numbers[key]) if _is_count(numbers.get(key, "")) else None for key in ("offset", "length"))
    return DataLocation(normalize_path(entries.get("location", "")), offset or 0, length, is_clear)


def _is_standard_field(fields: list[str], dtype: str | None) -> bool:
    """Return whether the data are in one field, and the element type permits that field."""
    return len(fields) == 1 and fields[0] in (_FIELD_OF_DTYPE.get(dtype or "", "int32_data"), "raw_data")


def _header_flaws(fields: Fields, dtype: str | None, dims: tuple[int, ...], data_fields: list[str]) -> Iterator[str]:
    """Yield contradictions in the header; those of the data are in `_data_flaws`."""
    if dtype is None:
        yield f"its element type is {fields.get('data_type', 0)}, which ONNX does not define"
    if min(dims, default=0) < 0:
        yield f"its dimensions {_show_dims(dims)} include a negative size"
    elif dtype is not None and _is_oversized(dtype, dims):
        yield f"its dimensions {_show_dims(dims)} exceed 2^63 - 1 bytes of {dtype}"
    if "undefined data_location" in fields:
        yield f"its data location is {fields['undefined data_location']}, which ONNX does not define"
    filled = [name for name in data_fields if name == "string_data" or any(span.length for span in fields[name])]
    if len(filled) > 1:
        yield f"its data are stored twice, in {' and '.join(filled)}"
    elif filled and dtype == "string" and filled[0] == "raw_data":
        yield "its strings are in raw_data, which does not delimit them"
    elif filled and dtype is not None and not _is_standard_field(filled, dtype):
        yield f"its data are in {filled[0]}, which ONNX does not allow for {dtype}"


def _data_flaws(dtype: str | None, dims: tuple[int, ...], payload: Payload | None) -> Iterator[str]:
    """Yield a flaw if the data do not have as many elements as the dims."""
    elements = math.prod(dims)
    if dtype is None or min(dims, default=0) < 0:
        return
    if payload is None:
        if elements:
            yield f"its dimensions are {_show_dims(dims)}, but the file stores no data for it"
        return
    if payload.encoding == "raw":
        needed = stored_bytes(dtype, elements)
        if needed is not None and BITS[dtype] != 6 and payload.nbytes != needed:
            yield f"{_show_dims(dims)} of {dtype} requires {needed:,} bytes, but the file stores {payload.nbytes:,}"
        return
    fewest, most = _entry_range(payload)
    expected = _expected_entries(dtype, elements)
    if not fewest <= expected <= most:
        stored = fewest if fewest > expected else most
        yield f"its dimensions are {_show_dims(dims)}, but the file stores {stored:,} element{'s' * (stored != 1)}"


def _show_dims(dims: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, dims[:_MAX_SHOWN_DIMS]))}{' …' if len(dims) > _MAX_SHOWN_DIMS else ''}]"


def _expected_entries(dtype: str, elements: int) -> int:
    """Return the number of list entries for the elements: two for a complex number, sub-byte elements share one."""
    if dtype.startswith("complex"):
        return 2 * elements
    bits = BITS.get(dtype, 0)
    return -(-elements * bits // 8) if 0 < bits < 8 else elements


def _entry_range(payload: Payload) -> tuple[int, int]:
    """Return bounds of the number of entries; they differ for a long list of varints, which is not decoded."""
    if payload.encoding == "strings":
        return payload.fields, payload.fields
    if payload.encoding in ("floats", "doubles"):
        count = payload.nbytes // (4 if payload.encoding == "floats" else 8)
        return count, count
    if isinstance(payload.data, bytes):
        count = sum(byte < 0x80 for byte in payload.data)
        return count, count
    return -(-payload.nbytes // 10), payload.nbytes


def _location_flaws(fields: Fields, dtype: str | None, place: DataLocation, nbytes: int | None) -> Iterator[str]:
    """Yield contradictions in the location of external data."""
    entries: list[tuple[str, str]] = fields.get("external_data", [])
    values = dict(entries)
    inline = any(span.length for field in _DATA_FIELDS for span in fields.get(field, ()))
    path = (place.path or "")[:_MAX_QUOTED_CHARS]
    if len(values) != len(entries):
        yield "its external_data has duplicate keys"
    if fields.get("data_location") != _EXTERNAL:
        yield f"its external_data names {path}, but its data_location is not EXTERNAL, and the model has no data for it"
    if not values.get("location"):
        yield "its data are external, but external_data has no location"
    if not place.is_valid:
        wrong = next(key for key in ("offset", "length") if key in values and not _is_count(values[key]))
        yield f"its external_data has the invalid {wrong} {values[wrong][:_MAX_QUOTED_CHARS]!r}"
    elif place.length is not None and nbytes is not None and place.length != nbytes:
        yield f"its dimensions require {nbytes:,} bytes, but its range in {path} has {place.length:,}"
    if dtype == "string":
        yield f"its strings are external in {path}, which does not delimit them"
    if inline:
        yield f"its data are external in {path}, but also stored in the model"


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 20


def _sparse_flaws(dims: tuple[int, ...], values: Tensor, indices: Tensor | None) -> Iterator[str]:
    """Yield contradictions between the dims, values and indices of a sparse tensor."""
    if min(dims, default=0) < 0:
        yield f"its dimensions {_show_dims(dims)} include a negative size"
        return
    if values.dtype is not None and _is_oversized(values.dtype, dims):
        yield f"its dimensions {_show_dims(dims)} exceed 2^63 - 1 bytes of {values.dtype}"
    yield from values.defects
    if indices is None:
        yield "it has no indices"
        return
    yield from (f"its indices are malformed: {flaw}" for flaw in indices.defects)
    if len(values.dims) != 1:
        yield f"its values have dimensions {_show_dims(values.dims)} instead of one dimension"
    elif indices.dims not in ((values.elements,), (values.elements, len(dims))):
        yield f"it has {pluralize(values.elements, 'value')}, but indices of dimensions {_show_dims(indices.dims)}"
    elif not indices.defects:
        yield from _index_flaws(dims, indices)


def _index_flaws(dims: tuple[int, ...], indices: Tensor) -> Iterator[str]:
    numbers = _index_values(indices)
    limits = dims if len(indices.dims) == 2 else (math.prod(dims),)  # of coordinates, or of a linear index
    if any(not 0 <= number < limits[at % len(limits)] for at, number in enumerate(numbers)):
        yield f"it has indices outside its dimensions {_show_dims(dims)}"
    elif not dims:
        yield "it is sparse, but has no dimensions"
    elif indices.dtype != "int64":
        yield f"it is sparse, but its indices are {indices.dtype}, not int64"
    else:
        positions = [numbers[at : at + len(limits)] for at in range(0, len(numbers), len(limits))]
        if not all(before < after for before, after in pairwise(positions)):
            yield "it is sparse, but its indices are not in ascending order"


def _index_values(indices: Tensor) -> list[int]:
    payload = indices.payload
    if payload is None or not isinstance(payload.data, bytes) or indices.dtype != "int64":
        return []
    if payload.encoding == "varints":
        return [to_int64(number) for number in decode_varints(payload.data, _MAX_SPARSE_INDICES)]
    data = payload.data
    return [int.from_bytes(data[at : at + 8], "little", signed=True) for at in range(0, len(data) // 8 * 8, 8)]
