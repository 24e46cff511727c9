"""Access to files that a model names: below the model's folder, and nowhere else.

An untrusted model must not reveal other files of the machine, and opening a pipe must not block. A path is therefore
followed from the folder downwards, one part at a time, with each folder kept open while the next part is looked up:
the file that was checked is the file that is opened, whatever is renamed in between. Symbolic and hard links are
refused unless the user allows them (`--follow-links`), and anything but a regular file always is.

The folder is that of the path the user gave. The user may name it, and the model, by links.

Paths are read as Windows reads them too: a path that leads out of its folder there is refused here as well, so that
the card of a file is the same on every system. Any other backslash is an ordinary character, as on Linux.
"""

import errno
import os
import posixpath
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final, Self

from onnx_autodoc.limits import OPTIONS, current_limits

# With O_PATH, a folder that may be traversed but not listed can be opened.
_FOLDER_FLAGS: Final = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
# Non-blocking, so that a FIFO without a writer is refused rather than waited for.
READ_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
)
_IS_SUPPORTED: Final = (
    hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY") and {os.open, os.stat} <= os.supports_dir_fd
)
_DELETED: Final = " (deleted)"  # Linux appends it to the path of an open file whose directory entry was removed
_BLOCK_BYTES: Final = 512  # unit of st_blocks, whatever the disk's block size is
_PLAUSIBLE_BYTES: Final = 1 << 30
_MAX_PATH_BYTES: Final = 4095  # Linux
_MAX_PATH_PARTS: Final = 16
_DRIVE: Final = re.compile("[A-Za-z]:")
_PLAIN_PATH: Final = re.compile(r"[\w-][\w.+-]{0,99}(?:/[\w-][\w.+-]{0,99}){0,3}", re.ASCII)  # nearly all paths
_HINT: Final = f"; {OPTIONS['follow_links']} allows it"
_SYMBOLIC_LINK: Final = f"is behind a symbolic link{_HINT}"
_KINDS: Final = {
    stat.S_IFLNK: _SYMBOLIC_LINK,
    stat.S_IFDIR: "is a folder, not a regular file",
    stat.S_IFIFO: "is a pipe, not a regular file",
    stat.S_IFSOCK: "is a socket, not a regular file",
}
_REASONS: Final = {
    errno.EACCES: "cannot be accessed: permission denied",
    errno.EPERM: "cannot be accessed: permission denied",
    errno.ELOOP: _SYMBOLIC_LINK,
    errno.ENAMETOOLONG: "has a file name that is too long",
}


class AccessRefused(Exception):
    """A file is not accessed. The text is a reason that follows the file's name."""


class FileMissing(AccessRefused):
    """There is no such file."""


class SafeFolder:
    """A folder that is held open, and the files in and below it. Raises `AccessRefused`."""

    def __init__(self, folder: str) -> None:
        self._follow_links = current_limits().follow_links
        self._parents: tuple[str, ...] = ()
        self._current = self._root = -1
        self._failure = ""
        try:
            self._current = self._root = _open_root(folder or ".")
        except AccessRefused as refused:
            self._failure = str(refused)

    def status(self, path: str) -> os.stat_result:
        """Return the status of a regular file, without opening it."""
        return self._checked(self._stat(self._locate(path)))

    def open(self, path: str) -> tuple[int, int]:
        """Return a file descriptor, which the caller closes, and the file's size."""
        name = self._locate(path)
        self._checked(self._stat(name))  # opening a device may have side effects
        try:
            handle = os.open(name, READ_FLAGS | (0 if self._follow_links else os.O_NOFOLLOW), dir_fd=self._current)
        except OSError as error:
            raise _refusal(error) from None
        try:
            # A hard link that was removed meanwhile leaves one link: the name must still be that of the open file.
            opened, now = self._checked(os.fstat(handle)), self._checked(self._stat(name))
            self._wait_for_removal()
            if not os.path.samestat(opened, now) or _is_deleted(handle, name):
                raise AccessRefused("was replaced while it was opened")
        except BaseException:
            os.close(handle)
            raise
        return handle, opened.st_size

    def _checked(self, status: os.stat_result) -> os.stat_result:
        kind = stat.S_IFMT(status.st_mode)
        if kind != stat.S_IFREG:
            raise AccessRefused(_KINDS.get(kind, "is a device, not a regular file"))
        if status.st_nlink > 1 and not self._follow_links:
            raise AccessRefused(
                f"has more than one hard link, so it may be a file from outside the model's folder{_HINT}"
            )
        return status

    def _stat(self, name: str) -> os.stat_result:
        try:
            return os.stat(name, dir_fd=self._current, follow_symlinks=self._follow_links)
        except OSError as error:
            raise _refusal(error) from None

    def _wait_for_removal(self) -> None:
        """Wait until no removal is under way in the folder: it lowers the link count before it removes the name.

        Looking up a name that the system has not cached takes the folder's lock.
        """
        with suppress(OSError):
            os.stat(f".{os.urandom(8).hex()}", dir_fd=self._current)

    def _locate(self, path: str) -> str:
        """Make the file's folder the current one, and return the file's name in it."""
        *parents, name = split_path(path)
        if self._failure:
            raise AccessRefused(self._failure)
        if tuple(parents) != self._parents:
            self._enter(tuple(parents))
        return name

    def _enter(self, parents: tuple[str, ...]) -> None:
        """Open a folder below the root. It stays open, since models name files of one folder one after the other."""
        self._leave()
        current = self._root
        try:
            for part in parents:
                current, previous = _open_inner(current, part, self._follow_links), current
                if previous != self._root:
                    os.close(previous)
        except BaseException:
            if current != self._root:
                os.close(current)
            raise
        self._current, self._parents = current, parents

    def _leave(self) -> None:
        if self._current != self._root:
            os.close(self._current)
        self._current, self._parents = self._root, ()

    def close(self) -> None:
        self._leave()
        if self._root >= 0:
            os.close(self._root)
        self._current = self._root = -1
        self._failure = "cannot be accessed: its folder was closed"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _is_deleted(handle: int, name: str) -> bool:
    """Return whether the directory entry that was opened is gone, as far as the system has /proc to tell.

    `stat` may find an entry and read its link count after the entry was removed, so the count alone proves nothing.
    """
    try:
        path = str(Path(f"/proc/self/fd/{handle}").readlink())
    except OSError:
        return False
    return path.endswith(_DELETED * (2 if name.endswith(_DELETED) else 1))


def stored_bytes(status: os.stat_result) -> int:
    """Return the size of a file without holes, which cost nothing to create and as much as data to read.

    Some file systems do not report allocated blocks, so a plausible size is accepted as it is.
    """
    return min(status.st_size, max(getattr(status, "st_blocks", 0) * _BLOCK_BYTES, _PLAUSIBLE_BYTES))


def _open_root(path: str) -> int:
    if not _IS_SUPPORTED:
        raise AccessRefused("is not opened: this system cannot open a file in a folder without following links")
    try:
        return os.open(path, _FOLDER_FLAGS)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise AccessRefused(f"cannot be accessed: the model's folder cannot be opened: {reason}") from None


def _open_inner(parent: int, name: str, follow_links: bool) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS | (0 if follow_links else os.O_NOFOLLOW), dir_fd=parent)
    except OSError as error:
        # Opening a link as a folder fails with "not a directory", as opening a file does.
        is_link = error.errno == errno.ENOTDIR and not follow_links and _is_link(parent, name)
        raise AccessRefused(_SYMBOLIC_LINK) if is_link else _refusal(error) from None


def _is_link(parent: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _refusal(error: OSError) -> AccessRefused:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return FileMissing("was not found")
    return AccessRefused(_REASONS.get(error.errno or 0, f"cannot be accessed: {error.strerror}"))


def split_path(path: str) -> tuple[str, ...]:
    """Return the folders of a path and its last name, none of them empty, `.` or `..`; raises `AccessRefused`."""
    if _PLAIN_PATH.fullmatch(path):
        return tuple(path.split("/"))
    if not path:
        raise AccessRefused("has no name")
    if "\0" in path:
        raise AccessRefused("has a NUL byte in its name")
    if leads_out(path):
        raise AccessRefused("is outside the model's folder")
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise AccessRefused("has a path with '..' after a folder name, which is not followed")
    if not parts or path.endswith(("/", "/.")):
        raise AccessRefused("is a folder, not a regular file")
    _check_length(path, len(parts))
    return parts


def normalize_path(path: str) -> str:
    """Return `a/b` for `./a//b`, so that a file is listed once. A path that is refused is returned unchanged."""
    try:
        return "/".join(split_path(path))
    except AccessRefused:
        return path


def leads_out(path: str) -> bool:
    """Return whether a path is absolute, has a drive, or ends above the folder where it begins."""
    end = posixpath.normpath(path.replace("\\", "/"))
    return end.startswith(("/", "../")) or end == ".." or bool(_DRIVE.match(path))


def _check_length(path: str, parts: int) -> None:
    try:
        length = len(os.fsencode(path))
    except UnicodeEncodeError:
        raise AccessRefused("has a name that this system cannot encode") from None
    if length > _MAX_PATH_BYTES:
        raise AccessRefused(f"has a path of {length:,} bytes; systems accept at most {_MAX_PATH_BYTES:,}")
    if parts > _MAX_PATH_PARTS:
        raise AccessRefused(f"has a path of {parts:,} parts; at most {_MAX_PATH_PARTS:,} are followed")
