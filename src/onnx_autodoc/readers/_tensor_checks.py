"""How a tensor of the file contradicts itself: what no field of its header could hold, in words.

A tensor says three times how large it is: by its dims, by its type, and by the data that it brings along. Where these
differ, no number that is made of one of them can be trusted.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from onnx_autodoc.ir import BITS, Payload, Place, Tensor, signed, stored_bytes, varints
from onnx_autodoc.readers._wire import Found

# field of TensorProto -> how the specification calls it
FIELDS: Final = {
    "raw": "raw_data",
    "floats": "float_data",
    "doubles": "double_data",
    "varints": "int64_data",
    "varints32": "int32_data",
    "varints64": "uint64_data",
    "strings": "string_data",
}
_HOLDS: Final = {  # type -> the field for it beside raw_data; int32_data for all others
    **dict.fromkeys(("float32", "complex64"), "floats"),
    **dict.fromkeys(("float64", "complex128"), "doubles"),
    **dict.fromkeys(("uint32", "uint64"), "varints64"),
    "int64": "varints",
    "string": "strings",
}
EXTERNAL: Final = 1  # TensorProto.DataLocation
_LOCATIONS: Final = (0, EXTERNAL)
_LONGEST: Final = 60  # characters of what the file says
_MOST_SIZES: Final = 8  # of the dims, in words
_MOST_INDICES: Final = 8192  # of a sparse tensor: of more, the payload is not kept


def is_usual(fields: list[str], dtype: str | None) -> bool:
    """Whether the data stand in one field, and in one that is for their type."""
    return len(fields) == 1 and (fields[0] in (_HOLDS.get(dtype or "", "varints32"), "raw"))


def tensor_flaws(found: Found, dtype: str | None, dims: tuple[int, ...], fields: list[str]) -> Iterator[str]:
    """All but what the data themselves say: `data_flaws`."""
    if dtype is None:
        yield f"its element type is {found.get('dtype', 0)}, which ONNX does not define"
    if min(dims, default=0) < 0:
        yield f"its dimensions are {_sizes(dims)}"
    if found.get("location", 0) not in _LOCATIONS:
        yield f"its data location is {found['location']}, which ONNX does not define"
    filled = [field for field in fields if field == "strings" or any(piece.length for piece in found[field])]
    if len(filled) > 1:
        yield f"its data are there twice, in {' and '.join(FIELDS[field] for field in filled)}"
    elif filled and dtype == "string" and filled[0] == "raw":
        yield "its strings are in raw_data, where none can be told from the next"
    elif filled and dtype is not None and not is_usual(filled, dtype):
        yield f"its data are in {FIELDS[filled[0]]}, which is not for {dtype}"


def data_flaws(dtype: str | None, dims: tuple[int, ...], payload: Payload | None) -> Iterator[str]:
    """Whether the data in the file are as many as the dims say."""
    elements = math.prod(dims)
    if dtype is None or min(dims, default=0) < 0:
        return
    if payload is None:
        if elements:
            yield f"its dimensions are {_sizes(dims)}, and the file holds no data for it"
        return
    if payload.encoding == "raw":
        needed = stored_bytes(dtype, elements)
        if needed is not None and BITS[dtype] != 6 and payload.nbytes != needed:
            yield f"{_sizes(dims)} of {dtype} take {needed:,} bytes, and the file holds {payload.nbytes:,}"
        return
    least, most = _count(payload)
    wanted = _entries(dtype, elements)
    if not least <= wanted <= most:
        held = least if least > wanted else most
        yield f"its dimensions are {_sizes(dims)}, and the file holds {held:,} element{'s' * (held != 1)}"


def _sizes(dims: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, dims[:_MOST_SIZES]))}{' …' if len(dims) > _MOST_SIZES else ''}]"


def _entries(dtype: str, elements: int) -> int:
    """How many entries of a list the elements take: two make a complex number, small ones share a byte."""
    if dtype.startswith("complex"):
        return 2 * elements
    bits = BITS.get(dtype, 0)
    return -(-elements * bits // 8) if 0 < bits < 8 else elements


def _count(payload: Payload) -> tuple[int, int]:
    """At least and at most so many entries are in a payload: of a long list of varints only its bytes are known."""
    if payload.encoding == "strings":
        return payload.pieces, payload.pieces
    if payload.encoding in ("floats", "doubles"):
        count = payload.nbytes // (4 if payload.encoding == "floats" else 8)
        return count, count
    if isinstance(payload.data, bytes):
        count = sum(byte < 0x80 for byte in payload.data)
        return count, count
    return -(-payload.nbytes // 10), payload.nbytes


def place_flaws(found: Found, dtype: str | None, place: Place, nbytes: int | None) -> Iterator[str]:
    """What is wrong with where the data are said to be, beside the file."""
    entries: list[tuple[str, str]] = found.get("external", [])
    given = dict(entries)
    inline = any(piece.length for field in FIELDS for piece in found.get(field, ()))
    path = (place.path or "")[:_LONGEST]
    if len(given) != len(entries):
        yield "the place of its data is said twice"
    if found.get("location") != EXTERNAL:
        yield f"it names {path} for its data, but not as data_location EXTERNAL, and holds none itself"
    if not given.get("location"):
        yield "its data are in another file, which is not named"
    if not place.clear:
        wrong = next(key for key in ("offset", "length") if key in given and not _is_count(given[key]))
        yield f"its data are said to be at {wrong} {given[wrong][:_LONGEST]!r}"
    elif place.length is not None and nbytes is not None and place.length != nbytes:
        yield f"its dimensions take {nbytes:,} bytes, its place in {path} has {place.length:,}"
    if dtype == "string":
        yield f"its strings are in {path}, where none can be told from the next"
    if inline:
        yield f"its data are said to be in {path}, and are in the model too"


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 20


def sparse_flaws(dims: tuple[int, ...], values: Tensor, indices: Tensor | None) -> Iterator[str]:
    """Whether the elements of a sparse tensor are where it has room for them."""
    if min(dims, default=0) < 0:
        yield f"its dimensions are {_sizes(dims)}"
        return
    yield from values.flaws
    if indices is None:
        yield "it does not say where its elements are"
        return
    yield from (f"of its indices: {flaw}" for flaw in indices.flaws)
    if len(values.dims) != 1:
        yield f"its elements are no list, but of {_sizes(values.dims)}"
    elif indices.dims not in ((values.elements,), (values.elements, len(dims))):
        yield f"it has {values.elements:,} elements and indices of {_sizes(indices.dims)}"
    elif not indices.flaws:
        yield from _index_flaws(dims, indices)


def _index_flaws(dims: tuple[int, ...], indices: Tensor) -> Iterator[str]:
    numbers, wide = _numbers(indices), len(indices.dims) == 2
    if _outside(dims, numbers, wide):
        yield f"it has elements outside of its dimensions {_sizes(dims)}"
    elif not dims:
        yield "it is sparse, and has no dimensions"
    elif indices.dtype != "int64":
        yield f"it is sparse, and its indices are {indices.dtype}, not int64"
    elif not _ascend(numbers, len(dims) if wide else 1):
        yield "it is sparse, and its indices do not ascend"


def _ascend(numbers: list[int], each: int) -> bool:
    places = [numbers[at : at + each] for at in range(0, len(numbers), each)]
    return all(one < other for one, other in pairwise(places))


def _numbers(indices: Tensor) -> list[int]:
    payload = indices.payload
    if payload is None or not isinstance(payload.data, bytes) or indices.dtype != "int64":
        return []
    if payload.encoding == "varints":
        return [signed(number) for number in varints(payload.data, _MOST_INDICES)]
    data = payload.data
    return [int.from_bytes(data[at : at + 8], "little", signed=True) for at in range(0, len(data) // 8 * 8, 8)]


def _outside(dims: tuple[int, ...], numbers: list[int], wide: bool) -> bool:
    if not wide:
        elements = math.prod(dims)
        return any(not 0 <= number < elements for number in numbers)
    return any(not 0 <= number < dims[at % len(dims)] for at, number in enumerate(numbers))
