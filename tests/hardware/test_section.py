"""The whole section on real models: requested figures are present, and impossible ones are explained."""

import math
from pathlib import Path

import pytest

from onnx_autodoc import BadInput, card
from onnx_autodoc.card import HardwareSection
from onnx_autodoc.hardware.devices import find_device
from tests import _corpus as corpus

GIB = 1 << 30


def make_section(name: str, *devices: str, **requested: object) -> HardwareSection:
    result = card(corpus.graph(name), devices=devices, **requested).hardware  # type: ignore[arg-type]
    assert result is not None
    return result


@pytest.mark.parametrize("name", corpus.GRAPH_NAMES)
def test_every_model_has_finite_positive_times(name: str) -> None:
    result = make_section(name)
    assert [row.device for row in result.devices] == ["t4", "core_i7_12700h", "jetson_orin_nano_8gb"]
    for row in result.devices:
        times = [row.seconds.bound, row.seconds.low, row.seconds.expected, row.seconds.high, row.roofline]
        assert all(each is None or (math.isfinite(each) and each > 0) for each in times)
        assert row.utilisation is None or 0 < row.utilisation <= 1.0000001
        assert row.basis in ("bound", "typical", "calibrated", "measured")
    for scale in result.scaling:
        assert (scale.seconds is None) == (scale.fits is False) or scale.seconds is None


def test_detector_fits_a_laptop_gpu() -> None:
    result = make_section("yolov8l-nc1", "rtx_4050_laptop", target_latency=0.05)
    (row,) = result.devices
    assert row.fits is True
    assert row.capacity_bytes is not None and row.capacity_bytes <= 6 * GIB
    assert row.seconds.bound == pytest.approx(164.81e9 / 12.1e12, rel=0.01)
    assert result.requirements is not None and result.requirements.recommended is not None
    assert find_device(result.requirements.recommended.device).family != "nvidia_datacenter"


def test_bert_on_twenty_teraflops_is_compute_bound(tmp_path: Path) -> None:
    """The erratum of the seeds: 0.41 ms is not possible, 2.3 ms is the bound."""
    (tmp_path / "own.toml").write_text(
        '[devices.mine]\nname = "mine"\nmemory_gib = 16\nmem_bandwidth_gbs = 900\nfp32_tflops = 20\n'
    )
    name = "bert-base-qa-ts-op12"
    result = card(corpus.graph(name), seq=256, devices=["mine"], devices_file=tmp_path / "own.toml").hardware
    assert result is not None
    assert result.devices[0].seconds.bound == pytest.approx(45.9e9 / 20e12, rel=0.001)


def test_decoder_has_prefill_and_decode_rows() -> None:
    result = make_section("smollm2-135m-kv-op17", "t4", precision="fp16")
    prefill = {row.context: row for row in result.generation if row.phase == "prefill"}
    decode = {row.context: row for row in result.generation if row.phase == "decode"}
    assert prefill[512].bottleneck == "compute" or prefill[512].basis != "bound"
    assert decode[512].bottleneck == "memory" or decode[512].basis != "bound"
    speeds = [row.tokens_per_second for row in decode.values() if row.tokens_per_second]
    assert speeds == sorted(speeds, reverse=True)  # the longer the context, the more cache is read
    assert (prefill[512].tokens_per_second or 0) > 2 * (decode[512].tokens_per_second or 0)


def test_decode_reads_all_weights_and_the_cache() -> None:
    result = make_section("smollm2-135m-kv-op17", "t4", precision="fp16")
    step = next(row for row in result.generation if row.phase == "decode" and row.context == 8192)
    if step.basis == "bound":
        moved = 134_515_008 * 2 + 8192 * 46_080 / 2
        assert step.seconds == pytest.approx(moved / 320e9, rel=0.01)


def test_models_without_cache_have_no_generation_rows() -> None:
    assert make_section("all-minilm-l6-v2-ts-op14").generation == ()
    assert make_section("yolov8l-nc1").generation == ()


def test_batch_that_does_not_fit_has_no_time(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        '[devices.tiny]\nname = "tiny"\nmemory_gib = 1\nmem_bandwidth_gbs = 100\nfp32_tflops = 1\n'
    )
    result = card(corpus.graph("bert-base-qa-ts-op12"), devices=["tiny"], devices_file=tmp_path / "own.toml").hardware
    assert result is not None
    rows = {row.batch: row for row in result.scaling}
    assert rows[1].fits and rows[1].seconds
    assert rows[128].fits is False and rows[128].seconds is None and rows[128].per_second is None


@pytest.mark.parametrize("batch", [8, 128])
def test_time_of_a_batch_is_the_same_in_both_tables(batch: int) -> None:
    result = make_section("resnet50-ts-op17", "t4", "rtx_4090", "core_i7_12700h", precision="int8", batch=batch)
    for row in result.devices:
        (scaled,) = (each for each in result.scaling if each.device == row.device and each.batch == batch)
        assert scaled.bound == pytest.approx(row.seconds.bound)
        assert scaled.seconds == pytest.approx(row.seconds.expected or row.seconds.bound)
        assert scaled.memory_bytes == row.memory_bytes


def test_price_is_of_a_million_samples_at_the_best_batch(tmp_path: Path) -> None:
    (tmp_path / "prices.toml").write_text("[per_hour]\nt4 = 0.36\n")
    result = make_section("resnet50-ts-op17", "t4", precision="fp16", prices=tmp_path / "prices.toml")
    (price,) = result.prices
    row = next(row for row in result.scaling if row.batch == result.best_batch)
    assert row.per_second is not None
    assert price.per_million == pytest.approx(0.36 / 3600 / row.per_second * 1e6)


@pytest.mark.parametrize(
    ("requested", "message"),
    [
        ({"devices": ["rtx_409"]}, "rtx_4090"),
        ({"devices": ["rtx 4090"]}, "rtx_4090"),
        ({"precision": "int3"}, "int4"),
        ({"target_latency": 0.0}, "is not a positive finite number"),
        ({"target_throughput": math.inf}, "is not a positive finite number"),
    ],
)
def test_unknown_names_are_rejected_with_suggestions(requested: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        card(corpus.graph("resnet50-ts-op17"), **requested)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "[per_hour]\nt5 = 1\n", "[per_hour]\nt4 = -1\n", "[per_hour]\nt4 = nan\n", "][", "t4 = 1"]
)
def test_invalid_prices_are_rejected(tmp_path: Path, text: str) -> None:
    (tmp_path / "prices.toml").write_text(text)
    with pytest.raises(BadInput):
        make_section("resnet50-ts-op17", "t4", prices=tmp_path / "prices.toml")
