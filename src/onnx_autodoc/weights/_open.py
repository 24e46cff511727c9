"""Files with weights, opened so that a model cannot make the tool read anything else.

A path is followed from the model's folder downwards, one part at a time, through no link of any kind, and what is
opened is a regular file with this one name: a model from a stranger must not show what lies elsewhere on the machine,
and a pipe must not be waited for.
"""

import errno
import os
import stat
from pathlib import PurePosixPath
from typing import Final

from onnx_autodoc.weights._types import Unread

_FILE: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_REASONS: Final = {
    errno.ENOENT: "its external file is not there",
    errno.ELOOP: "its external file is behind a symbolic link",
    errno.ENOTDIR: "its external file is not there, or behind a symbolic link",
    errno.EACCES: "its external file may not be read",
}


class Opened:
    """A regular file and its size."""

    def __init__(self, handle: int) -> None:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            os.close(handle)
            raise Unread("its file is no regular file")
        self.handle, self.size, self.names = handle, status.st_size, status.st_nlink

    def close(self) -> None:
        os.close(self.handle)


def own_file(path: str) -> Opened:
    """The model's own file. It was named by the user, who may name it by a link."""
    try:
        return Opened(os.open(path, _FILE))
    except OSError as error:
        raise Unread(f"the model's file cannot be opened again: {error.strerror}") from None


def beneath(folder: str, path: str) -> Opened:
    """The file that a model names, below its folder."""
    try:
        found = Opened(_followed(folder or ".", _parts(path)))
    except OSError as error:
        raise Unread(_REASONS.get(error.errno or 0, f"its external file cannot be opened: {error.strerror}")) from None
    except UnicodeEncodeError:
        raise Unread("its external file has a name that this system cannot spell") from None
    if found.names > 1:
        found.close()
        raise Unread("its external file has a second name (a hard link)")
    return found


def _parts(path: str) -> tuple[str, ...]:
    parts = PurePosixPath(path).parts
    if not parts or "\0" in path:
        raise Unread("it names no external file")
    if path.startswith("/") or ".." in parts:
        raise Unread("its external file is outside of the model's folder")
    return parts


def _followed(folder: str, parts: tuple[str, ...]) -> int:
    here = os.open(folder, _FOLDER)
    try:
        for part in parts[:-1]:
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=here)
            os.close(here)
            here = inner
        mode = os.stat(parts[-1], dir_fd=here, follow_symlinks=False).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISLNK(mode):  # opening a device can already do something
            raise Unread("its external file is no regular file")
        return os.open(parts[-1], _FILE | os.O_NOFOLLOW, dir_fd=here)
    finally:
        os.close(here)
