"""malformed-tensor: dims, type and data of a tensor must be consistent."""

import struct

import pytest

from tests._wire import chunk, integer, model, node
from tests.lint._malformed import (
    NEG,
    X,
    Y,
    branch_model,
    call,
    check_bytes,
    function,
    function_model,
    initializer,
    step,
    tensor,
    value,
)

NINE = bytes(36)


def external(**entries: str) -> bytes:
    return b"".join(chunk(13, chunk(1, key) + chunk(2, text)) for key, text in entries.items()) + integer(14, 1)


def model_with_weight(tensor: bytes) -> bytes:
    return model(X + tensor + node("MatMul", "x w", "y") + Y)


def weight(*args: object, **kwargs: object) -> bytes:
    return model_with_weight(initializer("w", *args, **kwargs))  # type: ignore[arg-type]


def sparse(
    count: int, *indices: int, dims: tuple[int, ...] = (3, 3), wide: bool = False, dtype: int = 7, values: int = 1
) -> bytes:
    where = (len(indices) // 2, 2) if wide else (len(indices),)
    places = tensor("", where, struct.pack(f"<{len(indices)}{'q' if dtype == 7 else 'i'}", *indices), dtype=dtype)
    sizes = b"".join(integer(3, dim) for dim in dims)
    stored = tensor("w", (count,) + (1,) * (values - 1), bytes(4 * count))
    return model_with_weight(chunk(15, chunk(1, stored) + chunk(2, places) + sizes))


WRONG = {
    "too short": (weight((3, 3), bytes(16)), "[3, 3] of float32 requires 36 bytes, but the file stores 16"),
    "too long": (weight((3, 3), bytes(40)), "[3, 3] of float32 requires 36 bytes, but the file stores 40"),
    "no data": (weight((3, 3)), "its dimensions are [3, 3], but the file stores no data for it"),
    "too few floats": (weight((3, 3), extra=chunk(4, bytes(16))), "the file stores 4 elements"),
    "too few integers": (weight((3,), extra=chunk(7, b"\1\2"), dtype=7), "the file stores 2 elements"),
    "too many strings": (weight((1,), extra=chunk(6, "a") + chunk(6, "b"), dtype=8), "the file stores 2 elements"),
    "a negative size": (weight((-3, 3), NINE), "its dimensions [-3, 3] include a negative size"),
    "two negative sizes": (weight((-3, -3), NINE), "its dimensions [-3, -3] include a negative size"),
    "more than 64 bits": (
        weight((1 << 61,), extra=external(location="w.bin")),
        "its dimensions [2305843009213693952] exceed 2^63 - 1 bytes of float32",
    ),
    "sparse, more than 64 bits": (sparse(2, 0, 8, dims=(1 << 32, 1 << 31)), "exceed 2^63 - 1 bytes of float32"),
    "a type of no name": (weight((3, 3), NINE, dtype=99), "its element type is 99, which ONNX does not define"),
    "no type": (weight((3, 3), NINE, dtype=0), "its element type is 0, which ONNX does not define"),
    "another field": (
        weight((3, 3), extra=chunk(5, b"\1" * 9)),
        "its data are in int32_data, which ONNX does not allow for float32",
    ),
    "raw strings": (weight((1,), b"ab", dtype=8), "its strings are in raw_data"),
    "an offset of letters": (weight((3, 3), extra=external(location="w.bin", offset="x")), "the invalid offset 'x'"),
    "an offset before all": (weight((3, 3), extra=external(location="w.bin", offset="-4")), "the invalid offset '-4'"),
    "another length": (
        weight((3, 3), extra=external(location="w.bin", length="4")),
        "36 bytes, but its range in w.bin has 4",
    ),
    "a file without a name": (
        weight((3, 3), extra=external(offset="0")),
        "its data are external, but external_data has no location",
    ),
    "a file that is not said to hold it": (
        weight((3, 3), extra=external(location="w.bin").removesuffix(integer(14, 1))),
        "its external_data names w.bin, but its data_location is not EXTERNAL",
    ),
    "a function's default": (
        function_model(
            call("F", "x", "y"),
            function(
                "F",
                step("Relu", "x", "y") + chunk(11, chunk(1, "v") + chunk(5, tensor("", (2,), b"")) + integer(20, 4)),
            ),
        ),
        "F: [2] of float32 requires 8 bytes, but the file stores 0",
    ),
    "an index outside": (sparse(2, 0, 9), "indices outside its dimensions [3, 3]"),
    "an index below": (sparse(2, -1, 0), "indices outside its dimensions [3, 3]"),
    "a pair outside": (sparse(2, 0, 0, 1, 3, wide=True), "indices outside its dimensions [3, 3]"),
    "elements in a table": (sparse(2, 0, 1, values=2), "its values have dimensions [2, 1] instead of one dimension"),
    "too many indices": (sparse(2, 0, 1, 2), "it has 2 values, but indices of dimensions [3]"),
    "in a branch": (
        branch_model(initializer("w", (3, 3), bytes(4)) + node("MatMul", "x w", "t") + value(12, "t", (2, 3)), NEG),
        "If_0/then_branch/w: [3, 3] of float32 requires 36 bytes",
    ),
    "in a node": (
        model(X + node("Constant", "", "w", chunk(1, "value") + chunk(5, tensor("w", (2,), b"")) + integer(20, 4)) + Y),
        "Constant_0: [2] of float32 requires 8 bytes, but the file stores 0",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_contradictory_tensor_is_reported(name: str) -> None:
    content, text = WRONG[name]
    (finding,) = check_bytes("malformed-tensor", content, external=NINE)
    assert finding.message.startswith("a tensor is inconsistent: ")
    assert text in finding.message
    assert finding.severity == "error"


VALID = {
    "raw": weight((3, 3), NINE),
    "floats": weight((3, 3), extra=chunk(4, NINE)),
    "floats one by one": weight((2,), extra=(b"\x25" + bytes(4)) * 2),
    "halves": weight((3,), extra=chunk(5, b"\1\2\3"), dtype=10),
    "complex": weight((2,), extra=chunk(4, bytes(16)), dtype=14),
    "nibbles": weight((3,), bytes(2), dtype=22),
    "nibbles in a list": weight((3,), extra=chunk(5, b"\1\2"), dtype=22),
    "integers of many bytes": weight((2,), extra=chunk(7, b"\x80\x01\x05"), dtype=7),
    "a scalar": weight((), bytes(4)),
    "nothing": weight((0, 3)),
    "strings": weight((2,), extra=chunk(6, "a") + chunk(6, ""), dtype=8),
    "beside": weight((3, 3), extra=external(location="w.bin", length="36")),
    "nothing, beside": weight((0, 3), extra=external(location="gone.bin").removesuffix(integer(14, 1))),
    "beside, almost 64 bits": weight((0, 1 << 62), extra=external(location="w.bin", length="0")),
    "beside, to the end": weight((3, 3), extra=external(location="w.bin")),
    "sparse": sparse(2, 0, 8),
    "sparse in pairs": sparse(2, 0, 0, 2, 2, wide=True),
}


@pytest.mark.parametrize("name", VALID)
def test_consistent_tensor_is_not_reported(name: str) -> None:
    assert check_bytes("malformed-tensor", VALID[name], external=NINE) == []


@pytest.mark.parametrize(
    "content",
    [
        weight((3, 3), NINE, extra=chunk(4, NINE)),
        weight((3, 3), NINE, extra=external(location="w.bin", length="36")),
        weight((3, 3), NINE, extra=integer(14, 7)),
        sparse(2, 8, 0),
        sparse(2, 8, 8),
        sparse(2, 1, 0, 0, 2, wide=True),
        sparse(2, 0, 8, dtype=6),
        sparse(1, 0, dims=()),
    ],
)
def test_defect_that_runtimes_accept_is_a_warning(content: bytes) -> None:
    (finding,) = check_bytes("malformed-tensor", content, external=NINE)
    assert (finding.severity, finding.evidence) == ("warning", ("w",))


def test_weight_without_a_name_is_a_warning() -> None:
    (finding,) = check_bytes(
        "malformed-tensor", model(X + initializer("", (1,), bytes(4)) + node("Relu", "x", "y") + Y)
    )
    assert finding.message == "1 initializer has no name, so no node can read it"
