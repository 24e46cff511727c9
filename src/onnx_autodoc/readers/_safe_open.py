"""The one door to files that a model names: below the model's folder, and nowhere else.

A model from a stranger must not show what lies elsewhere on the machine, and a pipe must not be waited for. So a path
is followed from the folder downwards, one part at a time, each part held open while the next one is looked at: what was
checked is what is opened, whatever is renamed meanwhile. Through no link of either kind, unless the user allows links
(`--follow-links`), and always only to a regular file.

The folder is that of the path the user gave. The user may name it, and the model, by links.
"""

import errno
import os
import stat
from typing import Final

from onnx_autodoc.limits import OPTIONS, limits
from onnx_autodoc.readers._external_paths import Refused, parts_of

_HELD: Final = (
    getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
)  # with O_PATH, a folder that may be passed through but not listed is one
_FILE: Final = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
)  # non-blocking, for a pipe that takes a file's place
_ABLE: Final = hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY") and {os.open, os.stat} <= os.supports_dir_fd
_BLOCK: Final = 512  # bytes, whatever those of the disk are
_BELIEVED: Final = 1 << 30  # bytes
_ALLOWED: Final = f"; {OPTIONS['follow_links']} allows it"
_LINK: Final = f"is behind a symbolic link{_ALLOWED}"
_KINDS: Final = {
    stat.S_IFLNK: _LINK,
    stat.S_IFDIR: "is a folder, no regular file",
    stat.S_IFIFO: "is a pipe, no regular file",
    stat.S_IFSOCK: "is a socket, no regular file",
}
_REASONS: Final = {
    errno.EACCES: "may not be looked at: permission denied",
    errno.EPERM: "may not be looked at: permission denied",
    errno.ELOOP: _LINK,
    errno.ENAMETOOLONG: "has a name that is too long for a file",
}


class Absent(Refused):
    """There is no such file."""


class Beneath:
    """A folder that is held open. What cannot be had of it is `Refused`, with a reason that follows a file's name."""

    def __init__(self, folder: str) -> None:
        self._follows = limits().follow_links
        self._parents: tuple[str, ...] = ()
        self._here = self._top = -1
        self._broken = ""
        try:
            self._here = self._top = _folder(folder or ".")
        except Refused as refused:
            self._broken = str(refused)

    def size(self, path: str) -> int:
        """How long a file is, which is not opened for it."""
        return self._sized(self._status(self._found(path)))

    def held(self, path: str) -> int:
        """How much of it is really on the disk."""
        status = self._status(self._found(path))
        self._sized(status)
        return held_bytes(status)

    def open(self, path: str) -> tuple[int, int]:
        """A handle, which the caller closes, and the size. What was opened is checked again: it may be another one."""
        name = self._found(path)
        self._sized(self._status(name))  # before: opening a device can already do something
        try:
            handle = os.open(name, _FILE | (0 if self._follows else os.O_NOFOLLOW), dir_fd=self._here)
        except OSError as error:
            raise _refused(error) from None
        try:
            return handle, self._settled(name, os.fstat(handle))
        except BaseException:
            os.close(handle)
            raise

    def _settled(self, name: str, opened: os.stat_result) -> int:
        """The size of what was opened, if the name is still its own: a link that is taken away leaves no trace."""
        size, now = self._sized(opened), self._status(name)
        self._sized(now)
        if not os.path.samestat(opened, now):
            raise Refused("was replaced by another one while it was opened")
        return size

    def _sized(self, status: os.stat_result) -> int:
        kind = stat.S_IFMT(status.st_mode)
        if kind != stat.S_IFREG:
            raise Refused(_KINDS.get(kind, "is a device, no regular file"))
        if status.st_nlink > 1 and not self._follows:
            raise Refused(f"has a second name (a hard link), so it may be a file from elsewhere{_ALLOWED}")
        return status.st_size

    def _status(self, name: str) -> os.stat_result:
        try:
            return os.stat(name, dir_fd=self._here, follow_symlinks=self._follows)
        except OSError as error:
            raise _refused(error) from None

    def _found(self, path: str) -> str:
        """The last part of a path; the folder that it is in is the one held."""
        *parents, name = parts_of(path)
        if self._broken:
            raise Refused(self._broken)
        if tuple(parents) != self._parents:
            self._enter(tuple(parents))
        return name

    def _enter(self, parents: tuple[str, ...]) -> None:
        """Models name files of one folder one after the other, so the last one stays open."""
        self._leave()
        here = self._top
        try:
            for part in parents:
                here, old = _inner(here, part, self._follows), here
                if old != self._top:
                    os.close(old)
        except BaseException:
            if here != self._top:
                os.close(here)
            raise
        self._here, self._parents = here, parents

    def _leave(self) -> None:
        if self._here != self._top:
            os.close(self._here)
        self._here, self._parents = self._top, ()

    def close(self) -> None:
        self._leave()
        if self._top >= 0:
            os.close(self._top)
        self._here = self._top = -1
        self._broken = "cannot be looked at: its folder was closed"

    def __enter__(self) -> "Beneath":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def held_bytes(status: os.stat_result) -> int:
    """Bytes of a file without its holes, which take nothing to make and all the time of a real file to read.

    Some file systems do not say what they hold, so that a file of usual size is believed.
    """
    return min(status.st_size, max(getattr(status, "st_blocks", 0) * _BLOCK, _BELIEVED))


def _folder(path: str) -> int:
    if not _ABLE:
        raise Refused("is not looked at: this system cannot open a file beneath a folder without following links")
    try:
        return os.open(path, _HELD)
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise Refused(f"cannot be looked at: the model's folder cannot be opened: {said}") from None


def _inner(here: int, part: str, follows: bool) -> int:
    try:
        return os.open(part, _HELD | (0 if follows else os.O_NOFOLLOW), dir_fd=here)
    except OSError as error:
        # A link where a folder is wanted is "not a directory", as a file is.
        linked = error.errno == errno.ENOTDIR and not follows and _is_link(here, part)
        raise Refused(_LINK) if linked else _refused(error) from None


def _is_link(here: int, part: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(part, dir_fd=here, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _refused(error: OSError) -> Refused:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return Absent("is not there")
    return Refused(_REASONS.get(error.errno or 0, f"cannot be looked at: {error.strerror}"))
