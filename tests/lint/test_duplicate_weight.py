from pathlib import Path

import numpy as np
import onnx

from onnx_autodoc.card import Severity
from onnx_autodoc.readers import read_model
from tests.lint._check import check_rule, check_weights, with_weights

RULE = "duplicate-weight"
TWO = "g (float[2, 512] x) => (float[2, 512] y) { h = MatMul(x, v) y = MatMul(h, w) }"


def some(seed: int, *dims: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(dims).astype(np.float32)


def test_two_copies_of_a_matrix_are_reported(tmp_path: Path) -> None:
    (finding,) = check_weights(RULE, tmp_path, with_weights(TWO, v=some(0, 512, 512), w=some(0, 512, 512)))
    assert finding.message == "1 tensor is a copy of v: 1.00 MiB of duplicate data"
    assert (finding.severity, finding.evidence) == (Severity.NOTE, ("v", "w"))


def test_copies_in_a_constant_node_and_in_another_encoding_are_reported(tmp_path: Path) -> None:
    array = some(0, 512, 512)
    model_proto = with_weights(TWO, v=array)
    tensor = onnx.helper.make_tensor("", onnx.TensorProto.FLOAT, array.shape, array.reshape(-1).tolist())
    model_proto.graph.node.insert(0, onnx.helper.make_node("Constant", [], ["w"], value=tensor))
    (finding,) = check_weights(RULE, tmp_path, model_proto)
    assert finding.evidence == ("v", "w")


def test_different_or_small_tensors_are_not_reported(tmp_path: Path) -> None:
    other = some(0, 512, 512)
    other[-1, -1] += 1
    assert check_weights(RULE, tmp_path, with_weights(TWO, v=some(0, 512, 512), w=other)) == []
    assert check_weights(RULE, tmp_path, with_weights(TWO, v=some(0, 512, 256), w=some(0, 256, 512))) == []
    assert check_weights(RULE, tmp_path, with_weights(TWO, v=some(0, 63, 63), w=some(0, 63, 63))) == []


def test_small_copies_in_a_large_model_are_not_reported(tmp_path: Path) -> None:
    text = "g (float[2, 512] x) => (float[2, 128] y) { h = MatMul(x, u) i = MatMul(h, v) y = MatMul(i, w) }"
    small = some(0, 128, 128)
    assert len(check_weights(RULE, tmp_path, with_weights(text, u=some(1, 512, 128), v=small, w=small))) == 1
    assert check_weights(RULE, tmp_path, with_weights(text, u=some(1, 8192, 128), v=small, w=small)) == []


def test_zero_matrices_are_not_reported(tmp_path: Path) -> None:
    zeros = np.zeros((512, 512), np.float32)
    assert check_weights(RULE, tmp_path, with_weights(TWO, v=zeros, w=zeros)) == []


def test_two_names_for_one_location_are_not_reported(tmp_path: Path) -> None:
    model_proto = with_weights(TWO, v=some(0, 512, 512), w=some(0, 512, 512))
    onnx.save(model_proto, tmp_path / "m.onnx", save_as_external_data=True, location="m.data")
    apart = onnx.load(tmp_path / "m.onnx", load_external_data=False)
    (finding,) = check_weights(RULE, tmp_path, apart)
    assert finding.count == 2
    del apart.graph.initializer[1].external_data[:]
    apart.graph.initializer[1].external_data.extend(apart.graph.initializer[0].external_data)
    assert check_weights(RULE, tmp_path, apart) == []
    assert len({tensor.location for tensor in read_model(tmp_path / "model.onnx").graph.initializers}) == 1


def test_unread_weights_are_not_reported() -> None:
    assert check_rule(RULE, with_weights(TWO, v=some(0, 512, 512), w=some(0, 512, 512))) == []
