import onnx
import pytest

from tests._text import proto
from tests.lint._judged import found


def _picture(batch: str, out: str = "y = GlobalAveragePool(c)") -> onnx.ModelProto:
    text = f"g (float[{batch}, 3, 32, 32] x) => (float y) {{ c = Conv(x, w) {out} }}"
    model = proto(text)
    weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, (8, 3, 3, 3), b"\0" * 864, raw=True)
    model.graph.initializer.append(weight)
    return model


def _tokens(ids: str) -> onnx.ModelProto:
    text = f"""g (int64{ids} ids) => (float y) {{
        e = Gather(table, ids) h = MatMul(e, w) s = Softmax(h) y = MatMul(s, w)
    }}"""
    model = proto(text)
    for name, dims in (("table", (100, 8)), ("w", (8, 8))):
        held = onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, dims, b"\0" * dims[0] * dims[1] * 4, raw=True)
        model.graph.initializer.append(held)
    return model


def test_pictures_that_come_one_by_one_are_found() -> None:
    (finding,) = found("fixed-batch", _picture("1"))
    assert finding.message == "the batch of its input is fixed at 1: x"
    assert finding.evidence == ("x",)


def test_rows_of_tokens_that_come_one_by_one_are_found() -> None:
    assert [finding.evidence for finding in found("fixed-batch", _tokens("[1, 16]"))] == [("ids",)]


@pytest.mark.parametrize("batch", ["n", "4"])
def test_a_batch_that_is_open_or_larger_is_not(batch: str) -> None:
    assert found("fixed-batch", _picture(batch)) == []


def test_one_token_is_a_step_not_a_batch() -> None:
    assert found("fixed-batch", _tokens("[1, 1]")) == []


def test_an_answer_that_is_not_one_for_each_example_may_rule_out_a_batch() -> None:
    """What a detector finds in one picture, in a row: a second picture's would be mixed in."""
    shape = "s = Constant <value = int64[2] {-1, 8}> () y = Reshape(c, s)"
    assert found("fixed-batch", _picture("1", shape)) == []


def test_a_table_with_one_row_may_be_one_list() -> None:
    assert found("fixed-batch", "g (float[1, 8] x) => (float y) { y = Relu(x) }") == []
