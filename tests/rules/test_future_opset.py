import onnx

from onnx_autodoc.ops import judged
from tests.rules._judged import found

_TEXT = "g (float[2] x) => (float[2] y) { y = Relu(x) }"


def test_a_version_after_the_newest_is_found() -> None:
    (finding,) = found("future-opset", _TEXT, opset=99)
    assert finding.message == "the file is written in opset 99 of ai.onnx; the newest known here is 28 (October 2026)"


def test_the_newest_itself_is_known() -> None:
    assert found("future-opset", _TEXT, opset=judged.NEWEST_OPSET) == []


def test_the_newest_is_no_older_than_that_of_the_onnx_package() -> None:
    assert onnx.defs.onnx_opset_version() <= judged.NEWEST_OPSET
