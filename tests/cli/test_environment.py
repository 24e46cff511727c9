"""Missing resources of the machine (memory, files, folders) are one line with advice, never an internal error."""

import os
import resource
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from onnx_autodoc.cli import main
from tests._command import command_line, error_line
from tests._wire import relu


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.onnx"
    path.write_bytes(relu())
    (tmp_path / "p.toml").write_text('[limits]\n"graph.nodes" = { max = 9 }\n')
    return path


def run_after(*words: object, before: Callable[[], None]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command_line(*words), preexec_fn=before, capture_output=True, text=True, timeout=60, check=False
    )


def limit_resource(kind: int, limit: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (limit, limit))


@pytest.mark.parametrize("files", range(5, 11))
def test_file_limit_of_a_run_is_exit_3(files: int, model: Path) -> None:
    done = run_after("verify", model, "--runs", "1", before=limit_resource(resource.RLIMIT_NOFILE, files))
    assert "ulimit -n" in error_line(done, 3)


@pytest.mark.parametrize("megabytes", [30, 60, 80, 100, 120, 150, 180, 199])
@pytest.mark.parametrize("words", [("card",), ("verify",), ("rules",), ("schema",), ("explain", "t4")])
def test_memory_limit_below_the_libraries_is_exit_3(words: tuple[str, ...], megabytes: int, model: Path) -> None:
    models = (model,) if words[0] in ("card", "verify") else ()
    done = run_after(*words, *models, before=limit_resource(resource.RLIMIT_AS, megabytes * 10**6))
    assert f"{megabytes},000,000 bytes" in error_line(done, 3) and "ulimit -v" in done.stderr


def test_deleted_current_folder_allows_absolute_paths(model: Path, tmp_path: Path) -> None:
    deleted, policy = tmp_path / "gone", tmp_path / "p.toml"

    def leave() -> None:
        deleted.mkdir()
        os.chdir(deleted)
        deleted.rmdir()

    for words in (("card", model), ("check", model, "--policy", policy), ("compare", model, model)):
        assert run_after(*words, before=leave).returncode == 0, words
    for words in (("card", "m.onnx"), ("card", model, "-o", "r.json"), ("check", model, "--policy", policy, "-o", "r")):
        assert "internal" not in error_line(run_after(*words, before=leave), 2)


@pytest.fixture
def without_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user without a home directory, as in a container with a numeric user id."""

    def fail(_: type[Path]) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", classmethod(fail))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


@pytest.mark.usefixtures("without_home")
def test_user_without_home_has_no_profile(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["card", str(model), "--device", "auto"]) == 0
    assert main(["calibrate", "--quick"]) == 2
    assert capsys.readouterr().err.endswith("set HOME, or pass a file with --profile\n")


def test_inaccessible_profile_folder_is_one_line(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_: Path, **__: object) -> bool:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "exists", refuse)
        assert main(["calibrate", "--quick", "--profile", "x.json"]) == 2
    assert "x.json: cannot be accessed: Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["verify", "--runs", "1"], ["calibrate", "--quick", "--force"]])
def test_missing_temporary_folder_is_one_line(
    words: list[str], model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail_to_create(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "TemporaryDirectory", fail_to_create)
    profile = ["--profile", str(model.parent / "p.json")] if words[0] == "calibrate" else []
    assert main([*words, str(model), *profile]) == 2
    assert "set TMPDIR to one that is" in capsys.readouterr().err
