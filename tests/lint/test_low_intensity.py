import numpy as np
from onnx import ModelProto, numpy_helper

from tests._text import proto
from tests.lint._check import check_rule


def model(rows: int, width: int, text: str = "{ [product] y = MatMul(x, w) }") -> ModelProto:
    model_proto = proto(f"g (float[{rows}, 4096] x) => (float y) {text}")
    model_proto.graph.initializer.append(
        numpy_helper.from_array(np.zeros((4096, width), np.float16).astype(np.float32), "w")
    )
    return model_proto


def test_single_row_times_a_large_matrix_is_reported() -> None:
    (finding,) = check_rule("low-intensity", model(1, 4096))
    sums = "33.6 MFLOPs on 64.0 MiB of weights and inputs"
    assert finding.message == f"memory-bound: 0.50 FLOPs per byte read ({sums})"
    assert finding.evidence == ("product",)


def test_many_rows_are_not_reported() -> None:
    assert check_rule("low-intensity", model(64, 4096)) == []


def test_small_model_is_not_reported() -> None:
    assert check_rule("low-intensity", model(1, 1024)) == []


def test_embedding_table_does_not_count_as_read() -> None:
    model_proto = proto("g (int64[1, 8] x) => (float y) { e = Gather(w, x) y = Relu(e) }")
    model_proto.graph.initializer.append(numpy_helper.from_array(np.zeros((4096, 8192), np.float32), "w"))
    assert check_rule("low-intensity", model_proto) == []


def test_unknown_arithmetic_is_not_reported() -> None:
    assert check_rule("low-intensity", model(1, 4096, "{ c = MatMul(x, w) y = custom.Heavy(c) }")) == []
