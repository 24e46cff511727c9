import pytest

from tests._text import proto
from tests.lint._judged import found

_TEXT = "g (float[2] x) => (float[2] y) { y = Relu(x) }"


@pytest.mark.parametrize(("opset", "severity"), [(6, "warning"), (7, "info"), (10, "info")])
def test_old_versions_are_found(opset: int, severity: str) -> None:
    (finding,) = found("old-opset", _TEXT, opset=opset)
    assert finding.message.startswith(f"the file is written in opset {opset} of ai.onnx; ")
    assert finding.severity == severity


def test_what_onnxruntime_guarantees_is_said() -> None:
    (finding,) = found("old-opset", _TEXT, opset=5)
    assert finding.message == "the file is written in opset 5 of ai.onnx; onnxruntime guarantees 7 and newer"


def test_what_its_quantizer_asks_for_is_said() -> None:
    (finding,) = found("old-opset", _TEXT, opset=9)
    assert finding.message == "the file is written in opset 9 of ai.onnx; onnxruntime's quantizer asks for 11 or newer"


def test_a_file_older_than_operator_sets_uses_the_first_one() -> None:
    old = proto(_TEXT)
    del old.opset_import[:]
    old.ir_version = 2
    (finding,) = found("old-opset", old)
    assert finding.message.startswith("the file is written in opset 1 ")


def test_version_11_is_not_old() -> None:
    assert found("old-opset", _TEXT, opset=11) == []


def test_other_domains_count_for_themselves() -> None:
    """What a converter of trees writes: the default domain at 1, and not one node of it."""
    text = "g (float[2, 2] x) => (float[2, 2] y) { y = custom.Thing(x) }"
    assert found("old-opset", text, opset=1) == []
