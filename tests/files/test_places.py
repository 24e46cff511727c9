"""Models and reports that are no plain files: one line says so, nothing is waited for, nothing is left behind."""

import contextlib
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from onnx_autodoc.errors import BadInput
from onnx_autodoc.readers import FileSource, read
from tests._wire import chunk, relu
from tests.files._made import command, ran, said_in_one_line, tree

OLD = b"old report"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(relu())
    return path


def a_pipe(path: Path) -> str:
    os.mkfifo(path)
    return "is a pipe"


def a_folder(path: Path) -> str:
    path.mkdir()
    return "is a folder"


def a_socket(path: Path) -> str:
    here = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{here}/{path.name}")
    os.close(here)
    return "is a socket"


def a_device(path: Path) -> str:
    path.symlink_to("/dev/zero")
    return "is a device"


def a_link_to_nowhere(path: Path) -> str:
    path.symlink_to("nowhere")
    return "there is no such file"


def a_link_to_itself(path: Path) -> str:
    path.symlink_to(path)
    return "cannot be opened: Too many levels of symbolic links"


def an_empty_file(path: Path) -> str:
    path.touch()
    return "empty"


ODD: list[Callable[[Path], str]] = [
    *(a_pipe, a_folder, a_socket, a_device, a_link_to_nowhere, a_link_to_itself, an_empty_file),
]


@pytest.mark.parametrize("made", ODD)
def test_a_model_that_is_no_file_is_said_in_one_line(made: Callable[[Path], str], tmp_path: Path) -> None:
    reason = made(tmp_path / "m.onnx")
    assert reason in said_in_one_line(ran("card", "m.onnx", cwd=tmp_path), 2)


@pytest.mark.parametrize("made", [a_pipe, a_device])
@pytest.mark.parametrize("name", ["compare", "check"])
def test_no_command_waits_for_a_pipe(name: str, made: Callable[[Path], str], tmp_path: Path) -> None:
    made(tmp_path / "m.onnx")
    (tmp_path / "p.toml").write_text('[[limit]]\nmetric = "parameters.total"\nmax = 1\n')
    words = ("compare", "m.onnx", "m.onnx") if name == "compare" else ("check", "m.onnx", "--policy", "p.toml")
    said_in_one_line(ran(*words, cwd=tmp_path), 2)


@pytest.mark.parametrize("made", [a_pipe, a_device])
def test_what_is_no_file_is_not_even_opened(
    made: Callable[[Path], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening can already do something: a tape is wound back, a watchdog begins to count."""
    reason = made(tmp_path / "m.onnx")
    monkeypatch.setattr(os, "open", lambda *_, **__: pytest.fail("opened"))
    with pytest.raises(BadInput, match=reason):
        FileSource(str(tmp_path / "m.onnx"))


def test_a_model_that_may_not_be_read_is_said_in_one_line(model: Path) -> None:
    """As somebody for whom permissions hold: a process that gives up being the superuser before it begins."""
    model.chmod(0)
    give_up = "import os; os.geteuid() or (os.setgroups([]), os.setgid(65534), os.setuid(65534));"
    ask = "from onnx_autodoc.errors import BadInput; from onnx_autodoc.readers import FileSource\n"
    code = f"{ask}{give_up}\ntry:\n FileSource('model.onnx')\nexcept BadInput as error:\n print(error)"
    folder = os.open(model.parent, os.O_RDONLY)
    try:
        done = subprocess.run(
            [sys.executable, "-c", f"import os; os.fchdir({folder})\n{code}"],
            capture_output=True,
            text=True,
            pass_fds=(folder,),
        )
    finally:
        os.close(folder)
    assert done.stdout == "model.onnx: cannot be opened: Permission denied\n", done.stderr


def test_a_model_that_becomes_shorter_while_it_is_read_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(relu() + chunk(6, b"x" * 300_000) + relu())
    real = FileSource.read

    def cut(self: FileSource, offset: int, length: int) -> bytes:
        found = real(self, offset, length)
        os.truncate(path, 40)
        return found

    monkeypatch.setattr(FileSource, "read", cut)
    with pytest.raises(BadInput, match=r"became shorter while it was read|truncated"):
        read(path)


def test_a_model_that_grows_while_it_is_read_is_what_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(relu())
    real = FileSource.read

    def grown(self: FileSource, offset: int, length: int) -> bytes:
        with path.open("ab") as file:
            file.write(b"\xff" * 1000)
        return real(self, offset, length)

    before = read(path).graph
    monkeypatch.setattr(FileSource, "read", grown)
    assert read(path).graph == before


def test_a_report_to_a_pipe_or_a_device_is_refused(model: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "r.md")
    for target in ("r.md", "/dev/null", "/dev/full"):
        line = said_in_one_line(ran("card", model, "-o", target, "--format", "markdown", cwd=tmp_path), 2)
        assert "a pipe or a device" in line


def test_a_report_through_a_link_goes_where_the_link_leads(model: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "r.json").symlink_to("docs/new.json")
    assert ran("card", model, "-o", "r.json", cwd=tmp_path).returncode == 0
    assert (tmp_path / "r.json").is_symlink() and (tmp_path / "docs" / "new.json").read_bytes().startswith(b"{")
    (tmp_path / "s.json").symlink_to("gone/new.json")
    said_in_one_line(ran("card", model, "-o", "s.json", cwd=tmp_path), 2)
    assert sorted(os.listdir(tmp_path)) == ["docs", "model.onnx", "r.json", "s.json"]


def test_a_full_disk_is_a_limit_and_the_old_report_stays(model: Path, disk: Path) -> None:
    (disk / "r.html").write_bytes(OLD)
    assert "No space left on device" in said_in_one_line(ran("card", model, "-o", disk / "r.html"), 3)
    assert tree(disk) == {"r.html": OLD}


def test_a_full_disk_leaves_whole_reports_in_a_folder(model: Path, disk: Path) -> None:
    for name in ("card.html", "card.md"):
        (disk / name).write_bytes(OLD)
    said_in_one_line(ran("card", model, "-o", disk), 3)
    found = tree(disk)
    assert found["card.html"] == OLD
    whole = model.parent / "whole"
    assert ran("card", model, "-o", whole).returncode == 0
    made = tree(whole)
    assert all(name in made for name in found), sorted(found)
    assert all(len(data) in (len(OLD), len(made[name])) for name, data in found.items())


def test_a_limit_on_the_size_of_files_is_a_limit(model: Path, tmp_path: Path) -> None:
    (tmp_path / "r.html").write_bytes(OLD)
    done = subprocess.run(
        command("card", model, "-o", "r.html"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
    )
    assert "File too large" in said_in_one_line(done, 3)
    assert tree(tmp_path) == {"model.onnx": model.read_bytes(), "r.html": OLD}


@pytest.mark.parametrize("format_name", ["terminal", "json", "html"])
def test_a_full_standard_output_is_a_limit(format_name: str, model: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = ran("card", model, "--format", format_name, stdout=full)
    assert "standard output" in said_in_one_line(done, 3)


def test_a_folder_that_may_not_be_written_is_a_wrong_request(model: Path, disk: Path) -> None:
    if subprocess.run(["mount", "-o", "remount,ro", str(disk)], capture_output=True).returncode:
        pytest.skip("cannot be made read-only here")
    for target in (disk / "r.html", disk / "reports"):
        with contextlib.suppress(FileNotFoundError):
            said_in_one_line(ran("card", model, "-o", target), 2)
    assert tree(disk) == {}
