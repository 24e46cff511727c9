"""Typical times: what is expected, and how wide the range is, by the measurements that are near."""

from itertools import pairwise

import pytest
from msgspec import structs

from onnx_autodoc.hardware._grades import Range
from onnx_autodoc.hardware._typical import Case, Columns, Measurement, near, platform_of
from onnx_autodoc.hardware.devices import find
from scripts.left_out import publisher

CASE = Case("t4", "NVIDIA gpu", "fp16", "convolutions", "cnn", -5.0, 0.0, 1.0, 0.001)
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


def _near(some: list[Measurement], runtime: str | None = None) -> Range:
    found = near(CASE, Columns(some), runtime)
    assert found is not None
    return found


def test_the_middle_measurement_is_expected_where_no_runtime_is_named() -> None:
    """Three fast ones and a slow one: the mean of them is a time that none of them took."""
    found = _near([ONE, ONE, ONE, SLOW])
    assert found.expected == pytest.approx(CASE.roofline * 10**0.3, rel=0.05)
    assert found.low < found.expected < found.high


def test_a_range_reaches_to_slow_runtimes_where_none_is_named() -> None:
    assert _near([ONE, ONE, SLOW]).high > CASE.roofline * 10**1.3
    assert _near([ONE, ONE, SLOW], "tensorrt").high < _near([ONE, ONE, SLOW]).high


def test_a_range_is_narrower_where_more_sources_say_the_same() -> None:
    alone = _near([ONE] * 4)
    together = _near([structs.replace(ONE, source=name) for name in "abcd"])
    assert together.expected == pytest.approx(alone.expected)
    assert together.high / together.low < alone.high / alone.low


def test_what_is_expected_moves_little_where_a_measurement_moves_little() -> None:
    """Half of the weight lies between two of them: it does not jump from one to the other."""
    moved = [structs.replace(SLOW, batch=at / 50) for at in range(100)]
    times = [_near([ONE, ONE, ONE, SLOW, SLOW, each, each]).expected for each in moved]
    assert times[0] > 5 * times[-1]
    assert all(0.8 < after / before < 1.25 for before, after in pairwise(times))


def test_chips_with_memory_say_nothing_of_chips_without() -> None:
    """A roofline over a memory bus, and one of arithmetic alone, are not the same yardstick."""
    assert platform_of(find("hailo_8")) == platform_of(find("hailo_8l")) == "hailo npu"
    assert platform_of(find("hailo_10h")) == "hailo npu with memory"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("NVIDIA/TensorRT demo/BERT/README.md at v9.3.0", "NVIDIA/TensorRT"),
        ("https://github.com/ggml-org/llama.cpp/pull/3084", "ggml-org/llama.cpp"),
        ("mlcommons/inference_results_v1.1 Krai rpi4", "mlcommons"),
        ("https://coral.ai/docs/edgetpu/benchmarks/", "https://coral.ai/docs/edgetpu/benchmarks/"),
    ],
)
def test_sources_of_one_publisher_are_told(source: str, named: str) -> None:
    assert publisher(source) == named
