"""Fields that a file encodes several times though they have one value."""

from pathlib import Path

from onnx_autodoc import card
from onnx_autodoc.card import Finding
from tests._wire import chunk, integer, model, value


def check(folder: Path, op_types: bytes, extra: bytes = b"") -> list[Finding]:
    path = folder / "model.onnx"
    call = chunk(1, chunk(1, "x") + chunk(2, "y") + op_types)
    path.write_bytes(model(value(11, "x", (2, 3)) + call + value(12, "y", (2, 3)), extra=extra))
    return [finding for finding in card(path).findings if finding.rule == "ambiguous-encoding"]


def test_repeated_field_is_reported_and_its_last_value_holds(tmp_path: Path) -> None:
    (finding,) = check(tmp_path, chunk(4, "Conv") + chunk(4, "Relu"))
    assert finding.message == "1 field NodeProto.op_type is encoded again with another value; the last value holds"
    assert [row.op for row in card(tmp_path / "model.onnx").graph.operators] == ["Relu"]


def test_fields_are_counted(tmp_path: Path) -> None:
    findings = check(tmp_path, chunk(4, "Conv") + chunk(4, "Gemm") + chunk(4, "Relu"), extra=integer(1, 9))
    assert {finding.message.partition(" encoded")[0] for finding in findings} == {
        "2 fields NodeProto.op_type are",
        "1 field ModelProto.ir_version is",
    }


def test_equal_values_are_not_reported(tmp_path: Path) -> None:
    assert check(tmp_path, chunk(4, "Relu") * 2, extra=integer(1, 8)) == []


def test_values_encoded_once_are_not_reported(tmp_path: Path) -> None:
    assert check(tmp_path, chunk(4, "Relu"), extra=chunk(8, chunk(1, "d") + integer(2, 1))) == []
