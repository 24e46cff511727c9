"""Output files are written whole or not at all, and nothing else is left in their folder."""

import errno
import os
import resource
import signal
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from onnx_autodoc.errors import BadInput, LimitReached
from onnx_autodoc.storage import OutputFile, write_files

NEW = b"new" * 1000


def write(path: Path, data: bytes, root: Path | None = None) -> None:
    with write_files([OutputFile(path, data, root)]):
        pass


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    old = os.umask(0o022)
    yield
    os.umask(old)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("data", [b"", NEW, bytes(5_000_000)])
def test_new_file_has_its_data_and_the_default_mode(data: bytes, tmp_path: Path) -> None:
    write(tmp_path / "card.md", data)
    assert (tmp_path / "card.md").read_bytes() == data
    assert mode(tmp_path / "card.md") == 0o644
    assert os.listdir(tmp_path) == ["card.md"]


@pytest.mark.parametrize("mask", [0o077, 0o002, 0o000])
def test_umask_is_respected(mask: int, tmp_path: Path) -> None:
    os.umask(mask)
    write(tmp_path / "card.md", NEW)
    assert mode(tmp_path / "card.md") == 0o666 & ~mask


@pytest.mark.parametrize("permissions", [0o600, 0o640, 0o666, 0o755])
def test_replaced_file_keeps_its_mode(permissions: int, tmp_path: Path) -> None:
    (tmp_path / "card.md").write_bytes(b"old")
    (tmp_path / "card.md").chmod(permissions)
    write(tmp_path / "card.md", NEW)
    assert ((tmp_path / "card.md").read_bytes(), mode(tmp_path / "card.md")) == (NEW, permissions)
    assert os.listdir(tmp_path) == ["card.md"]


def test_open_handle_keeps_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "card.md").write_bytes(b"old")
    with (tmp_path / "card.md").open("rb") as reader:
        write(tmp_path / "card.md", NEW)
        assert reader.read() == b"old"


@pytest.mark.parametrize("target", ["docs/card.md", "new.md"])
def test_named_link_stays_and_its_target_is_written(target: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "card.md").write_bytes(b"old")
    (tmp_path / "card.md").symlink_to(target)
    write(tmp_path / "card.md", NEW)
    assert (tmp_path / "card.md").is_symlink() and not (tmp_path / target).is_symlink()
    assert (tmp_path / target).read_bytes() == NEW
    assert {path.name for path in tmp_path.rglob("*")} == {"docs", "card.md", Path(target).name}


def test_link_in_an_output_folder_is_replaced(tmp_path: Path) -> None:
    """The user did not name it: the content of a folder must not choose which file is written."""
    (tmp_path / "precious").write_bytes(b"old")
    for target in ("precious", "nowhere"):
        (tmp_path / "card.md").unlink(missing_ok=True)
        (tmp_path / "card.md").symlink_to(target)
        write(tmp_path / "card.md", NEW, root=tmp_path)
        assert not (tmp_path / "card.md").is_symlink() and (tmp_path / "card.md").read_bytes() == NEW
    assert (tmp_path / "precious").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["card.md", "precious"]


def test_name_of_maximal_length_is_written(tmp_path: Path) -> None:
    for _ in range(2):
        write(tmp_path / ("x" * 252 + ".md"), NEW)
    assert len(os.listdir(tmp_path)) == 1
    with pytest.raises(BadInput, match="File name too long"):
        write(tmp_path / ("x" * 253 + ".md"), NEW)


def _make_pipe(path: Path) -> None:
    os.mkfifo(path)


def _make_folder(path: Path) -> None:
    path.mkdir()


def _make_loop(path: Path) -> None:
    path.symlink_to(path)


def _link_to_missing_folder(path: Path) -> None:
    path.symlink_to("gone/card.md")


def _link_to_device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize(
    "make_target", [_make_pipe, _make_folder, _make_loop, _link_to_missing_folder, _link_to_device]
)
def test_target_that_is_no_file_is_refused_and_unchanged(make_target: object, tmp_path: Path) -> None:
    make_target(tmp_path / "card.md")  # type: ignore[operator]
    before = os.lstat(tmp_path / "card.md")
    with pytest.raises(BadInput):
        write(tmp_path / "card.md", NEW)
    assert os.lstat(tmp_path / "card.md").st_ino == before.st_ino
    assert os.listdir(tmp_path) == ["card.md"]


@pytest.mark.parametrize(
    ("number", "error"),
    [(errno.ENOSPC, LimitReached), (errno.EDQUOT, LimitReached), (errno.EFBIG, LimitReached), (errno.EROFS, BadInput)],
)
@pytest.mark.parametrize("step", ["write", "fsync", "replace", "open"])
def test_failed_step_keeps_the_old_file(
    step: str, number: int, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "card.md").write_bytes(b"old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as broken:
        broken.setattr(os, step, fail)
        with pytest.raises(error, match=r"card\.md: cannot be written: "):
            write(tmp_path / "card.md", NEW)
    assert (tmp_path / "card.md").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["card.md"]


def test_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "card.md", NEW)
    assert os.listdir(tmp_path) == []


def test_file_size_limit_keeps_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "card.md").write_bytes(b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(LimitReached, match="File too large"):
            write(tmp_path / "card.md", bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "card.md").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["card.md"]


def test_full_disk_keeps_the_old_file(disk: Path) -> None:
    (disk / "card.md").write_bytes(b"old" * 8000)
    with pytest.raises(LimitReached, match="No space left on device"):
        write(disk / "card.md", b"new" * 15_000)
    assert (disk / "card.md").read_bytes() == b"old" * 8000
    assert os.listdir(disk) == ["card.md"]
    write(disk / "card.md", b"new" * 8000)  # the refused data takes no space
    assert (disk / "card.md").read_bytes() == b"new" * 8000


def test_read_only_folder_is_bad_input(disk: Path) -> None:
    (disk / "card.md").write_bytes(b"old")
    if subprocess.run(["mount", "-o", "remount,ro", str(disk)], capture_output=True).returncode:
        pytest.skip("cannot be made read-only here")
    with pytest.raises(BadInput):
        write(disk / "card.md", NEW)
    with pytest.raises(BadInput):
        write(disk / "new.md", NEW)
    assert os.listdir(disk) == ["card.md"] and (disk / "card.md").read_bytes() == b"old"


def test_several_files_are_all_written_or_none(tmp_path: Path) -> None:
    """The last one does not fit: none replaces its target, and the new folder is removed."""
    (tmp_path / "a.md").write_bytes(b"old")
    files = [
        OutputFile(tmp_path / "a.md", NEW),
        OutputFile(tmp_path / "new/b.md", NEW),
        OutputFile(tmp_path / "c.md", bytes(5000)),
    ]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(LimitReached, match=r"c\.md.*File too large"), write_files(files):
            pytest.fail("the block runs only after all files are written")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == ["a.md"] and (tmp_path / "a.md").read_bytes() == b"old"


def test_failure_in_the_block_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(LimitReached), write_files([OutputFile(tmp_path / "a.md", NEW)]):
        raise LimitReached("standard output is full")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", ["link", "file"])
def test_linked_subfolder_is_refused(kind: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "docs").mkdir()
    folder = tmp_path / "docs" / "pictures"
    folder.symlink_to(tmp_path / "elsewhere") if kind == "link" else folder.touch()
    with pytest.raises(BadInput, match=r"docs/pictures: is a link or a file"):
        write(folder / "fit.svg", NEW, root=tmp_path / "docs")
    assert os.listdir(tmp_path / "elsewhere") == []


def test_named_folder_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "docs").symlink_to("elsewhere")
    write(tmp_path / "docs" / "pictures" / "fit.svg", NEW, root=tmp_path / "docs")
    assert (tmp_path / "elsewhere" / "pictures" / "fit.svg").read_bytes() == NEW


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signal_between_two_targets_leaves_no_temporary_file(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal is delivered when all targets are replaced, also if another thread of a library receives it."""
    replace = os.replace

    def replace_and_signal(*words: object, **options: object) -> None:
        replace(*words, **options)  # type: ignore[arg-type]
        os.kill(os.getpid(), number)
        time.sleep(0.05)  # until a thread has taken the signal

    monkeypatch.setattr(os, "replace", replace_and_signal)
    files = [OutputFile(tmp_path / name, NEW) for name in ("a.md", "b.md")]
    with running_thread(), pytest.raises((SystemExit, KeyboardInterrupt)), write_files(files):
        pass
    assert sorted(os.listdir(tmp_path)) == ["a.md", "b.md"]
    assert (tmp_path / "a.md").read_bytes() == (tmp_path / "b.md").read_bytes() == NEW


@contextmanager
def running_thread() -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
