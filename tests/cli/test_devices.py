"""`onnx-autodoc devices`: tables and pages of built-in devices, a user's devices and this machine."""

import argparse
import json
from pathlib import Path

import pytest

from onnx_autodoc.cli import reference
from onnx_autodoc.errors import BadInput
from onnx_autodoc.hardware.devices import FAMILIES, DetectedMachine, all_devices, device_ids, find_device, load_devices


def run_devices(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    parser = argparse.ArgumentParser()
    reference.add_devices(parser.add_subparsers())
    options = parser.parse_args(["devices", *words])
    assert options.run(options) == 0
    return capsys.readouterr().out


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(
        '[devices.t4]\nname = "Ours"\nint8_tops = 1\n[devices.mine]\nname = "Mine \\u001b[31m"\nfp32_tflops = 2\n'
    )
    return path


def test_devices_are_listed_by_family(capsys: pytest.CaptureFixture[str]) -> None:
    text = run_devices(capsys)
    listed = [line.split(" ")[0] for line in text.splitlines()]
    assert [word for word in listed if word in set(device_ids())] == list(device_ids())
    assert all(title in text.splitlines() for family, title in FAMILIES.items() if family != "own")
    assert f"{len(device_ids())} devices." in text
    assert max(map(len, text.splitlines())) <= 120


def test_row_has_values_and_a_mark_for_unknown_ones(capsys: pytest.CaptureFixture[str]) -> None:
    text = run_devices(capsys, "t4")
    row = next(line for line in text.splitlines() if line.startswith("t4 "))
    assert row.split() == ["t4", "NVIDIA", "T4", "16", "320", "8.10", "65.0", "130", "70"]
    coral = next(line for line in run_devices(capsys, "coral").splitlines() if line.startswith("coral"))
    assert coral.split()[-6:] == ["—", "—", "—", "—", "4.00", "2"]


def test_words_select_devices(capsys: pytest.CaptureFixture[str]) -> None:
    text = run_devices(capsys, "orin", "NANO")
    assert "3 devices." in text
    assert "jetson_orin_nano_super" in text
    assert "rtx_4090" not in text


def test_unmatched_words_are_an_error_with_suggestions(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match=r"no device matches 'rtx4090'; similar: rtx_4090"):
        run_devices(capsys, "rtx4090")
    with pytest.raises(BadInput, match="lists all"):
        run_devices(capsys, "qqqq", "zzzz")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["auto", "t4"], "auto: cannot be combined with other words"),
        (["auto", "--devices", "own.toml"], "--devices own.toml: cannot be combined with auto"),
        ([""], "an empty word matches every device"),
        (["t4", " "], "an empty word matches every device"),
        (["\x1b[31m"], r"no device matches '\\x1b\[31m'"),
    ],
)
def test_words_without_effect_are_refused(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        run_devices(capsys, *words)


def test_auto_is_case_insensitive(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_devices(capsys, "AUTO") == run_devices(capsys, "auto")


def test_machine_page_names_the_device_of_auto(own: Path) -> None:
    cpu = load_devices(own)["mine"]
    machine = DetectedMachine(find_device("t4"), cpu, (find_device("t4"), find_device("l4")), ("two",))
    assert "\n  `auto` is NVIDIA T4\n" in reference.format_machine(machine)


def test_own_devices_are_listed_with_those_they_replace(capsys: pytest.CaptureFixture[str], own: Path) -> None:
    text = run_devices(capsys, "--devices", str(own))
    assert "Built-in devices replaced by yours: t4." in text
    assert text.count("\nt4 ") == 1
    assert "\x1b" not in text
    assert text.index("Your own") < text.index("\nmine ")


def test_json_is_a_list_in_base_units(capsys: pytest.CaptureFixture[str]) -> None:
    devices = json.loads(run_devices(capsys, "--format", "json"))
    assert len(devices) == len(device_ids())
    t4 = next(item for item in devices if item["id"] == "t4")
    assert t4["bandwidth"] == 320e9
    assert t4["rates"]["int8"] == 130e12
    assert t4["memory_bytes"] == 16 << 30
    assert t4["sources"][0]["date"]


def test_machine_page_describes_the_detection(capsys: pytest.CaptureFixture[str]) -> None:
    text = run_devices(capsys, "auto")
    assert text.startswith("This machine:\n  ")
    assert "bandwidth" in text
    assert json.loads(run_devices(capsys, "auto", "--format", "json"))[0]["kind"] == "cpu"


def test_device_page_has_every_value_source_and_date() -> None:
    for item in all_devices():
        page = reference.format_device(item)
        assert page.startswith(f"{item.id}: {item.name}\n")
        for source in item.sources:
            assert source.ref[:60] in page
            assert f"date {source.date}" in page
        for text in (*item.derived, *item.unsourced, *item.unknown, *item.disagreements, *item.notes):
            assert text in page
        assert page.count("dense peak") == len(item.rates)
        assert page.endswith("\n")


def test_page_of_an_own_device_states_that_it_has_no_source(own: Path) -> None:
    page = reference.format_device(load_devices(own)["mine"])
    assert "none given" in page
    assert "\x1b" not in page
    assert "bandwidth             unknown" in page


def test_missing_values_are_explained() -> None:
    assert "memory of the machine (system)" in reference.format_device(find_device("xeon_8380"))
    assert "memory on the chip only (on-chip)" in reference.format_device(find_device("hailo_8"))
    assert "(estimate)" in reference.format_device(find_device("apple_m1"))
    assert "15.0 GiB reported by the driver" in reference.format_device(find_device("t4"))
