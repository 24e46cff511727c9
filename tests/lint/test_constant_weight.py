from pathlib import Path

import numpy as np
import pytest

from onnx_autodoc.card import Severity
from tests.lint._check import check_rule, check_weights, with_weights

RULE = "constant-weight"
TWO = "g (float[2, 64] x) => (float[2, 64] y) { h = MatMul(x, v) y = MatMul(h, w) }"
CONV = "g (float[1, 512, 8, 8] x) => (float[1, 512, 6, 6] y) { y = Conv<group = 512>(x, k) }"


def some(*dims: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(dims).astype(np.float32)


def full(value: float, *dims: int) -> np.ndarray:
    return np.full(dims, value, np.float32)


def test_matrix_of_zeros_is_reported(tmp_path: Path) -> None:
    (finding,) = check_weights(RULE, tmp_path, with_weights(TWO, v=some(64, 64), w=full(0, 64, 64)))
    assert finding.message == "1 weight matrix is all zero, 50% of the parameters: w"
    assert (finding.severity, finding.evidence) == (Severity.WARNING, ("w",))


def test_one_layer_of_many_that_is_zero_is_a_note(tmp_path: Path) -> None:
    text = "g (float[2, 512] x) => (float[2, 64] y) { h = MatMul(x, v) i = MatMul(h, u) y = MatMul(i, w) }"
    model_proto = with_weights(text, v=some(512, 512), u=some(512, 64), w=full(0, 64, 64))
    (finding,) = check_weights(RULE, tmp_path, model_proto)
    assert finding.message == "1 weight matrix is all zero, 1% of the parameters: w"
    assert finding.severity is Severity.NOTE


def test_stripped_file_is_one_finding(tmp_path: Path) -> None:
    (finding,) = check_weights(RULE, tmp_path, with_weights(TWO, v=full(0, 64, 64), w=full(-0.0, 64, 64)))
    assert finding.message == "2 weight matrices are all zero, 100% of the parameters: v, w"


def test_constant_nonzero_matrix_is_a_note(tmp_path: Path) -> None:
    (finding,) = check_weights(RULE, tmp_path, with_weights(TWO, v=some(64, 64), w=full(0.5, 64, 64)))
    assert finding.message == "1 weight matrix has one value, 50% of the parameters: w"
    assert (finding.severity, finding.about) == (Severity.NOTE, "not zero")


def test_kernels_of_zeros_are_reported(tmp_path: Path) -> None:
    (finding,) = check_weights(RULE, tmp_path, with_weights(CONV, k=full(0, 512, 1, 3, 3)))
    assert finding.message == "1 weight matrix is all zero, 100% of the parameters: k"
    assert finding.severity is Severity.WARNING


def test_averaging_kernel_is_not_reported(tmp_path: Path) -> None:
    assert check_weights(RULE, tmp_path, with_weights(CONV, k=full(1 / 9, 512, 1, 3, 3))) == []


def test_biases_of_zero_and_scales_of_one_are_not_reported(tmp_path: Path) -> None:
    text = """g (float[2, 8192] x) => (float[2, 8192] y) {
        n = LayerNormalization(x, scale, shift) y = Add(n, bias)
    }"""
    model_proto = with_weights(text, scale=full(1, 8192), shift=full(0, 8192), bias=full(0, 1, 8192))
    assert check_weights(RULE, tmp_path, model_proto) == []


@pytest.mark.parametrize("weight", [full(0, 63, 64), full(0, 64, 64) + np.eye(64, dtype=np.float32)])
def test_small_or_varied_matrices_are_not_reported(weight: np.ndarray, tmp_path: Path) -> None:
    rows = weight.shape[0]
    text = f"g (float[2, {rows}] x) => (float[2, 64] y) {{ y = MatMul(x, w) }}"
    assert check_weights(RULE, tmp_path, with_weights(text, w=weight)) == []


def test_zeros_that_are_added_are_not_reported(tmp_path: Path) -> None:
    text = "g (float[1, 128, 64] x) => (float[1, 128, 64] y) { y = Add(x, positions) }"
    assert check_weights(RULE, tmp_path, with_weights(text, positions=full(0, 1, 128, 64))) == []


def test_unread_weights_are_not_reported() -> None:
    assert check_rule(RULE, with_weights(TWO, v=some(64, 64), w=full(0, 64, 64))) == []
