import onnx
import pytest

from tests._text import proto
from tests.lint._check import check_rule


def _tokens(dtype: str) -> onnx.ModelProto:
    model = proto(f"""g ({dtype}[batch, seq] ids) => (float y) {{
        e = Gather(table, ids) h = MatMul(e, w) s = Softmax(h) y = MatMul(s, w)
    }}""")
    for name, dims in (("table", (100, 8)), ("w", (8, 8))):
        tensor = onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, dims, b"\0" * dims[0] * dims[1] * 4, raw=True)
        model.graph.initializer.append(tensor)
    return model


def test_int64_tokens_are_reported() -> None:
    (finding,) = check_rule("int64-data", _tokens("int64"))
    assert finding.message == "1 input is int64: ids"
    assert finding.evidence == ("ids",)


def test_int32_tokens_are_not_reported() -> None:
    assert check_rule("int64-data", _tokens("int32")) == []


@pytest.mark.parametrize(
    "body",
    [
        "[n] y = ArgMax(x)",
        "b = Greater(x, x) [n] y = NonZero(b)",
        "k = Constant <value = int64[1] {2}> () [n] v, y = TopK(x, k)",
    ],
)
def test_int64_positions_from_data_are_reported(body: str) -> None:
    (finding,) = check_rule("int64-data", f"g (float[2, 8] x) => (int64 y) {{ {body} }}")
    assert finding.message == "1 node outputs int64 positions of data"
    assert finding.evidence == ("n",)


@pytest.mark.parametrize(
    "body",
    [
        "s = Shape(x) c = ConstantOfShape(s) y = NonZero(c)",  # of sizes alone
        "p = ArgMax(x) y = Cast <to = 6> (p)",  # narrowed right away
        "k = Constant <value = int64[1] {2}> () y, p = TopK(x, k)",  # the positions have no reader
        "y = Shape(x)",
    ],
)
def test_shape_arithmetic_and_narrowed_positions_are_not_reported(body: str) -> None:
    assert check_rule("int64-data", f"g (float[2, n] x) => (int64 y) {{ {body} }}") == []


def test_classic_models_are_not_reported() -> None:
    text = "g (float[2, 8] x) => (int64 y) { z = ai.onnx.ml.Normalizer(x) y = ArgMax(z) }"
    assert check_rule("int64-data", text) == []
