import pytest

from tests._text import proto
from tests.lint._check import check_rule

_TEXT = "g (float[2] x) => (float[2] y) { y = Relu(x) }"


@pytest.mark.parametrize(("opset", "severity"), [(6, "warning"), (7, "info"), (10, "info")])
def test_old_versions_are_reported(opset: int, severity: str) -> None:
    (finding,) = check_rule("old-opset", _TEXT, opset=opset)
    assert finding.message.startswith(f"the file uses opset {opset} of ai.onnx; ")
    assert finding.severity == severity


def test_message_has_the_guaranteed_opset() -> None:
    (finding,) = check_rule("old-opset", _TEXT, opset=5)
    assert finding.message == "the file uses opset 5 of ai.onnx; onnxruntime guarantees 7 and newer"


def test_message_has_the_opset_of_the_quantizer() -> None:
    (finding,) = check_rule("old-opset", _TEXT, opset=9)
    assert finding.message == "the file uses opset 9 of ai.onnx; onnxruntime's quantizer requires 11 or newer"


def test_file_older_than_opsets_counts_as_the_first() -> None:
    old = proto(_TEXT)
    del old.opset_import[:]
    old.ir_version = 2
    (finding,) = check_rule("old-opset", old)
    assert finding.message.startswith("the file uses opset 1 ")


def test_version_11_is_not_old() -> None:
    assert check_rule("old-opset", _TEXT, opset=11) == []


def test_other_domains_are_not_reported() -> None:
    """Converters of trees declare the default domain at 1 without a node of it."""
    text = "g (float[2, 2] x) => (float[2, 2] y) { y = custom.Thing(x) }"
    assert check_rule("old-opset", text, opset=1) == []
