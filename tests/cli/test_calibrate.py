"""`onnx-autodoc calibrate`, and what `--device auto` makes of it."""

import json
import os
import signal
from pathlib import Path

import pytest

from onnx_autodoc import BadInput, card
from onnx_autodoc.api import _calibrate as api
from onnx_autodoc.cli import main
from onnx_autodoc.runtime import machine
from onnx_autodoc.runtime.calibration import Answers, Run, encoded, lowered_facts, totals
from tests import _corpus as corpus
from tests.files._made import Made, absolute, hard_linked, linked, pipe, place, upwards
from tests.runtime.calibration.test_fit import profile

NAME = "all-minilm-l6-v2-ts-op14"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    path = tmp_path / "cpu.json"
    path.write_bytes(encoded(profile()))
    return path


def test_this_machine_has_a_calibrated_range_at_every_batch(kept: Path) -> None:
    found = card(corpus.graph(NAME), devices=["auto"], profile=kept).hardware
    assert found is not None
    (row,) = found.devices
    assert row.basis == "calibrated" and row.rests_on is not None and "on this machine" in row.rests_on
    assert row.seconds.low is not None and row.seconds.expected is not None and row.seconds.high is not None
    assert row.seconds.low <= row.seconds.expected <= row.seconds.high
    assert {each.basis for each in found.scaling} == {"calibrated"}
    times = [each.seconds for each in found.scaling if each.seconds is not None]
    assert times == sorted(times) and len(times) == 8


def test_other_precisions_are_not_what_was_calibrated(kept: Path) -> None:
    found = card(corpus.graph(NAME), devices=["auto"], profile=kept, precision="int8").hardware
    assert found is not None and found.devices[0].basis != "calibrated"


def test_a_profile_needs_this_machine_among_the_devices(kept: Path) -> None:
    with pytest.raises(BadInput, match="--device auto"):
        card(corpus.graph(NAME), devices=["t4"], profile=kept)


def test_the_usual_profile_is_used_only_if_it_is_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert api.profile_here(None) is None
    here = tmp_path / "onnx-autodoc" / "cpu.json"
    here.parent.mkdir()
    here.write_bytes(encoded(profile()))
    assert api.profile_here(None) is None  # of a machine with another name
    content = {**json.loads(here.read_text()), "machine": machine().cpu}
    here.write_text(json.dumps(content))
    assert api.profile_here(None) is not None


def busy(share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "_load", lambda: share)


def test_a_busy_machine_is_refused_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    busy(0.5, monkeypatch)
    assert main(["calibrate", "--profile", str(tmp_path / "p.json")]) == 2
    assert "busy: 50 %" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_benchmarks_and_models_become_a_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With answers that follow a rule: a microsecond for each kernel, a nanosecond for each thousand multiply-adds."""
    busy(0.0, monkeypatch)
    model = Path(__file__).parents[2] / "src" / "onnx_autodoc" / "data" / "demo.onnx"
    runs = tuple(_answer(name) for name in corpus.KEPT[:8])
    monkeypatch.setattr(api, "answers", lambda *_: Answers(runs, 2e10, 3e7, "onnxruntime 1"))
    assert main(["calibrate", str(model), "--profile", str(tmp_path / "p.json")]) == 0
    said = capsys.readouterr().out
    assert "demo.onnx" in said and "20.0 GB/s" in said
    assert card(model, devices=["auto"], profile=tmp_path / "p.json").hardware is not None


def _answer(name: str) -> Run:
    from onnx_autodoc.api import facts_of
    from onnx_autodoc.readers import read

    tasks = lowered_facts(facts_of(read(corpus.graph(name)), corpus.request(name)))
    seconds = sum(1e-6 * task.amounts.get("kernels", 0) + 1e-12 * task.amounts.get("macs", 0) for task in tasks)
    return Run(name, seconds, totals(tasks, 3e7))


@pytest.mark.parametrize("made", [absolute, upwards, linked, hard_linked, pipe])
def test_a_model_that_leads_elsewhere_is_refused_before_anything_runs(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(api, "_load", lambda: pytest.fail("went on"))
    path, _ = place(tmp_path, made)
    assert main(["calibrate", str(path), "--profile", str(tmp_path / "p.json")]) == 2
    assert "its weights" in capsys.readouterr().err
    assert not (tmp_path / "p.json").exists()


def test_limits_hold_for_the_models_of_a_calibration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", str(corpus.graph(NAME)), "--profile", str(tmp_path / "p.json")]
    assert main([*words, "--max-nodes", "3"]) == 3
    assert "--max-nodes" in capsys.readouterr().err


def test_a_model_that_kills_its_reader_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(api, "Making", lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
    assert main(["calibrate", str(corpus.graph(NAME)), "--profile", str(tmp_path / "p.json")]) == 2
    assert "SIGSEGV" in capsys.readouterr().err and not list(tmp_path.iterdir())
