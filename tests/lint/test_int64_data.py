import onnx
import pytest

from tests._text import proto
from tests.lint._judged import found


def _tokens(dtype: str) -> onnx.ModelProto:
    model = proto(f"""g ({dtype}[batch, seq] ids) => (float y) {{
        e = Gather(table, ids) h = MatMul(e, w) s = Softmax(h) y = MatMul(s, w)
    }}""")
    for name, dims in (("table", (100, 8)), ("w", (8, 8))):
        held = onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, dims, b"\0" * dims[0] * dims[1] * 4, raw=True)
        model.graph.initializer.append(held)
    return model


def test_wide_tokens_are_found() -> None:
    (finding,) = found("int64-data", _tokens("int64"))
    assert finding.message == "1 input is int64: ids"
    assert finding.evidence == ("ids",)


def test_tokens_of_32_bits_are_not() -> None:
    assert found("int64-data", _tokens("int32")) == []


@pytest.mark.parametrize(
    "body",
    [
        "[n] y = ArgMax(x)",
        "b = Greater(x, x) [n] y = NonZero(b)",
        "k = Constant <value = int64[1] {2}> () [n] v, y = TopK(x, k)",
    ],
)
def test_positions_that_nodes_find_in_data_are_found(body: str) -> None:
    (finding,) = found("int64-data", f"g (float[2, 8] x) => (int64 y) {{ {body} }}")
    assert finding.message == "1 node finds int64 positions in the data"
    assert finding.evidence == ("n",)


@pytest.mark.parametrize(
    "body",
    [
        "s = Shape(x) c = ConstantOfShape(s) y = NonZero(c)",  # of sizes alone
        "p = ArgMax(x) y = Cast <to = 6> (p)",  # narrowed right away
        "k = Constant <value = int64[1] {2}> () y, p = TopK(x, k)",  # nobody reads the positions
        "y = Shape(x)",
    ],
)
def test_arithmetic_of_shapes_and_what_is_narrowed_are_not(body: str) -> None:
    assert found("int64-data", f"g (float[2, n] x) => (int64 y) {{ {body} }}") == []


def test_trees_and_their_kin_run_on_a_cpu_anyway() -> None:
    text = "g (float[2, 8] x) => (int64 y) { z = ai.onnx.ml.Normalizer(x) y = ArgMax(z) }"
    assert found("int64-data", text) == []
