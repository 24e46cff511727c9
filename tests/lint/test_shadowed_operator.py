import onnx
import pytest

from tests.lint._check import check_rule


def build(domain: str, op: str, opset: int = 20) -> onnx.ModelProto:
    call = f"{domain}.{op}" if domain else op
    return onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : {opset}, "{domain or "other"}" : 1]>
        g (float[2] x) => (float[2] y) {{ y = {call}(x) }}
        <opset_import: ["" : {opset}], domain: "{domain}"> {op} (a) => (b) {{ b = Identity(a) }}""")


@pytest.mark.parametrize(("domain", "op"), [("", "Relu"), ("com.microsoft", "Gelu"), ("ai.onnx.ml", "Scaler")])
def test_function_with_the_name_of_a_built_in_operator_is_reported(domain: str, op: str) -> None:
    (finding,) = check_rule("shadowed-operator", build(domain, op))
    assert finding.message == f"1 local function has the name of a built-in operator: {domain or 'ai.onnx'}.{op}"
    assert finding.evidence == (f"{op}_0",)
    assert finding.severity == "error"


@pytest.mark.parametrize(
    ("domain", "op", "opset"), [("local", "Relu", 20), ("com.microsoft", "Own", 20), ("", "Gelu", 17)]
)
def test_function_with_another_name_is_not_reported(domain: str, op: str, opset: int) -> None:
    assert check_rule("shadowed-operator", build(domain, op, opset)) == []
