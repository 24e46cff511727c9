import numpy as np
from onnx import ModelProto, numpy_helper

from tests._text import proto
from tests.lint._judged import found


def model(rows: int, width: int, text: str = "{ [product] y = MatMul(x, w) }") -> ModelProto:
    made = proto(f"g (float[{rows}, 4096] x) => (float y) {text}")
    made.graph.initializer.append(numpy_helper.from_array(np.zeros((4096, width), np.float16).astype(np.float32), "w"))
    return made


def test_one_row_times_a_large_matrix_waits_for_memory() -> None:
    (finding,) = found("low-intensity", model(1, 4096))
    sums = "33.6 MFLOPs on 64.0 MiB of weights and inputs"
    assert finding.message == f"0.50 FLOPs for each byte that is read ({sums}): memory bounds the speed"
    assert finding.evidence == ("product",)


def test_many_rows_do_not() -> None:
    assert found("low-intensity", model(64, 4096)) == []


def test_what_may_stay_in_a_cache_is_not_judged() -> None:
    assert found("low-intensity", model(1, 1024)) == []


def test_a_table_of_which_rows_are_picked_is_not_read_whole() -> None:
    made = proto("g (int64[1, 8] x) => (float y) { e = Gather(w, x) y = Relu(e) }")
    made.graph.initializer.append(numpy_helper.from_array(np.zeros((4096, 8192), np.float32), "w"))
    assert found("low-intensity", made) == []


def test_arithmetic_that_is_not_known_may_be_any() -> None:
    assert found("low-intensity", model(1, 4096, "{ c = MatMul(x, w) y = custom.Heavy(c) }")) == []
