import msgspec
import pytest

from onnx_autodoc.ir import ExternalData, Model
from tests._text import model
from tests.lint._check import check_rule

_GIB = 1 << 30


def _of(nbytes: int, external: tuple[ExternalData, ...] = ()) -> Model:
    plain = model("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    return msgspec.structs.replace(plain, nbytes=nbytes, external=external)


@pytest.mark.parametrize("nbytes", [2 * _GIB, 5 * _GIB])
def test_file_that_protobuf_cannot_read_is_an_error(nbytes: int) -> None:
    (finding,) = check_rule("inline-weights", _of(nbytes))
    assert finding.message.endswith(" GiB, above protobuf's limit of 2 GiB")
    assert finding.severity == "error"


def test_file_near_the_limit_is_a_note() -> None:
    (finding,) = check_rule("inline-weights", _of(2 * _GIB - 1))
    assert finding.message == "the file is one protobuf message of 2.00 GiB, close to protobuf's limit of 2 GiB"
    assert finding.severity == "note"


@pytest.mark.parametrize("nbytes", [100, 3 * _GIB // 2 - 1])
def test_smaller_files_are_not_reported(nbytes: int) -> None:
    assert check_rule("inline-weights", _of(nbytes)) == []


def test_large_external_weights_are_not_reported() -> None:
    assert check_rule("inline-weights", _of(1000, (ExternalData("weights.bin", 9 * _GIB, 9 * _GIB),))) == []
