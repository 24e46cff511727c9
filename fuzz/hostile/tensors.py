"""Invalid weights: sizes that overflow or contradict each other, unknown types, external files elsewhere."""

from collections.abc import Callable
from typing import Final

from fuzz.wire import Case, attr, chunk, external, floats, integer, ints, model, node, pair, raw, tensor, value

_BIG: Final = 1 << 62


def _used(weight: bytes, op: str = "Add") -> bytes:
    return model(value(11, "x", (2, 3)) + weight + node(op, "x w", "y") + value(12, "y", (2, 3)))


def _with(dims: list[int], dtype: int, *payload: bytes) -> Callable[[], bytes]:
    return lambda: _used(chunk(5, tensor("w", dims, dtype, *payload)))


def _sparse(values: bytes, indices: bytes, dims: list[int]) -> Callable[[], bytes]:
    shape = b"".join(integer(3, dim) for dim in dims)
    return lambda: _used(chunk(15, chunk(1, values) + chunk(2, indices) + shape))


def _external(name: str = "w.bin", size: int = 64, **entries: str) -> Callable[[], Case]:
    """Encode a weight with external data in an existing file, with further entries."""
    return lambda: Case(_used(external("w", [4, 4], 1, **{"location": name, **entries})), {"w.bin": bytes(size)})


def _lists(count: int) -> Case:
    """Encode tensors that all declare the same whole file as their data."""
    many = b"".join(external(f"w{at}", [256], 1, location="w.bin") for at in range(count))
    nodes = b"".join(node("Add", f"v{at} w{at}", f"v{at + 1}") for at in range(count))
    return Case(model(value(11, "v0", (256,)) + many + nodes + value(12, f"v{count}", (256,))), {"w.bin": bytes(1024)})


def _doubled_keys() -> bytes:
    entries = pair(13, "location", "w.bin") + pair(13, "location", "/etc/passwd") + pair(13, "offset", "0") * 2
    return _used(chunk(5, tensor("w", [4], 1, entries, integer(14, 1))))


_INDEX: Final = tensor("i", [2], 7, chunk(9, (1).to_bytes(8, "little") + (9).to_bytes(8, "little")))
_VALUES: Final = tensor("w", [2], 1, chunk(9, bytes(8)))

FILES: Final[dict[str, Callable[[], bytes | Case]]] = {
    "dims of 2^62": _with([_BIG], 1),
    "dims whose product overflows 2^64": _with([1 << 32, 1 << 32], 1, chunk(9, bytes(4))),
    "dims whose product overflows to 6": _with([(1 << 63) + 3, 2], 1, chunk(9, bytes(24))),
    "64 dims of 2^62": _with([_BIG] * 64, 1),
    "4,096 dims": _with([1] * 4_096, 1, chunk(9, bytes(4))),
    "5,000 dims": _with([1] * 5_000, 1, chunk(9, bytes(4))),
    "negative dims": _with([-1, 4], 1, chunk(9, bytes(16))),
    "dims of -2^63": _with([-(1 << 63)], 1),
    "two negative dims": _with([-2, -3], 1, chunk(9, bytes(24))),
    "a zero among huge dims": _with([0, _BIG, _BIG], 1, chunk(9, b"")),
    "a zero with bytes": _with([0], 1, chunk(9, bytes(4))),
    "a scalar with four numbers": _with([], 1, chunk(9, bytes(16))),
    "raw too short": _with([2, 3], 1, chunk(9, bytes(23))),
    "raw too long": _with([2, 3], 1, chunk(9, bytes(25))),
    "raw of nothing": _with([2, 3], 1, chunk(9, b"")),
    "no payload": _with([2, 3], 1),
    "raw in ten pieces": _with([2, 3], 1, *[chunk(9, bytes(4))] * 10),
    "float_data too short": _with([2, 3], 1, chunk(4, bytes(20))),
    "float_data of half a number": _with([2, 3], 1, chunk(4, bytes(22))),
    "float_data one by one": _with([2, 3], 1, *[b"\x25\0\0\x80\x7f"] * 9),
    "int32_data too long": _with([2, 3], 6, chunk(5, bytes(9))),
    "int32_data cut in a varint": _with([2, 3], 6, chunk(5, b"\x80" * 6)),
    "int64_data too short": _with([2, 3], 7, chunk(7, bytes(5))),
    "int64_data of overlong varints": _with([2, 3], 7, chunk(7, b"\x80\x80\x80\x00" * 6)),
    "int64_data of 11-byte varints": _with([2], 7, chunk(7, (b"\xff" * 10 + b"\x01") * 2)),
    "double_data too short": _with([2, 3], 11, chunk(10, bytes(47))),
    "uint64_data too short": _with([2, 3], 13, chunk(11, bytes(5))),
    "string_data too short": _with([2, 3], 8, chunk(6, "a")),
    "string_data of 10^5 texts": _with([100_000], 8, chunk(6, "a") * 100_000),
    "a string that is no UTF-8": _with([1], 8, chunk(6, b"\xff\xfe\0\x1b[2J")),
    "strings in raw bytes": _with([2], 8, chunk(9, b"ab")),
    "the wrong field for the type": _with([2, 3], 1, chunk(7, bytes(6))),
    "every field at once": _with(
        [2, 3],
        1,
        chunk(4, bytes(24)),
        chunk(5, bytes(6)),
        chunk(7, bytes(6)),
        chunk(9, bytes(24)),
        chunk(10, bytes(48)),
    ),
    "type 0": _with([2], 0, chunk(9, bytes(8))),
    "type 999": _with([2], 999, chunk(9, bytes(8))),
    "type -1": _with([2], -1, chunk(9, bytes(8))),
    "type 2^62": _with([2], _BIG, chunk(9, bytes(8))),
    "complex128": _with([2], 15, chunk(9, bytes(32))),
    "int4 of an odd count": _with([3, 5], 22, chunk(9, bytes(7))),
    "int4 in int32_data": _with([3], 22, chunk(5, b"\x7f\x01\x02")),
    "uint4 of 2^62": _with([_BIG], 21, chunk(9, bytes(7))),
    "float4 of an odd count": _with([7], 23, chunk(9, bytes(4))),
    "float8 with 2 bytes each": _with([4], 17, chunk(9, bytes(8))),
    "float8e8m0": _with([4], 24, chunk(9, b"\xff" * 4)),
    "int2 of an odd count": _with([5], 26, chunk(9, bytes(2))),
    "bfloat16 too short": _with([4], 16, chunk(9, bytes(7))),
    "bools of 255": _with([6], 9, chunk(9, b"\xff" * 6)),
    "float16 in int32_data, out of range": _with([2], 10, chunk(5, b"\xff\xff\xff\x7f\x01")),
    "NaN and infinities": lambda: _used(floats("w", [float("nan"), float("inf"), -float("inf")], [1, 3])),
    "a segment": _with([2], 1, chunk(3, integer(1, 0) + integer(2, _BIG)), chunk(9, bytes(8))),
    "a Constant that contradicts": lambda: model(
        node("Constant", "", "y", attr("value", tensor("", [_BIG, _BIG], 7, chunk(9, bytes(8)))))
        + value(12, "y", (1,), 7)
    ),
    "a Constant with six values": lambda: model(
        node(
            "Constant",
            "",
            "y",
            attr("value_int", 1),
            attr("value_ints", [1]),
            attr("value_string", "x"),
            attr("value_float", 1.0),
        )
        + value(12, "y", (1,), 7)
    ),
    "a Constant of nothing": lambda: model(node("Constant", "", "y") + value(12, "y", (1,), 7)),
    "a Constant with 10^6 numbers": lambda: model(
        node("Constant", "", "y", chunk(1, "value_ints") + integer(8, 7) * 1_000_000 + integer(20, 7))
        + value(12, "y", (1,), 7)
    ),
    "a shape of 2^62 from a weight": lambda: model(
        value(11, "x", (2, 3)) + ints("s", [_BIG, _BIG, -1]) + node("Reshape", "x s", "y") + value(12, "y", ("n",))
    ),
    "a shape in a float weight": lambda: model(
        value(11, "x", (6,)) + floats("s", [2.0, 3.0]) + node("Reshape", "x s", "y") + value(12, "y", (2,))
    ),
    "a shape in a weight too short": lambda: model(
        value(11, "x", (6,)) + raw("s", [2], 7, bytes(9)) + node("Reshape", "x s", "y") + value(12, "y", (2,))
    ),
    "sparse with an index outside": _sparse(_VALUES, _INDEX, [4]),
    "sparse with negative dims": _sparse(_VALUES, _INDEX, [-4, 2]),
    "sparse with dims of 2^62": _sparse(_VALUES, _INDEX, [_BIG, _BIG]),
    "sparse with more values than room": _sparse(tensor("w", [9], 1, chunk(9, bytes(36))), _INDEX, [2]),
    "sparse with 4,000 dims and 8,000 indices": _sparse(
        tensor("w", [8_000], 1, chunk(9, bytes(32_000))),
        tensor("i", [8_000], 7, chunk(9, bytes(64_000))),
        [_BIG] * 4_000,
    ),
    "sparse with 100,000 dims": _sparse(_VALUES, _INDEX, [2] * 100_000),
    "sparse without values": _sparse(b"", b"", [4]),
    "sparse indices of three axes": _sparse(_VALUES, tensor("i", [2, 3], 7, chunk(9, bytes(48))), [2, 2]),
    "sparse indices that are floats": _sparse(_VALUES, tensor("i", [2], 1, chunk(9, b"\0\0\xc0\x7f" * 2)), [4]),
    "a sparse Constant": lambda: model(
        node(
            "Constant",
            "",
            "y",
            chunk(1, "sparse_value")
            + chunk(22, chunk(1, _VALUES) + chunk(2, _INDEX) + integer(3, _BIG))
            + integer(20, 11),
        )
        + value(12, "y", (1,))
    ),
    "a quantization annotation of nothing": lambda: _used(
        floats("w", [1.0]) + chunk(14, chunk(1, "ghost") + pair(2, "SCALE_TENSOR", "none"))
    ),
    "external: absolute": _external("/etc/passwd"),
    "external: climbing": _external("../../../../etc/passwd"),
    "external: climbing in the middle": _external("a/../../w.bin"),
    "external: NUL": _external("w.bin\0/etc/passwd"),
    "external: empty": _external(""),
    "external: a folder": _external("."),
    "external: the model itself": _external("model.onnx", offset="0", length="64"),
    "external: a device": _external("/dev/zero"),
    "external: proc": _external("/proc/self/mem"),
    "external: a URL": _external("https://host.invalid/w.bin"),
    "external: backslashes": _external("..\\..\\w.bin"),
    "external: tilde and variables": _external("~/$HOME/w.bin"),
    "external: a name of 10,000 letters": _external("w" * 10_000),
    "external: a path 5,000 folders deep": _external("a/" * 5_000 + "w.bin"),
    "external: escapes in the name": _external("\x1b[2J\u202e<script>.bin"),
    "external: missing": _external("gone.bin"),
    "external: too short": _external(size=10),
    "external: a huge offset": _external(offset=str(1 << 63)),
    "external: an offset of 5,000 digits": _external(offset="9" * 5_000),
    "external: a negative length": _external(length="-64", offset="-1"),
    "external: a length that contradicts": _external(length="4"),
    "external: an offset that is no number": _external(offset="0x10", length="1e3"),
    "external: an offset in other digits": _external(offset="١٢", length="６４"),
    "external: offset and length past 2^64": _external(offset=str((1 << 64) - 1), length=str((1 << 64) - 1)),
    "external: a checksum that is wrong": _external(checksum="0" * 40),
    "external: keys twice": _doubled_keys,
    "external: no entries": lambda: _used(chunk(5, tensor("w", [4], 1, integer(14, 1)))),
    "external: location 7": lambda: _used(chunk(5, tensor("w", [4], 1, integer(14, 7)))),
    "external: with bytes inside too": lambda: Case(
        _used(chunk(5, tensor("w", [4], 1, pair(13, "location", "w.bin"), integer(14, 1), chunk(9, bytes(16))))),
        {"w.bin": bytes(16)},
    ),
    "external: strings": lambda: Case(_used(external("w", [4], 8, location="w.bin")), {"w.bin": bytes(16)}),
    "external: 2^62 elements": lambda: Case(_used(external("w", [_BIG], 1, location="w.bin")), {"w.bin": bytes(16)}),
    "external: 2,000 tensors on one file": lambda: _lists(2_000),
    "external: 2,000 files": lambda: _used(
        b"".join(external(f"w{at}", [4], 1, location=f"w{at}.bin") for at in range(2_000))
    ),
    "external: a link outside": lambda: Case(
        _used(external("w", [4], 1, location="w.bin")), {}, {"w.bin": "/etc/passwd"}
    ),
    "external: a link to itself": lambda: Case(_used(external("w", [4], 1, location="w.bin")), {}, {"w.bin": "w.bin"}),
    "external: a linked folder": lambda: Case(_used(external("w", [4], 1, location="d/passwd")), {}, {"d": "/etc"}),
}
