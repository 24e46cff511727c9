from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops._known import Contradiction, Unknown
from onnx_autodoc.ops.signal import OPERATORS
from tests.ops._one_node import assert_as_it_runs, infer, numbers, shape_of, zeros


@pytest.mark.parametrize("length", [None, np.array(7), np.array(4)])
@pytest.mark.parametrize(
    ("onesided", "inverse", "parts"), [(0, 0, 1), (0, 0, 2), (1, 0, 1), (0, 1, 1), (0, 1, 2), (1, 1, 2)]
)
def test_a_fourier_transform_has_the_size_that_runs(onesided: int, inverse: int, parts: int, length: Any) -> None:
    x, kind = zeros(2, 5, 6, parts), {"onesided": onesided, "inverse": inverse}
    assert_as_it_runs(OPERATORS, "DFT", [x, length], 17, **kind)
    assert_as_it_runs(OPERATORS, "DFT", [x, length], 17, axis=2, **kind)
    assert_as_it_runs(OPERATORS, "DFT", [x, length], 20, **kind)
    assert_as_it_runs(OPERATORS, "DFT", [x, length, np.array(-3)], 20, **kind)


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("frame", [[zeros(7)], [None, np.array(6)], [zeros(6), np.array(6)]])
def test_a_short_time_transform_has_the_size_that_runs(frame: list[Any], onesided: int) -> None:
    assert_as_it_runs(OPERATORS, "STFT", [zeros(2, 20, 1), np.array(3), *frame], 17, onesided=onesided)


@pytest.mark.parametrize("op", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("attributes", [{}, {"output_datatype": 11}])
def test_a_window_has_the_type_and_size_that_run(op: str, attributes: dict[str, int]) -> None:
    assert_as_it_runs(OPERATORS, op, [np.array(9)], 17, **attributes)


def test_a_mel_matrix_has_the_size_that_runs() -> None:
    edges = [np.array(8000), np.array(0, np.float32), np.array(2000, np.float32)]
    assert_as_it_runs(OPERATORS, "MelWeightMatrix", [np.array(4), np.array(33), *edges], 17)


def test_a_length_that_the_data_decides_is_the_only_unknown_size() -> None:
    window = shape_of(OPERATORS, "HannWindow", ())
    assert window is not None
    assert isinstance(window[0], Unknown)
    frames = shape_of(OPERATORS, "STFT", (2, 20, 1), (), (7,))
    assert frames is not None
    assert isinstance(frames[1], Unknown)
    assert (frames[0], *frames[2:]) == (2, 4, 2)


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("DFT", [zeros(2, 5, 1), None, np.array(-1)]),
        ("STFT", [zeros(2, 5, 1), np.array(1), zeros(7)]),
        ("STFT", [zeros(2, 9, 1), np.array(0), zeros(7)]),
        ("HannWindow", [np.array(-1)]),
        ("HannWindow", [numbers(1, 2)]),
    ],
)
def test_a_transform_that_cannot_run_is_a_contradiction(op: str, inputs: list[Any]) -> None:
    with pytest.raises(Contradiction):
        infer(OPERATORS, op, inputs, 20)
