"""A report is written whole or not at all, and nothing else is left in its folder."""

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

from onnx_autodoc.cli import _write
from onnx_autodoc.cli._write import File, written
from onnx_autodoc.errors import BadInput, LimitReached

NEW = b"new" * 1000


def write(path: Path, data: bytes, below: Path | None = None) -> None:
    with written([File(path, data, below)]):
        pass


@pytest.fixture(params=["without a name", "no /proc", "with a hidden name"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The three ways, each on this system: as on Linux, in a container without /proc, and elsewhere."""
    if request.param == "with a hidden name":
        monkeypatch.setattr(_write, "_NAMELESS", 0)
    if request.param == "no /proc":
        monkeypatch.setattr(os, "link", _no_proc)
    return str(request.param)


def _no_proc(*_: object, **__: object) -> None:
    raise FileNotFoundError(errno.ENOENT, "No such file or directory")


@pytest.fixture(autouse=True)
def usual_mask() -> Iterator[None]:
    old = os.umask(0o022)
    yield
    os.umask(old)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("data", [b"", NEW, bytes(5_000_000)])
def test_a_new_file_has_its_bytes_and_the_usual_mode(data: bytes, way: str, tmp_path: Path) -> None:
    write(tmp_path / "card.md", data)
    assert (tmp_path / "card.md").read_bytes() == data
    assert mode(tmp_path / "card.md") == 0o644
    assert os.listdir(tmp_path) == ["card.md"]


@pytest.mark.parametrize("mask", [0o077, 0o002, 0o000])
def test_the_umask_holds(mask: int, way: str, tmp_path: Path) -> None:
    os.umask(mask)
    write(tmp_path / "card.md", NEW)
    assert mode(tmp_path / "card.md") == 0o666 & ~mask


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o666, 0o755])
def test_a_file_that_is_replaced_keeps_its_mode(kept: int, way: str, tmp_path: Path) -> None:
    (tmp_path / "card.md").write_bytes(b"old")
    (tmp_path / "card.md").chmod(kept)
    write(tmp_path / "card.md", NEW)
    assert ((tmp_path / "card.md").read_bytes(), mode(tmp_path / "card.md")) == (NEW, kept)
    assert os.listdir(tmp_path) == ["card.md"]


def test_who_has_the_old_file_open_keeps_the_old_file(way: str, tmp_path: Path) -> None:
    (tmp_path / "card.md").write_bytes(b"old")
    with (tmp_path / "card.md").open("rb") as reader:
        write(tmp_path / "card.md", NEW)
        assert reader.read() == b"old"


@pytest.mark.parametrize("target", ["docs/card.md", "new.md"])
def test_a_link_stays_and_what_it_leads_to_is_written(target: str, way: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "card.md").write_bytes(b"old")
    (tmp_path / "card.md").symlink_to(target)
    write(tmp_path / "card.md", NEW)
    assert (tmp_path / "card.md").is_symlink() and not (tmp_path / target).is_symlink()
    assert (tmp_path / target).read_bytes() == NEW
    assert {path.name for path in tmp_path.rglob("*")} == {"docs", "card.md", Path(target).name}


def test_a_link_in_a_folder_of_reports_is_replaced(way: str, tmp_path: Path) -> None:
    """Nobody named it: a folder from a stranger must not choose which file is written."""
    (tmp_path / "precious").write_bytes(b"old")
    for target in ("precious", "nowhere"):
        (tmp_path / "card.md").unlink(missing_ok=True)
        (tmp_path / "card.md").symlink_to(target)
        write(tmp_path / "card.md", NEW, below=tmp_path)
        assert not (tmp_path / "card.md").is_symlink() and (tmp_path / "card.md").read_bytes() == NEW
    assert (tmp_path / "precious").read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["card.md", "precious"]


def test_a_name_may_be_as_long_as_the_system_takes(way: str, tmp_path: Path) -> None:
    for _ in range(2):
        write(tmp_path / ("x" * 252 + ".md"), NEW)
    assert len(os.listdir(tmp_path)) == 1
    with pytest.raises(BadInput, match="File name too long"):
        write(tmp_path / ("x" * 253 + ".md"), NEW)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path)


def _link_to_no_folder(path: Path) -> None:
    path.symlink_to("gone/card.md")


def _link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize("made", [_pipe, _folder, _loop, _link_to_no_folder, _link_to_a_device])
def test_what_cannot_be_a_report_is_refused_and_left_alone(made: object, way: str, tmp_path: Path) -> None:
    made(tmp_path / "card.md")  # type: ignore[operator]
    before = os.lstat(tmp_path / "card.md")
    with pytest.raises(BadInput):
        write(tmp_path / "card.md", NEW)
    assert os.lstat(tmp_path / "card.md").st_ino == before.st_ino
    assert os.listdir(tmp_path) == ["card.md"]


@pytest.mark.parametrize(
    ("number", "error"),
    [(errno.ENOSPC, LimitReached), (errno.EDQUOT, LimitReached), (errno.EFBIG, LimitReached), (errno.EROFS, BadInput)],
)
@pytest.mark.parametrize("step", ["write", "fsync", "rename", "link", "open"])
def test_a_step_that_fails_leaves_the_old_report(
    step: str, number: int, error: type[Exception], way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if step == "link" and way != "without a name":
        pytest.skip("no such step")
    (tmp_path / "card.md").write_bytes(b"old")

    def failing(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as broken:
        broken.setattr(os, step, failing)
        with pytest.raises(error, match=r"card\.md: could not be written: "):
            write(tmp_path / "card.md", NEW)
    assert (tmp_path / "card.md").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["card.md"]


def test_an_interruption_leaves_nothing(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "card.md", NEW)
    assert os.listdir(tmp_path) == []


def test_a_file_that_may_not_be_longer_is_not_written(way: str, tmp_path: Path) -> None:
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


def test_a_full_disk_keeps_the_old_report(way: str, disk: Path) -> None:
    (disk / "card.md").write_bytes(b"old" * 8000)
    with pytest.raises(LimitReached, match="No space left on device"):
        write(disk / "card.md", b"new" * 15_000)
    assert (disk / "card.md").read_bytes() == b"old" * 8000
    assert os.listdir(disk) == ["card.md"]
    write(disk / "card.md", b"new" * 8000)  # what was refused holds no space
    assert (disk / "card.md").read_bytes() == b"new" * 8000


def test_a_read_only_folder_is_a_wrong_request(way: str, disk: Path) -> None:
    (disk / "card.md").write_bytes(b"old")
    if subprocess.run(["mount", "-o", "remount,ro", str(disk)], capture_output=True).returncode:
        pytest.skip("cannot be made read-only here")
    with pytest.raises(BadInput):
        write(disk / "card.md", NEW)
    with pytest.raises(BadInput):
        write(disk / "new.md", NEW)
    assert os.listdir(disk) == ["card.md"] and (disk / "card.md").read_bytes() == b"old"


def test_of_several_files_all_are_written_or_none(way: str, tmp_path: Path) -> None:
    """The last one does not fit: those before it have no name yet, and the folder that was made for them is gone."""
    (tmp_path / "a.md").write_bytes(b"old")
    files = [File(tmp_path / "a.md", NEW), File(tmp_path / "new/b.md", NEW), File(tmp_path / "c.md", bytes(5000))]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(LimitReached, match=r"c\.md.*File too large"), written(files):
            pytest.fail("nothing is told before all is written")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == ["a.md"] and (tmp_path / "a.md").read_bytes() == b"old"


def test_what_fails_before_the_names_leaves_nothing(way: str, tmp_path: Path) -> None:
    with pytest.raises(LimitReached), written([File(tmp_path / "a.md", NEW)]):
        raise LimitReached("standard output is full")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("made", ["link", "file"])
def test_a_folder_that_nobody_named_is_not_followed(made: str, way: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "docs").mkdir()
    here = tmp_path / "docs" / "pictures"
    here.symlink_to(tmp_path / "elsewhere") if made == "link" else here.touch()
    with pytest.raises(BadInput, match=r"docs/pictures: is a link or a file"):
        write(here / "fit.svg", NEW, below=tmp_path / "docs")
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_folder_that_was_named_may_be_a_link(way: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "docs").symlink_to("elsewhere")
    write(tmp_path / "docs" / "pictures" / "fit.svg", NEW, below=tmp_path / "docs")
    assert (tmp_path / "elsewhere" / "pictures" / "fit.svg").read_bytes() == NEW


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
@pytest.mark.parametrize("step", ["link", "rename"])
def test_told_to_end_between_two_names_it_leaves_no_hidden_file(
    number: signal.Signals, step: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal comes right after a name was given: it is heard when the file has its last one.

    Another thread is there, as those of a library are: the signal is the whole process's.
    """
    (tmp_path / "card.md").write_bytes(b"old")
    real = getattr(os, step)

    def told(*given: object, **kept: object) -> None:
        real(*given, **kept)
        os.kill(os.getpid(), number)
        time.sleep(0.05)  # until whichever thread takes it has done so

    monkeypatch.setattr(os, step, told)
    if step == "link" and way != "without a name":
        pytest.skip("no such step")
    with another_thread(), pytest.raises((SystemExit, KeyboardInterrupt)):
        write(tmp_path / "card.md", NEW)
    assert os.listdir(tmp_path) == ["card.md"] and (tmp_path / "card.md").read_bytes() == NEW


@contextmanager
def another_thread() -> Iterator[None]:
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
