"""Which devices will do: the smallest that are fast enough by times of one grade, and words where there is none."""

from collections.abc import Iterator

import pytest

from onnx_autodoc import card
from onnx_autodoc.card import Requirements
from onnx_autodoc.hardware import (
    NUMBER_FORMATS,
    Estimate,
    LowerBound,
    NumberFormat,
    Target,
    TimeRange,
    Workload,
    estimate,
    measure_workload,
)
from onnx_autodoc.hardware.devices import Device, find_device
from onnx_autodoc.hardware.requirements import find_requirements
from tests import _corpus as corpus
from tests.hardware._models import measure_text

GIB = 1 << 30
PRODUCT = "g (float[1,512] x) => (float[1,1024] y) <float[512,1024] w> { y = MatMul(x, w) }"
SUM = "g (float[1,512] x) => (float[1,512] y) <float[512] b> { y = Add(x, b) }"
LOOP = """g (float[1,4] x, int64 n) => (float[1,4] y) <bool c = {1}, float[4,4] w, float[4,4] v> {
    h = MatMul(x, v)
    y = Loop (n, c, h) <body = b (int64 i, bool on, float[1,4] h0) => (bool go, float[1,4] next) {
        go = Identity(on)  next = MatMul(h0, w) }> }"""


def make_device(name: str, rate: float, memory: int = 8 * GIB, form: str = "PCIe card") -> Device:
    rates = {"fp32": rate}
    return Device(id=name, name=name, family="own", form=form, memory_bytes=memory, bandwidth=1e15, rates=rates)


SMALL, LARGE = make_device("small", 1e9), make_device("large", 1e10)
WORK = 2 * 512 * 1024  # operations of PRODUCT


def choose_devices(devices: list[Device], target: Target, known: dict[str, float], text: str = PRODUCT) -> Requirements:
    """`known`: seconds that are expected of a device, the range a factor of 2 to each side."""
    built = measure_workload(measure_text(text), "mlp")

    def estimate_time(
        workload: Workload, device: Device, number_format: NumberFormat, bound: LowerBound
    ) -> TimeRange | None:
        seconds = known.get(device.id)
        return TimeRange(seconds / 2, seconds, seconds * 2, "typical", "") if seconds else None

    def requested(device: Device) -> Iterator[Estimate]:
        yield estimate(built, device, NUMBER_FORMATS["fp32"], estimate_time)

    return find_requirements(devices, NUMBER_FORMATS["fp32"], requested, target)


def list_names(result: Requirements) -> list[str | None]:
    levels = (result.minimum, result.recommended, result.comfortable)
    return [each.device if each is not None else None for each in levels]


def test_bounds_are_not_compared_with_expected_times() -> None:
    assert WORK / 1e9 * 4 < 0.01  # by its bound, the small one would do for all
    result = choose_devices([SMALL, LARGE], Target(latency=0.1), {"large": 0.02})
    assert list_names(result) == ["large", "large", "large"]
    assert result.minimum is not None and result.minimum.basis == "typical"
    assert any("1 device" in note for note in result.notes)


def test_bounds_decide_without_expected_times() -> None:
    result = choose_devices([SMALL, LARGE], Target(latency=0.005), {})
    assert list_names(result) == ["small", "large", "large"]
    assert result.minimum is not None and result.minimum.basis == "bound"
    assert "by its lower bound only" in result.minimum.why


def test_levels_have_margins_of_speed() -> None:
    known = {"small": 0.1, "large": 0.05}
    assert list_names(choose_devices([SMALL, LARGE], Target(latency=0.1), known)) == ["small", "large", None]
    assert list_names(choose_devices([SMALL, LARGE], Target(throughput=10), known)) == ["small", "large", None]


def test_memory_decides_without_a_target() -> None:
    assert list_names(choose_devices([SMALL, LARGE], Target(), {"large": 0.02})) == ["small", "small", "small"]


def test_rack_device_is_chosen_only_if_no_card_suffices() -> None:
    rack = make_device("rack", 1e8, form="SXM5")
    known = {"rack": 0.01, "small": 0.1}
    assert list_names(choose_devices([rack, SMALL], Target(latency=0.1), known)) == ["small", None, None]
    assert list_names(choose_devices([rack, SMALL], Target(latency=0.05), known)) == ["rack", "rack", "rack"]


def test_device_with_less_memory_is_smaller() -> None:
    wide = make_device("wide", 9e8, memory=96 * GIB)
    known = {"small": 0.01, "wide": 0.01}
    assert list_names(choose_devices([wide, SMALL], Target(latency=0.1), known)) == ["small", "small", "small"]


def test_unmet_target_names_the_nearest_device() -> None:
    result = choose_devices([SMALL, LARGE], Target(latency=1e-6), {"small": 0.1, "large": 0.05})
    assert list_names(result) == [None, None, None]
    assert "large" in result.notes[0] and "50.0 ms" in result.notes[0]
    result = choose_devices([SMALL, LARGE], Target(throughput=1e6), {"small": 0.1, "large": 0.05})
    assert "20.0 samples/s" in result.notes[0]


def test_model_too_large_for_all_devices_is_noted() -> None:
    tiny = make_device("tiny", 1e9, memory=1 << 20)
    for target in (Target(), Target(latency=1)):
        result = choose_devices([tiny], target, {"tiny": 0.1})
        assert list_names(result) == [None, None, None]
        assert result.notes[0] == "no listed device has enough memory"


@pytest.mark.parametrize("text", [SUM, LOOP])
def test_unknown_workload_has_no_choice_by_speed(text: str) -> None:
    result = choose_devices([SMALL], Target(latency=1), {"small": 1e-3}, text)
    assert list_names(result) == [None, None, None]
    assert "the compute of a run is unknown" in result.notes[0]
    assert list_names(choose_devices([SMALL], Target(), {}, text)) == ["small", "small", "small"]


@pytest.mark.parametrize(
    ("requested", "least"),
    [({"target_latency": 0.05}, 1), ({"target_latency": 0.01}, 1), ({"target_latency": 0.01, "precision": "fp16"}, 2)],
)
def test_requirements_of_a_detector_are_no_rack_devices(requested: dict[str, object], least: int) -> None:
    result = card(corpus.graph("yolov8l-nc1"), devices=["t4"], **requested).hardware  # type: ignore[arg-type]
    assert result is not None and result.requirements is not None
    devices = [find_device(name) for name in list_names(result.requirements) if name]
    assert len(devices) >= least
    assert not any(each.form.startswith(("SXM", "OAM", "superchip")) for each in devices)
    levels = (result.requirements.minimum, result.requirements.recommended, result.requirements.comfortable)
    assert {each.basis for each in levels if each is not None} == {"typical"}
