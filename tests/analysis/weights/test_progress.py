import io

import pytest

from onnx_autodoc.analysis.weights import progress as progress_module
from onnx_autodoc.analysis.weights.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("patience", [0.0, 1000.0])
def test_who_waits_on_a_terminal_is_told_and_the_line_is_gone_in_the_end(
    patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress_module, "_PATIENCE", patience)
    progress = Progress(4_000_000_000)
    progress.add(1_000_000_000)
    progress.close()
    told = "\rreading weights:  25% of 4.0 GB \r\x1b[2K"
    assert terminal.getvalue() == (told if patience == 0 else "")


def test_a_file_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    monkeypatch.setattr(progress_module, "_PATIENCE", 0.0)
    progress = Progress(10)
    progress.add(5)
    progress.close()
    assert log.getvalue() == ""
