"""Typical times: the expected time and the width of its range, by the closest measurements."""

from itertools import pairwise

import pytest
from msgspec import structs

from onnx_autodoc.hardware.devices import find_device
from onnx_autodoc.hardware.estimate import TimeRange
from onnx_autodoc.hardware.typical import Measurement, MeasurementQuery, MeasurementTable, estimate_from, find_platform
from scripts.cross_validation import publisher_of

QUERY = MeasurementQuery("t4", "NVIDIA gpu", "fp16", "convolutions", "cnn", -5.0, 0.0, 1.0, 0.001)
ONE = Measurement(
    device="t4",
    platform="NVIDIA gpu",
    precision="fp16",
    work="convolutions",
    family="cnn",
    runtime="tensorrt",
    source="a",
    length=-5.0,
    batch=0.0,
    intensity=1.0,
    factor=0.3,
)
SLOW = structs.replace(ONE, runtime="pytorch", factor=1.3)


def estimate_query(some: list[Measurement], runtime: str | None = None) -> TimeRange:
    result = estimate_from(QUERY, MeasurementTable(some), runtime)
    assert result is not None
    return result


def test_median_is_expected_without_a_runtime() -> None:
    """Three fast ones and a slow one: the mean of them is a time that none of them took."""
    result = estimate_query([ONE, ONE, ONE, SLOW])
    assert result.expected == pytest.approx(QUERY.roofline * 10**0.3, rel=0.05)
    assert result.low < result.expected < result.high


def test_range_includes_slow_runtimes_without_a_runtime() -> None:
    assert estimate_query([ONE, ONE, SLOW]).high > QUERY.roofline * 10**1.3
    assert estimate_query([ONE, ONE, SLOW], "tensorrt").high < estimate_query([ONE, ONE, SLOW]).high


def test_range_is_narrower_with_more_sources() -> None:
    alone = estimate_query([ONE] * 4)
    together = estimate_query([structs.replace(ONE, source=name) for name in "abcd"])
    assert together.expected == pytest.approx(alone.expected)
    assert together.high / together.low < alone.high / alone.low


def test_expected_time_is_continuous() -> None:
    """Half of the weight lies between two of them: it does not jump from one to the other."""
    moved = [structs.replace(SLOW, batch=at / 50) for at in range(100)]
    times = [estimate_query([ONE, ONE, ONE, SLOW, SLOW, each, each]).expected for each in moved]
    assert times[0] > 5 * times[-1]
    assert all(0.8 < after / before < 1.25 for before, after in pairwise(times))


def test_npus_with_and_without_memory_are_separate_platforms() -> None:
    """A roofline over a memory bus, and one of arithmetic alone, are not the same yardstick."""
    assert find_platform(find_device("hailo_8")) == find_platform(find_device("hailo_8l")) == "hailo npu"
    assert find_platform(find_device("hailo_10h")) == "hailo npu with memory"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("NVIDIA/TensorRT demo/BERT/README.md at v9.3.0", "NVIDIA/TensorRT"),
        ("https://github.com/ggml-org/llama.cpp/pull/3084", "ggml-org/llama.cpp"),
        ("mlcommons/inference_results_v1.1 Krai rpi4", "mlcommons"),
        ("https://coral.ai/docs/edgetpu/benchmarks/", "https://coral.ai/docs/edgetpu/benchmarks/"),
    ],
)
def test_sources_are_grouped_by_publisher(source: str, named: str) -> None:
    assert publisher_of(source) == named
