import numpy as np
from onnx import ModelProto, numpy_helper

from tests._text import proto
from tests.lint._check import check_rule


def model(table: np.ndarray, nodes: str, width: int = 64) -> ModelProto:
    model_proto = proto(f"g (int64[1, 8] ids) => (float y) {{ {nodes} }}")
    weight = np.zeros((table.shape[1], width), np.float32)
    model_proto.graph.initializer.extend(
        [numpy_helper.from_array(table, "table"), numpy_helper.from_array(weight, "w")]
    )
    return model_proto


LOOKUP = "e = Gather(table, ids) y = MatMul(e, w)"


def test_table_that_holds_most_of_the_parameters_is_reported() -> None:
    (finding,) = check_rule("large-embedding", model(np.zeros((40_000, 64), np.float32), LOOKUP))
    assert finding.message == "1 embedding table holds >99% of the parameters: 9.77 MiB in float32"
    assert finding.evidence == ("table",)


def test_small_table_is_not_reported() -> None:
    assert check_rule("large-embedding", model(np.zeros((4_000, 64), np.float32), LOOKUP)) == []


def test_table_with_a_small_share_is_not_reported() -> None:
    assert check_rule("large-embedding", model(np.zeros((40_000, 64), np.float32), LOOKUP, width=100_000)) == []


def test_quantized_table_is_not_reported() -> None:
    nodes = "s = Constant<value = float {0.1}>() q = Gather(table, ids) e = DequantizeLinear(q, s) y = MatMul(e, w)"
    assert check_rule("large-embedding", model(np.zeros((160_000, 64), np.int8), nodes)) == []


def test_large_matrix_of_a_product_is_not_reported() -> None:
    nodes = "c = Cast<to=1>(ids) r = Reshape(c, s) t = Transpose(table) y = MatMul(r, t)"
    model_proto = model(np.zeros((40_000, 8), np.float32), nodes)
    model_proto.graph.initializer.append(numpy_helper.from_array(np.array([1, 8]), "s"))
    assert check_rule("large-embedding", model_proto) == []
