"""`SafeFolder`: regular files below the model's folder are opened, everything else is refused with a reason."""

import contextlib
import os
import time
from pathlib import Path

import pytest

from onnx_autodoc.limits import Limits, within
from onnx_autodoc.lint.rules.files import escapes
from onnx_autodoc.readers import read_model
from onnx_autodoc.storage import AccessRefused, FileMissing, normalize_path, safe_open
from onnx_autodoc.storage.safe_open import SafeFolder, leads_out, split_path
from tests.files._external_data import (
    CANARY,
    ODD,
    OUTSIDE,
    AddFile,
    add_link,
    add_pipe,
    add_regular_file,
    build_external_model,
    create_model,
)

LINKS = "; --follow-links allows it"
REASONS = {
    "name_absolute_path": "is outside the model's folder",
    "name_parent_path": "is outside the model's folder",
    "name_path_through_parent": "is outside the model's folder",
    "add_link": f"is behind a symbolic link{LINKS}",
    "add_linked_folder": f"is behind a symbolic link{LINKS}",
    "add_chained_links": f"is behind a symbolic link{LINKS}",
    "add_hard_link": f"has more than one hard link, so it may be a file from outside the model's folder{LINKS}",
    "add_pipe": "is a pipe, not a regular file",
    "add_socket": "is a socket, not a regular file",
    "add_device": "is a device, not a regular file",
    "add_device_link": f"is behind a symbolic link{LINKS}",
    "add_folder": "is a folder, not a regular file",
}


def count_handles() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("add_file", [*OUTSIDE, *ODD])
def test_file_outside_or_not_regular_is_refused_with_a_reason(add_file: AddFile, tmp_path: Path) -> None:
    path, _ = create_model(tmp_path, add_file)
    (file,) = read_model(path).external
    reason = LINKED_DEVICE if add_file.__name__ == "add_device" and (path.parent / "w.bin").is_symlink() else None
    assert (file.nbytes, file.reason) == (None, reason or REASONS[add_file.__name__])


LINKED_DEVICE = REASONS["add_device_link"]


@pytest.mark.parametrize("add_file", [add_regular_file, *OUTSIDE, *ODD])
def test_no_handle_stays_open(add_file: AddFile, tmp_path: Path) -> None:
    path, _ = create_model(tmp_path, add_file)
    (name,) = (file.path for file in read_model(path).external)
    before = count_handles()
    with SafeFolder(str(path.parent)) as folder:
        for _ in range(3):
            for access in (folder.status, folder.open):
                try:
                    file = access(name)
                except AccessRefused:
                    continue
                if not isinstance(file, os.stat_result):
                    os.close(file[0])
    assert count_handles() == before


@pytest.mark.parametrize("add_file", [add_link, *ODD])
def test_open_and_status_refuse_with_the_same_reason(add_file: AddFile, tmp_path: Path) -> None:
    path, _ = create_model(tmp_path, add_file)
    with SafeFolder(str(path.parent)) as folder, pytest.raises(AccessRefused) as looked:
        folder.status("w.bin")
    with SafeFolder(str(path.parent)) as folder, pytest.raises(AccessRefused) as opened:
        folder.open("w.bin")
    assert str(looked.value) == str(opened.value)


def test_reading_a_model_does_not_open_its_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = create_model(tmp_path, add_regular_file)
    names: list[str] = []
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda name, *args, **options: (names.append(str(name)), real(name, *args, **options))[1]
    )
    (file,) = read_model(path).external
    assert (file.path, file.nbytes, file.reason) == ("w.bin", 32, "")
    assert names == [str(path), str(path.parent)]


def test_file_replaced_between_stat_and_open_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link or a pipe that replaces the file after `stat`."""
    real = os.stat
    for add_file in (add_link, add_pipe):
        folder = tmp_path / add_file.__name__
        folder.mkdir()
        path, _ = create_model(folder, add_regular_file)

        def swap(
            name: object, *args: object, add_file: AddFile = add_file, path: Path = path, **options: object
        ) -> object:
            status = real(name, *args, **options)  # type: ignore[arg-type]
            if name == "w.bin":
                (path.parent / "w.bin").unlink()
                add_file(path.parent, tmp_path / "x")
            return status

        with monkeypatch.context() as patched, SafeFolder(str(path.parent)) as safe_folder:
            patched.setattr(os, "stat", swap)
            with pytest.raises(AccessRefused, match=r"symbolic link|not a regular file"):
                safe_folder.open("w.bin")


def test_model_and_its_folder_may_be_links(tmp_path: Path) -> None:
    """As in a download cache, where the model file is a link."""
    path, _ = create_model(tmp_path, add_regular_file)
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "model.onnx").symlink_to(path)
    (tmp_path / "folder").symlink_to(path.parent)
    assert read_model(tmp_path / "folder" / "model.onnx").external[0].nbytes == 32
    assert read_model(snapshot / "model.onnx").external[0].nbytes is None
    (snapshot / "w.bin").symlink_to(path.parent / "w.bin")
    assert read_model(snapshot / "model.onnx").external[0].reason == REASONS["add_link"]
    with within(Limits(follow_links=True)):
        assert read_model(snapshot / "model.onnx").external[0].nbytes == 32


@pytest.mark.parametrize("add_file", [add_pipe, *ODD[1:]])
def test_followed_links_lead_only_to_regular_files(add_file: AddFile, tmp_path: Path) -> None:
    path, _ = create_model(tmp_path, add_file)
    with within(Limits(follow_links=True)):
        (file,) = read_model(path).external
    assert file.nbytes is None and file.reason.endswith("not a regular file")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "has no name"),
        (".", "is a folder, not a regular file"),
        ("./", "is a folder, not a regular file"),
        ("w.bin/", "is a folder, not a regular file"),
        ("w.bin/.", "is a folder, not a regular file"),
        ("w\0.bin", "has a NUL byte in its name"),
        ("a/../w.bin", "has a path with '..' after a folder name, which is not followed"),
        ("..", "is outside the model's folder"),
        ("/", "is outside the model's folder"),
        ("//host/share", "is outside the model's folder"),
        ("C:\\w.bin", "is outside the model's folder"),
        ("c:w.bin", "is outside the model's folder"),
        ("\\\\host\\share\\w", "is outside the model's folder"),
        ("..\\w.bin", "is outside the model's folder"),
        ("\\w.bin", "is outside the model's folder"),
        ("w" * 256, "has a file name that is too long"),
        ("w/" * 2048 + "w", "has a path of 4,097 bytes; systems accept at most 4,095"),
        ("w/" * 1000 + "w", "has a path of 1,001 parts; at most 16 are followed"),
        ("\ud800", "has a name that this system cannot encode"),
    ],
)
def test_impossible_name_is_refused(path: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    with SafeFolder(str(tmp_path)) as folder:
        for access in (folder.status, folder.open):
            with pytest.raises(AccessRefused) as refused:
                access(path)
            assert (str(refused.value), type(refused.value)) == (reason, AccessRefused)


@pytest.mark.parametrize("path", ["w\\x", "w..\\x", "deep\\w.bin", "...", " ", "~", "-", "*", "é", "w\n.bin", "%2e%2e"])
def test_unusual_name_is_accepted(path: str, tmp_path: Path) -> None:
    with SafeFolder(str(tmp_path)) as folder:
        with pytest.raises(FileMissing, match=r"^was not found$"):
            folder.status(path)
        (tmp_path / path).write_bytes(bytes(7))
        assert folder.status(path).st_size == 7


@pytest.mark.parametrize("path", ["w.bin", "./w.bin", ".//w.bin", "././/./w.bin"])
def test_equivalent_paths_are_one_file(path: str, tmp_path: Path) -> None:
    assert normalize_path(path) == "w.bin"
    (tmp_path / "w.bin").write_bytes(bytes(32))
    (tmp_path / "model.onnx").write_bytes(build_external_model("w.bin", path))
    assert [(file.path, file.nbytes) for file in read_model(tmp_path / "model.onnx").external] == [("w.bin", 32)]


def test_lint_rule_and_storage_agree_on_escaping_paths() -> None:
    parts = ["", ".", "..", "a", "c:", "1:", "\\", "..\\", "a\\..", "/", "a/", "../"]
    for path in {first + middle + last for first in parts for middle in ("", "/", "\\", "b/") for last in parts}:
        assert escapes(path) == leads_out(path), path
        if not escapes(path):
            continue
        with pytest.raises(AccessRefused, match=r"has no name|^is outside the model's folder$"):
            split_path(path)


def test_inaccessible_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    if os.geteuid() == 0:  # nothing is closed to the superuser
        real = os.stat

        def refuse(name: object, *args: object, **options: object) -> object:
            if name == "w.bin":
                raise PermissionError(13, "Permission denied")
            return real(name, *args, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "stat", refuse)
    with (
        SafeFolder(str(tmp_path)) as folder,
        pytest.raises(AccessRefused, match="cannot be accessed: permission denied"),
    ):
        folder.status("closed/w.bin")


def test_missing_model_folder_is_refused(tmp_path: Path) -> None:
    with (
        SafeFolder(str(tmp_path / "gone")) as folder,
        pytest.raises(AccessRefused, match="the model's folder cannot be opened"),
    ):
        folder.open("w.bin")


def test_system_without_openat_refuses_external_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = create_model(tmp_path, add_regular_file)
    monkeypatch.setattr(safe_open, "_IS_SUPPORTED", False)
    (file,) = read_model(path).external
    assert file.nbytes is None and file.reason.startswith("is not opened: this system cannot")


def test_file_of_many_tensors_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(32))
    (tmp_path / "model.onnx").write_bytes(build_external_model(*["w.bin", "./w.bin"] * 1000))
    looked: list[object] = []
    real = os.stat
    monkeypatch.setattr(
        os, "stat", lambda name, *args, **options: (looked.append(name), real(name, *args, **options))[1]
    )
    assert [(file.path, file.nbytes) for file in read_model(tmp_path / "model.onnx").external] == [("w.bin", 32)]
    assert looked.count("w.bin") == 1


def test_folder_of_many_files_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "deep").mkdir(parents=True)
    names = [f"{'ab'[at % 2]}/deep/{at}.bin" for at in range(100)]
    (tmp_path / "model.onnx").write_bytes(build_external_model(*names))
    entered: list[object] = []
    real = os.open
    monkeypatch.setattr(
        os, "open", lambda name, *args, **options: (entered.append(name), real(name, *args, **options))[1]
    )
    assert [file.path for file in read_model(tmp_path / "model.onnx").external] == names
    assert entered.count("deep") == 2


def test_20_000_lookups_take_under_4_seconds(tmp_path: Path) -> None:
    started = time.process_time()
    with SafeFolder(str(tmp_path)) as folder:
        for at in range(20_000):
            with contextlib.suppress(FileMissing):
                assert folder.status(f"{at}.bin") is None
    assert time.process_time() - started < 4


def test_hard_link_removed_after_open_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After it was opened, the outside file has one link again."""
    folder, outside = tmp_path / "model", tmp_path / "w.bin"
    folder.mkdir()
    outside.write_bytes(b"outside")
    (folder / "w.bin").write_bytes(b"inside")
    real = os.open

    def swap(path: str, *words: int, dir_fd: int | None = None) -> int:
        if path != "w.bin":
            return real(path, *words, dir_fd=dir_fd)
        (folder / "w.bin").unlink()
        os.link(outside, folder / "w.bin")
        handle = real(path, *words, dir_fd=dir_fd)
        (folder / "w.bin").unlink()
        (folder / "w.bin").write_bytes(b"inside")
        return handle

    with SafeFolder(str(folder)) as safe_folder:
        monkeypatch.setattr(os, "open", swap)
        with pytest.raises(AccessRefused, match="was replaced"):
            safe_folder.open("w.bin")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
@pytest.mark.parametrize("name", ["w.bin", "w (deleted)"])
def test_hard_link_removed_during_stat_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`stat` finds the link, the link is removed, and `stat` then reads a link count of 1."""
    folder, outside = tmp_path / "model", tmp_path / "outside.bin"
    folder.mkdir()
    outside.write_bytes(CANARY)
    os.link(outside, folder / name)
    real_open, real_stat = os.open, os.stat

    def open_and_unlink(path: str, *words: int, dir_fd: int | None = None) -> int:
        handle = real_open(path, *words, dir_fd=dir_fd)
        if path == name:
            (folder / name).unlink()
        return handle

    def stat_outside(path: object, **options: object) -> os.stat_result:
        if path != name:
            return real_stat(path, **options)  # type: ignore[arg-type]
        status = real_stat(outside)
        return os.stat_result((*status[:3], 1, *status[4:]))

    with SafeFolder(str(folder)) as safe_folder, monkeypatch.context() as patched:
        patched.setattr(os, "open", open_and_unlink)
        patched.setattr(os, "stat", stat_outside)
        with pytest.raises(AccessRefused, match="was replaced"):
            safe_folder.open(name)


def test_file_named_like_a_deleted_one_is_opened(tmp_path: Path) -> None:
    (tmp_path / "w (deleted)").write_bytes(bytes(7))
    with SafeFolder(str(tmp_path)) as folder:
        handle, size = folder.open("w (deleted)")
    os.close(handle)
    assert size == 7
