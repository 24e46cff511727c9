from pathlib import Path

import numpy as np
import pytest

from onnx_autodoc.card import Severity
from tests.lint._check import check_rule, check_weights, with_weights

RULE = "non-finite-weight"
LINEAR = "g (float[2, 64] x) => (float[2, 64] y) { p = MatMul(x, w) y = Add(p, b) }"
MASK = "g (float[1, 2, 64, 64] x) => (float[1, 2, 64, 64] y) { m = Add(x, mask) y = Softmax<axis = -1>(m) }"


def odd(value: float, *dims: int, every: int = 100) -> np.ndarray:
    array = np.random.default_rng(0).standard_normal(dims).astype(np.float32)
    array.reshape(-1)[::every] = value
    return array


def test_nan_in_a_matrix_is_reported(tmp_path: Path) -> None:
    model_proto = with_weights(LINEAR, w=odd(np.nan, 64, 64), b=odd(0, 64))
    (finding,) = check_weights(RULE, tmp_path, model_proto)
    assert finding.message == "1 weight contains 41 NaN: w" and finding.evidence == ("w",)
    assert finding.severity is Severity.ERROR


def test_infinities_in_a_matrix_and_nan_in_a_bias_are_reported_together(tmp_path: Path) -> None:
    model_proto = with_weights(LINEAR, w=odd(np.inf, 64, 64, every=4096), b=odd(np.nan, 64))
    (finding,) = check_weights(RULE, tmp_path, model_proto)
    assert finding.message == "2 weights contain 1 NaN and 1 infinity: w, b"


def test_nan_in_an_embedding_table_is_a_warning(tmp_path: Path) -> None:
    model_proto = with_weights("g (int64[3] i) => (float[3, 8] y) { y = Gather(t, i) }", t=odd(np.nan, 40, 8))
    (finding,) = check_weights(RULE, tmp_path, model_proto)
    assert finding.severity is Severity.WARNING


@pytest.mark.parametrize("value", [-np.inf, np.finfo(np.float32).min])
def test_additive_mask_is_not_reported(value: float, tmp_path: Path) -> None:
    mask = np.triu(np.full((1, 1, 64, 64), value, np.float32), 1)
    assert check_weights(RULE, tmp_path, with_weights(MASK, mask=mask)) == []


def test_infinite_bias_is_not_reported(tmp_path: Path) -> None:
    text = "g (float[2, 64] x) => (float[2, 64] y) { y = Gemm(x, w, b) }"
    assert check_weights(RULE, tmp_path, with_weights(text, w=odd(0, 64, 64), b=odd(-np.inf, 64))) == []


def test_nan_beside_a_condition_is_not_reported(tmp_path: Path) -> None:
    text = "g (bool[2, 64] c, float[2, 64] x) => (float[2, 64] y) { y = Where(c, x, missing) }"
    assert check_weights(RULE, tmp_path, with_weights(text, missing=odd(np.nan, 2, 64))) == []


def test_unread_weights_are_not_reported() -> None:
    assert check_rule(RULE, with_weights(LINEAR, w=odd(np.nan, 64, 64), b=odd(0, 64))) == []
