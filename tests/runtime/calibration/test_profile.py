"""A machine's profile in a file: written whole, read with distrust."""

import json
from pathlib import Path

import msgspec
import pytest

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.runtime.calibration import check_place, encoded, load, place
from tests.runtime.calibration.test_fit import profile


def test_what_was_stored_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "cpu.json"
    path.write_bytes(encoded(profile()))
    assert load(path) == profile()


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", 99),
        ("threads", 0),
        ("cache", -1),
        ("bandwidth", -1),
        ("spread", {"low": 1e-300, "high": 1e300, "median_error": 0, "graphs": 1}),
        ("spread", {"low": 1, "high": 1, "median_error": -1, "graphs": 1}),
        ("spread", {"low": 2, "high": 1, "median_error": 0, "graphs": 1}),
        ("paces", {"product": {"times": {"macs": -1}, "runs": 1, "error": 0}}),
        ("paces", {"product": {"times": {"wishes": 1}, "runs": 1, "error": 0}}),
        ("machine", 5),
        ("more", 1),
    ],
)
def test_a_profile_that_cannot_be_one_is_refused_in_one_line(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps({**msgspec.to_builtins(profile()), key: value}))
    with pytest.raises(BadInput) as refused:
        load(path)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(f"{path}: not a profile")


@pytest.mark.parametrize("content", [b"", b"[", b"\xff\xfe", b"[" * 100_000])
def test_no_content_is_trusted(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cpu.json"
    path.write_bytes(content)
    with pytest.raises(BadInput):
        load(path)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file"):
        load(tmp_path / "none.json")


def test_a_profile_lives_in_the_users_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert place() == tmp_path / "onnx-autodoc" / "cpu.json"
    assert place("mine.json") == Path("mine.json")


def test_what_is_no_profile_is_not_written_over_and_one_of_another_version_is(tmp_path: Path) -> None:
    mine, old = tmp_path / "model.onnx", tmp_path / "old.json"
    mine.write_bytes(b"\x08\x09")
    with pytest.raises(BadInput, match=r"model\.onnx: is there and is not a profile"):
        check_place(mine)
    old.write_text(json.dumps({**msgspec.to_builtins(profile()), "version": 0}))
    check_place(old)
    check_place(tmp_path / "new.json")
    assert {each.name for each in tmp_path.iterdir()} == {"model.onnx", "old.json"}


def test_a_profile_that_cannot_be_put_there_is_refused_before_minutes_of_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        check_place(tmp_path / "file" / "deep" / "cpu.json")
    check_place(tmp_path / "deep" / "cpu.json")
    assert list((tmp_path / "deep").iterdir()) == []


def test_a_file_too_large_for_a_profile_is_a_limit_and_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "here.json"
    path.write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(LimitReached, match="1,048,576 bytes"):
        load(path)
    with pytest.raises(BadInput):
        check_place(path)
