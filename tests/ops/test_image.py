import random
import re
from typing import Any

import numpy as np
import pytest

from onnx_autodoc.ops.cost import Cost
from onnx_autodoc.ops.image import OPERATORS
from onnx_autodoc.ops.values import Contradiction, Unknown
from tests.ops._calls import unknown_reason
from tests.ops._one_node import assert_as_it_runs, cost, infer, numbers, shape_of, zeros


@pytest.mark.parametrize("seed", range(40))
def test_image_scaled_by_any_factor_has_the_size_of_a_run(seed: int) -> None:
    pick = random.Random(seed)
    x = zeros(1, 2, pick.randint(1, 40), pick.randint(1, 40))
    up = [pick.choice([2.0, pick.uniform(1, 4), pick.randint(10, 40) / 10]) for _ in range(2)]
    down = [pick.choice([0.5, 0.7, pick.uniform(0.1, 1), pick.randint(1, 20) / 7]) for _ in range(2)]
    assert_as_it_runs(OPERATORS, "Upsample", [x], 7, scales=[1.0, 1.0, *up])
    assert_as_it_runs(OPERATORS, "Upsample", [x, numbers(1, 1, *up)], 9)
    assert_as_it_runs(OPERATORS, "Resize", [x, numbers(1, 1, *down)], 10)
    for opset in (11, 13, 18, 19):
        assert_as_it_runs(OPERATORS, "Resize", [x, numbers(), numbers(1, 1, *down)], opset)
    assert_as_it_runs(OPERATORS, "Resize", [x, None, numbers(*down)], 18, axes=[3, -2])


@pytest.mark.parametrize("policy", ["stretch", "not_larger", "not_smaller"])
@pytest.mark.parametrize("seed", range(20))
def test_image_resized_to_any_size_has_the_size_of_a_run(seed: int, policy: str) -> None:
    pick = random.Random(seed)
    x = zeros(1, 2, pick.randint(1, 40), pick.randint(1, 40))
    to = numbers(pick.randint(1, 60), pick.randint(1, 60))
    axes = pick.choice([[2, 3], [3, 2]])
    options = {"fixed": (3,), "axes": axes, "keep_aspect_ratio_policy": policy}
    assert_as_it_runs(OPERATORS, "Resize", [x, None, None, to], 18, **options)


def test_sizes_take_precedence_over_empty_scales() -> None:
    assert_as_it_runs(
        OPERATORS, "Resize", [zeros(1, 1, 4, 4), numbers(), numbers(), numbers(1, 1, 3, 5)], 11, fixed=(2, 3)
    )


def test_first_upsample_reads_height_and_width_scales() -> None:
    assert shape_of(OPERATORS, "Upsample", (1, 2, 3, 3), opset=1, height_scale=1.5, width_scale=2.0) == (1, 2, 4, 6)


@pytest.mark.parametrize(
    ("inputs", "attributes"),
    [
        (
            [zeros(1, 1, 9, 9), numbers(0, 0, 0.2, 0.2, 1, 1, 0.6, 0.8), numbers(1, 1, 0.7, 0.5)],
            {"coordinate_transformation_mode": "tf_crop_and_resize"},
        ),
        (
            [zeros(1, 1, 9, 9), None, None, numbers(4, 6)],
            {"axes": [-2, -1], "keep_aspect_ratio_policy": "not_larger"},
        ),
    ],
)
def test_size_is_unknown_where_specification_and_onnxruntime_disagree(inputs: Any, attributes: Any) -> None:
    (out,) = infer(OPERATORS, "Resize", inputs, 18, **attributes)
    assert out.shape is not None
    assert out.shape[:2] == (1, 1)
    assert all(isinstance(dim, Unknown) for dim in out.shape[2:])


def test_sizes_that_the_data_decides_leave_the_number_of_dimensions_known() -> None:
    shape = shape_of(OPERATORS, "Resize", (1, 3, 8, 8), (0,), (0,), (4,))
    assert shape is not None
    assert len(shape) == 4


@pytest.mark.parametrize(
    ("op", "inputs", "opset", "attributes"),
    [
        ("DepthToSpace", [zeros(1, 8, 2, 3)], 1, {"blocksize": 2}),
        ("DepthToSpace", [zeros(1, 18, 2, 3)], 11, {"blocksize": 3, "mode": "CRD"}),
        ("SpaceToDepth", [zeros(1, 2, 4, 6)], 13, {"blocksize": 2}),
        ("CenterCropPad", [zeros(5, 6, 7), numbers(3, 9, 7)], 18, {}),
        ("CenterCropPad", [zeros(5, 6, 7), numbers(3)], 18, {"axes": [-1]}),
        ("AffineGrid", [zeros(2, 2, 3), numbers(2, 3, 5, 6)], 20, {}),
        ("AffineGrid", [zeros(2, 3, 4), numbers(2, 3, 4, 5, 6)], 20, {}),
        ("GridSample", [zeros(2, 3, 5, 6), zeros(2, 7, 8, 2)], 16, {}),
        ("GridSample", [zeros(2, 3, 4, 5, 6), zeros(2, 7, 8, 9, 3)], 20, {}),
        ("Crop", [zeros(1, 2, 10, 12)], 1, {"border": [1, 2, 3, 4]}),
        ("Crop", [zeros(1, 2, 10, 12)], 1, {"border": [1, 2, 3, 4], "scale": [3, 5]}),
    ],
)
def test_moved_pixels_have_the_size_of_a_run(op: str, inputs: Any, opset: int, attributes: dict[str, Any]) -> None:
    assert_as_it_runs(OPERATORS, op, inputs, opset, **attributes)


def test_number_of_selected_boxes_is_unknown() -> None:
    (out,) = infer(OPERATORS, "NonMaxSuppression", [zeros(1, 6, 4), zeros(1, 1, 6)], 11)
    assert out.dtype == "int64"
    assert out.shape is not None
    assert isinstance(out.shape[0], Unknown)
    assert out.shape[1] == 3


@pytest.mark.parametrize(
    ("op", "inputs", "attributes"),
    [
        ("DepthToSpace", [zeros(1, 7, 2, 3)], {"blocksize": 2}),
        ("SpaceToDepth", [zeros(1, 2, 3, 4)], {"blocksize": 2}),
        ("Resize", [zeros(1, 1, 4, 4), None, numbers(1, 2)], {}),
        ("Resize", [zeros(1, 1, 4, 4), None, numbers(1, 1, -1, 1)], {}),
        ("Resize", [zeros(1, 1, 4, 4), None, None, np.array([1, 1, -4, 4])], {}),
    ],
)
def test_impossible_image_is_a_contradiction(op: str, inputs: Any, attributes: dict[str, Any]) -> None:
    with pytest.raises(Contradiction):
        infer(OPERATORS, op, inputs, 18, **attributes)


IMAGE = zeros(1, 2, 4, 6)


@pytest.mark.parametrize(("mode", "each"), [("nearest", 0), ("linear", 7), ("cubic", 31)])
def test_resized_image_costs_an_interpolation_per_element(mode: str, each: int) -> None:
    to = [IMAGE, None, None, numbers(1, 2, 8, 9)]
    assert cost(OPERATORS, "Resize", to, 19, mode=mode) == Cost(other=2 * 8 * 9 * each)


def test_unchanged_axis_is_not_interpolated() -> None:
    assert cost(OPERATORS, "Resize", [IMAGE, None, numbers(1, 1, 1, 2)], 19, mode="linear") == Cost(other=96 * 3)
    assert cost(OPERATORS, "Resize", [IMAGE, None, numbers(1, 1, 1, 1)], 19, mode="linear") == Cost()
    assert cost(OPERATORS, "Upsample", [IMAGE, numbers(1, 1, 2, 2)], 9, mode="linear") == Cost(other=192 * 7)


def test_antialias_widens_the_interpolation() -> None:
    by = [IMAGE, None, numbers(1, 1, 0.5, 0.5)]
    assert cost(OPERATORS, "Resize", by, 19, mode="linear") == Cost(other=12 * 7)
    assert cost(OPERATORS, "Resize", by, 19, mode="linear", antialias=1) == Cost(other=12 * (2 * 4 * 4 - 1))
    up = [IMAGE, None, numbers(1, 1, 2, 2)]
    assert cost(OPERATORS, "Resize", up, 19, mode="linear", antialias=1) == Cost(other=192 * 7)


@pytest.mark.parametrize(("mode", "each"), [({}, 7), ({"mode": "nearest"}, 0), ({"mode": "bicubic"}, 31)])
def test_grid_sample_costs_an_interpolation_per_element(mode: dict[str, str], each: int) -> None:
    assert cost(OPERATORS, "GridSample", [zeros(2, 3, 5, 6), zeros(2, 7, 8, 2)], 16, **mode) == Cost(
        other=2 * 3 * 7 * 8 * each
    )
    volume = [zeros(1, 1, 4, 5, 6), zeros(1, 2, 2, 2, 3)]
    assert cost(OPERATORS, "GridSample", volume, 20, mode="linear") == Cost(other=8 * 15)


def test_affine_grid_costs_a_matrix_product() -> None:
    assert cost(OPERATORS, "AffineGrid", [zeros(2, 2, 3), numbers(2, 3, 5, 6)], 20) == Cost(macs=2 * 5 * 6 * 2 * 3)


def test_moved_pixels_cost_no_operations_and_cropped_ones_are_not_read() -> None:
    assert cost(OPERATORS, "DepthToSpace", [zeros(1, 8, 2, 3)], 13, blocksize=2) == Cost()
    cropped = cost(OPERATORS, "Crop", [zeros(1, 2, 10, 12)], 1, border=[1, 2, 3, 4])
    assert cropped == Cost(read=2 * 4 * 8 * 4)


@pytest.mark.parametrize(
    ("op", "inputs"), [("NonMaxSuppression", [zeros(1, 6, 4), zeros(1, 1, 6)]), ("ImageDecoder", [zeros(9)])]
)
def test_data_dependent_operations_are_not_counted(op: str, inputs: Any) -> None:
    assert re.match(f"{op}: the .* is data-dependent", unknown_reason(cost(OPERATORS, op, inputs, 20)))
