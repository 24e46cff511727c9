"""The catalog of devices: it is that of the files, an unknown id lists near ones, a user's file is checked."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.hardware.devices import (
    Device,
    all_devices,
    find_device,
    load_devices,
    select_devices,
    suggest_devices,
)
from onnx_autodoc.hardware.devices.device import parse_device
from scripts import devices_data

DOCS = Path(__file__).parents[3] / "docs"
ONE = '[devices.x]\nname = "X"\n'


def write_devices(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "own.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_published_data_is_generated_from_the_files() -> None:
    path = files("onnx_autodoc") / "data" / "devices.json"
    assert path.read_text(encoding="utf-8") == devices_data.data(), "run `make docs`"
    assert all_devices() == devices_data.devices()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("rtx 4090", ["rtx_4090", "rtx_4090_d", "rtx_4090_laptop"]),
        ("A100", ["a100_sxm_40gb", "a100_sxm_80gb", "a100_pcie_40gb", "a100_pcie_80gb"]),
        ("RTX-4090", ["rtx_4090"]),
        ("rtx4090", ["rtx_4090"]),
        ("rtx_4091", ["rtx_4090"]),
        ("i7", ["core_i7_8750h", "core_i7_12700h"]),
        ("orin", ["jetson_orin_nx_8gb", "jetson_agx_orin_64gb"]),
        ("M1 Max", ["apple_m1_max"]),
        ("Tesla T4", ["t4"]),
        ("Jetson Orin Nano 8GB Developer Kit", ["jetson_orin_nano_8gb"]),
        ("AMD Ryzen 9 7950X 16-Core Processor", ["ryzen_7950x"]),
        ("12th Gen Intel(R) Core(TM) i7-12700H", ["core_i7_12700h"]),
        ("NVIDIA H100 80GB HBM3", ["h100_sxm"]),
    ],
)
def test_unknown_device_is_rejected_with_suggestions(word: str, expected: list[str]) -> None:
    with pytest.raises(BadInput, match="unknown device") as caught:
        find_device(word)
    listed = str(caught.value).partition("similar: ")[2].split(", ")
    assert set(expected) <= set(listed)
    assert listed[0] == expected[0]
    assert len(listed) <= 6


@pytest.mark.parametrize("word", ["", "zzzzqqqq", "x" * 100_000, "\x1b[31m\n", "'"])
def test_device_without_suggestions_is_rejected_in_one_line(word: str) -> None:
    with pytest.raises(BadInput) as caught:
        find_device(word)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 300
    assert "onnx-autodoc devices" in str(caught.value)


def test_devices_are_selected_by_words() -> None:
    result = select_devices(["orin", "nano"], all_devices())
    assert [item.id for item in result] == ["jetson_orin_nano_4gb", "jetson_orin_nano_8gb", "jetson_orin_nano_super"]
    assert {item.family for item in select_devices(["phone"], all_devices())} == {"phones"}


def test_name_and_one_rate_suffice(tmp_path: Path) -> None:
    result = load_devices(write_devices(tmp_path, ONE + "int8_tops = 2.5\n"))
    assert result == {"x": Device(id="x", name="X", family="own", rates={"int8": 2.5e12})}
    assert find_device("x", result).rates == {"int8": 2.5e12}


def test_user_device_overrides_a_published_one(tmp_path: Path) -> None:
    own = load_devices(
        write_devices(tmp_path, '[devices.t4]\nname = "Ours"\nmem_bandwidth_gbs = 300\nmemory_gib = 15\n')
    )
    assert find_device("t4", own).bandwidth == 300e9
    assert find_device("t4", own).memory_bytes == 15 << 30
    assert find_device("l4", own).family == "nvidia_datacenter"
    assert suggest_devices("ours", own) == ("t4",)


@pytest.mark.parametrize(("kind", "memory"), [("cpu", "system"), ("soc", "unified"), ("gpu", "dedicated")])
def test_memory_kind_follows_the_device_kind(tmp_path: Path, kind: str, memory: str) -> None:
    result = load_devices(write_devices(tmp_path, ONE + f'kind = "{kind}"\nfp32_tflops = 1\n'))
    assert result["x"].memory_kind == memory


def test_documented_example_loads() -> None:
    text = re.search(r"```toml\n(.*?)```", (DOCS / "devices.md").read_text(encoding="utf-8"), re.DOTALL)
    assert text
    tables = tomllib.loads(text[1])["devices"]
    built = {key: parse_device(key, table, "own", "example") for key, table in tables.items()}
    assert built["my_board"].bandwidth == 34.1e9
    assert built["my_board"].sources[0].date == "2026-01"
    assert built["t4"].rates == {"int8": 130e12}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (ONE, "neither mem_bandwidth_gbs nor a rate"),
        ("[devices.x]\nint8_tops = 1\n", "missing required field `name`"),
        (ONE + 'int8_tops = "fast"\n', "int8_tops: Expected `float"),
        (ONE + "int8_tops = -1\n", "int8_tops: Expected `float` >= 1e-06"),
        (ONE + "int8_tops = 0\n", "int8_tops: Expected `float` >= 1e-06"),
        (ONE + "int8_tops = inf\n", "int8_tops: Expected `float` <="),
        (ONE + "int8_tops = nan\n", "int8_tops"),
        (ONE + "int8_tops = true\n", "int8_tops: Expected `float"),
        (ONE + "int8_tops = 1\nmem_bandwidth_gbs = 1e300\n", "mem_bandwidth_gbs: Expected `float` <="),
        (ONE + f"int8_tops = {'9' * 400}\n", "int8_tops"),
        (ONE + "int8_tops = 1\nyear = 20.5\n", "year: Expected `int"),
        (ONE + "int8_tops = 1\nint9_tops = 1\n", "unknown field `int9_tops`; similar: int8_tops"),
        (ONE + "fp32_tflops = 1e-13\n", "fp32_tflops: Expected `float` >="),
        (ONE + "int8_tops = 1\nmem_bandwidth_gbs = 1e-30\n", "mem_bandwidth_gbs: Expected `float` >="),
        (ONE + "int8_tops = 1\nmemory_gib = nan\n", "memory_gib: Expected `float` >="),
        ('[devices.x]\nname = " "\nint8_tops = 1\n', "name: Expected `str` matching"),
        (ONE + 'int8_tops = 1\nkind = "toaster"\n', "kind: Invalid enum value 'toaster'"),
        (ONE + 'int8_tops = 1\nmemory_kind = "borrowed"\n', "memory_kind: Invalid enum value"),
        (ONE + "int8_tops = 1\nsource = [{ fields = [1] }]\n", "source[0]"),
        ("[devices]\nx = 3\n", "devices.x: Expected `object`, got `int`"),
        ("[device.x]\n", "device: unknown key; define devices under [devices.ID]"),
        ("", "defines no device under [devices.ID]"),
        ("devices = []\n", "defines no device under [devices.ID]"),
        ('[devices."a b"]\nname = "X"\nint8_tops = 1\n', "invalid id; use letters"),
        ('[devices.auto]\nname = "X"\nint8_tops = 1\n', "and not `auto`"),
        ("[devices.x\n", "not TOML"),
        (b"\xff\xfe", "not UTF-8"),
        ("x = " + "[" * 100_000, "not TOML"),
        ('[devices.x]\nname = "' + "y" * 300 + '"\nint8_tops = 1\n', "name: Expected `str` of length <= 200"),
    ],
)
def test_invalid_file_is_rejected_with_file_and_key(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = write_devices(tmp_path, text)
    with pytest.raises(BadInput) as caught:
        load_devices(path)
    line = str(caught.value)
    assert line.startswith(f"{path}: ")
    assert message.lower() in line.lower()
    assert "\n" not in line
    assert len(line) < 700


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#" * 1_048_577, "TOML may have at most 1,048,576 bytes; --max-text raises the limit"),
        ("".join(f"[devices.d{at}]\n" for at in range(1001)), "1,001 devices; at most 1,000 are allowed"),
    ],
)
def test_oversized_file_is_a_limit(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(LimitReached, match=message):
        load_devices(write_devices(tmp_path, text))


def test_byte_order_mark_and_crlf_are_accepted(tmp_path: Path) -> None:
    text = "\ufeff" + (ONE + "int8_tops = 2\n").replace("\n", "\r\n")
    assert load_devices(write_devices(tmp_path, text))["x"].rates == {"int8": 2e12}


def test_missing_file_or_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="file not found"):
        load_devices(tmp_path / "none.toml")
    with pytest.raises(BadInput, match="is a folder"):
        load_devices(tmp_path)
    with pytest.raises(BadInput, match="the file name is empty"):
        load_devices("")
    with pytest.raises(BadInput, match=r"cannot be opened: .*embedded null"):
        load_devices("a\0b")
