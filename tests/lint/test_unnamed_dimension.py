import onnx
import pytest

from tests._text import proto
from tests.lint._judged import found


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
def test_what_is_no_name_is_found(dim: object) -> None:
    (finding,) = found("unnamed-dimension", _with(dim))
    assert finding.message == "2 open dimensions have no name: x.0, y.0"
    assert finding.evidence == ("x", "y")


@pytest.mark.parametrize("dim", ["batch", "N", "s0", "past_sequence_length + 1", "unknown_batch", 4, 1])
def test_names_and_sizes_are_not(dim: object) -> None:
    assert found("unnamed-dimension", _with(dim)) == []


def test_an_output_without_any_shape_has_no_dimension_to_name() -> None:
    assert found("unnamed-dimension", "g (float[n] x) => (float y) { y = Relu(x) }") == []


def test_a_weight_that_is_an_input_too_is_none() -> None:
    model = _with("batch")
    model.graph.input.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [None]))
    model.graph.initializer.append(onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [2], [1.0, 2.0]))
    assert found("unnamed-dimension", model) == []
