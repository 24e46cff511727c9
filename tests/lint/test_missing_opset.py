import onnx
import pytest

from tests._text import proto
from tests.lint._check import check_rule

_CALL = "g (float[2] x) => (float[2] y) { y = local.f(x) }"


def _parsed(opsets: str, text: str, functions: str = "", ir: int = 9) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"<ir_version: {ir}, opset_import: [{opsets}]>\n{text}\n{functions}")


def test_domain_without_a_version_is_reported() -> None:
    text = "g (float[2] x) => (float[2] y) { z = Relu(x) [node_1] y = com.microsoft.Gelu(z) }"
    (finding,) = check_rule("missing-opset", _parsed('"" : 18', text))
    assert finding.message == "the file declares no opset for com.microsoft, the domain of 1 node"
    assert (finding.severity, finding.evidence) == ("note", ("node_1",))


def test_default_domain_is_named_in_the_message() -> None:
    text = "g (float[2] x) => (float[2] y) { z = Relu(x) y = Relu(z) }"
    (finding,) = check_rule("missing-opset", _parsed('"ai.onnx.ml" : 3', text))
    assert finding.message == "the file declares no opset for ai.onnx, the domain of 2 nodes"
    assert finding.severity == "warning"


def test_function_needs_its_own_opset() -> None:
    body = '<domain: "local", opset_import: ["foo" : 1]> f (a) => (b) { [r] b = Relu(a) }'
    (finding,) = check_rule("missing-opset", _parsed('"" : 18, "local" : 1', _CALL, body))
    assert finding.severity == "error"
    assert finding.evidence == ("f_0/f/r",)


def test_domain_of_local_functions_needs_an_opset() -> None:
    body = '<domain: "local", opset_import: ["" : 18]> f (a) => (b) { b = Relu(a) }'
    (finding,) = check_rule("missing-opset", _parsed('"" : 18', _CALL, body))
    assert finding.severity == "error"
    with pytest.raises(onnx.checker.ValidationError):
        onnx.checker.check_model(_parsed('"" : 18', _CALL, body))


def test_both_spellings_of_the_default_domain_are_equal() -> None:
    assert (
        check_rule("missing-opset", _parsed('"ai.onnx" : 18', "g (float[2] x) => (float[2] y) { y = Relu(x) }")) == []
    )


def test_domain_used_only_in_functions_needs_no_model_opset() -> None:
    body = '<domain: "local", opset_import: ["" : 18, "com.microsoft" : 1]> f (a) => (b) { b = com.microsoft.Gelu(a) }'
    assert check_rule("missing-opset", _parsed('"" : 18, "local" : 1', _CALL, body)) == []


def test_file_older_than_opsets_is_not_reported() -> None:
    old = proto("g (float[2] x) => (float[2] y) { y = Relu(x) }")
    del old.opset_import[:]
    old.ir_version = 2
    assert check_rule("missing-opset", old) == []
