"""Profile files: round trip, and rejection of invalid ones."""

import json
from pathlib import Path

import msgspec
import pytest

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.runtime.calibration import check_profile_path, encode_profile, load_profile, profile_path
from tests.runtime.calibration.test_fit import make_profile


def test_profile_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "cpu.json"
    path.write_bytes(encode_profile(make_profile()))
    assert load_profile(path) == make_profile()


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
def test_invalid_profile_is_rejected_with_one_line(tmp_path: Path, key: str, value: object) -> None:
    path = tmp_path / "cpu.json"
    path.write_text(json.dumps({**msgspec.to_builtins(make_profile()), key: value}))
    with pytest.raises(BadInput) as refused:
        load_profile(path)
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith(f"{path}: invalid machine profile: ")


@pytest.mark.parametrize("content", [b"", b"[", b"\xff\xfe", b"[" * 100_000])
def test_malformed_profile_is_rejected(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "cpu.json"
    path.write_bytes(content)
    with pytest.raises(BadInput):
        load_profile(path)


def test_missing_profile_is_reported(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="file not found"):
        load_profile(tmp_path / "none.json")


def test_default_path_is_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert profile_path() == tmp_path / "onnx-autodoc" / "cpu.json"
    assert profile_path("mine.json") == Path("mine.json")


def test_only_profiles_are_overwritten(tmp_path: Path) -> None:
    mine, old = tmp_path / "model.onnx", tmp_path / "old.json"
    mine.write_bytes(b"\x08\x09")
    with pytest.raises(BadInput, match=r"model\.onnx: exists and is not a machine profile"):
        check_profile_path(mine)
    old.write_text(json.dumps({**msgspec.to_builtins(make_profile()), "version": 0}))
    check_profile_path(old)
    check_profile_path(tmp_path / "new.json")
    assert {each.name for each in tmp_path.iterdir()} == {"model.onnx", "old.json"}


def test_unwritable_path_is_rejected_early(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadInput, match="cannot be written"):
        check_profile_path(tmp_path / "file" / "deep" / "cpu.json")
    check_profile_path(tmp_path / "deep" / "cpu.json")
    assert list((tmp_path / "deep").iterdir()) == []


def test_oversized_profile_is_a_limit_and_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "here.json"
    path.write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(LimitReached, match="1,048,576 bytes"):
        load_profile(path)
    with pytest.raises(BadInput):
        check_profile_path(path)
