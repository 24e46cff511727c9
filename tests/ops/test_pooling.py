import random
from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.pooling import OPERATORS
from onnx_autodoc.ops.values import Contradiction, InferenceError, Unknown
from tests.ops._calls import unknown_reason
from tests.ops._one_node import assert_as_it_runs, cost, numbers, shape_of, zeros

POOLS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((1, 2, 8), {"kernel_shape": [3]}),
    ((1, 2, 8, 9), {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 1]}),
    ((1, 2, 8), {"kernel_shape": [3], "strides": [2], "auto_pad": "SAME_UPPER"}),
    ((1, 2, 9), {"kernel_shape": [2], "strides": [2], "auto_pad": "SAME_LOWER"}),
    ((1, 2, 9), {"kernel_shape": [2], "strides": [3], "auto_pad": "VALID"}),
    ((1, 2, 3), {"kernel_shape": [4]}),  # no place at all: an empty result
]


@pytest.mark.parametrize(("op", "opset"), [("MaxPool", 1), ("MaxPool", 8), ("AveragePool", 7), ("LpPool", 2)])
@pytest.mark.parametrize(("x", "attributes"), POOLS)
def test_pool_of_an_old_opset_has_the_size_of_a_run(
    op: str, opset: int, x: tuple[int, ...], attributes: dict[str, Any]
) -> None:
    assert_as_it_runs(OPERATORS, op, [zeros(*x)], opset, **attributes)


@pytest.mark.parametrize("op", ["MaxPool", "AveragePool", "LpPool"])
@pytest.mark.parametrize("seed", range(60))
def test_pool_that_rounds_up_has_the_size_of_a_run(op: str, seed: int) -> None:
    pick = random.Random(seed)
    rank = pick.randint(1, 3)
    kernel = [pick.randint(1, 4) for _ in range(rank)]
    x = [pick.randint(10, 16) for _ in range(rank)]
    attributes: dict[str, Any] = {"kernel_shape": kernel, "strides": [pick.randint(1, 4) for _ in range(rank)]}
    attributes["ceil_mode"] = pick.choice([0, 1, 1])
    if pick.random() < 0.7:
        attributes["pads"] = [pick.randint(0, size - 1) for size in kernel * 2]
        attributes["dilations"] = [pick.randint(1, 3) for _ in range(rank)]
    else:
        attributes["auto_pad"] = "VALID"
    assert_as_it_runs(OPERATORS, op, [zeros(1, 2, *x)], 22, **attributes)


def test_last_window_does_not_start_in_the_padding() -> None:
    attributes = {"kernel_shape": (1,), "strides": (2,), "pads": (0, 1), "ceil_mode": 1}
    assert shape_of(OPERATORS, "MaxPool", (1, 1, 2), **attributes) == (1, 1, 1)
    assert shape_of(OPERATORS, "MaxPool", (1, 1, 3), **attributes) == (1, 1, 2)


def test_max_pool_returns_indices() -> None:
    assert_as_it_runs(OPERATORS, "MaxPool", [zeros(1, 2, 8, 8)], 12, outputs=2, kernel_shape=[2, 2], strides=[2, 2])


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
def test_global_pool_returns_one_number_per_channel(op: str) -> None:
    assert_as_it_runs(OPERATORS, op, [zeros(2, 3, 4, 5)], 2)


def test_pooled_regions_have_the_size_of_a_run() -> None:
    x = zeros(1, 2, 6, 6)
    assert_as_it_runs(OPERATORS, "MaxRoiPool", [x, zeros(3, 5)], 1, pooled_shape=[2, 3])
    assert_as_it_runs(OPERATORS, "RoiAlign", [x, zeros(3, 4), numbers(0, 0, 0)], 10)
    assert_as_it_runs(OPERATORS, "RoiAlign", [x, zeros(3, 4), numbers(0, 0, 0)], 16, output_height=2, output_width=4)


def test_unpooled_image_has_the_size_of_a_run() -> None:
    x = [zeros(1, 1, 2, 2), zeros(1, 1, 2, 2, dtype=np.int64)]
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    assert_as_it_runs(OPERATORS, "MaxUnpool", x, 9, **window)
    assert_as_it_runs(OPERATORS, "MaxUnpool", x, 11, **window, pads=[1, 1, 0, 0])
    assert_as_it_runs(OPERATORS, "MaxUnpool", [*x, numbers(1, 1, 5, 5)], 11, **window)


@pytest.mark.parametrize(
    "attributes",
    [
        {"kernel_shape": (3,), "dilations": (2,), "auto_pad": "SAME_UPPER"},
        {"kernel_shape": (9,), "strides": (3,)},
    ],
)
def test_size_is_unknown_where_specification_and_onnxruntime_disagree(attributes: dict[str, Any]) -> None:
    shape = shape_of(OPERATORS, "MaxPool", (1, 2, 8), **attributes)
    assert shape is not None
    assert isinstance(shape[2], Unknown)


def test_unknown_size_stays_unknown_and_others_are_known() -> None:
    free = Unknown("the height is free")
    pool = {"kernel_shape": (3, 3), "strides": (2, 2), "ceil_mode": 1}
    shape = shape_of(OPERATORS, "MaxPool", (free, 2, free, 8), **pool)
    assert shape is not None and (shape[0], shape[1], shape[3]) == (free, 2, 4)
    assert isinstance(shape[2], Unknown) and shape[2] is not free


@pytest.mark.parametrize(
    ("x", "attributes"),
    [
        ((1, 2, 8), {}),
        ((1, 2, 8), {"kernel_shape": (3, 3)}),
        ((1, 2), {"kernel_shape": ()}),
        ((1, 2, 3), {"kernel_shape": (9,)}),
        ((1, 2, 3), {"kernel_shape": (9,), "ceil_mode": 1}),
    ],
)
def test_impossible_pool_is_a_contradiction(x: Any, attributes: dict[str, Any]) -> None:
    with pytest.raises(Contradiction):
        shape_of(OPERATORS, "MaxPool", x, **attributes)


@pytest.mark.parametrize(("op", "each"), [("MaxPool", 6), ("AveragePool", 7), ("LpPool", 13)])
def test_pool_costs_operations_per_kernel_element(op: str, each: int) -> None:
    pool = {"kernel_shape": [2, 3], "strides": [2, 3], "pads": [0, 1, 0, 1]}
    assert cost(OPERATORS, op, [zeros(1, 2, 8, 10)], 22, **pool) == Cost(other=2 * 4 * 4 * each)


@pytest.mark.parametrize(("op", "each", "once"), [("Max", 1, 0), ("Average", 1, 1), ("Lp", 2, 1)])
def test_global_pool_costs_operations_per_input_element(op: str, each: int, once: int) -> None:
    assert cost(OPERATORS, f"Global{op}Pool", [zeros(2, 3, 4, 5)], 2) == Cost(other=each * 120 + once * 6)


def test_roi_align_costs_operations_per_sample() -> None:
    inputs, pooled = [zeros(1, 2, 6, 6), zeros(3, 4), numbers(0, 0, 0)], {"output_height": 2, "output_width": 4}
    assert cost(OPERATORS, "RoiAlign", inputs, 16, sampling_ratio=2, **pooled) == Cost(other=48 * (4 * 8 + 1))
    assert cost(OPERATORS, "RoiAlign", inputs, 16, sampling_ratio=2, mode="max", **pooled) == Cost(other=48 * 4 * 8)


def test_roi_align_with_adaptive_sampling_is_not_counted() -> None:
    x = zeros(1, 2, 6, 6)
    with pytest.raises(InferenceError, match="depends on its size"):
        cost(OPERATORS, "RoiAlign", [x, zeros(3, 4), numbers(0, 0, 0)], 16)
    pooled = cost(OPERATORS, "MaxRoiPool", [x, zeros(3, 5)], 1, pooled_shape=[2, 3])
    assert unknown_reason(pooled).startswith("MaxRoiPool: the size of each region is data-dependent")


def test_max_unpool_costs_no_operations() -> None:
    x = [zeros(1, 1, 2, 2), zeros(1, 1, 2, 2, dtype=np.int64)]
    assert cost(OPERATORS, "MaxUnpool", x, 9, kernel_shape=[2, 2], strides=[2, 2]) == Cost()
