"""One test over all devices and values: each has a dated source, a rule that derives it, or a note that it has none."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import onnx_autodoc.hardware.devices as package
from onnx_autodoc.hardware.devices import FAMILIES, all_devices, device_ids, find_device
from scripts import devices_page

FOLDER = Path(package.__file__).parent
FILES = sorted(FOLDER.glob("*.toml"))
TABLES: dict[str, dict[str, Any]] = {
    key: table for path in FILES for key, table in tomllib.loads(path.read_text(encoding="utf-8"))["devices"].items()
}
DATE = re.compile(r"20\d\d(-\d\d(-\d\d)?)?|not stated")
# int8 slower than fp16: integer units of the first tensor cores, and those that Blackwell Ultra reduced.
SLOW_INT8 = {"v100_pcie_16gb", "v100_pcie_32gb", "v100_sxm2_16gb", "v100_sxm2_32gb", "b300"}
SLOW_FP16 = {"gtx_1080_ti"}  # 1/64 of FP32


def list_fields(texts: list[str]) -> set[str]:
    """ "field, field: rule" -> the fields."""
    return {word.strip() for text in texts for word in text.partition(":")[0].split(",")}


def find_unsourced(table: dict[str, Any]) -> list[str]:
    printed = {field for source in table.get("source", []) for field in source["fields"]}
    sourced = printed | list_fields(table.get("derived", [])) | list_fields(table.get("unsourced", []))
    return [key for key, value in table.items() if isinstance(value, int | float) and key not in sourced]


def test_every_value_has_a_source() -> None:
    assert {key: wrong for key, table in TABLES.items() if (wrong := find_unsourced(table))} == {}


def test_value_without_a_source_is_noticed() -> None:
    assert find_unsourced({"tdp_w": 5, "source": [{"fields": ["year"], "ref": "x", "date": "2025"}]}) == ["tdp_w"]


def test_every_source_has_a_date_and_every_rule_a_text() -> None:
    for key, table in TABLES.items():
        assert table["source"], key
        for source in table["source"]:
            assert DATE.fullmatch(source["date"]), (key, source)
            assert len(source["ref"]) > 10, (key, source)
        for rule in table.get("derived", []):
            assert len(rule.partition(":")[2].strip()) > 5, (key, rule)


def test_derived_and_unknown_fields_are_consistent() -> None:
    for key, table in TABLES.items():
        absent = {text.split(" ")[0] for text in table.get("unknown", []) if "(GPU)" not in text}
        assert not absent & set(table), (key, absent & set(table))
        assert list_fields(table.get("derived", [])) <= set(table), (key, list_fields(table["derived"]) - set(table))


def test_files_name_no_local_path() -> None:
    for path in (*FILES, FOLDER / "README.md"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/work/|/tmp/|/home/|pypi\.org|npmjs|crates\.io", text), path.name


def test_ids_are_unique_and_each_file_is_a_family() -> None:
    headers = [head for path in FILES for head in re.findall(r"^\[devices\.(.*)\]$", path.read_text("utf-8"), re.M)]
    assert sorted(headers) == sorted(set(headers)) == sorted(device_ids())
    assert {path.stem for path in FILES} == set(FAMILIES) - {"own"}


def test_parsed_devices_match_the_files() -> None:
    for item in all_devices():
        table = TABLES[item.id]
        assert item.name == table["name"]
        assert item.bandwidth == pytest.approx(table["mem_bandwidth_gbs"] * 1e9) if item.bandwidth else True
        assert (item.bandwidth is None) == ("mem_bandwidth_gbs" not in table)
        assert item.rates.get("int8", 0) == pytest.approx(table.get("int8_tops", 0) * 1e12)
        assert item.rates.get("fp16_fp32acc", 0) == pytest.approx(table.get("fp16_fp32acc_tflops", 0) * 1e12)
        assert len(item.sources) == len(table["source"])
        assert "memory_kind" in table


def test_common_devices_are_published() -> None:
    assert len(device_ids()) >= 160
    requested = "t4 b200 mi300x gaudi3 tpu_v5e rtx_4090 rtx_4050_laptop apple_m1 apple_m4_max jetson_nano_4gb "
    requested += "jetson_thor_t5000 xeon_8480plus graviton3 core_i7_12700h coral_edge_tpu hailo_8 snapdragon_x_elite "
    requested += "snapdragon_8_gen_3 snapdragon_8_elite apple_a18_pro rk3588_npu ryzen_ai_9_hx_370_npu"
    assert set(requested.split()) <= set(device_ids())
    assert all(any(item.family == family for item in all_devices()) for family in FAMILIES if family != "own")


def test_narrow_formats_are_not_slower_than_wide_ones() -> None:
    for item in all_devices():
        rates = item.rates
        if "int8" in rates and "fp16" in rates:
            assert (rates["int8"] >= rates["fp16"]) == (item.id not in SLOW_INT8), item.id
        if "fp16" in rates and "fp32" in rates:
            assert (rates["fp16"] >= rates["fp32"]) == (item.id not in SLOW_FP16), item.id
        if "int4" in rates and "int8" in rates:
            assert rates["int4"] >= rates["int8"], item.id
        if "fp16_fp32acc" in rates:
            assert rates["fp16_fp32acc"] == pytest.approx(rates["fp16"] / 2, rel=0.01), item.id


def test_gpus_have_all_rates() -> None:
    """A wider rate takes the place of one that is absent, and a bound from it is none."""
    for item in all_devices():
        modern = "tf32" in item.rates or item.vendor in ("AMD", "Intel")
        if modern and (item.kind == "gpu" or item.family == "jetson"):
            absent = {"fp16", "bf16", "int8"} - set(item.rates)
            assert not absent, (item.id, absent)


def test_matrix_units_count_if_faster_than_vectors() -> None:
    assert find_device("mi250x").rates["fp32"] == pytest.approx(95.7e12, rel=2e-3)
    assert find_device("gtx_1080_ti").rates["int8"] == pytest.approx(4 * find_device("gtx_1080_ti").rates["fp32"])
    assert find_device("max_1550").rates["bf16"] == pytest.approx(1024 * 256 * 2 * 1.6e9, rel=1e-3)


def test_bandwidth_is_bus_width_times_data_rate() -> None:
    """bits x Gbps / 8, of devices on sale."""
    for key, bits, gbps in (
        *(("rtx_5050", 128, 20), ("rtx_5060", 128, 28), ("rtx_5070", 192, 28), ("rtx_5080", 256, 30)),
        *(("rtx_5090", 512, 28), ("rtx_4090", 384, 21), ("rtx_4060", 128, 17), ("rtx_3060_12gb", 192, 15)),
        *(("rtx_3090_ti", 384, 21), ("t4", 256, 10), ("a10", 384, 12.5), ("l4", 192, 12.5), ("rtx_a6000", 384, 16)),
        *(("l40s", 384, 18), ("jetson_agx_orin_64gb", 256, 6.4), ("apple_m4_max", 512, 8.533)),
        *(("ryzen_ai_max_395", 256, 8), ("raspberry_pi_5", 32, 4.267), ("gtx_1080_ti", 352, 11)),
    ):
        assert find_device(key).bandwidth == pytest.approx(bits * gbps * 1e9 / 8, rel=5e-3), key


def test_memory_bandwidth_and_power_are_plausible() -> None:
    for item in all_devices():
        assert item.bandwidth is None or 5e9 < item.bandwidth < 2e13, item.id
        assert item.memory_bytes is None or 1 << 30 < item.memory_bytes < 1 << 40, item.id
        assert item.power_w is None or 0.5 < item.power_w < 3000, item.id
        if item.memory_reported_bytes and item.memory_bytes:
            assert 0.9 < item.memory_reported_bytes / item.memory_bytes < 1.005, item.id
            assert item.capacity_bytes == item.memory_reported_bytes


def test_memory_kinds_are_plausible() -> None:
    kinds = {item.id: item.memory_kind for item in all_devices()}
    assert kinds["rtx_4090"] == kinds["t4"] == kinds["tpu_v5e"] == kinds["hailo_10h"] == "dedicated"
    assert kinds["jetson_nano_4gb"] == kinds["apple_m1"] == kinds["apple_a16"] == kinds["gb10"] == "unified"
    assert kinds["hailo_8"] == kinds["coral_edge_tpu"] == "on-chip"
    assert kinds["xeon_8380"] == kinds["core_i7_12700h"] == "system"


def test_decimal_memory_is_decimal() -> None:
    assert find_device("b300").memory_bytes == 288 * 10**9
    assert find_device("h200_sxm").memory_bytes == 141 << 30
    assert find_device("t4").capacity_bytes == 15 << 30


def test_cpu_rates_follow_the_instruction_set() -> None:
    xeon = find_device("xeon_8480plus").rates
    assert xeon["int8"] == pytest.approx(56 * 3.8e9 * 2048, rel=1e-3)
    assert xeon["bf16"] == pytest.approx(56 * 3.8e9 * 1024, rel=1e-3)
    for item in all_devices():
        if item.kind == "cpu" and item.rates.get("int8"):
            ratio = item.rates["int8"] / item.rates["fp32"]
            assert min(abs(ratio - factor) for factor in (2, 4, 8, 32)) < 0.01 * ratio, item.id


def test_documentation_page_is_generated_from_the_files() -> None:
    page = Path(__file__).parents[3] / "docs" / "devices.md"
    assert page.read_text(encoding="utf-8") == devices_page.page(), "run `make docs`"
