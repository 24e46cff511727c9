import onnx

from tests._text import proto
from tests.lint._check import check_rule


def _with(listed: str, ir: int = 8, size: int = 4) -> onnx.ModelProto:
    """A model of the weights a, b and c, some of which are inputs too."""
    model = proto(f"g (float[{size}] x) => (float y) {{ s = Add(x, a) t = Mul(s, b) y = Sub(t, c) }}")
    model.ir_version = ir
    for name in "abc":
        model.graph.initializer.append(onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, [size], [1.0] * size))
        if name in listed:
            model.graph.input.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [size]))
    return model


def test_weights_that_are_inputs_too_are_reported() -> None:
    (finding,) = check_rule("overridable-weight", _with("abc"))
    assert finding.message == "3 of 3 weights are also inputs: optimizers do not fold weights that callers may override"
    assert (finding.severity, finding.evidence) == ("note", ("a", "b", "c"))


def test_old_files_are_not_reported() -> None:
    assert check_rule("overridable-weight", _with("abc", ir=3)) == []


def test_single_default_among_many_weights_is_not_reported() -> None:
    assert check_rule("overridable-weight", _with("a")) == []


def test_scalars_are_not_reported() -> None:
    assert check_rule("overridable-weight", _with("abc", size=1)) == []


def test_plain_weights_are_not_reported() -> None:
    assert check_rule("overridable-weight", _with("")) == []
