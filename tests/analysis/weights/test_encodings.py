"""The same numbers have the same hash, however a file writes them: as onnx itself reads them."""

import hashlib
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from onnx_autodoc.analysis.weights import survey
from onnx_autodoc.analysis.weights.statistics import VALUES
from onnx_autodoc.card import Numbers
from onnx_autodoc.ir import BITS, dtype_name
from onnx_autodoc.readers import read_model
from tests._wire import chunk, integer, model, node, value, varint
from tests.analysis.weights._made import raw, surveyed

WIDTHS = {number: BITS[dtype_name(number) or ""] for number in range(1, 27) if number != TensorProto.STRING}
IN_INT32 = [number for number in WIDTHS if helper.tensor_dtype_to_field(number) == "int32_data"]


@st.composite
def elements(draw: st.DrawFn) -> tuple[int, int, bytes]:
    """A type, how many elements, and their bytes as raw_data has them."""
    number = draw(st.sampled_from(sorted(WIDTHS)))
    count = draw(st.integers(0, 40))
    nbytes = (count * WIDTHS[number] + 7) // 8
    data = draw(st.binary(min_size=nbytes, max_size=nbytes))
    if number == TensorProto.BOOL:
        data = bytes(byte & 1 for byte in data)
    unused = nbytes * 8 - count * WIDTHS[number]
    return number, count, data[:-1] + bytes((data[-1] & 0xFF >> unused,)) if unused else data


def store_in_typed_field(number: int, count: int, data: bytes) -> TensorProto:
    """The same elements in the field of their type. 4-bit numbers stand there packed, a byte in each number."""
    tensor = TensorProto(name="w", data_type=number, dims=[count])
    field = helper.tensor_dtype_to_field(number)
    width = {"float_data": "<f4", "double_data": "<f8"}.get(field)
    if width is None:
        width = f"<{'i' if number in (3, 5, 6, 7) else 'u'}{max(WIDTHS[number] // 8, 1)}"
    getattr(tensor, field).extend(np.frombuffer(data, width).tolist())
    return tensor


def is_nan_of_floats(number: int, data: bytes) -> bool:
    """Python's floats have one NaN where the file may have many, so such bytes do not survive this test's own way."""
    kind = {1: "<f4", 11: "<f8", 14: "<f4", 15: "<f8"}.get(number)
    return kind is not None and bool(np.isnan(np.frombuffer(data, kind)).any())


@settings(max_examples=300, deadline=None)
@given(elements())
def test_hash_is_of_the_elements(made: tuple[int, int, bytes]) -> None:
    number, count, data = made
    with tempfile.TemporaryDirectory() as folder:
        plain = raw(number, [count], data)
        tensors = [plain] if is_nan_of_floats(number, data) else [plain, store_in_typed_field(number, count, data)]
        for tensor in tensors:
            numpy_helper.to_array(tensor)  # onnx agrees that this is how it is written
        result = surveyed(Path(folder), *tensors)
    assert {each.unread for each in result} == {None}
    assert {each.sha256 for each in result} == {hashlib.sha256(data).hexdigest()}


@settings(max_examples=200, deadline=None)
@given(elements())
def test_counts_equal_those_of_onnx(made: tuple[int, int, bytes]) -> None:
    number, count, data = made
    with tempfile.TemporaryDirectory() as folder:
        (result,) = surveyed(Path(folder), raw(number, [count], data))
    array = numpy_helper.to_array(raw(number, [count], data))
    kind = np.complex128 if array.dtype.kind == "c" else object if array.dtype.kind in "iub" else float
    with np.errstate(invalid="ignore"):
        wide = array.astype(kind)
    numbers = wide.tolist()
    assert result.nan == sum(each != each for each in numbers)
    assert result.infinite == sum(each == each and abs(each) == float("inf") for each in numbers)
    assert result.zeros == sum(each == 0 for each in numbers)
    finite = [each for each in numbers if each == each and abs(each) != float("inf")]
    if array.dtype.kind != "c":
        assert (result.least, result.most) == (min(finite, default=None), max(finite, default=None))
        assert bool(result.constant) == (count > 0 and (len(set(numbers)) == 1 or result.nan == count))


@pytest.mark.parametrize("name", ["float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "float8e8m0"])
def test_every_code_of_an_8_bit_float_is_known(name: str) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    theirs = {"float8e4m3fn": "float8_e4m3fn", "float8e4m3fnuz": "float8_e4m3fnuz", "float8e5m2": "float8_e5m2"}
    kind = getattr(ml_dtypes, {**theirs, "float8e5m2fnuz": "float8_e5m2fnuz"}.get(name, "float8_e8m0fnu"))
    true = np.arange(256, dtype=np.uint8).view(kind).astype(np.float64)
    np.testing.assert_array_equal(np.array(VALUES[name][1]), true)


@pytest.mark.parametrize("number", IN_INT32)
def test_unpacked_fields_have_the_same_hash(number: int, tmp_path: Path) -> None:
    data = bytes((0, 1) * 4) if number == TensorProto.BOOL else bytes(range(121, 129)) * 2
    count = len(data) * 8 // WIDTHS[number]
    apart = b"".join(integer(5, each) for each in store_in_typed_field(number, count, data).int32_data)
    (result,) = survey_wire(tmp_path, header(number, count) + apart)
    assert result.sha256 == hashlib.sha256(data).hexdigest()


def test_many_unpacked_floats_are_not_read(tmp_path: Path) -> None:
    apart = b"".join(varint(4 << 3 | 5) + struct.pack("<f", number) for number in range(1000))
    (result,) = survey_wire(tmp_path, header(TensorProto.FLOAT, 1000) + apart)
    assert result.unread == "its elements are split over several fields" and result.sha256 is None


def test_numbers_in_two_packed_fields_are_read_as_one_list_or_not_at_all(tmp_path: Path) -> None:
    few, many = np.arange(16, dtype="<f4").tobytes(), np.arange(2000, dtype="<f4").tobytes()
    parts = [chunk(4, data[:40]) + chunk(4, data[40:]) for data in (few, many)]
    short, long = survey_wire(
        tmp_path, header(TensorProto.FLOAT, 16) + parts[0], header(TensorProto.FLOAT, 2000) + parts[1]
    )
    assert short.sha256 == hashlib.sha256(few).hexdigest()
    assert long.unread == "its elements are split over several fields"


def test_last_one_of_repeated_raw_data_is_read(tmp_path: Path) -> None:
    (result,) = survey_wire(tmp_path, header(TensorProto.INT8, 2) + chunk(9, b"abc") + chunk(9, b"cd"))
    assert result.sha256 == hashlib.sha256(b"cd").hexdigest()


def test_long_data_split_over_several_fields_are_not_read(tmp_path: Path) -> None:
    half = chunk(7, b"\x01" * 70_000)
    (result,) = survey_wire(tmp_path, header(TensorProto.INT64, 140_000) + half + half)
    assert result.unread == "its elements are split over several fields"


def test_numbers_in_the_field_of_another_type_are_not_read(tmp_path: Path) -> None:
    wrong = chunk(7, bytes((1, 2, 3)))  # int64_data
    both = chunk(9, struct.pack("<3i", 1, 2, 3)) + chunk(5, bytes((1, 2, 3)))
    result = survey_wire(tmp_path, header(TensorProto.INT32, 3) + wrong, header(TensorProto.INT32, 3) + both)
    assert [each.unread for each in result] == [
        "its elements are not in the data field of its type, or in two fields"
    ] * 2


def test_varints_of_every_length_are_read_across_pieces(tmp_path: Path) -> None:
    array = (np.int64(-1) << np.arange(64, dtype=np.int64)).repeat(3000)
    array = np.concatenate([array, -array, array // 3])
    tensor = TensorProto(name="w", data_type=TensorProto.INT64, dims=[len(array)], int64_data=array.tolist())
    (result,) = surveyed(tmp_path, tensor)
    assert result.sha256 == hashlib.sha256(array.astype("<i8").tobytes()).hexdigest()
    assert (result.least, result.most) == (array.min(), array.max())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x01", "it stores fewer elements than its dimensions declare"),
        (b"\x01" * 3, "it stores more elements than its dimensions declare"),
    ],
)
def test_wrong_varints_have_a_reason(data: bytes, reason: str, tmp_path: Path) -> None:
    count = 70_000  # the reader counts the elements of shorter data
    (result,) = survey_wire(tmp_path, header(TensorProto.INT64, count) + chunk(7, data + b"\x01" * (count - 2)))
    assert (result.unread, result.sha256, result.zeros) == (reason, None, None)


def test_unused_bits_of_last_byte_do_not_count(tmp_path: Path) -> None:
    clean, dirty = surveyed(
        tmp_path, raw(TensorProto.UINT4, [3], b"\x21\x03"), raw(TensorProto.UINT4, [3], b"\x21\xf3")
    )
    assert clean == dirty and (clean.least, clean.most, clean.zeros) == (1, 3, 0)


def test_six_bit_floats_have_a_hash_and_no_counts(tmp_path: Path) -> None:
    (result,) = surveyed(tmp_path, raw(TensorProto.FLOAT6E2M3, [4], b"abc"))
    assert result.sha256 == hashlib.sha256(b"abc").hexdigest() and result.zeros is None and result.unread is None


def test_hash_of_strings_includes_their_lengths(tmp_path: Path) -> None:
    lists = ([b"ab", b"c"], [b"a", b"bc"], [b"ab", b"c"], [b"x" * 70_000, b""])
    result = surveyed(
        tmp_path,
        *(TensorProto(name="t", data_type=TensorProto.STRING, dims=[2], string_data=texts) for texts in lists),
    )
    hashes = [each.sha256 for each in result]
    assert hashes[0] == hashes[2] != hashes[1] and None not in hashes[:3]
    assert hashes[3] is None and result[3].unread == "strings in another field, or too long to be stored by the reader"


def test_hash_does_not_depend_on_pieces(tmp_path: Path) -> None:
    array = np.random.default_rng(1).integers(0, 255, (3 << 20) + 5, np.uint8)
    array[-1] = 255
    (result,) = surveyed(tmp_path, raw(TensorProto.UINT8, [array.size], array.tobytes()))
    assert result.sha256 == hashlib.sha256(array.tobytes()).hexdigest()
    assert (result.zeros, result.least, result.most) == (int((array == 0).sum()), 0, 255)


def header(number: int, count: int) -> bytes:
    return integer(1, count) + integer(2, number) + chunk(8, "w")


def survey_wire(folder: Path, *tensors: bytes) -> list[Numbers]:
    """What is found of tensors that are given as they stand in a file."""
    graph = value(11, "x", (2, 3)) + node("Relu", "x", "y") + value(12, "y", (2, 3))
    path = folder / "model.onnx"
    path.write_bytes(model(graph + b"".join(chunk(5, tensor) for tensor in tensors)))
    return [each.numbers for each in survey(read_model(path)).tensors]
