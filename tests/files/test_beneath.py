"""The one door to files that a model names: what is behind it, and what stays outside."""

import contextlib
import os
import time
from pathlib import Path

import pytest

from onnx_autodoc.limits import Limits, within
from onnx_autodoc.lint.escaping_external_data import escapes
from onnx_autodoc.readers import _safe_open, read
from onnx_autodoc.readers._external_paths import Refused, leads_out, one_spelling, parts_of
from onnx_autodoc.readers._safe_open import Absent, Beneath
from tests.files._made import ODD, OUTSIDE, Made, external, linked, pipe, place, plain

LINKS = "; --follow-links allows it"
REASONS = {
    "absolute": "is outside of the model's folder",
    "upwards": "is outside of the model's folder",
    "down_and_up": "is outside of the model's folder",
    "linked": f"is behind a symbolic link{LINKS}",
    "linked_folder": f"is behind a symbolic link{LINKS}",
    "linked_twice": f"is behind a symbolic link{LINKS}",
    "hard_linked": f"has a second name (a hard link), so it may be a file from elsewhere{LINKS}",
    "pipe": "is a pipe, no regular file",
    "unix_socket": "is a socket, no regular file",
    "device": "is a device, no regular file",
    "link_to_a_device": f"is behind a symbolic link{LINKS}",
    "a_folder": "is a folder, no regular file",
}


def handles() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("made", [*OUTSIDE, *ODD])
def test_what_is_no_plain_file_below_the_folder_is_refused_with_a_reason(made: Made, tmp_path: Path) -> None:
    path, _ = place(tmp_path, made)
    (found,) = read(path).external
    reason = LINKED_DEVICE if made.__name__ == "device" and (path.parent / "w.bin").is_symlink() else None
    assert (found.nbytes, found.reason) == (None, reason or REASONS[made.__name__])


LINKED_DEVICE = REASONS["link_to_a_device"]


@pytest.mark.parametrize("made", [plain, *OUTSIDE, *ODD])
def test_nothing_stays_open_whatever_was_found(made: Made, tmp_path: Path) -> None:
    path, _ = place(tmp_path, made)
    (name,) = (file.path for file in read(path).external)
    before = handles()
    with Beneath(str(path.parent)) as folder:
        for _ in range(3):
            for look in (folder.size, folder.open):
                try:
                    found = look(name)
                except Refused:
                    continue
                if isinstance(found, tuple):
                    os.close(found[0])
    assert handles() == before


@pytest.mark.parametrize("made", [linked, *ODD])
def test_opening_says_what_looking_says(made: Made, tmp_path: Path) -> None:
    path, _ = place(tmp_path, made)
    with Beneath(str(path.parent)) as folder, pytest.raises(Refused) as looked:
        folder.size("w.bin")
    with Beneath(str(path.parent)) as folder, pytest.raises(Refused) as opened:
        folder.open("w.bin")
    assert str(looked.value) == str(opened.value)


def test_a_plain_file_is_looked_at_and_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = place(tmp_path, plain)
    names: list[str] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda name, *more, **kept: (names.append(str(name)), real(name, *more, **kept))[1])
    (found,) = read(path).external
    assert (found.path, found.nbytes, found.reason) == ("w.bin", 32, "")
    assert names == [str(path), str(path.parent)]


def test_what_takes_a_files_place_between_the_look_and_the_opening_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind of it, put there at the worst moment."""
    real = os.stat
    for made in (linked, pipe):
        folder = tmp_path / made.__name__
        folder.mkdir()
        path, _ = place(folder, plain)

        def swapped(name: object, *more: object, made: Made = made, path: Path = path, **kept: object) -> object:
            status = real(name, *more, **kept)  # type: ignore[arg-type]
            if name == "w.bin":
                (path.parent / "w.bin").unlink()
                made(path.parent, tmp_path / "x")
            return status

        with monkeypatch.context() as patched, Beneath(str(path.parent)) as beneath:
            patched.setattr(os, "stat", swapped)
            with pytest.raises(Refused, match=r"symbolic link|no regular file"):
                beneath.open("w.bin")


def test_the_folder_is_that_of_the_path_given_and_both_may_be_links(tmp_path: Path) -> None:
    """As in a download cache, where the model's own name is a link to elsewhere."""
    path, _ = place(tmp_path, plain)
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    (snapshot / "model.onnx").symlink_to(path)
    (tmp_path / "folder").symlink_to(path.parent)
    assert read(tmp_path / "folder" / "model.onnx").external[0].nbytes == 32
    assert read(snapshot / "model.onnx").external[0].nbytes is None
    (snapshot / "w.bin").symlink_to(path.parent / "w.bin")
    assert read(snapshot / "model.onnx").external[0].reason == REASONS["linked"]
    with within(Limits(follow_links=True)):
        assert read(snapshot / "model.onnx").external[0].nbytes == 32


@pytest.mark.parametrize("made", [pipe, *ODD[1:]])
def test_links_that_are_allowed_still_lead_only_to_regular_files(made: Made, tmp_path: Path) -> None:
    path, _ = place(tmp_path, made)
    with within(Limits(follow_links=True)):
        (found,) = read(path).external
    assert found.nbytes is None and found.reason.endswith("no regular file")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "has no name"),
        (".", "is a folder, no regular file"),
        ("./", "is a folder, no regular file"),
        ("w.bin/", "is a folder, no regular file"),
        ("w.bin/.", "is a folder, no regular file"),
        ("w\0.bin", "has a name with a zero byte, which no file can have"),
        ("a/../w.bin", "has a path that goes up again (..); such a path is not followed"),
        ("..", "is outside of the model's folder"),
        ("/", "is outside of the model's folder"),
        ("//host/share", "is outside of the model's folder"),
        ("C:\\w.bin", "is outside of the model's folder"),
        ("c:w.bin", "is outside of the model's folder"),
        ("\\\\host\\share\\w", "is outside of the model's folder"),
        ("..\\w.bin", "is outside of the model's folder"),
        ("\\w.bin", "is outside of the model's folder"),
        ("w" * 256, "has a name that is too long for a file"),
        ("w/" * 2048 + "w", "has a path of 4,097 bytes; 4,095 are the most that a system takes"),
        ("w/" * 1000 + "w", "has a path of 1,001 parts; 16 are the most that are followed"),
        ("\ud800", "has a name that this system cannot spell"),
    ],
)
def test_a_name_that_no_file_below_can_have_is_refused(path: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(8))
    with Beneath(str(tmp_path)) as folder:
        for look in (folder.size, folder.open):
            with pytest.raises(Refused) as refused:
                look(path)
            assert (str(refused.value), type(refused.value)) == (reason, Refused)


@pytest.mark.parametrize("path", ["w\\x", "w..\\x", "deep\\w.bin", "...", " ", "~", "-", "*", "é", "w\n.bin", "%2e%2e"])
def test_an_unusual_name_is_a_name(path: str, tmp_path: Path) -> None:
    with Beneath(str(tmp_path)) as folder:
        with pytest.raises(Absent, match=r"^is not there$"):
            folder.size(path)
        (tmp_path / path).write_bytes(bytes(7))
        assert folder.size(path) == 7


@pytest.mark.parametrize("path", ["w.bin", "./w.bin", ".//w.bin", "././/./w.bin"])
def test_one_file_is_one_entry_however_it_is_spelled(path: str, tmp_path: Path) -> None:
    assert one_spelling(path) == "w.bin"
    (tmp_path / "w.bin").write_bytes(bytes(32))
    (tmp_path / "model.onnx").write_bytes(external("w.bin", path))
    assert [(file.path, file.nbytes) for file in read(tmp_path / "model.onnx").external] == [("w.bin", 32)]


def test_the_rule_and_the_door_agree_on_what_leads_out() -> None:
    parts = ["", ".", "..", "a", "c:", "1:", "\\", "..\\", "a\\..", "/", "a/", "../"]
    for path in {first + middle + last for first in parts for middle in ("", "/", "\\", "b/") for last in parts}:
        assert escapes(path) == leads_out(path), path
        if not escapes(path):
            continue
        with pytest.raises(Refused, match=r"has no name|^is outside of the model's folder$"):
            parts_of(path)


def test_a_folder_that_may_not_be_entered_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    if os.geteuid() == 0:  # nothing is closed to the superuser
        real = os.stat

        def closed(name: object, *more: object, **kept: object) -> object:
            if name == "w.bin":
                raise PermissionError(13, "Permission denied")
            return real(name, *more, **kept)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "stat", closed)
    with Beneath(str(tmp_path)) as folder, pytest.raises(Refused, match="may not be looked at: permission denied"):
        folder.size("closed/w.bin")


def test_a_model_folder_that_has_gone_is_said(tmp_path: Path) -> None:
    with Beneath(str(tmp_path / "gone")) as folder, pytest.raises(Refused, match="the model's folder cannot be opened"):
        folder.open("w.bin")


def test_a_system_that_cannot_do_it_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, _ = place(tmp_path, plain)
    monkeypatch.setattr(_safe_open, "_ABLE", False)
    (found,) = read(path).external
    assert found.nbytes is None and found.reason.startswith("is not looked at: this system cannot")


def test_a_file_of_many_tensors_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(32))
    (tmp_path / "model.onnx").write_bytes(external(*["w.bin", "./w.bin"] * 1000))
    looked: list[object] = []
    real = os.stat
    monkeypatch.setattr(os, "stat", lambda name, *more, **kept: (looked.append(name), real(name, *more, **kept))[1])
    assert [(file.path, file.nbytes) for file in read(tmp_path / "model.onnx").external] == [("w.bin", 32)]
    assert looked.count("w.bin") == 1


def test_a_folder_of_many_files_is_entered_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "deep").mkdir(parents=True)
    names = [f"{'ab'[at % 2]}/deep/{at}.bin" for at in range(100)]
    (tmp_path / "model.onnx").write_bytes(external(*names))
    entered: list[object] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda name, *more, **kept: (entered.append(name), real(name, *more, **kept))[1])
    assert [file.path for file in read(tmp_path / "model.onnx").external] == names
    assert entered.count("deep") == 2


def test_many_files_take_no_time(tmp_path: Path) -> None:
    started = time.process_time()
    with Beneath(str(tmp_path)) as folder:
        for at in range(20_000):
            with contextlib.suppress(Absent):
                assert folder.size(f"{at}.bin") is None
    assert time.process_time() - started < 4


def test_a_hard_link_that_is_taken_away_while_it_is_open_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked at after it was opened, the file of somebody else has one name again."""
    folder, outside = tmp_path / "model", tmp_path / "w.bin"
    folder.mkdir()
    outside.write_bytes(b"of somebody else")
    (folder / "w.bin").write_bytes(b"its own")
    real = os.open

    def swapped(path: str, *words: int, dir_fd: int | None = None) -> int:
        if path != "w.bin":
            return real(path, *words, dir_fd=dir_fd)
        (folder / "w.bin").unlink()
        os.link(outside, folder / "w.bin")
        handle = real(path, *words, dir_fd=dir_fd)
        (folder / "w.bin").unlink()
        (folder / "w.bin").write_bytes(b"its own")
        return handle

    with Beneath(str(folder)) as beneath:
        monkeypatch.setattr(os, "open", swapped)
        with pytest.raises(Refused, match="was replaced"):
            beneath.open("w.bin")
