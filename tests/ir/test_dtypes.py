"""Element types and varints."""

import onnx
import pytest

from onnx_autodoc.ir import BITS, decode_varints, dtype_name, parse_dtype, stored_bytes, to_int64


def test_every_element_type_of_onnx_has_a_name() -> None:
    numbers = {value.number for value in onnx.TensorProto.DataType.DESCRIPTOR.values if value.number}
    assert {number for number in numbers if dtype_name(number) is None} == set()
    assert dtype_name(0) is None and dtype_name(999) is None


@pytest.mark.parametrize(
    ("text", "dtype"), [("FLOAT", "float32"), ("double", "float64"), ("INT64", "int64"), ("x", None)]
)
def test_data_type_name_is_parsed(text: str, dtype: str | None) -> None:
    assert parse_dtype(text) == dtype


def test_packed_elements_are_rounded_up_to_bytes() -> None:
    assert stored_bytes("int4", 3) == 2
    assert stored_bytes("float32", 3) == 12
    assert stored_bytes("string", 3) is None
    assert BITS["bool"] == 8


def test_varints_are_decoded_up_to_the_limit() -> None:
    data = b"\x01\xac\x02" + b"\xff" * 9 + b"\x01"
    assert decode_varints(data, 3) == [1, 300, 2**64 - 1]
    assert decode_varints(data, 2) == [1, 300]
    assert decode_varints(data, 0) == []
    assert decode_varints(b"\x80", 1) == []


def test_varints_hold_signed_integers() -> None:
    assert [to_int64(number) for number in (1, 2**64 - 1, 2**63)] == [1, -1, -(2**63)]
