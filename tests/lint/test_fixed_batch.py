import onnx
import pytest

from tests._text import proto
from tests.lint._check import check_rule


def _image_model(batch: str, out: str = "y = GlobalAveragePool(c)") -> onnx.ModelProto:
    text = f"g (float[{batch}, 3, 32, 32] x) => (float y) {{ c = Conv(x, w) {out} }}"
    model = proto(text)
    weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, (8, 3, 3, 3), b"\0" * 864, raw=True)
    model.graph.initializer.append(weight)
    return model


def _token_model(ids: str) -> onnx.ModelProto:
    text = f"""g (int64{ids} ids) => (float y) {{
        e = Gather(table, ids) h = MatMul(e, w) s = Softmax(h) y = MatMul(s, w)
    }}"""
    model = proto(text)
    for name, dims in (("table", (100, 8)), ("w", (8, 8))):
        tensor = onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, dims, b"\0" * dims[0] * dims[1] * 4, raw=True)
        model.graph.initializer.append(tensor)
    return model


def test_image_batch_of_one_is_reported() -> None:
    (finding,) = check_rule("fixed-batch", _image_model("1"))
    assert finding.message == "the batch size of the input is fixed at 1: x"
    assert finding.evidence == ("x",)


def test_token_batch_of_one_is_reported() -> None:
    assert [finding.evidence for finding in check_rule("fixed-batch", _token_model("[1, 16]"))] == [("ids",)]


@pytest.mark.parametrize("batch", ["n", "4"])
def test_dynamic_or_larger_batch_is_not_reported(batch: str) -> None:
    assert check_rule("fixed-batch", _image_model(batch)) == []


def test_single_token_is_not_reported() -> None:
    assert check_rule("fixed-batch", _token_model("[1, 1]")) == []


def test_output_without_a_batch_axis_is_not_reported() -> None:
    """A detector lists all boxes of an image; with a larger batch, boxes of several images would be mixed."""
    shape = "s = Constant <value = int64[2] {-1, 8}> () y = Reshape(c, s)"
    assert check_rule("fixed-batch", _image_model("1", shape)) == []


def test_table_with_one_row_is_not_reported() -> None:
    assert check_rule("fixed-batch", "g (float[1, 8] x) => (float y) { y = Relu(x) }") == []
