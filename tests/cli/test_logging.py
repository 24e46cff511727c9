"""`--verbose` and `--debug`: steps, times and tracebacks on standard error; standard output stays the same."""

import os
import re
import signal
from pathlib import Path

import pytest

from onnx_autodoc.api import pipeline
from onnx_autodoc.cli import main
from tests._text import proto

Captured = pytest.CaptureFixture[str]
STEPS = ("reading", "shapes", "structure", "hardware", "findings")


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(proto("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }").SerializeToString())
    return "m.onnx"


def run(capfd: Captured, *words: str) -> tuple[int, str, str]:
    status = main(words)
    return status, *capfd.readouterr()


def test_verbose_logs_each_step_and_leaves_the_card_unchanged(model: str, capfd: Captured) -> None:
    _, card, _ = run(capfd, model)
    status, out, err = run(capfd, model, "--verbose")
    assert (status, out) == (0, card)
    assert [line.split()[1] for line in err.splitlines()] == list(STEPS)
    assert "ms" not in err


def test_verbose_logs_written_files(model: str, capfd: Captured) -> None:
    _, _, err = run(capfd, model, "--verbose", "-o", "card.md")
    assert re.search(r"^onnx-autodoc: rendering markdown$", err, re.MULTILINE)
    assert re.search(r"^onnx-autodoc: wrote card\.md, \d+ bytes$", err, re.MULTILINE)


def test_debug_logs_the_time_of_each_step(model: str, capfd: Captured) -> None:
    status, _, err = run(capfd, model, "--debug")
    assert status == 0
    assert re.findall(rf"^onnx-autodoc: (\w+) of {model}: \d+\.\d ms", err, re.MULTILINE) == list(STEPS)


def test_debug_prints_the_traceback_before_the_error_line(capfd: Captured, tmp_path: Path) -> None:
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"not a model at all, no")
    _, _, plain = run(capfd, str(bad))
    status, out, err = run(capfd, str(bad), "--debug")
    assert (status, out) == (2, "")
    assert plain.count("\n") == 1 and err.endswith(plain)
    assert "Traceback (most recent call last):" in err and "in read_model" in err


def test_debug_prints_the_traceback_of_a_skipped_step(
    model: str, capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "estimate_hardware", lambda *_: 1 // 0)
    status, _, err = run(capfd, model, "--debug")
    assert status == 0
    assert f"hardware of {model} failed\nTraceback" in err and "ZeroDivisionError" in err


def test_crashed_step_is_skipped_by_a_second_worker(
    model: str, capfd: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "estimate_hardware", lambda *_: os.kill(os.getpid(), signal.SIGSEGV))
    status, _, err = run(capfd, model, "--verbose")
    assert status == 0
    assert err.count("hardware of") == 1 and err.count("reading") == 2  # the second worker skips the step


def test_names_in_messages_are_escaped(capfd: Captured, tmp_path: Path) -> None:
    path = tmp_path / "a\x1b[31m\n::error::.onnx"
    path.write_bytes(proto("g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }").SerializeToString())
    status, _, err = run(capfd, str(path), "--debug", "--format", "json")
    assert status == 0
    assert "\x1b" not in err and not re.search(r"^\s*::", err, re.MULTILINE)


@pytest.mark.parametrize("command", ["card", "compare", "check", "verify", "calibrate", "demo"])
def test_help_of_every_command_with_cards_documents_both_options(command: str, capsys: Captured) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    out = capsys.readouterr().out
    assert "--verbose" in out and "--debug" in out
