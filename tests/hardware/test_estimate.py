"""Estimates follow precision and batch: narrower numbers and larger batches change time and memory in proportion."""

import pytest

from onnx_autodoc.hardware import (
    NUMBER_FORMATS,
    Estimate,
    LowerBound,
    NumberFormat,
    Workload,
    estimate,
    measure_workload,
)
from onnx_autodoc.hardware.devices import Device, all_devices, find_device
from onnx_autodoc.hardware.estimate import usable_memory
from onnx_autodoc.hardware.scaling import scale_batches
from tests.hardware._models import measure_text

# Products that reuse each weight 512 times, and a product that uses each once.
MANY = "g (float[B,512] x) => (float[B,1024] y) <float[512,1024] w> { y = MatMul(x, w) }"
T4, A100 = find_device("t4"), find_device("a100_sxm_40gb")


def nothing(workload: Workload, device: Device, number_format: NumberFormat, bound: LowerBound) -> None:
    return None


def estimate_on(device: Device, precision: str, batch: int, text: str = MANY) -> Estimate:
    return estimate(
        measure_workload(measure_text(text, f"B={batch}"), "mlp"), device, NUMBER_FORMATS[precision], nothing
    )


def compute_bound(device: Device, precision: str, batch: int) -> float:
    result = estimate_on(device, precision, batch).lower_bound.seconds
    assert result is not None
    return result


def test_compute_bound_is_macs_over_the_peak_rate() -> None:
    for precision in ("fp32", "fp16", "int8"):
        assert compute_bound(T4, precision, 65536) == pytest.approx(2 * 65536 * 512 * 1024 / T4.rates[precision])
    assert estimate_on(T4, "fp16", 65536).lower_bound.bottleneck == "compute"


def test_memory_bound_is_bytes_over_the_bandwidth() -> None:
    numbers = 512 * 1024
    assert T4.bandwidth is not None
    assert compute_bound(T4, "fp32", 1) == pytest.approx((4 * numbers + 4 * (512 + 1024)) / T4.bandwidth)
    assert compute_bound(T4, "int8", 1) == pytest.approx((numbers + 512 + 1024) / T4.bandwidth)
    assert compute_bound(T4, "int4", 1) == pytest.approx((numbers * 4.5 / 8 + 512 + 1024) / T4.bandwidth)
    assert estimate_on(T4, "int4", 1).lower_bound.bottleneck == "memory"


def test_empty_workload_has_no_bottleneck() -> None:
    result = estimate_on(T4, "fp32", 1, "g (float[B,2] x) => (float[B,2] y) { }")
    assert (result.lower_bound.seconds, result.bottleneck) == (None, None)


@pytest.mark.parametrize("device", [each.id for each in all_devices() if each.bandwidth])
def test_narrower_formats_are_not_slower_or_larger(device: str) -> None:
    for batch in (1, 4096):
        result = [estimate_on(find_device(device), precision, batch) for precision in ("fp32", "fp16", "int8", "int4")]
        known = [each.lower_bound.seconds for each in result if each.lower_bound.seconds is not None]
        assert known == sorted(known, reverse=True)
        weights = [each.need.weights for each in result]
        assert weights == sorted(weights, reverse=True)


def test_weight_bytes_follow_the_format() -> None:
    weight_bytes = {
        precision: estimate_on(T4, precision, 1).need.weights for precision in ("fp32", "fp16", "int8", "int4")
    }
    assert weight_bytes == {"fp32": 1 << 21, "fp16": 1 << 20, "int8": 1 << 19, "int4": (1 << 19) * 4.5 / 8}


def test_scaled_batch_equals_direct_estimate() -> None:
    text = measure_text(MANY, "B=1")
    rows = {each.batch: each for each in scale_batches(text, measure_workload(text, "mlp"))}
    for batch in (1, 8, 128):
        at = estimate(rows[batch], T4, NUMBER_FORMATS["fp16"], nothing)
        itself = estimate_on(T4, "fp16", batch)
        assert at.lower_bound.seconds == pytest.approx(itself.lower_bound.seconds)
        assert at.lower_bound.roofline == pytest.approx(itself.lower_bound.roofline)
        assert at.memory == itself.memory
        assert at.per_second == pytest.approx(batch / compute_bound(T4, "fp16", batch))


def test_throughput_grows_with_the_batch() -> None:
    text = measure_text(MANY, "B=1")
    rows = [
        estimate(each, A100, NUMBER_FORMATS["fp16"], nothing)
        for each in scale_batches(text, measure_workload(text, "mlp"))
    ]
    assert rows[0].lower_bound.bottleneck == "memory"
    throughputs = [row.per_second for row in rows if row.per_second]
    assert throughputs == sorted(throughputs)
    assert throughputs[1] == pytest.approx(2 * throughputs[0], rel=0.02)  # the weights are read once for both


def test_utilisation_is_consistent_with_the_time() -> None:
    for batch in (1, 65536):
        result = estimate_on(T4, "fp16", batch)
        assert result.utilisation is not None and result.expected is not None
        assert result.utilisation * result.expected * T4.rates["fp16"] == pytest.approx(2 * result.workload.macs)
        assert result.utilisation <= 1


def make_device(nbytes: int) -> Device:
    return Device(id="own", name="own", family="own", memory_bytes=nbytes, bandwidth=1e11, rates={"fp32": 1e12})


def test_fits_is_exact_to_the_byte() -> None:
    need = estimate_on(make_device(1 << 40), "fp32", 1).memory
    assert need is not None
    just = next(
        size for size in range(int(need / 0.95) - 9, 2 * need) if (usable_memory(make_device(size)) or 0) >= need
    )
    assert estimate_on(make_device(just), "fp32", 1).fits is True
    assert estimate_on(make_device(just - 1), "fp32", 1).fits is False


def test_unsupported_format_has_no_time() -> None:
    result = estimate_on(find_device("hailo_8"), "fp32", 1)
    assert result.lower_bound.seconds is None and result.expected is None and result.utilisation is None
    assert "no fp32 rate is known" in result.lower_bound.rate.reason


def test_wider_rate_replaces_a_missing_one() -> None:
    rate = estimate_on(make_device(1 << 40), "int8", 1).lower_bound.rate
    assert (rate.name, rate.per_second) == ("fp32", 1e12)


def test_fp32_uses_the_tf32_rate() -> None:
    assert estimate_on(A100, "fp32", 65536).lower_bound.rate.name == "tf32"
    assert estimate_on(find_device("v100_pcie_16gb"), "fp32", 65536).lower_bound.rate.name == "fp32"


@pytest.mark.parametrize("text", [MANY, MANY.replace("float[B", "float16[B").replace("float[512", "float16[512")])
def test_native_format_takes_the_bytes_of_the_file(text: str) -> None:
    known = measure_text(text, "B=2")
    own = measure_workload(known, "mlp")
    result = estimate(own, T4, own.native_format, nothing)
    assert result.need.weights == known.parameters.nbytes
    assert known.memory.peak is not None and result.need.activations == known.memory.peak.nbytes
