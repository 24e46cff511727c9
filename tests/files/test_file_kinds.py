"""Models and outputs that are pipes, devices, links or on a full disk: one line, no waiting, no partial files."""

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
from onnx_autodoc.readers import read_model
from onnx_autodoc.storage import FileSource
from tests._command import command_line, error_line, run_command, run_process
from tests._wire import chunk, relu
from tests.files._external_data import read_tree

OLD = b"old report"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(relu())
    return path


def make_pipe(path: Path) -> str:
    os.mkfifo(path)
    return "is a pipe"


def make_folder(path: Path) -> str:
    path.mkdir()
    return "is a folder"


def make_socket(path: Path) -> str:
    descriptor = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{descriptor}/{path.name}")
    os.close(descriptor)
    return "is a socket"


def make_device(path: Path) -> str:
    path.symlink_to("/dev/zero")
    return "is a device"


def make_dangling_link(path: Path) -> str:
    path.symlink_to("nowhere")
    return "file not found"


def make_link_loop(path: Path) -> str:
    path.symlink_to(path)
    return "cannot be opened: Too many levels of symbolic links"


def make_empty_file(path: Path) -> str:
    path.touch()
    return "empty"


ODD: list[Callable[[Path], str]] = [
    *(make_pipe, make_folder, make_socket, make_device, make_dangling_link, make_link_loop, make_empty_file),
]


@pytest.mark.parametrize("make_file", ODD)
def test_model_that_is_no_regular_file_is_one_line(make_file: Callable[[Path], str], tmp_path: Path) -> None:
    reason = make_file(tmp_path / "m.onnx")
    assert reason in error_line(run_command("card", "m.onnx", cwd=tmp_path), 2)


@pytest.mark.parametrize("make_file", [make_pipe, make_device])
@pytest.mark.parametrize("name", ["compare", "check"])
def test_commands_do_not_wait_for_a_pipe(name: str, make_file: Callable[[Path], str], tmp_path: Path) -> None:
    make_file(tmp_path / "m.onnx")
    (tmp_path / "p.toml").write_text('[[limit]]\nmetric = "parameters.total"\nmax = 1\n')
    words = ("compare", "m.onnx", "m.onnx") if name == "compare" else ("check", "m.onnx", "--policy", "p.toml")
    error_line(run_command(*words, cwd=tmp_path), 2)


@pytest.mark.parametrize("make_file", [make_pipe, make_device])
def test_pipe_or_device_is_not_opened(
    make_file: Callable[[Path], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Opening a device may have side effects: a tape rewinds, a watchdog starts."""
    reason = make_file(tmp_path / "m.onnx")
    monkeypatch.setattr(os, "open", lambda *_, **__: pytest.fail("opened"))
    with pytest.raises(BadInput, match=reason):
        FileSource.open(str(tmp_path / "m.onnx"))


def test_unreadable_model_is_one_line(model: Path) -> None:
    """In a process without superuser rights, for which permissions do not hold."""
    model.chmod(0)
    drop_rights = "import os; os.geteuid() or (os.setgroups([]), os.setgid(65534), os.setuid(65534));"
    imports = "from onnx_autodoc.errors import BadInput; from onnx_autodoc.storage import FileSource\n"
    code = f"{imports}{drop_rights}\ntry:\n FileSource.open('model.onnx')\nexcept BadInput as error:\n print(error)"
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


def test_model_truncated_while_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(relu() + chunk(6, b"x" * 300_000) + relu())
    real = FileSource.read

    def read_and_truncate(self: FileSource, offset: int, length: int) -> bytes:
        data = real(self, offset, length)
        os.truncate(path, 40)
        return data

    monkeypatch.setattr(FileSource, "read", read_and_truncate)
    with pytest.raises(BadInput, match=r"truncated"):
        read_model(path)


def test_model_that_grows_while_read_is_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(relu())
    real = FileSource.read

    def grow_and_read(self: FileSource, offset: int, length: int) -> bytes:
        with path.open("ab") as file:
            file.write(b"\xff" * 1000)
        return real(self, offset, length)

    before = read_model(path).graph
    monkeypatch.setattr(FileSource, "read", grow_and_read)
    assert read_model(path).graph == before


def test_output_to_a_pipe_or_device_is_refused(model: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "r.md")
    for target in ("r.md", "/dev/null", "/dev/full"):
        line = error_line(run_command("card", model, "-o", target, "--format", "markdown", cwd=tmp_path), 2)
        assert "is a pipe or a device" in line


def test_output_through_a_link_writes_its_target(model: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "r.json").symlink_to("docs/new.json")
    assert run_command("card", model, "-o", "r.json", cwd=tmp_path).returncode == 0
    assert (tmp_path / "r.json").is_symlink() and (tmp_path / "docs" / "new.json").read_bytes().startswith(b"{")
    (tmp_path / "s.json").symlink_to("gone/new.json")
    error_line(run_command("card", model, "-o", "s.json", cwd=tmp_path), 2)
    assert sorted(os.listdir(tmp_path)) == ["docs", "model.onnx", "r.json", "s.json"]


def test_full_disk_is_exit_3_and_keeps_the_old_file(model: Path, disk: Path) -> None:
    (disk / "r.html").write_bytes(OLD)
    assert "No space left on device" in error_line(run_command("card", model, "-o", disk / "r.html"), 3)
    assert read_tree(disk) == {"r.html": OLD}


def test_full_disk_leaves_whole_files_in_a_folder(model: Path, disk: Path) -> None:
    for name in ("card.html", "card.md"):
        (disk / name).write_bytes(OLD)
    error_line(run_command("card", model, "-o", disk), 3)
    files = read_tree(disk)
    assert files["card.html"] == OLD
    whole = model.parent / "whole"
    assert run_command("card", model, "-o", whole).returncode == 0
    complete = read_tree(whole)
    assert all(name in complete for name in files), sorted(files)
    assert all(len(data) in (len(OLD), len(complete[name])) for name, data in files.items())


def test_file_size_limit_is_exit_3(model: Path, tmp_path: Path) -> None:
    (tmp_path / "r.html").write_bytes(OLD)
    done = subprocess.run(
        command_line("card", model, "-o", "r.html"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
    )
    assert "File too large" in error_line(done, 3)
    assert read_tree(tmp_path) == {"model.onnx": model.read_bytes(), "r.html": OLD}


@pytest.mark.parametrize("format_name", ["terminal", "json", "html"])
def test_full_standard_output_is_exit_3(format_name: str, model: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = run_process("card", model, "--format", format_name, stdout=full)
    assert "standard output" in error_line(done, 3)


def test_read_only_folder_is_exit_2(model: Path, disk: Path) -> None:
    if subprocess.run(["mount", "-o", "remount,ro", str(disk)], capture_output=True).returncode:
        pytest.skip("cannot be made read-only here")
    for target in (disk / "r.html", disk / "reports"):
        with contextlib.suppress(FileNotFoundError):
            error_line(run_command("card", model, "-o", target), 2)
    assert read_tree(disk) == {}
