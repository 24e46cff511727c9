"""The progress line of a long survey."""

import io

import pytest

from onnx_autodoc.analysis.weights import files
from onnx_autodoc.analysis.weights.files import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("delay", [0.0, 1000.0])
def test_progress_on_terminal_is_shown_after_the_delay_and_erased(
    delay: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(files, "_PROGRESS_DELAY_SECONDS", delay)
    progress = Progress(4_000_000_000)
    progress.add(1_000_000_000)
    progress.close()
    line = "\rreading weights:  25% of 3.7 GiB \r\x1b[2K"
    assert terminal.getvalue() == (line if delay == 0 else "")


def test_progress_in_a_log_file_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    monkeypatch.setattr(files, "_PROGRESS_DELAY_SECONDS", 0.0)
    progress = Progress(10)
    progress.add(5)
    progress.close()
    assert log.getvalue() == ""
