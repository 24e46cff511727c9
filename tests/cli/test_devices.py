"""`onnx-autodoc devices`: what it prints, of ours, of a user's and of this machine."""

import argparse
import json
from pathlib import Path

import pytest

from onnx_autodoc.cli import _devices
from onnx_autodoc.errors import BadInput
from onnx_autodoc.hardware.devices import FAMILIES, Detected, all_devices, find, load, names


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    parser = argparse.ArgumentParser()
    _devices.add(parser.add_subparsers())
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


def test_all_devices_are_listed_under_their_family(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys)
    listed = [line.split(" ")[0] for line in text.splitlines()]
    assert [word for word in listed if word in set(names())] == list(names())
    assert all(title in text.splitlines() for family, title in FAMILIES.items() if family != "own")
    assert f"{len(names())} devices." in text
    assert max(map(len, text.splitlines())) <= 120


def test_a_row_has_the_values_and_a_word_for_what_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "t4")
    row = next(line for line in text.splitlines() if line.startswith("t4 "))
    assert row.split() == ["t4", "NVIDIA", "T4", "16", "320", "8.10", "65.0", "130", "70"]
    coral = next(line for line in said(capsys, "coral").splitlines() if line.startswith("coral"))
    assert coral.split()[-6:] == ["—", "—", "—", "—", "4.00", "2"]


def test_words_choose(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "orin", "NANO")
    assert "3 devices." in text
    assert "jetson_orin_nano_super" in text
    assert "rtx_4090" not in text


def test_words_that_no_device_has_are_an_error_with_near_ones(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(BadInput, match=r"no device has 'rtx4090' in its name; near it: rtx_4090"):
        said(capsys, "rtx4090")
    with pytest.raises(BadInput, match="lists all"):
        said(capsys, "qqqq", "zzzz")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["auto", "t4"], "auto: this machine stands alone"),
        (["auto", "--devices", "own.toml"], "--devices own.toml: auto is this machine alone"),
        ([""], "a word is empty"),
        (["t4", " "], "a word is empty"),
        (["\x1b[31m"], r"no device has '\\x1b\[31m'"),
    ],
)
def test_words_that_change_nothing_are_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        said(capsys, *words)


def test_this_machine_is_asked_for_in_any_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "AUTO") == said(capsys, "auto")


def test_of_several_devices_of_this_machine_it_says_which_is_meant(own: Path) -> None:
    cpu = load(own)["mine"]
    machine = Detected(find("t4"), cpu, (find("t4"), find("l4")), ("two",))
    assert "\n  `auto` is NVIDIA T4\n" in _devices.machine_page(machine)


def test_own_devices_are_listed_and_what_they_replace_is_said(capsys: pytest.CaptureFixture[str], own: Path) -> None:
    text = said(capsys, "--devices", str(own))
    assert "Yours takes the place of ours: t4." in text
    assert text.count("\nt4 ") == 1
    assert "\x1b" not in text
    assert text.index("Your own") < text.index("\nmine ")


def test_json_is_one_list_in_base_units(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "--format", "json"))
    assert len(found) == len(names())
    t4 = next(item for item in found if item["id"] == "t4")
    assert t4["bandwidth"] == 320e9
    assert t4["rates"]["int8"] == 130e12
    assert t4["memory_bytes"] == 16 << 30
    assert t4["sources"][0]["date"]


def test_this_machine_says_what_it_is_and_how_that_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "auto")
    assert text.startswith("This machine:\n  ")
    assert "bandwidth" in text
    assert json.loads(said(capsys, "auto", "--format", "json"))[0]["kind"] == "cpu"


def test_a_page_has_every_value_source_date_and_rule() -> None:
    for item in all_devices():
        page = _devices.device_page(item)
        assert page.startswith(f"{item.id}: {item.name}\n")
        for source in item.sources:
            assert source.ref[:60] in page
            assert f"date {source.date}" in page
        for text in (*item.derived, *item.unsourced, *item.unknown, *item.disagreements, *item.notes):
            assert text in page
        assert page.count("dense peak") == len(item.rates)
        assert page.endswith("\n")


def test_a_page_of_a_users_device_says_that_it_has_no_source(own: Path) -> None:
    page = _devices.device_page(load(own)["mine"])
    assert "no source given" in page
    assert "\x1b" not in page
    assert "bandwidth             not known" in page


def test_what_is_absent_is_said_in_words() -> None:
    assert "what the machine has (system)" in _devices.device_page(find("xeon_8380"))
    assert "no more than what is on the chip (on-chip)" in _devices.device_page(find("hailo_8"))
    assert "(an estimate)" in _devices.device_page(find("apple_m1"))
    assert "of which a driver reports 15.0 GiB" in _devices.device_page(find("t4"))
