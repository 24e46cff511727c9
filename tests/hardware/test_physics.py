"""Estimates obey physics: narrower numbers and larger batches change what they must, by as much as they must."""

import pytest

from onnx_autodoc.hardware import FORMATS, Demand, Estimate, Floor, Format, demand, estimate
from onnx_autodoc.hardware._batches import batches
from onnx_autodoc.hardware._memory import usable
from onnx_autodoc.hardware.devices import Device, all_devices, find
from tests.hardware._made import facts

# Products that reuse each weight 512 times, and a product that uses each once.
MANY = "g (float[B,512] x) => (float[B,1024] y) <float[512,1024] w> { y = MatMul(x, w) }"
T4, A100 = find("t4"), find("a100_sxm_40gb")


def nothing(demand: Demand, device: Device, wanted: Format, floor: Floor) -> None:
    return None


def on(device: Device, precision: str, batch: int, text: str = MANY) -> Estimate:
    return estimate(demand(facts(text, f"B={batch}"), "mlp"), device, FORMATS[precision], nothing)


def bound(device: Device, precision: str, batch: int) -> float:
    found = on(device, precision, batch).floor.seconds
    assert found is not None
    return found


def test_a_bound_of_arithmetic_is_the_multiply_adds_at_the_rate_of_the_precision() -> None:
    for precision in ("fp32", "fp16", "int8"):
        assert bound(T4, precision, 65536) == pytest.approx(2 * 65536 * 512 * 1024 / T4.rates[precision])
    assert on(T4, "fp16", 65536).floor.bottleneck == "compute"


def test_a_bound_of_memory_is_the_weights_and_the_data_over_the_bandwidth() -> None:
    numbers = 512 * 1024
    assert T4.bandwidth is not None
    assert bound(T4, "fp32", 1) == pytest.approx((4 * numbers + 4 * (512 + 1024)) / T4.bandwidth)
    assert bound(T4, "int8", 1) == pytest.approx((numbers + 512 + 1024) / T4.bandwidth)
    assert bound(T4, "int4", 1) == pytest.approx((numbers * 4.5 / 8 + 512 + 1024) / T4.bandwidth)
    assert on(T4, "int4", 1).floor.bottleneck == "memory"


def test_what_takes_no_time_waits_for_nothing() -> None:
    found = on(T4, "fp32", 1, "g (float[B,2] x) => (float[B,2] y) { }")
    assert (found.floor.seconds, found.bottleneck) == (None, None)


@pytest.mark.parametrize("device", [each.id for each in all_devices() if each.bandwidth])
def test_narrower_numbers_are_never_slower_or_larger(device: str) -> None:
    for batch in (1, 4096):
        found = [on(find(device), precision, batch) for precision in ("fp32", "fp16", "int8", "int4")]
        known = [each.floor.seconds for each in found if each.floor.seconds is not None]
        assert known == sorted(known, reverse=True)
        weights = [each.need.weights for each in found]
        assert weights == sorted(weights, reverse=True)


def test_weights_take_what_their_numbers_take() -> None:
    held = {precision: on(T4, precision, 1).need.weights for precision in ("fp32", "fp16", "int8", "int4")}
    assert held == {"fp32": 1 << 21, "fp16": 1 << 20, "int8": 1 << 19, "int4": (1 << 19) * 4.5 / 8}


def test_the_batch_is_multiplied_once() -> None:
    text = facts(MANY, "B=1")
    rows = {each.batch: each for each in batches(text, demand(text, "mlp"))}
    for batch in (1, 8, 128):
        at = estimate(rows[batch], T4, FORMATS["fp16"], nothing)
        itself = on(T4, "fp16", batch)
        assert at.floor.seconds == pytest.approx(itself.floor.seconds)
        assert at.floor.roofline == pytest.approx(itself.floor.roofline)
        assert at.memory == itself.memory
        assert at.per_second == pytest.approx(batch / bound(T4, "fp16", batch))


def test_small_batches_wait_for_memory_and_large_ones_compute() -> None:
    text = facts(MANY, "B=1")
    rows = [estimate(each, A100, FORMATS["fp16"], nothing) for each in batches(text, demand(text, "mlp"))]
    assert rows[0].floor.bottleneck == "memory"
    throughputs = [row.per_second for row in rows if row.per_second]
    assert throughputs == sorted(throughputs)
    assert throughputs[1] == pytest.approx(2 * throughputs[0], rel=0.02)  # the weights are read once for both


def test_utilisation_agrees_with_the_time() -> None:
    for batch in (1, 65536):
        found = on(T4, "fp16", batch)
        assert found.utilisation is not None and found.expected is not None
        assert found.utilisation * found.expected * T4.rates["fp16"] == pytest.approx(2 * found.demand.macs)
        assert found.utilisation <= 1


def sized(nbytes: int) -> Device:
    return Device(id="own", name="own", family="own", memory_bytes=nbytes, bandwidth=1e11, rates={"fp32": 1e12})


def test_fitting_is_decided_to_the_byte() -> None:
    need = on(sized(1 << 40), "fp32", 1).memory
    assert need is not None
    just = next(size for size in range(int(need / 0.95) - 9, 2 * need) if (usable(sized(size)) or 0) >= need)
    assert on(sized(just), "fp32", 1).fits is True
    assert on(sized(just - 1), "fp32", 1).fits is False


def test_a_device_that_cannot_compute_a_precision_has_no_time_for_it() -> None:
    found = on(find("hailo_8"), "fp32", 1)
    assert found.floor.seconds is None and found.expected is None and found.utilisation is None
    assert "no rate for fp32" in found.floor.rate.why


def test_a_wider_rate_is_taken_where_the_own_one_is_missing_and_said() -> None:
    rate = on(sized(1 << 40), "int8", 1).floor.rate
    assert (rate.name, rate.per_second) == ("fp32", 1e12)


def test_fp32_is_bounded_by_the_tensor_cores_that_round_to_tf32() -> None:
    assert on(A100, "fp32", 65536).floor.rate.name == "tf32"
    assert on(find("v100_pcie_16gb"), "fp32", 65536).floor.rate.name == "fp32"


@pytest.mark.parametrize("text", [MANY, MANY.replace("float[B", "float16[B").replace("float[512", "float16[512")])
def test_the_files_own_precision_is_taken_to_the_byte(text: str) -> None:
    known = facts(text, "B=2")
    own = demand(known, "mlp")
    found = estimate(own, T4, own.own, nothing)
    assert found.need.weights == known.parameters.nbytes
    assert known.memory.peak is not None and found.need.activations == known.memory.peak.nbytes
