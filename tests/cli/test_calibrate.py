"""`onnx-autodoc calibrate`, and estimates of `--device auto` by its profile."""

import json
import os
import signal
from pathlib import Path

import pytest

from onnx_autodoc import BadInput, card
from onnx_autodoc.api import calibration as api
from onnx_autodoc.cli import main
from onnx_autodoc.runtime import describe_machine
from onnx_autodoc.runtime.calibration import Benchmarks, TimedGraph, encode_profile, lower_facts, sum_work
from tests import _corpus as corpus
from tests.files._external_data import (
    AddFile,
    add_hard_link,
    add_link,
    add_pipe,
    create_model,
    name_absolute_path,
    name_parent_path,
)
from tests.runtime.calibration.test_fit import make_profile

NAME = "all-minilm-l6-v2-ts-op14"


@pytest.fixture
def profile_file(tmp_path: Path) -> Path:
    path = tmp_path / "cpu.json"
    path.write_bytes(encode_profile(make_profile()))
    return path


def test_this_machine_has_a_calibrated_range_at_every_batch(profile_file: Path) -> None:
    hardware = card(corpus.graph(NAME), devices=["auto"], profile=profile_file).hardware
    assert hardware is not None
    (row,) = hardware.devices
    assert row.basis == "calibrated" and row.rests_on is not None and "on this machine" in row.rests_on
    assert row.seconds.low is not None and row.seconds.expected is not None and row.seconds.high is not None
    assert row.seconds.low <= row.seconds.expected <= row.seconds.high
    assert {point.basis for point in hardware.scaling} == {"calibrated"}
    times = [point.seconds for point in hardware.scaling if point.seconds is not None]
    assert times == sorted(times) and len(times) == 8


def test_other_precision_is_not_calibrated(profile_file: Path) -> None:
    hardware = card(corpus.graph(NAME), devices=["auto"], profile=profile_file, precision="int8").hardware
    assert hardware is not None and hardware.devices[0].basis != "calibrated"


def test_profile_requires_device_auto(profile_file: Path) -> None:
    with pytest.raises(BadInput, match="--device auto"):
        card(corpus.graph(NAME), devices=["t4"], profile=profile_file)


def test_stored_profile_of_another_machine_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert api.find_profile(None) is None
    stored = tmp_path / "onnx-autodoc" / "cpu.json"
    stored.parent.mkdir()
    stored.write_bytes(encode_profile(make_profile()))
    assert api.find_profile(None) is None  # of a machine with another name
    content = {**json.loads(stored.read_text()), "machine": describe_machine().cpu}
    stored.write_text(json.dumps(content))
    assert api.find_profile(None) is not None


def set_load(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "measure_load", lambda: share)


def test_busy_machine_is_refused_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    set_load(0.5, monkeypatch)
    assert main(["calibrate", "--profile", str(tmp_path / "p.json")]) == 2
    assert "busy: other processes use 50% of it" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_benchmarks_and_models_become_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With synthetic times: a microsecond per kernel, a nanosecond per thousand MACs."""
    set_load(0.0, monkeypatch)
    model = Path(__file__).parents[2] / "src" / "onnx_autodoc" / "data" / "demo.onnx"
    runs = tuple(_make_timing(name) for name in corpus.GRAPH_NAMES[:8])
    monkeypatch.setattr(api, "run_benchmarks", lambda *_: Benchmarks(runs, 2e10, 3e7, "onnxruntime 1"))
    assert main(["calibrate", str(model), "--profile", str(tmp_path / "p.json")]) == 0
    out = capsys.readouterr().out
    assert "demo.onnx" in out and "20.0 GB/s" in out
    assert card(model, devices=["auto"], profile=tmp_path / "p.json").hardware is not None


def _make_timing(name: str) -> TimedGraph:
    from onnx_autodoc.api import measure_model
    from onnx_autodoc.readers import read_model

    kernels = lower_facts(measure_model(read_model(corpus.graph(name)), corpus.request(name)))
    work = [kernel.quantities for kernel in kernels]
    seconds = sum(1e-6 * item.get("kernels", 0) + 1e-12 * item.get("macs", 0) for item in work)
    return TimedGraph(name, seconds, sum_work(kernels, 3e7))


@pytest.mark.parametrize("add_file", [name_absolute_path, name_parent_path, add_link, add_hard_link, add_pipe])
def test_model_with_escaping_weights_is_refused_before_benchmarks(
    add_file: AddFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(api, "measure_load", lambda: pytest.fail("went on"))
    path, _ = create_model(tmp_path, add_file)
    assert main(["calibrate", str(path), "--profile", str(tmp_path / "p.json")]) == 2
    assert "the weights file" in capsys.readouterr().err
    assert not (tmp_path / "p.json").exists()


def test_limits_hold_for_calibration_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", str(corpus.graph(NAME)), "--profile", str(tmp_path / "p.json")]
    assert main([*words, "--max-nodes", "3"]) == 3
    assert "--max-nodes" in capsys.readouterr().err


def test_crash_while_reading_a_model_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(api, "analyze_model", lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
    assert main(["calibrate", str(corpus.graph(NAME)), "--profile", str(tmp_path / "p.json")]) == 2
    assert "SIGSEGV" in capsys.readouterr().err and not list(tmp_path.iterdir())
