"""What a machine does not give is said in one line that helps, and is never taken for a mistake of the tool."""

import os
import resource
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from onnx_autodoc.cli import main
from tests._wire import relu
from tests.files._made import command, said_in_one_line


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    path.write_bytes(relu())
    (tmp_path / "p.toml").write_text('[limits]\n"graph.nodes" = { max = 9 }\n')
    return path


def ran(*words: object, before: Callable[[], None]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*words), preexec_fn=before, capture_output=True, text=True, timeout=60, check=False)


def limited(what: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(what, (most, most))


@pytest.mark.parametrize("files", range(5, 11))
def test_too_few_files_for_a_run_are_a_limit(files: int, model: Path) -> None:
    done = ran("verify", model, "--runs", "1", before=limited(resource.RLIMIT_NOFILE, files))
    assert "ulimit -n" in said_in_one_line(done, 3)


@pytest.mark.parametrize("megabytes", [30, 60, 80, 100, 120, 150, 180, 199])
@pytest.mark.parametrize("words", [("card",), ("verify",), ("rules",), ("schema",), ("explain", "t4")])
def test_too_little_memory_for_the_libraries_is_a_limit(words: tuple[str, ...], megabytes: int, model: Path) -> None:
    named = (model,) if words[0] in ("card", "verify") else ()
    done = ran(*words, *named, before=limited(resource.RLIMIT_AS, megabytes * 10**6))
    assert f"{megabytes},000,000 bytes" in said_in_one_line(done, 3) and "ulimit -v" in done.stderr


def test_a_folder_that_is_gone_is_no_obstacle_to_whole_paths(model: Path, tmp_path: Path) -> None:
    gone, policy = tmp_path / "gone", tmp_path / "p.toml"

    def leave() -> None:
        gone.mkdir()
        os.chdir(gone)
        gone.rmdir()

    for words in (("card", model), ("check", model, "--policy", policy), ("compare", model, model)):
        assert ran(*words, before=leave).returncode == 0, words
    for words in (("card", "m.onnx"), ("card", model, "-o", "r.json"), ("check", model, "--policy", policy, "-o", "r")):
        assert "internal" not in said_in_one_line(ran(*words, before=leave), 2)


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whom the system does not know, as in a container that runs under a number."""

    def unknown(_: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(unknown))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


@pytest.mark.usefixtures("nobody")
def test_who_has_no_folder_has_no_profile(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", str(model), "--device", "auto"]) == 0
    assert main(["calibrate", "--quick"]) == 2
    assert capsys.readouterr().err.endswith("set HOME, or name a file with --profile\n")


def test_a_folder_that_may_not_be_looked_into_has_no_profile(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def denied(_: Path, **__: object) -> bool:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "exists", denied)
        assert main(["calibrate", "--quick", "--profile", "x.json"]) == 2
    assert "x.json: cannot be looked at: Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["verify", "--runs", "1"], ["calibrate", "--quick", "--force"]])
def test_no_folder_for_temporary_files_is_one_line(
    words: list[str], model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def nowhere(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", nowhere)
    kept = ["--profile", str(model.parent / "p.json")] if words[0] == "calibrate" else []
    assert main([*words, str(model), *kept]) == 2
    assert "name one in TMPDIR" in capsys.readouterr().err
