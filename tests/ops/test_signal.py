from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.signal import OPERATORS
from onnx_autodoc.ops.values import Contradiction, Unknown
from tests.ops._one_node import assert_as_it_runs, cost, infer, numbers, shape_of, zeros


@pytest.mark.parametrize("length", [None, np.array(7), np.array(4)])
@pytest.mark.parametrize(
    ("onesided", "inverse", "parts"), [(0, 0, 1), (0, 0, 2), (1, 0, 1), (0, 1, 1), (0, 1, 2), (1, 1, 2)]
)
def test_dft_shape_equals_the_shape_of_a_run(onesided: int, inverse: int, parts: int, length: Any) -> None:
    x, kind = zeros(2, 5, 6, parts), {"onesided": onesided, "inverse": inverse}
    assert_as_it_runs(OPERATORS, "DFT", [x, length], 17, **kind)
    assert_as_it_runs(OPERATORS, "DFT", [x, length], 17, axis=2, **kind)
    assert_as_it_runs(OPERATORS, "DFT", [x, length], 20, **kind)
    assert_as_it_runs(OPERATORS, "DFT", [x, length, np.array(-3)], 20, **kind)


@pytest.mark.parametrize("onesided", [0, 1])
@pytest.mark.parametrize("frame", [[zeros(7)], [None, np.array(6)], [zeros(6), np.array(6)]])
def test_stft_shape_equals_the_shape_of_a_run(frame: list[Any], onesided: int) -> None:
    assert_as_it_runs(OPERATORS, "STFT", [zeros(2, 20, 1), np.array(3), *frame], 17, onesided=onesided)


@pytest.mark.parametrize("op", ["HannWindow", "HammingWindow", "BlackmanWindow"])
@pytest.mark.parametrize("attributes", [{}, {"output_datatype": 11}])
def test_window_type_and_size_equal_those_of_a_run(op: str, attributes: dict[str, int]) -> None:
    assert_as_it_runs(OPERATORS, op, [np.array(9)], 17, **attributes)


def test_mel_matrix_shape_equals_the_shape_of_a_run() -> None:
    edges = [np.array(8000), np.array(0, np.float32), np.array(2000, np.float32)]
    assert_as_it_runs(OPERATORS, "MelWeightMatrix", [np.array(4), np.array(33), *edges], 17)


def test_unknown_length_leaves_other_dims_known() -> None:
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
def test_invalid_transform_is_a_contradiction(op: str, inputs: list[Any]) -> None:
    with pytest.raises(Contradiction):
        infer(OPERATORS, op, inputs, 20)


def test_dft_costs_a_fast_fourier_transform() -> None:
    # 5 n log2 n for n = 8 complex numbers; half of it for real ones
    assert cost(OPERATORS, "DFT", [zeros(3, 8, 2)], 20) == Cost(other=3 * 5 * 8 * 3)
    assert cost(OPERATORS, "DFT", [zeros(3, 8, 1)], 20, onesided=1) == Cost(other=3 * 5 * 8 * 3 // 2)
    assert cost(OPERATORS, "DFT", [zeros(3, 5, 2)], 20, onesided=1, inverse=1) == Cost(other=3 * 5 * 8 * 3 // 2)
    assert cost(OPERATORS, "DFT", [zeros(3, 8, 2), np.array(16)], 20) == Cost(other=3 * 5 * 16 * 4)
    assert cost(OPERATORS, "DFT", [zeros(8, 3, 2), None, np.array(0)], 20) == Cost(other=3 * 5 * 8 * 3)
    assert cost(OPERATORS, "DFT", [zeros(3, 1, 2)], 20) == Cost(other=0)


def test_stft_costs_one_transform_per_frame() -> None:
    signal, step = zeros(2, 20, 1), np.array(4)  # four frames of 8
    assert cost(OPERATORS, "STFT", [signal, step, None, np.array(8)], 17) == Cost(other=2 * 4 * 60)
    assert cost(OPERATORS, "STFT", [signal, step, zeros(8)], 17) == Cost(other=2 * 4 * (60 + 8))
    assert cost(OPERATORS, "STFT", [zeros(2, 20, 2), step, zeros(8)], 17, onesided=0) == Cost(other=2 * 4 * (120 + 16))


def test_window_cost_counts_its_cosines() -> None:
    assert cost(OPERATORS, "HannWindow", [np.array(10)], 17) == Cost(other=40)
    assert cost(OPERATORS, "HammingWindow", [np.array(10)], 17) == Cost(other=40)
    assert cost(OPERATORS, "BlackmanWindow", [np.array(10)], 17) == Cost(other=80)


def test_mel_matrix_cost_is_counted_per_weight() -> None:
    edges = [np.array(8000), np.array(0, np.float32), np.array(2000, np.float32)]
    assert cost(OPERATORS, "MelWeightMatrix", [np.array(4), np.array(32), *edges], 17) == Cost(other=17 * 4 * 2)
