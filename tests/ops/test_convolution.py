import random
from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops.convolution import OPERATORS
from onnx_autodoc.ops.values import Contradiction, Unknown
from tests.ops._one_node import assert_as_it_runs, infer, numbers, shape_of, zeros

N = Unknown("the batch is free")

CONVOLUTIONS: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 2, 9), (4, 2, 3), {}),
    ((2, 3, 7, 8), (5, 3, 3, 2), {"pads": [1, 0, 2, 1], "strides": [2, 3]}),
    ((1, 4, 9, 9), (6, 2, 3, 3), {"group": 2, "dilations": [2, 3]}),
    ((1, 2, 7), (4, 2, 1), {"auto_pad": "SAME_UPPER", "strides": [3]}),
    ((1, 2, 8), (4, 2, 3), {"auto_pad": "SAME_LOWER", "strides": [2]}),
    ((1, 2, 8), (4, 2, 3), {"auto_pad": "VALID", "strides": [2], "dilations": [2]}),
    ((1, 2, 5, 5, 5), (4, 2, 2, 3, 1), {"kernel_shape": [2, 3, 1]}),
    ((0, 2, 7), (4, 2, 3), {}),
]


@pytest.mark.parametrize("opset", [1, 11, 22])
@pytest.mark.parametrize(("x", "w", "attributes"), CONVOLUTIONS)
def test_convolution_has_the_size_of_a_run(
    x: tuple[int, ...], w: tuple[int, ...], attributes: dict[str, Any], opset: int
) -> None:
    assert_as_it_runs(OPERATORS, "Conv", [zeros(*x), zeros(*w)], opset, **attributes)


TRANSPOSED: list[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = [
    ((1, 2, 5), (2, 3, 3), {}),
    ((1, 4, 5), (4, 3, 3), {"group": 2, "strides": [2], "output_padding": [1]}),
    ((1, 2, 5, 4), (2, 3, 3, 2), {"pads": [1, 0, 1, 1], "strides": [3, 2], "dilations": [1, 2]}),
    ((1, 2, 5), (2, 3, 3), {"auto_pad": "SAME_UPPER", "strides": [2]}),
    ((1, 2, 5), (2, 3, 4), {"auto_pad": "SAME_LOWER", "strides": [3], "output_padding": [1]}),
    ((1, 2, 5), (2, 3, 3), {"auto_pad": "VALID", "strides": [2]}),
    ((1, 2, 5), (2, 3, 3), {"output_shape": [10], "strides": [2], "pads": [1, 1]}),
]


@pytest.mark.parametrize("opset", [1, 11, 22])
@pytest.mark.parametrize(("x", "w", "attributes"), TRANSPOSED)
def test_transposed_convolution_has_the_size_of_a_run(
    x: tuple[int, ...], w: tuple[int, ...], attributes: dict[str, Any], opset: int
) -> None:
    assert_as_it_runs(OPERATORS, "ConvTranspose", [zeros(*x), zeros(*w)], opset, **attributes)


@pytest.mark.parametrize("seed", range(60))
def test_random_windows_have_the_size_of_a_run(seed: int) -> None:
    pick = random.Random(seed)
    rank = pick.randint(1, 3)
    kernel = [pick.randint(1, 3) for _ in range(rank)]
    x = [pick.randint(7, 12) for _ in range(rank)]
    attributes: dict[str, Any] = {"strides": [pick.randint(1, 4) for _ in range(rank)]}
    padding = pick.choice(["pads", "VALID", "SAME_UPPER", "SAME_LOWER"])
    if padding == "pads":
        attributes["pads"] = [pick.randint(0, 2) for _ in range(2 * rank)]
        attributes["dilations"] = [pick.randint(1, 3) for _ in range(rank)]
    else:
        attributes["auto_pad"] = padding
    assert_as_it_runs(OPERATORS, "Conv", [zeros(1, 2, *x), zeros(3, 2, *kernel)], 11, **attributes)
    if not padding.startswith("SAME") or min(k - s for k, s in zip(kernel, attributes["strides"], strict=True)) >= 0:
        assert_as_it_runs(OPERATORS, "ConvTranspose", [zeros(1, 2, *x), zeros(2, 3, *kernel)], 11, **attributes)


def test_integer_convolutions_have_the_types_of_a_run() -> None:
    x, w = zeros(1, 2, 6, 6, dtype=np.uint8), zeros(4, 2, 3, 3, dtype=np.int8)
    scale, x_zero, w_zero = np.array(1, np.float32), np.array(0, np.uint8), np.array(0, np.int8)
    quantized = [x, scale, x_zero, w, scale, w_zero, scale, x_zero]
    assert_as_it_runs(OPERATORS, "QLinearConv", quantized, 10, pads=[1, 1, 1, 1])
    assert_as_it_runs(OPERATORS, "ConvInteger", [x, w.astype(np.uint8)], 10, strides=[2, 2])


def test_col2im_has_the_size_of_a_run() -> None:
    assert_as_it_runs(OPERATORS, "Col2Im", [zeros(2, 3 * 4, 9), numbers(4, 4), numbers(2, 2)], 18)


def test_output_shape_with_batch_and_channels_is_accepted() -> None:
    assert shape_of(OPERATORS, "ConvTranspose", (1, 2, 5), (2, 3, 3), output_shape=(1, 3, 10)) == (1, 3, 10)


def test_size_is_unknown_where_specification_and_onnxruntime_disagree() -> None:
    shape = shape_of(OPERATORS, "ConvTranspose", (1, 2, 5), (2, 3, 1), auto_pad="SAME_UPPER", strides=(3,))
    assert shape is not None
    assert shape[:2] == (1, 3)
    assert isinstance(shape[2], Unknown)


def test_state_of_causal_convolution_is_one_shorter_than_its_kernel() -> None:
    out = infer(OPERATORS, "CausalConvWithState", [zeros(2, 5, 9), zeros(5, 1, 4)], 27, outputs=2)
    assert [known.shape for known in out] == [(2, 5, 9), (2, 5, 3)]


def test_unknown_size_stays_unknown_and_others_are_known() -> None:
    shape = shape_of(OPERATORS, "Conv", (N, 2, N, 8), (4, 2, 3, 3))
    assert shape is not None and (shape[0], shape[1], shape[3]) == (N, 4, 6)
    assert isinstance(shape[2], Unknown) and shape[2] is not N  # smaller by two: another size
    assert shape_of(OPERATORS, "Conv", (1, 2, N, N), (4, 2, 3, 3), pads=(1, 1, 1, 1)) == (1, 4, N, N)
    assert shape_of(OPERATORS, "ConvTranspose", (N, 2, 8), (2, 4, 3), strides=(2,)) == (N, 4, 17)


def test_huge_size_does_not_overflow() -> None:
    assert shape_of(OPERATORS, "Conv", (1, 2, 2**80), (4, 2, 3)) == (1, 4, 2**80 - 2)


@pytest.mark.parametrize(
    ("x", "w", "attributes"),
    [
        ((1, 3, 8), (4, 2, 3), {}),
        ((1, 4, 8), (3, 2, 3), {"group": 2}),
        ((1, 2, 8), (4, 2, 9), {}),
        ((1, 2, 8, 8), (4, 2, 3), {}),
        ((1, 2), (4, 2), {}),
        ((1, 2, 8), (4, 2, 3), {"kernel_shape": (2,)}),
        ((1, 2, 8), (4, 2, 3), {"strides": (2, 2)}),
        ((1, 2, 8), (4, 2, 3), {"strides": (0,)}),
        ((1, 2, 8), (4, 2, 3), {"pads": (1,)}),
        ((1, 2, 8), (4, 2, 3), {"auto_pad": "SAME"}),
        ((1, 2, 8), (4, 2, 0), {}),
    ],
)
def test_impossible_convolution_is_a_contradiction(x: Any, w: Any, attributes: dict[str, Any]) -> None:
    with pytest.raises(Contradiction):
        shape_of(OPERATORS, "Conv", x, w, **attributes)
