"""Element types of ONNX: wire numbers, names, sizes in bits; and the varints that integer payloads are encoded in."""

from typing import Final

# TensorProto.DataType: number -> (name, bits of one element). Strings have no fixed size: 0 bits.
_DTYPES: Final = {
    1: ("float32", 32),
    2: ("uint8", 8),
    3: ("int8", 8),
    4: ("uint16", 16),
    5: ("int16", 16),
    6: ("int32", 32),
    7: ("int64", 64),
    8: ("string", 0),
    9: ("bool", 8),
    10: ("float16", 16),
    11: ("float64", 64),
    12: ("uint32", 32),
    13: ("uint64", 64),
    14: ("complex64", 64),
    15: ("complex128", 128),
    16: ("bfloat16", 16),
    17: ("float8e4m3fn", 8),
    18: ("float8e4m3fnuz", 8),
    19: ("float8e5m2", 8),
    20: ("float8e5m2fnuz", 8),
    21: ("uint4", 4),
    22: ("int4", 4),
    23: ("float4e2m1", 4),
    24: ("float8e8m0", 8),
    25: ("uint2", 2),
    26: ("int2", 2),
    27: ("float6e2m3", 6),
    28: ("float6e3m2", 6),
}
BITS: Final = dict(_DTYPES.values())
_NUMBERS: Final = {name: number for number, (name, _) in _DTYPES.items()}

_DATA_TYPE_NAMES: Final = {"float": "float32", "double": "float64"}  # where the name in TensorProto.DataType differs
_UINT64_MASK: Final = (1 << 64) - 1
MAX_INT64: Final = (1 << 63) - 1


def dtype_name(number: int) -> str | None:
    """Return the name of an element type, or None for a number that ONNX does not define."""
    entry = _DTYPES.get(number)
    return entry[0] if entry else None


def dtype_number(name: str) -> int:
    """Return the TensorProto.DataType of an element type."""
    return _NUMBERS[name]


def parse_dtype(text: str) -> str | None:
    """Return the element type of a name in TensorProto.DataType (FLOAT, INT64): Cast's `to` before opset 6."""
    name = _DATA_TYPE_NAMES.get(text.lower(), text.lower())
    return name if name in BITS else None


def is_float(dtype: str | None) -> bool:
    return dtype is not None and dtype.startswith(("float", "bfloat"))


def is_integer(dtype: str | None) -> bool:
    return dtype is not None and dtype.startswith(("int", "uint"))


def stored_bytes(dtype: str, elements: int) -> int | None:
    """Return the bytes that `elements` take when packed, or None for strings."""
    bits = BITS.get(dtype, 0)
    return (elements * bits + 7) // 8 if bits else None


def to_int64(number: int) -> int:
    """Reinterpret the 64 bits of a varint as a signed integer."""
    return number - (1 << 64) if number >> 63 else number


def decode_varints(data: bytes, limit: int) -> list[int]:
    """Decode the first `limit` varints of `data` as unsigned 64-bit integers."""
    decoded: list[int] = []
    if limit <= 0:
        return decoded
    result = shift = 0
    for byte in data:
        result |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            decoded.append(result & _UINT64_MASK)
            if len(decoded) == limit:
                break
            result = shift = 0
    return decoded
