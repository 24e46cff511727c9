import onnx
import pytest

from tests._text import proto
from tests.lint._check import check_rule


def _with(dim: object) -> onnx.ModelProto:
    model = proto("g (float[batch, 3] x) => (float[batch, 3] y) { y = Relu(x) }")
    for value in (*model.graph.input, *model.graph.output):
        first = value.type.tensor_type.shape.dim[0]
        first.Clear()
        if isinstance(dim, int):
            first.dim_value = dim
        elif dim is not None:
            first.dim_param = str(dim)
    return model


@pytest.mark.parametrize("dim", [None, "", "?", "unk__12", -1, "None", "DynamicDimension.1"])
def test_placeholder_names_are_reported(dim: object) -> None:
    (finding,) = check_rule("unnamed-dimension", _with(dim))
    assert finding.message == "2 dynamic dimensions have no name: x.0, y.0"
    assert finding.evidence == ("x", "y")


@pytest.mark.parametrize("dim", ["batch", "N", "s0", "past_sequence_length + 1", "unknown_batch", 4, 1])
def test_names_and_sizes_are_not_reported(dim: object) -> None:
    assert check_rule("unnamed-dimension", _with(dim)) == []


def test_output_without_a_shape_is_not_reported() -> None:
    assert check_rule("unnamed-dimension", "g (float[n] x) => (float y) { y = Relu(x) }") == []


def test_overridable_weight_is_not_reported() -> None:
    model = _with("batch")
    model.graph.input.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [None]))
    model.graph.initializer.append(onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], [1.0, 2.0]))
    assert check_rule("unnamed-dimension", model) == []
